# SPDX-License-Identifier: MIT
"""The views on a run folder, in a real browser."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import polars as pl
import pytest
from axe_playwright_python.sync_playwright import Axe
from browser_page import LONG
from playwright.sync_api import Browser, Page, expect
from run_folders import written
from served_studio import studio_of

pytestmark = pytest.mark.thorough

SCHEDULERS = ("cats", "bfq", "none")
NS_PER_MS = 1e6


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a run, and with one of a command that records no requests."""
    folder = tmp_path_factory.mktemp("runs")
    written(folder / "mine", SCHEDULERS, (3, 4), scale=4)
    written(folder / "gone", ("cats",), (3,))
    (folder / "swept").mkdir()
    (folder / "swept" / "result.json").write_text(json.dumps({"schema": "understudy.sweep/1"}))
    return folder


@pytest.fixture(scope="module")
def link(page_folder: Path, folder: Path) -> Iterator[str]:
    """Start the studio; return the link that it prints."""
    with studio_of(folder) as link:
        yield link


@pytest.fixture
def studio(browser: Browser, link: str) -> Iterator[Page]:
    """Open the link."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.set_default_timeout(LONG)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(link)
    yield page
    context.close()
    assert errors == []


def opened(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def test_a_run_is_shown_as_it_was_recorded(studio: Page, folder: Path) -> None:
    """The chosen seed, in the disk's time: the platform's disk was slower."""
    scale = json.loads((folder / "mine" / "result.json").read_text())["inputs"]["scale"]
    assert scale > 1
    opened(studio, "mine")
    for name in SCHEDULERS:
        expect(studio.get_by_label(f"{name} at the cursor")).to_be_visible(timeout=LONG)
    studio.get_by_role("checkbox", name="cats", exact=True).uncheck()
    expect(studio.get_by_label("cats at the cursor")).to_have_count(0)
    studio.get_by_label("seed").select_option("4")
    table = pl.read_parquet(folder / "mine" / "requests.parquet")
    for name in SCHEDULERS[1:]:
        rows = table.filter((pl.col("scheduler") == name) & (pl.col("seed") == 4))
        response = (rows["completion_ns"] - rows["arrival_ns"]).sort() / scale / NS_PER_MS
        words = f"p50 {response[rows.height // 2 - 1]:.2f} ms"
        picture = studio.get_by_label(f"Distribution of response times of {name}")
        expect(picture.locator("xpath=../../..")).to_contain_text(words)
    expect(studio.get_by_label("Comparison")).to_contain_text("200 requests are in both runs")
    expect(studio.get_by_label("Service time of bfq against distance")).to_be_visible()


def test_a_run_without_requests_and_one_that_is_deleted(studio: Page, folder: Path) -> None:
    """One line each, and the page goes on."""
    opened(studio, "swept")
    expect(studio.get_by_role("alert")).to_contain_text("no requests in it")
    shutil.rmtree(folder / "gone")
    opened(studio, "gone")
    expect(studio.get_by_role("alert")).to_contain_text("no such run: it was deleted")
    opened(studio, "mine")
    expect(studio.get_by_label("bfq at the cursor")).to_be_visible(timeout=LONG)
    expect(studio.get_by_role("alert")).to_have_count(0)


def test_a_run_that_is_deleted_while_it_is_open(studio: Page, folder: Path) -> None:
    """What is shown stays; what would have to be read is refused."""
    shutil.copytree(folder / "mine", folder / "open")
    studio.reload()
    opened(studio, "open")
    expect(studio.get_by_label("bfq at the cursor")).to_be_visible(timeout=LONG)
    shutil.rmtree(folder / "open")
    studio.get_by_label("seed").select_option("4")
    expect(studio.get_by_role("alert")).to_contain_text("no such run: it was deleted")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_anyone_can_use_it(browser: Browser, link: str, scheme: Literal["light", "dark"]) -> None:
    """On a small screen nothing is cut off."""
    context = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    page.goto(link)
    page.get_by_role("button", name="mine", exact=True).click(timeout=LONG)
    expect(page.get_by_label("bfq at the cursor")).to_be_visible(timeout=LONG)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    found = Axe().run(page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    context.close()
