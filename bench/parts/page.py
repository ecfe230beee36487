# SPDX-License-Identifier: MIT
"""How fast the page simulates and draws, in a browser."""

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from bench.part import Column, Rows
from understudy_devices.base.errors import RunFailed
from understudy_devices.base.paths import ROOT
from understudy_devices.native import registry

TITLE = "How fast the page draws"
TEXT = """
`make studio` builds the page. The benchmark opens the page in Debian's Chromium without a screen,
which draws in software, 1280 pixels wide, and simulates 50 processes with random requests on
cheetah-15k4. A run opens from the press of the button to the first picture of the last scheduler.
Then the benchmark presses keys in each frame: to pan through the run, at a quarter of its length;
and to zoom from the whole run into it and back. A browser draws at most 60 frames a second; the
pictures that are seen are drawn in each frame. CPU is the time of the page's own thread in a frame,
which other work on the machine does not lengthen as it does the frames.

{{ page }}

`understudy studio` opens a run folder from the press of its name to the first picture. The folder
is of one scheduler, clook.

{{ folders }}
"""
TABLES = {
    "page": (
        Column("requests", "{requests:,}"),
        Column("schedulers", "{schedulers}"),
        Column("opens (s)", "{opens_s:.2f}"),
        Column("pan (frames/s)", "{pan:.0f}"),
        Column("CPU (ms/frame)", "{pan_cpu_ms:.1f}"),
        Column("zoom (frames/s)", "{zoom:.0f}"),
        Column("CPU (ms/frame)", "{zoom_cpu_ms:.1f}"),
    ),
    "folders": (Column("requests", "{requests:,}"), Column("opens (s)", "{opens_s:.2f}")),
}
SIZES = {
    "full": {"requests": [5000, 100_000, 1_000_000], "seconds": 5.0},
    "quick": {"requests": [5000, 1_000_000], "seconds": 2.0},
    "tiny": {"requests": [100], "seconds": 0.1},
}
IN_VM = False
UNDERSTUDY = [sys.executable, "-m", "understudy_devices"]

CHROMIUM = "/usr/bin/chromium"
WAIT_MS = 120_000
MOST = 5_000_000  # requests in one page
PAGE = ROOT / "build" / "studio"
SCHEDULERS = (["clook"], ["cats", "clook", "fcfs", "sstf"], registry.ours())
OPEN = """async ([pressed, isDone]) => {
    const button = (name) =>
        [...document.querySelectorAll("button")].find((each) => each.textContent.trim() === name);
    const frame = () => new Promise(requestAnimationFrame);
    const done = {
        "no Cancel": () => !button("Cancel"),
        cursor: () => document.querySelector('[aria-label$=" at the cursor"]'),
    }[isDone];
    const began = performance.now();
    button(pressed).click();
    do await frame(); while (!done());
    await frame();
    return (performance.now() - began) / 1000;
}"""
FRAMES = """async ([keys, seconds]) => {
    const plots = document.querySelector('[aria-label="Plots against time"]');
    const frame = () => new Promise(requestAnimationFrame);
    const press = (key) =>
        plots.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    await frame();
    const began = performance.now();
    let frames = 0;
    let last = began;
    for (; last - began < 1000 * seconds; last = performance.now()) {
        press(keys[frames++ % keys.length]);
        await frame();
    }
    return [frames, (last - began) / 1000];
}"""
PAN = [*["PageDown"] * 6, *["PageUp"] * 6]
ZOOM = [*["+"] * 10, *["-"] * 10]


class _Quiet(SimpleHTTPRequestHandler):
    extensions_map = SimpleHTTPRequestHandler.extensions_map | {".wasm": "application/wasm"}

    def log_message(self, format: str, *values: Any) -> None:
        """Print nothing."""


def measure(requests: list[int], seconds: float) -> Rows:
    """Yield a row for each number of requests and of schedulers."""
    if not Path(CHROMIUM).exists():
        raise RunFailed("no Chromium: apt-get install chromium")
    command = [sys.executable, str(ROOT / "web/build.py"), str(PAGE)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with sync_playwright() as playwright, TemporaryDirectory(dir="/var/tmp") as runs:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        with _served(PAGE) as address:
            for number, schedulers in product(requests, SCHEDULERS):
                if number * len(schedulers) <= MOST:
                    page = _opened(browser, address)
                    yield "page", _measured(page, number, schedulers, seconds)
                    page.close()
        for number in requests:
            run = [*UNDERSTUDY, "predict", "--workload", "random", "--schedulers", "clook"]
            options = ["--requests", str(number), "--out", f"{runs}/{number}"]
            subprocess.run([*run, *options], check=True, capture_output=True)
        with _studio(runs) as link:
            for number in requests:
                page = _opened(browser, link)
                page.get_by_role("button", name=str(number), exact=True).wait_for()
                opens_s = page.evaluate(OPEN, [str(number), "cursor"])
                yield "folders", {"requests": number, "opens_s": opens_s}
                page.close()
        browser.close()


def _opened(browser: Browser, address: str) -> Page:
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(WAIT_MS)
    page.goto(address)
    return page


@contextmanager
def _studio(folder: str) -> Iterator[str]:
    words = [*UNDERSTUDY, "studio", folder]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as studio:
        assert studio.stdout
        try:
            yield studio.stdout.readline().decode().strip()
        finally:
            studio.send_signal(signal.SIGINT)


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    handler = partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def _measured(page: Page, requests: int, schedulers: list[str], seconds: float) -> dict[str, Any]:
    page.get_by_label("workload").select_option("random")
    page.get_by_role("spinbutton", name="processes").fill("50")
    page.get_by_role("spinbutton", name="requests").fill(str(requests))
    for box in page.locator("label.scheduler input").all():
        box.set_checked((box.get_attribute("value") or "") in schedulers)
    page.get_by_role("button", name="Cancel").wait_for(state="detached")
    opens_s = page.evaluate(OPEN, ["Run", "no Cancel"])
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def frames(keys: list[str]) -> tuple[float, float]:
        """Return frames a second, and CPU ms a frame."""
        before_s = _cpu_s(session)
        count, took_s = page.evaluate(FRAMES, [keys, seconds])
        return count / took_s, 1000 * (_cpu_s(session) - before_s) / count

    plots = page.get_by_role("group", name="Plots against time")
    for key in ("0", "+", "+"):
        plots.press(key)
    pan, pan_cpu_ms = frames(PAN)
    plots.press("0")
    zoom, zoom_cpu_ms = frames(ZOOM)
    return {
        "requests": requests,
        "schedulers": len(schedulers),
        "opens_s": opens_s,
        "pan": pan,
        "pan_cpu_ms": pan_cpu_ms,
        "zoom": zoom,
        "zoom_cpu_ms": zoom_cpu_ms,
    }


def _cpu_s(session: CDPSession) -> float:
    """Return the CPU time of the page's thread."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return float(next(one["value"] for one in metrics if one["name"] == "TaskDuration"))
