# SPDX-License-Identifier: MIT
"""The page of a card at work: a journal that grows, as a VM's does, and one that has ended."""

import json
from pathlib import Path

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from browser_page import LONG
from playwright.sync_api import Page, Route, expect

from understudy_devices.base.errors import RunFailed
from understudy_devices.cards import specification
from understudy_devices.cards.journal import ABSENT, ACCESS, NOT_DECODED, Context, Journal, What
from understudy_devices.cards.register_log import lines
from understudy_devices.referee import kept_files
from understudy_devices.referee.events import Finding
from understudy_devices.studio import journals

pytestmark = pytest.mark.thorough

SIZE, STATUS, ENABLE = 0x08, 0x20, 0x24
# What, CPU, context, offset, value
RECORDS = [
    (What.ADDED, 0, Context.CARD, 0, 0),
    (What.LOAD, 0, Context.KERNEL, 0, 0x5A434801),
    (What.STORE, 0, Context.KERNEL, SIZE, 480 << 16 | 800),
    (What.STORE, 0, Context.KERNEL, ENABLE, 0b1001),
    (What.RAISED, 1, Context.CARD, 0, 0b0001),
    (What.LOAD, 1, Context.HARD_INTERRUPT, STATUS, 0b0001),
    (What.STORE, 1, Context.HARD_INTERRUPT, STATUS, 0b0001),
    (What.STORE, 0, Context.USER, SIZE, 1 << 31),
]


