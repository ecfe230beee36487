# SPDX-License-Identifier: MIT
"""Fixtures: the studio's page, in a real browser (a plugin of tests/conftest.py)."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from built_page import built

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = "/usr/bin/chromium"
LONG = 60_000  # ms; a busy machine


class Quiet(SimpleHTTPRequestHandler):
    """Serves files, and prints nothing."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | {".wasm": "application/wasm"}

    def log_message(self, format: str, *values: Any) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def page_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the page."""
    return built(tmp_path_factory)


@pytest.fixture(scope="module")
def address(page_folder: Path) -> Iterator[str]:
    """Serve the page's files as any web server would."""
    handler = partial(Quiet, directory=str(page_folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """Start Debian's Chromium."""
    if not Path(CHROMIUM).exists():
        pytest.fail("no Chromium: apt-get install chromium")
    from playwright.sync_api import sync_playwright  # the import takes a third of a second

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: "Browser", address: str) -> "Iterator[Page]":
    """Open the page; it asks no other host, and reports no error."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.set_default_timeout(LONG)
    asked: list[str] = []
    errors: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on(
        "console", lambda message: errors.append(message.text) if message.type == "error" else None
    )
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(address)
    yield page
    context.close()
    assert errors == []
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []
