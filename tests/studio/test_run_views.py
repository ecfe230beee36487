# SPDX-License-Identifier: MIT
"""The views on a run folder, in a real browser."""

import json
import re
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

from understudy_devices.api.agreed import compare as compared

pytestmark = pytest.mark.thorough

SCHEDULERS = ("cats", "bfq", "none")
NS_PER_MS = 1e6


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a run, and with one of a command that records no requests."""
    folder = tmp_path_factory.mktemp("runs")
    written(folder / "mine", SCHEDULERS, (3, 4), scale=4)
    written(folder / "other", SCHEDULERS[:2], (3, 4), scale=2)
    written(folder / "third", SCHEDULERS[1:], (4, 5))
    written(folder / "small", SCHEDULERS, (3,), requests=100)
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
    studio.reload()
    expect(studio.get_by_label("bfq at the cursor")).to_be_visible(timeout=LONG)
    opened(studio, "mine")
    expect(studio.get_by_label("bfq at the cursor")).to_have_count(0)
    assert "#" not in studio.url


def test_a_run_without_requests_and_one_that_is_deleted(studio: Page, folder: Path) -> None:
    """One line each, and the page goes on."""
    studio_address = studio.url
    opened(studio, "swept")
    expect(studio.get_by_role("alert")).to_contain_text("no requests in it")
    shutil.rmtree(folder / "gone")
    opened(studio, "gone")
    expect(studio.get_by_role("alert")).to_contain_text("no such run: it was deleted")
    opened(studio, "mine")
    expect(studio.get_by_label("bfq at the cursor")).to_be_visible(timeout=LONG)
    expect(studio.get_by_role("alert")).to_have_count(0)
    studio.goto("about:blank")
    studio.goto(f"{studio_address}#run=<b>nothing")
    expect(studio.get_by_role("alert")).to_contain_text("no such run")


def test_a_run_that_is_deleted_while_it_is_open(studio: Page, folder: Path) -> None:
    """What is shown stays; what would have to be read is refused."""
    shutil.copytree(folder / "mine", folder / "open")
    studio.reload()
    opened(studio, "open")
    expect(studio).to_have_url(re.compile("#run=open$"))
    expect(studio.get_by_label("bfq at the cursor")).to_be_visible(timeout=LONG)
    shutil.rmtree(folder / "open")
    studio.get_by_label("seed").select_option("4")
    expect(studio.get_by_role("alert")).to_contain_text("no such run: it was deleted")


def compare(page: Page, *names: str) -> None:
    for name in names:
        page.get_by_label(f"compare {name}", exact=True).check()
    page.get_by_role("button", name="Compare", exact=True).click()


def test_runs_are_compared_in_tables_and_request_by_request(studio: Page, folder: Path) -> None:
    """Three runs, with the figures of the command."""
    compare(studio, "mine", "other", "third")
    studio.get_by_label("compare with").select_option("mine")
    for other in ("other", "third"):
        table = studio.get_by_role("region", name=f"{other} beside mine")
        document = compared(folder / "mine", folder / other).as_json()
        (response,) = (one for one in document["measures"] if one["measure"] == "mean_response_ms")
        for name, figures in response["schedulers"].items():
            row = table.get_by_role("row").filter(has_text=re.compile(f"^{name}")).nth(2)
            mean, half = figures["virtual"], figures["virtual_half_width"]
            words = f"{mean:,.4g} (" if half is None else f"{mean:,.4g} ±"
            error = f"({percent(figures['error'])}; {figures['virtual_rank']})"
            expect(row).to_contain_text(words)
            expect(row).to_contain_text(error)
    expect(studio.get_by_text("Only one of mine and third has cats: left out.")).to_be_visible()
    for name in ("mine", "other", "third"):
        expect(studio.get_by_label(f"{name} at the cursor")).to_be_visible(timeout=LONG)
    studio.get_by_label("compare", exact=True).select_option("other")
    studio.get_by_label("with", exact=True).select_option("third")
    expect(studio.get_by_label("Comparison", exact=True)).to_contain_text(
        "200 requests are in both runs: 200 are answered sooner with other, 0 with third. "
        "Both pick the same requests in the same order."
    )


def test_runs_that_cannot_be_compared(studio: Page) -> None:
    """A line says why there is no table, or no requests; what can be shown is shown."""
    compare(studio, "mine", "small")
    studio.get_by_label("compare with").select_option("mine")
    expect(studio.get_by_role("alert")).to_have_text(
        "small has no table: requests is 200 in mine and 100 in small: they can't be compared; run "
        "one of them again"
    )
    studio.get_by_label("with", exact=True).select_option("small")
    expect(studio.get_by_label("Comparison", exact=True)).to_contain_text("The first ")
    expect(studio.get_by_role("button", name="Go there")).to_be_visible()
    studio.reload()
    compare(studio, "mine", "swept")
    expect(studio.get_by_role("alert").filter(has_text="No requests to compare")).to_be_visible()
    expect(studio.get_by_role("alert").filter(has_text="has no table")).to_be_visible()


def percent(share: float) -> str:
    """Return a share as the page writes it."""
    return f"{share:+.1%}".replace("-", "\N{MINUS SIGN}").replace("%", " %")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_anyone_can_use_it(browser: Browser, link: str, scheme: Literal["light", "dark"]) -> None:
    """On a small screen nothing is cut off."""
    context = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    page.goto(link)
    page.get_by_role("button", name="mine", exact=True).click(timeout=LONG)
    expect(page.get_by_label("bfq at the cursor")).to_be_visible(timeout=LONG)
    compare(page, "mine", "other")
    expect(page.get_by_label("other at the cursor")).to_be_visible(timeout=LONG)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    found = Axe().run(page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    context.close()
