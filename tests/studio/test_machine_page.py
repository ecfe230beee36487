# SPDX-License-Identifier: MIT
"""The page of `understudy studio` with runs and experiments, in a real browser."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser_page import LONG
from playwright.sync_api import Browser, Page, expect
from served_studio import studio_of

pytestmark = pytest.mark.thorough

HOSTILE = "<img src=x onerror=alert(1)>"
QUICK = "predict --disk cheetah-15k4 --schedulers fcfs --requests 200"
SLOW = "sweep --disk cheetah-15k4 --schedulers cats --seeds 4000"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the studio's folder, with a run whose names are hostile."""
    run = tmp_path / "results" / HOSTILE.replace("/", "")
    run.mkdir(parents=True)
    (run / "result.json").write_text(json.dumps({"command": f"understudy {HOSTILE}"}))
    (run / "report.html").write_text("<p>a report</p><script>parent.document.title = 1</script>")
    return tmp_path / "results"


@pytest.fixture
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
    page.on("dialog", lambda dialog: pytest.fail("a name was run as a script"))
    page.goto(link)
    yield page
    context.close()


def started(page: Page, words: str) -> None:
    page.get_by_label("understudy").fill(words)
    page.get_by_role("button", name="Start").click()


def test_commands_are_started_watched_compared_and_cancelled(studio: Page) -> None:
    """All by the keyboard's and mouse's ordinary ways."""
    assert "token" not in studio.url
    started(studio, f"understudy {QUICK}")
    expect(studio.locator("pre")).to_contain_text("fcfs", timeout=LONG)
    expect(studio.locator("tbody tr", has_text="0001").get_by_text("done")).to_be_visible(
        timeout=LONG
    )
    started(studio, QUICK)
    expect(studio.locator("td.done")).to_have_count(2, timeout=LONG)
    for number in (1, 2):
        studio.get_by_label(f"compare 000{number}-predict").check()
    studio.get_by_role("button", name="Compare", exact=True).click()
    command = studio.get_by_text(re.compile("^understudy compare-runs 000[12]-predict 000[12]"))
    started(studio, command.inner_text())
    expect(studio.locator("tbody tr", has_text="0003").locator("td.done")).to_be_visible(
        timeout=LONG
    )
    started(studio, SLOW)
    expect(studio.locator("td.running")).to_be_visible(timeout=LONG)
    studio.reload()
    studio.get_by_role("button", name="Cancel 0004").click()
    studio.get_by_role("button", name="Watch 0004").click()
    expect(studio.locator("td.cancelled")).to_be_visible(timeout=LONG)
    expect(studio.locator("pre")).to_contain_text("interrupted", timeout=LONG)
    studio.get_by_role("button", name="Again 0004").click()
    expect(studio.get_by_label("understudy")).to_have_value(SLOW)


def test_what_is_refused_is_said(studio: Page) -> None:
    for words, message in (
        ("measure /dev/sda", "measure: the studio starts predict"),
        ("predict --trace ../x", "outside the studio's folder"),
        ("predict 'x", "' does not end"),
    ):
        started(studio, words)
        expect(studio.get_by_role("alert")).to_contain_text(message)


def test_names_are_text_and_reports_run_nothing(studio: Page) -> None:
    expect(studio.get_by_text(f"understudy {HOSTILE}")).to_be_visible()
    studio.get_by_role("button", name=HOSTILE).click()
    expect(studio.frame_locator("iframe").get_by_text("a report")).to_be_visible()
    assert studio.title() == "Understudy: runs and experiments"
    studio.get_by_label("search").fill("nothing has this name")
    expect(studio.get_by_text(f"understudy {HOSTILE}")).to_have_count(0)


def test_without_the_link_nothing_is_shown(browser: Browser, link: str) -> None:
    page = browser.new_page()
    page.goto(link.split("?")[0])
    expect(page.get_by_role("alert")).to_contain_text(
        "open the link that understudy studio printed"
    )
    page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_anyone_can_use_it(browser: Browser, link: str, scheme: Literal["light", "dark"]) -> None:
    """On a small screen nothing is cut off."""
    context = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    page.goto(link)
    expect(page.get_by_label("compare")).to_be_visible(timeout=LONG)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    found = Axe().run(page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    context.close()