def journal(count: int) -> Journal:
    """Return the first accesses of a driver."""
    records = np.zeros(count, ACCESS)
    for number, (what, cpu, context, offset, value) in enumerate(RECORDS[:count]):
        records[number] = (
            1e9 + number, number, value, 0, offset, 71, cpu, 0, 0,
            4 if what in (What.LOAD, What.STORE) else 0, what, context, 0,
        )  # fmt: skip
    return records


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Return the folder of a run that has made four accesses."""
    run = tmp_path / "shown"
    kept_files.begin("zach1", run, ["demo"])
    (run / "demo.journal").write_bytes(journal(4).tobytes())
    return run


@pytest.fixture
def live(designer: Page, run: Path) -> Page:
    """Open the run."""
    designer.get_by_role("link", name="a card at work").click()
    designer.get_by_label("folder of a run").select_option(run.name)
    return designer


def test_a_journal_is_followed_while_it_grows(live: Page, run: Path) -> None:
    size = live.locator("[data-register=MODE_SIZE]")
    status = live.locator("[data-register=STATUS]")
    expect(live.get_by_role("status")).to_have_text("4 accesses, the VM runs", timeout=LONG)
    expect(size).to_contain_text("WIDTH=800")
    expect(live.locator("[data-register=ENABLE]")).to_contain_text("FAILED=1")
    with (run / "demo.journal").open("ab") as file:
        file.write(journal(6)[4:].tobytes())
        file.write(journal(7)[6:].tobytes()[:20])  # the last one is half-written
    expect(status).to_contain_text("DMA_DONE=1", timeout=LONG)
    (run / "demo.journal").write_bytes(journal(8).tobytes())
    expect(status).to_contain_text("DMA_DONE=0", timeout=LONG)  # 1 was written, which clears it
    expect(size).to_contain_text("WIDTH=0")
    kept_files.judge(run, "demo", [Finding("reserved bits", 7, "<b>MODE_SIZE</b>")], [], 0)
    expect(live.get_by_role("status")).to_have_text("8 accesses", timeout=LONG)
    expect(live.get_by_role("region", name="findings")).to_contain_text("<b>MODE_SIZE</b>")


def test_the_cursor_and_the_filters(live: Page, run: Path) -> None:
    (run / "demo.journal").write_bytes(journal(8).tobytes())
    kept_files.judge(run, "demo", [Finding("reserved bits", 7, "MODE_SIZE")], [], 0)
    expect(live.get_by_role("status")).to_have_text("8 accesses", timeout=LONG)
    log = live.get_by_role("list", name="accesses").get_by_role("button")
    texts = [
        line.partition("pid 71    ")[2] for line in lines(specification.load("zach1"), journal(8))
    ]
    for place, text in enumerate(texts):
        expect(log.nth(place)).to_contain_text(text.strip())
    slider = live.get_by_label("after access")
    slider.focus()
    slider.press("Home")
    expect(live.locator("[data-register=MODE_SIZE]")).to_contain_text("WIDTH=640")  # after a reset
    slider.press("ArrowRight")
    slider.press("ArrowRight")
    expect(live.locator("[data-register=MODE_SIZE]")).to_contain_text("WIDTH=800")
    expect(log.nth(2)).to_have_attribute("aria-current", "true")
    live.get_by_role("button", name="reserved bits, access 7").click()
    expect(log.nth(7)).to_have_attribute("aria-current", "true")
    expect(log.nth(7)).to_contain_text("reserved bits")
    live.get_by_label("only this register").select_option("MODE_SIZE")
    expect(live.get_by_text("2 of 8 accesses")).to_be_visible()
    live.get_by_label("only this kind").select_option("load")
    expect(live.get_by_text("0 of 8 accesses")).to_be_visible()
    live.get_by_label("only this register").select_option("all")
    live.get_by_label("only this CPU").select_option("1")
    expect(log).to_have_count(1)
    live.reload()
    expect(live.get_by_role("status")).to_have_text("8 accesses", timeout=LONG)


def test_what_does_not_reach_the_card_changes_nothing(live: Page, run: Path) -> None:
    """Neither a store while memory decoding is off, nor one to the card in another slot."""
    records = np.concatenate([journal(3), journal(8)[7:], journal(8)[2:3], journal(3)[2:]])
    records["number"] = np.arange(len(records))
    records["flags"][3] = NOT_DECODED
    records["card"][4:5] = 1
    records["value"][4] = 1 << 16 | 320
    records["flags"][5] = ABSENT
    (run / "demo.journal").write_bytes(records.tobytes())
    kept_files.judge(run, "demo", [Finding("reserved bits", 4, "MODE_SIZE")], [], 0)
    live.reload()
    size = live.locator("[data-register=MODE_SIZE]")
    log = live.get_by_role("list", name="accesses").get_by_role("button")
    expect(size).to_contain_text("WIDTH=800", timeout=LONG)
    expect(log.nth(3)).to_contain_text("(memory decoding is off, or the card sleeps)")
    expect(log.nth(4)).to_contain_text("(the card is gone)")
    expect(log).to_have_count(5)
    live.get_by_role("button", name="reserved bits, access 4").click()
    expect(size).to_contain_text("WIDTH=320")
    expect(log).to_have_count(1)
    live.get_by_label("card in slot").select_option("0")
    expect(size).to_contain_text("WIDTH=800")


def test_a_journal_that_is_longer_than_the_page_shows(live: Page) -> None:
    """Once the page is full, it waits for the findings and asks for no accesses."""
    first = [1, 0, "kernel", 71, "load", "load ID", [[0, "0xff", "0x1"]], False, 0]
    begins: list[int] = []

    def answer(route: Route) -> None:
        begins.append(int(route.request.url.partition("from=")[2]))
        size = 100_000 if begins[-1] < 300_000 else 0
        ended: list[object] | None = [] if begins.count(999_999_999) > 2 else None
        body = {"accesses": [first] * size, "written": 300_000, "missed": 0}
        route.fulfill(json=body | {"findings": ended, "notes": ended})

    live.route("**/accesses?from=*", answer)
    live.reload()
    status = live.get_by_role("status")
    expect(status).to_have_text("300000 accesses, 200000 shown", timeout=LONG)
    expect(live.get_by_text("200000 of 200000 accesses")).to_be_visible()
    assert begins[-5:] == [0, 100_000, *[999_999_999] * 3]


def test_commands_are_those_that_the_studio_starts(live: Page) -> None:
    live.get_by_label("command").select_option("test")
    live.get_by_label("driver").fill("../driver.c")
    expect(live.get_by_text("understudy card test zach1 --driver ../driver.c")).to_be_visible()
    live.get_by_role("button", name="Start").click()
    expect(live.get_by_role("alert")).to_contain_text("outside the studio's folder", timeout=LONG)
    live.get_by_label("driver").fill("none.c")
    live.get_by_role("button", name="Start").click()
    printed = live.get_by_label("what it prints")
    expect(printed).to_contain_text("none.c: No such file", timeout=LONG)
    expect(live.get_by_role("alert")).to_contain_text(
        "has no journal: choose another run", timeout=LONG
    )


def test_a_run_that_is_deleted_or_spoiled(live: Page, run: Path) -> None:
    expect(live.get_by_role("status")).to_have_text("4 accesses, the VM runs", timeout=LONG)
    (run / "demo-findings.json").write_text("{")
    expect(live.get_by_role("alert")).to_contain_text("cut off or of another form", timeout=LONG)
    for file in run.iterdir():
        file.unlink()
    live.reload()
    expect(live.get_by_role("alert")).to_contain_text("shown has no journal", timeout=LONG)


@pytest.mark.parametrize("width", [1280, 390])
def test_anyone_can_use_it(live: Page, width: int) -> None:
    expect(live.get_by_role("status")).to_contain_text("4 accesses", timeout=LONG)
    live.emulate_media(color_scheme="dark" if width < 400 else "light")
    live.set_viewport_size({"width": width, "height": 900})
    assert live.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(live).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []


# Without a browser.


def test_what_is_no_journal(run: Path, tmp_path: Path) -> None:
    assert journals.inside(tmp_path, "..", "demo.journal") is None
    assert journals.inside(tmp_path, run.name, "../x.journal") is None
    assert journals.inside(tmp_path, run.name, "x" * 5000) is None
    file = run / "demo.journal"
    file.write_bytes(b"\xff" * ACCESS.itemsize)
    with pytest.raises(RunFailed, match="no journal of this version"):
        journals.part(file, 0)
    (run / "zach1.yaml").write_text("name: [")
    with pytest.raises(RunFailed, match=r"zach1.yaml:1: "):
        journals.part(file, 0)
    (run / "zach1.yaml").unlink()
    with pytest.raises(RunFailed, match="has 0 specifications"):
        journals.part(file, 0)


def test_a_long_journal_comes_in_pieces(run: Path) -> None:
    file = run / "demo.journal"
    records = np.resize(journal(8), 2 * journals.PIECE + 1)
    file.write_bytes(records.tobytes())
    sizes = [len(journals.part(file, begin)["accesses"]) for begin in (0, 2000, 4000, 9000)]
    assert sizes == [2000, 2000, 1, 0]
    assert json.dumps(journals.every(run.parent))
