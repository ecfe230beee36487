# SPDX-License-Identifier: MIT
"""The page with the simulator, in a real browser: it has the command's figures."""

import gzip
import shlex

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, Response, expect
from shown_page import simulated

from understudy_devices.api.predict import ask
from understudy_devices.measure.metrics import Summary
from understudy_devices.platforms.sim import in_simulator


def by_command(command: str) -> dict[str, Summary]:
    """Run the command that the page shows."""
    words = shlex.split(command)
    assert words[:2] == ["understudy", "predict"]
    options = {
        name.removeprefix("--").replace("-", "_"): value
        for name, value in zip(words[2::2], words[3::2], strict=True)
    }
    question = ask(
        "predict",
        **{"disk": "cheetah-15k4", "workload": "surge-direct"} | options,
        on="sim",
        seeds=1,
        tunables=None,
        jobs=None,
    )
    experiments = question.planned()["sim"]
    return {one.scheduler.name: in_simulator.summarise(one, lambda *_: None) for one in experiments}


def check(page: Page) -> None:
    """The page's table has the figures of the command that it shows, to four digits."""
    cells = simulated(page)
    expected = by_command(page.locator(".command code").inner_text())
    assert list(cells) == list(expected)
    for scheduler, summary in expected.items():
        figures = [float(text.replace(",", "")) for text in cells[scheduler]]
        assert figures[:5] == pytest.approx(
            [
                summary.mean_service_ms,
                summary.var_service_ms2,
                summary.mean_response_ms,
                summary.var_response_ms2,
                summary.throughput_sectors_per_ms,
            ],
            rel=5e-4,
        )


def test_the_first_view_has_figures_and_pictures(page: Page) -> None:
    """Nothing has to be pressed."""
    check(page)
    expect(page.locator("figure canvas")).to_have_count(29)


def test_each_choice_changes_the_command_and_the_figures(page: Page) -> None:
    """Workload, disk, schedulers and options, one after the other."""
    simulated(page)
    page.get_by_label("workload").select_option("random")
    page.get_by_label("disk", exact=True).select_option("hp-c3323a")
    page.get_by_role("checkbox", name="sstf").uncheck()
    page.get_by_role("checkbox", name="sptf").check()
    page.get_by_label("processes").fill("12")
    page.get_by_label("writes").fill("30")
    page.get_by_label("requests").fill("2000")
    page.get_by_role("button", name="Run").click()
    assert page.locator(".command code").inner_text() == (
        "understudy predict --workload random --disk hp-c3323a --schedulers cats,clook,fcfs,sptf "
        "--processes 12 --writes 30 --requests 2000"
    )
    check(page)


def test_policies_of_a_page_cache_are_chosen_by_name(page: Page) -> None:
    """A choice that is the default's is not in the command."""
    simulated(page)
    page.get_by_label("requests").fill("500")
    page.get_by_label("workload").select_option("surge-buffered")
    expect(page.get_by_label("prefetch")).to_contain_text("doubling")
    page.get_by_label("prefetch").select_option("amp")
    page.get_by_label("replacement").select_option("2q")
    page.get_by_label("replacement").select_option("lru")
    page.get_by_label("replacement").select_option("clock")
    page.get_by_role("button", name="Run").click()
    assert page.locator(".command code").inner_text() == (
        "understudy predict --workload surge-buffered --schedulers cats,clook,fcfs,sstf "
        "--prefetch amp --replacement clock --requests 500"
    )
    check(page)
    page.get_by_label("workload").select_option("concurrent-read")
    assert simulated(page)["fcfs"][0].startswith("--prefetch: amp may prefetch nothing")


def test_a_question_that_cannot_be_simulated_is_answered_in_words(page: Page) -> None:
    """An open workload without a rate; then one that is too fast."""
    page.get_by_label("workload").select_option("poisson")
    assert simulated(page)["fcfs"] == ["--workload: poisson needs --rate"]
    page.get_by_label("rate").fill("100000")
    page.get_by_role("button", name="Run").click()
    expect(page.locator("tbody tr").first).to_contain_text("unstable")


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("requests", "0", "--requests: 0 is outside 1 to 100000000"),
        ("processes", "1.5", "--processes: 1.5 is not a whole number"),
        ("seed", str(2**60), "--seed: 1152921504606847000 is too large for the page"),
        ("gap us", "-1", "--gap-us: -1 is outside 0 to"),
    ],
)
def test_a_wrong_value_is_refused_in_words(page: Page, field: str, value: str, words: str) -> None:
    """Each scheduler's row has the reason; the field is marked."""
    simulated(page)
    page.get_by_label(field).fill(value)
    expect(page.locator("tbody tr").first).to_contain_text(words)
    expect(page.get_by_label(field)).to_have_attribute("aria-invalid", "true")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_anyone_can_use_it(page: Page, width: int, scheme: str) -> None:
    """No finding of axe-core; no scrolling sideways."""
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.set_viewport_size({"width": width, "height": 900})
    simulated(page)
    findings = Axe().run(page)
    assert findings.violations_count == 0, findings.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_command_can_be_copied(page: Page) -> None:
    """Where the browser refuses to copy it, it is selected."""
    simulated(page)
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(Error()); }")
    page.get_by_role("button", name="Copy").click()
    words = page.locator(".command code").inner_text()
    page.wait_for_function("words => getSelection().toString() === words", arg=words)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("() => { delete navigator.clipboard.writeText; }")
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == words


def test_a_missing_file_is_named(browser: Browser, address: str) -> None:
    """Half of the page was copied to the server."""
    page = browser.new_page()
    page.route("**/simulator.wasm", lambda route: route.fulfill(status=404))
    page.goto(address)
    expect(page.get_by_role("alert")).to_contain_text("data/simulator.wasm: 404")
    page.close()


def test_the_first_view_is_small(browser: Browser, address: str) -> None:
    """All files that the first view loads, compressed, are under 300 kB."""
    page = browser.new_page()
    files: list[Response] = []
    page.on("response", lambda response: files.append(response))
    page.goto(address)
    simulated(page)
    sizes = {file.url: len(gzip.compress(file.body(), 9)) for file in files if file.ok}
    page.close()
    assert len(sizes) >= 6
    assert sum(sizes.values()) < 300_000, sizes
