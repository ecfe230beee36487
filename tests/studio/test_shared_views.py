# SPDX-License-Identifier: MIT
"""Views that the page saves as a page of one file, opened from a file:// address."""

import re
from pathlib import Path

import pytest
from browser_page import LONG
from playwright.sync_api import Browser, Page, expect
from shown_page import simulated

pytestmark = pytest.mark.thorough


def saved(page: Page, button: str, place: Path) -> Path:
    """Press a button; return the file that it saves."""
    with page.expect_download() as download:
        page.get_by_role("button", name=button, exact=True).click()
    file = place / download.value.suggested_filename
    download.value.save_as(file)
    return file


def opened(browser: Browser, file: Path, errors: list[str]) -> Page:
    """Open a saved page without a network; it asks for nothing but itself."""
    page = browser.new_context(viewport={"width": 390, "height": 900}, offline=True).new_page()
    page.set_default_timeout(LONG)
    page.on("console", lambda message: errors.append(message.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on(
        "request",
        lambda request: None if request.url == file.as_uri() else errors.append(request.url),
    )
    page.goto(file.as_uri())
    return page


def axis(page: Page, name: str) -> list[str]:
    """Return the marks of a plot's time axis, through its SVG."""
    with page.expect_download() as download:
        page.get_by_role("button", name=f"SVG of {name}").click()
    return re.findall(r">([\d.,]+) ms<", Path(download.value.path()).read_text())


def test_one_view_is_saved_with_its_data_alone(
    page: Page, browser: Browser, tmp_path: Path
) -> None:
    """The head of one scheduler, at the time and with the cursor that the page shows."""
    simulated(page)
    page.get_by_role("button", name="later").click()
    page.get_by_role("button", name="zoom in").click()
    page.locator("figure .catch").first.click(position={"x": 300, "y": 50})
    marks, words = axis(page, "head of cats"), page.get_by_label("cats at the cursor").inner_text()
    command = page.locator(".command code").inner_text()
    file = saved(page, "HTML of head of cats", tmp_path)
    assert file.name == "head-of-cats.html"
    errors: list[str] = []
    shared = opened(browser, file, errors)
    expect(shared.get_by_label("cats at the cursor")).to_have_text(words)
    expect(shared.locator("pre")).to_have_text(command)
    shared.set_viewport_size({"width": 1280, "height": 900})
    assert set(marks) & set(axis(shared, "head of cats"))
    assert shared.locator("figcaption").count() == 1
    assert shared.get_by_role("button", name="HTML").count() == 0
    shared.context.close()
    assert errors == []


VIEWS = {
    "disk under fcfs": "Head and waiting places under fcfs",
    "queue of fcfs": "How many wait with fcfs against time",
    "requests of cats": "Time lines of cats, a row a process",
    "response times of sstf": "Distribution of response times of sstf",
    "service times of sstf": "Service time of sstf against distance",
}


def test_every_view_can_be_saved(page: Page, browser: Browser, tmp_path: Path) -> None:
    simulated(page)
    errors: list[str] = []
    for name, label in VIEWS.items():
        file = saved(page, f"HTML of {name}", tmp_path)
        shared = opened(browser, file, errors)
        expect(shared.get_by_label(label)).to_be_visible()
        expect(shared.locator("figure")).to_have_count(1)
        if "response" in name:
            theirs, ours = (
                one.get_by_label(label).locator("xpath=../../..") for one in (shared, page)
            )
            words = re.search("p50 .*", ours.inner_text())
            assert words
            expect(theirs).to_contain_text(words[0])
            assert file.stat().st_size < 200_000  # the script, and no requests
        shared.context.close()
    assert errors == []


def test_a_comparison_and_all_views_are_saved(page: Page, browser: Browser, tmp_path: Path) -> None:
    simulated(page)
    words = page.get_by_label("Comparison").inner_text()
    errors: list[str] = []
    file = saved(page, "HTML of cats and clook, request by request", tmp_path)
    shared = opened(browser, file, errors)
    expect(shared.get_by_label("Comparison")).to_have_text(words)
    expect(shared.locator("figure")).to_have_count(0)
    shared.context.close()
    shared = opened(browser, saved(page, "Save these views as a page", tmp_path), errors)
    for name in ("cats", "clook", "fcfs", "sstf"):
        expect(shared.get_by_label(f"{name} at the cursor")).to_be_visible()
    assert shared.evaluate("document.documentElement.scrollWidth") <= 390
    shared.context.close()
    assert errors == []
