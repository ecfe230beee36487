# SPDX-License-Identifier: MIT
"""The views of a run: what they show at the cursor is what the command recorded."""

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect
from shown_page import simulated

from understudy_devices.api.predict import ask
from understudy_devices.platforms.sim import in_simulator

SCHEDULERS = ("cats", "clook", "fcfs", "sstf")
NS_PER_MS = 1e6


def records(workload: str, **given: Any) -> dict[str, pl.DataFrame]:
    """Simulate on the page's first disk; return the requests of each scheduler."""
    question = ask(
        "predict", disk="cheetah-15k4", workload=workload, schedulers=",".join(SCHEDULERS),
        on="sim", seeds=1, tunables=None, jobs=None, **given,
    )  # fmt: skip
    experiments = question.planned()["sim"]
    return {one.scheduler.name: in_simulator.run(one, lambda *_: None).requests
            for one in experiments}  # fmt: skip


@pytest.fixture(scope="module")
def recorded() -> dict[str, pl.DataFrame]:
    """Simulate what the page shows first."""
    return records("surge-direct")


def scrub(page: Page, share: float) -> float:
    """Move the slider; return the time, in ms, that it shows."""
    slider = page.get_by_label("time", exact=True)
    slider.evaluate(
        """(slider, share) => {
            slider.value = slider.max * share;
            slider.dispatchEvent(new Event("input", { bubbles: true }));
        }""",
        share,
    )
    return cursor(page)


def cursor(page: Page) -> float:
    """Return the cursor's time in ms."""
    return float(page.locator("output").inner_text().removesuffix(" ms"))


def marks(page: Page) -> list[str]:
    """Return what the time axis of the first plot says, through its SVG."""
    with page.expect_download() as download:
        page.get_by_role("button", name="SVG of head of cats").click()
    assert download.value.suggested_filename == "head-of-cats.svg"
    svg = Path(download.value.path()).read_text()
    assert svg.startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    return re.findall(r">([\d.,]+) ms<", svg)


def svg_of(page: Page, name: str) -> str:
    """Return a picture."""
    with page.expect_download() as download:
        page.get_by_role("button", name=f"SVG of {name}", exact=True).click()
    return Path(download.value.path()).read_text()


def plots(page: Page) -> Locator:
    """Return the group of plots, which takes keys."""
    return page.get_by_role("group", name="Plots against time")


def at(frame: pl.DataFrame, time_ns: float) -> dict[str, Any]:
    """Return what the command's records say of a time."""
    column = pl.col
    served = frame.filter((column("dispatch_ns") <= time_ns) & (column("completion_ns") > time_ns))
    waiting = frame.filter((column("arrival_ns") <= time_ns) & (column("dispatch_ns") > time_ns))
    moved = frame.filter(~column("hit") & (column("dispatch_ns") <= time_ns)).sort("dispatch_ns")
    last = moved.row(-1, named=True)
    done = last["completion_ns"] <= time_ns
    return {
        "waiting": waiting.height,
        "served": served.row(0, named=True) if served.height else None,
        "head": last["sector"] + (last["sectors"] if done else 0),
    }


def test_the_cursor_shows_what_the_command_recorded(
    page: Page, recorded: dict[str, pl.DataFrame]
) -> None:
    """Head, queue, request in service, and why it was picked; at several times."""
    simulated(page)
    reasons = {"order": "it is next in the scheduler's order", "hit": "in the disk's cache",
               "table": "it is first of the optimal order", "expired": "its deadline was exceeded",
               "waited": "the scheduler had waited for it"}  # fmt: skip
    seen = set()
    for share in (0.05, 0.2, 0.45, 0.6, 0.75):
        scrub(page, share)
        slider = page.get_by_label("time", exact=True)
        time_ns = float(slider.input_value()) * NS_PER_MS
        for scheduler in SCHEDULERS:
            if time_ns > recorded[scheduler]["completion_ns"].max():  # type: ignore[operator]
                continue
            expected = at(recorded[scheduler], time_ns)
            text = page.get_by_label(f"{scheduler} at the cursor").inner_text()
            assert f"head at {expected['head']:,};" in text
            assert f" {expected['waiting']} waiting;" in text
            served = expected["served"]
            if served is None:
                assert "nothing in service" in text
                continue
            waited = (served["dispatch_ns"] - served["arrival_ns"]) / NS_PER_MS
            assert f"{served['op']} of process {served['owner']}, " in text
            assert f"{served['sectors']} sectors at {served['sector']:,}" in text
            assert f"waited {waited:.2f} ms" in text
            assert reasons[served["reason"]] in text
            seen.add(served["reason"])
    assert len(seen) > 1


