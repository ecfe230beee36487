# SPDX-License-Identifier: MIT
"""Fixtures: the card designer of `understudy studio`, in a real browser (a plugin of
tests/conftest.py).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browser_page import LONG
from served_studio import studio_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture
def designer_link(page_folder: Path, tmp_path: Path) -> Iterator[str]:
    """Start the studio of an empty folder; return the designer's link."""
    with studio_of(tmp_path) as link:
        yield link.replace("studio.html", "cards.html")


@pytest.fixture
def designer(browser: "Browser", designer_link: str) -> "Iterator[Page]":
    """Open the designer; it reports no error."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    page = context.new_page()
    page.set_default_timeout(LONG)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(designer_link)
    yield page
    context.close()
    assert errors == []


def created(page: "Page", name: str, begin: str = "new card") -> None:
    """Create a card."""
    form = page.locator("form", has_text="begin from")
    form.get_by_label("name").fill(name)
    form.get_by_label("begin from").select_option(begin)
    form.get_by_role("button", name="Create").click()
    page.get_by_text(f"understudy card check {name}.yaml").wait_for()
