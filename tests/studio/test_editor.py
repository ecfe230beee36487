# SPDX-License-Identifier: MIT
"""The editor in the page: by mouse and by keyboard, in a real browser."""

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser_page import LONG
from playwright.sync_api import Browser, Page, expect
from shown_page import simulated

from understudy_devices.studio.catalogue import template

TEMPLATE = template()
ADDS = "fifo_add(&mine->pending, rq);"
REMOVES = "\t\tfifo_remove(&mine->pending, rq);\n"


@pytest.fixture
def editing(page: Page) -> Page:
    """Open the editor; few requests and schedulers, so that a run is short."""
    page.get_by_label("requests").fill("500")
    for name in ("cats", "clook", "sstf"):
        page.get_by_role("checkbox", name=name).uncheck()
    page.get_by_role("button", name="Write a scheduler").click()
    expect(text_of(page)).to_contain_text("mine_add", timeout=LONG)
    return page


def text_of(page: Page):  # type: ignore[no-untyped-def]
    """Return the place of the text."""
    return page.get_by_role("textbox", name="mine.c")


def write(page: Page, text: str) -> None:
    """Replace the text, and press Ctrl-Enter."""
    text_of(page).click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)
    page.keyboard.press("Control+Enter")


def messages(page: Page) -> list[str]:
    """Wait until the text is compiled and simulated; return the messages."""
    status = page.get_by_role("status", name="Compiler")
    expect(status).not_to_contain_text("ompiling", timeout=LONG)
    expect(status).not_to_contain_text("oading", timeout=LONG)
    return page.get_by_role("list", name="Messages").get_by_role("listitem").all_inner_texts()


def test_the_template_runs_beside_others(editing: Page) -> None:
    """It is fcfs, so it has the figures of fcfs; nothing is compiled before the user asks."""
    page = editing
    assert list(simulated(page)) == ["fcfs"]
    expect(page.get_by_role("status", name="Compiler")).to_have_text("Not compiled yet.")
    assert page.locator(".command code").inner_text() == (
        "understudy predict --schedulers fcfs,./mine.c --requests 500"
    )
    page.get_by_role("button", name="Compile and run").click()
    expect(page.locator("tbody th").last).to_have_text("mine", timeout=LONG)
    cells = simulated(page)
    assert cells["mine"] == cells["fcfs"]
    assert messages(page) == []
    page.get_by_label("workload").select_option("random")  # the compiled one takes part
    page.get_by_role("checkbox", name="clook").check()
    expect(page.locator("tbody tr")).to_have_count(3, timeout=LONG)
    assert list(simulated(page)) == ["clook", "fcfs", "mine"]


def test_mistakes_are_at_their_lines(editing: Page) -> None:
    """The compiler's, the contract's, a loop, and a name that is taken; then it is corrected."""
    page = editing
    write(page, TEMPLATE.replace(ADDS, "append(rq);"))
    expect(page.get_by_role("list", name="Messages")).to_be_visible(timeout=LONG)
    message, warning = messages(page)
    assert message.startswith("line 17 error: call to undeclared function 'append'")
    assert warning.startswith("line 15 warning: unused variable 'mine'")
    expect(page.locator(".cm-lint-marker-error")).to_have_count(1)
    page.get_by_role("button", name="line 17").click()
    expect(text_of(page)).to_be_focused()
    expect(page.locator(".cm-activeLine")).to_contain_text("append(rq);")

    write(
        page, TEMPLATE.replace(REMOVES, "\t\twhile (mine->pending.oldest)\n\t\t\t*wake_ns += 1;\n")
    )
    expect(page.locator("tbody td.error")).to_contain_text("endless loop", timeout=LONG)
    words = (
        "probably an endless loop: no progress in 3 s of processor time in mine_next, ./mine.c:34"
    )
    assert messages(page) == [f"line 34 error: {words}"]
    assert simulated(page)["mine"] == [words]

    write(page, TEMPLATE.replace(ADDS, ADDS + " rq->sector = 5;"))
    words = "it changed request 1's sector, which only the host may do"
    expect(page.locator("tbody td.error")).to_have_text(words, timeout=LONG)
    assert messages(page) == [f"error: {words}"]

    write(page, TEMPLATE.replace('"mine"', '"fcfs"'))
    words = "./mine.c calls itself fcfs, which is taken; change .name"
    expect(page.locator("tbody td.error")).to_have_text(words, timeout=LONG)

    write(page, TEMPLATE)
    expect(page.get_by_role("status", name="Compiler")).to_have_text("Compiled.", timeout=LONG)
    expect(page.locator("tbody td.error")).to_have_count(0)
    assert messages(page) == []
    text_of(page).press("End")
    page.keyboard.type("/* more */")
    expect(page.get_by_role("status", name="Compiler")).to_have_text(
        "Changed since it was compiled."
    )


def test_the_text_can_be_downloaded(editing: Page, tmp_path: Path) -> None:
    """The file has the editor's bytes."""
    with editing.expect_download() as download:
        editing.get_by_role("button", name="Download mine.c").click()
    assert download.value.suggested_filename == "mine.c"
    download.value.save_as(tmp_path / "mine.c")
    assert (tmp_path / "mine.c").read_bytes() == TEMPLATE.encode()


def test_the_text_survives_a_reload(editing: Page) -> None:
    """The template can be had back."""
    page = editing
    text_of(page).click()
    page.keyboard.press("Control+Home")
    page.keyboard.type("/* mine */")
    page.reload()
    page.get_by_role("button", name="Write a scheduler").click()
    expect(text_of(page)).to_contain_text("/* mine */", timeout=LONG)
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Template").click()
    expect(text_of(page)).not_to_contain_text("/* mine */")
    expect(text_of(page)).to_contain_text("mine_add")
    assert page.evaluate("localStorage.length") == 0


def test_the_keyboard_gets_out(editing: Page) -> None:
    """Tab indents; after Escape it leaves the editor."""
    page = editing
    text_of(page).click()
    page.keyboard.press("Tab")
    expect(text_of(page)).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Compile and run")).to_be_focused()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_anyone_can_use_it(editing: Page, width: int, scheme: str) -> None:
    """No finding of axe-core, with messages and without; no scrolling sideways."""
    page = editing
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.set_viewport_size({"width": width, "height": 900})
    write(page, TEMPLATE.replace(ADDS, 'append(rq); /* 5 "text" */'))
    expect(page.get_by_role("list", name="Messages")).to_be_visible(timeout=LONG)
    findings = Axe().run(page)
    assert findings.violations_count == 0, findings.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_missing_compiler_is_named(browser: Browser, address: str) -> None:
    """Half of the page was copied to the server."""
    page = browser.new_page()
    page.route("**/headers.json", lambda route: route.fulfill(status=404))
    page.goto(address)
    page.get_by_role("button", name="Write a scheduler").click()
    page.get_by_role("button", name="Compile and run").click()
    expect(page.get_by_role("list", name="Messages")).to_be_visible(timeout=LONG)
    assert messages(page) == ["error: /data/headers.json: 404 Not Found"]
    page.close()