def test_play_and_pause(page: Page) -> None:
    """The cursor moves while it plays, with the chosen speed, and stays when it is paused."""
    simulated(page)
    page.get_by_label("speed").select_option("1,000 ms per second")
    page.get_by_role("button", name="Play").click()
    expect(page.locator("output")).to_have_text(re.compile(r"^([5-9]\d|\d{3,})\."))
    page.get_by_role("button", name="Pause").click()
    stopped = cursor(page)
    page.wait_for_timeout(100)
    assert cursor(page) == stopped > 50
    scrub(page, 1)
    page.get_by_label("speed").select_option("100,000 ms per second")
    page.get_by_role("button", name="Play").click()  # from the start, after the end
    expect(page.get_by_role("button", name="Play")).to_be_visible()  # it ends by itself


def test_all_by_keyboard(page: Page) -> None:
    """Cursor, pan, zoom, play."""
    simulated(page)
    plots(page).focus()
    first = marks(page)
    plots(page).focus()
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("ArrowRight")
    moved = cursor(page)
    page.keyboard.press("ArrowLeft")
    assert 0 < cursor(page) < moved
    page.keyboard.press("+")
    assert marks(page) != first
    plots(page).focus()
    page.keyboard.press("-")
    assert marks(page) == first
    plots(page).focus()
    page.keyboard.press("PageDown")
    assert marks(page)[0] != "0"
    plots(page).focus()
    page.keyboard.press("End")
    last = cursor(page)
    page.keyboard.press("Home")
    assert cursor(page) == 0
    page.keyboard.press("0")
    assert float(marks(page)[-1].replace(",", "")) > 0.8 * last
    plots(page).focus()
    page.keyboard.press(" ")
    page.get_by_role("button", name="Pause").press("Enter")
    expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_all_by_mouse(page: Page) -> None:
    """Click, drag, Ctrl and the wheel, and the buttons."""
    simulated(page)
    first = marks(page)
    plot = page.locator("figure .catch").first
    plot.click(position={"x": 300, "y": 50})
    assert cursor(page) > 0
    box = plot.bounding_box()
    assert box
    page.mouse.move(box["x"] + 500, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + 200, box["y"] + 50, steps=3)
    page.mouse.up()
    dragged = marks(page)
    assert dragged[0] != "0"
    page.mouse.move(box["x"] + 200, box["y"] + 50)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -300)
    page.keyboard.up("Control")
    assert marks(page) != dragged
    for name in ("earlier", "zoom in", "zoom out", "later"):
        before = marks(page)
        page.get_by_role("button", name=name).click()
        assert marks(page) != before, name
    page.get_by_role("button", name="all", exact=True).click()
    assert marks(page)[0] == "0" != first[-1]


def test_single_requests_are_shown_when_there_are_few(page: Page) -> None:
    """The time lines name their processes; all requests are too many."""
    simulated(page)
    expect(page.get_by_text("more processes are not shown")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="SVG of requests of cats").click()
    svg = Path(download.value.path()).read_text()
    assert [f"process {i}" for i in range(24)] == re.findall(r"process \d+", svg)
    page.get_by_role("button", name="all", exact=True).click()
    expect(page.get_by_text("zoom in to see single ones")).to_be_visible()


def test_pictures_are_saved(page: Page) -> None:
    """A PNG has twice the pixels of its place."""
    simulated(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="PNG of queue of sstf").click()
    assert download.value.suggested_filename == "queue-of-sstf.png"
    content = Path(download.value.path()).read_bytes()
    assert content.startswith(b"\x89PNG")
    width = page.locator("figure canvas").first.evaluate("canvas => canvas.clientWidth")
    assert int.from_bytes(content[16:20], "big") == 2 * width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_anyone_can_use_the_views_while_they_play(page: Page, scheme: str) -> None:
    """No finding of axe-core at another time than the beginning, either."""
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    simulated(page)
    scrub(page, 0.5)
    page.get_by_role("button", name="Play").click()
    findings = Axe().run(page)
    assert findings.violations_count == 0, findings.generate_report()


