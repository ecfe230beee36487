# SPDX-License-Identifier: MIT
"""report.html in a real browser: one file with its data inside, from a file:// address."""

import re
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from browser_page import LONG
from playwright.sync_api import Browser, expect
from sample_runs import experiment, outcome

from understudy_devices.campaign.result import Result
from understudy_devices.measure.metrics import percentile, response_times_ms
from understudy_devices.show import report

pytestmark = pytest.mark.thorough

SCHEDULERS = ("cats", "bfq", "none", "mq-deadline", "kyber")
SEEDS = (1, 2)


@pytest.fixture(scope="module")
def answer() -> Result:
    """Return runs that a report shows, in the time of a slower disk."""
    runs = [
        outcome(experiment(scheduler=name, seed=seed, scale=4))
        for name in SCHEDULERS
        for seed in SEEDS
    ]
    return Result("understudy predict", tuple(runs))


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_a_report_is_one_file(
    browser: Browser,
    answer: Result,
    tmp_path: Path,
    scheme: Literal["light", "dark"],
    width: int,
) -> None:
    """It asks for nothing, breaks none of its own rules, and shows what was recorded."""
    (tmp_path / "report.html").write_text(report.render(answer))
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
    )
    page = context.new_page()
    page.set_default_timeout(LONG)
    asked: list[str] = []
    errors: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: errors.append(message.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((tmp_path / "report.html").as_uri())
    for name in SCHEDULERS[:4]:
        expect(page.get_by_label(f"{name} at the cursor")).to_be_visible()
    page.get_by_role("checkbox", name="cats").uncheck()
    page.get_by_role("checkbox", name="kyber").check()
    expect(page.get_by_label("kyber at the cursor")).to_be_visible()
    expect(page.get_by_label("cats at the cursor")).to_have_count(0)
    for name in SCHEDULERS[1:]:
        times = [
            time
            for run in answer.outcomes
            if run.experiment.scheduler.name == name
            for time in response_times_ms(run)
        ]
        p95 = percentile(np.array(times), 95)
        picture = page.get_by_label(f"Distribution of response times of {name}")
        expect(picture.locator("xpath=../../..")).to_contain_text(f"p95 {p95:.2f} ms")
    with page.expect_download() as download:
        page.get_by_role("button", name="SVG of head of bfq").click()
    assert re.match(r"<svg xmlns", Path(download.value.path()).read_text())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    context.close()
    assert errors == []
    assert [url for url in asked if not url.startswith(("file:", "blob:"))] == []