def by_request(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the requests with their process, and their number among those of the process."""
    numbered = frame.with_columns(number=pl.int_range(pl.len()).over("owner"))
    return numbered.with_columns(response=pl.col("completion_ns") - pl.col("arrival_ns"))


@pytest.mark.parametrize(("first", "second"), [("clook", "fcfs"), ("sstf", "cats")])
def test_two_schedulers_are_compared_request_by_request(
    page: Page, recorded: dict[str, pl.DataFrame], first: str, second: str
) -> None:
    """How many are answered sooner, and which pick is the first that differs."""
    simulated(page)
    page.get_by_label("compare", exact=True).select_option(first)
    page.get_by_label("with", exact=True).select_option(second)
    one, two = (by_request(recorded[name]) for name in (first, second))
    both = one.join(two, on=["owner", "number", "sector"], suffix="_two")
    gain = both["response_two"] - both["response"]
    picks = [
        frame.sort("dispatch_ns", maintain_order=True).select("owner", "number").rows()
        for frame in (one, two)
    ]
    differs = next(i for i, (mine, other) in enumerate(zip(*picks, strict=True)) if mine != other)
    expected = (
        f"{both.height:,} requests are in both runs: {(gain > 0).sum():,} are answered sooner with "
        f"{first}, {(gain < 0).sum():,} with {second}. The first {differs:,} picks are the same; "
        f"pick {differs + 1:,} differs."
    )
    expect(page.get_by_label("Comparison")).to_contain_text(expected)
    expect(page.get_by_text(f"pick {differs + 1}, differs")).to_be_visible()
    page.get_by_role("button", name="Go there").click()
    at_ns = one.sort("dispatch_ns", maintain_order=True)["dispatch_ns"][differs]
    assert cursor(page) == pytest.approx(at_ns / NS_PER_MS, abs=0.01)


def test_one_scheduler_is_compared_with_itself(page: Page) -> None:
    """Nothing differs."""
    simulated(page)
    page.get_by_label("with", exact=True).select_option("cats")
    text = (
        "are answered sooner with cats, 0 with cats. Both pick the same requests in the same order"
    )
    expect(page.get_by_label("Comparison")).to_contain_text(text)


def test_the_distributions_have_the_command_s_quantiles(
    page: Page, recorded: dict[str, pl.DataFrame]
) -> None:
    """p50 to p99.9 by nearest rank, as in the command's table."""
    simulated(page)
    for scheduler, frame in recorded.items():
        response = (frame["completion_ns"] - frame["arrival_ns"]).sort()
        ranks = [(p, -(-frame.height * p // 1000) - 1) for p in (500, 950, 990, 999)]
        words = ", ".join(f"p{p / 10:g} {response[at] / NS_PER_MS:.2f} ms" for p, at in ranks)
        picture = page.get_by_label(f"Distribution of response times of {scheduler}")
        expect(picture.locator("xpath=../../..")).to_contain_text(words)


def test_a_run_of_one_scheduler_and_one_request_is_shown(page: Page) -> None:
    """Nothing to compare, and hardly anything to draw."""
    simulated(page)
    for scheduler in SCHEDULERS[1:]:
        page.get_by_role("checkbox", name=scheduler).uncheck()
    page.get_by_label("requests").fill("1")
    expect(page.get_by_label("cats at the cursor")).to_contain_text("0.00 ms: head at")
    expect(page.get_by_label("Comparison")).to_have_count(0)
    expect(page.get_by_text(", p99.9 ")).to_have_count(1)


def test_cache_segments_as_they_fill(page: Page) -> None:
    """Each read from the medium fills a segment; the text agrees with the command's records."""
    simulated(page)
    page.get_by_label("workload").select_option("sequential")
    page.get_by_label("requests").fill("400")
    simulated(page)
    page.get_by_text("The disk's cache", exact=True).click()
    scrub(page, 0)
    assert "1 of 64 segments, of 221 sectors, are in use" in svg_of(page, "cache under fcfs")
    for share in (0.1, 0.5, 1):
        scrub(page, share)
        svg = svg_of(page, "cache under fcfs")
        (held,) = map(int, re.findall(r">(\d+) of 64 segments", svg))
        hits, reads = map(int, re.findall(r">(\d+) of (\d+) reads", svg)[0])
        assert 0 < held <= min(64, reads - hits)
    rows = records("sequential", requests=400)["fcfs"]
    of_reads = rows.filter(pl.col("op") == "read")["hit"]
    assert (hits, reads) == (of_reads.sum(), len(of_reads))
    page.get_by_label("disk", exact=True).select_option("atlas-10k")
    simulated(page)
    expect(page.get_by_text("The disk's cache", exact=True)).to_have_count(0)


@pytest.mark.parametrize(
    ("workload", "disk", "field", "value", "zones"),
    [
        ("random", "vesper-zoned", "processes", "3", True),
        ("surge-buffered", "cheetah-9lp", "processes", "5", True),
        ("random", "detailed-10k", "queue depth", "8", True),
        ("poisson", "array-32", "rate", "50", False),
    ],
)
def test_every_kind_of_disk_is_drawn(
    page: Page, workload: str, disk: str, field: str, value: str, zones: bool
) -> None:
    """Curves, zones in tracks, a queue in the drive, and an array, which has no head."""
    simulated(page)
    page.get_by_label("requests").fill("500")
    page.get_by_label("workload").select_option(workload)
    page.get_by_label("disk", exact=True).select_option(disk)
    page.get_by_label(field).fill(value)
    simulated(page)
    service = page.get_by_label("Service time of fcfs against distance")
    expect(page.get_by_label("How fast sectors pass")).to_have_count(int(zones))
    if not zones:
        expect(service).to_have_count(0)
        return
    dots = service.evaluate(
        """async canvas => {
            canvas.scrollIntoView();
            const context = canvas.getContext("2d");
            const colours = () => {
                const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
                return new Set(new Uint32Array(data.buffer)).size;
            };
            while (colours() < 4) await new Promise(requestAnimationFrame);
            return colours();
        }"""
    )
    assert dots >= 4  # background, dots, model, text
    page.get_by_text("The disk from above").click()
    scrub(page, 0)
    before = svg_of(page, "platter under fcfs")
    scrub(page, 0.5)
    assert svg_of(page, "platter under fcfs") != before
    findings = Axe().run(page)
    assert findings.violations_count == 0, findings.generate_report()
