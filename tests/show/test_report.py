# SPDX-License-Identifier: MIT
"""report.html: complete, well-formed, and readable without a network."""

import gzip
import json
import re
from base64 import b64decode, b64encode
from collections.abc import Iterable
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from sample_runs import experiment, outcome

from understudy_devices.ask import schedulers
from understudy_devices.campaign.result import Result
from understudy_devices.show import report
from understudy_devices.show.consolidated import table as consolidated
from understudy_devices.show.placed import table as placed
from understudy_devices.show.report import pictures

pytestmark = pytest.mark.thorough

VOID = {"meta", "link", "br", "img", "input", "hr"}
SCHEDULERS = ("cats", "mq-deadline", "bfq", "none")


class Page(HTMLParser):
    """A parser that checks that tags nest, and collects tags and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes another tag"

    def handle_data(self, data: str) -> None:
        self.text += data


def rendered(command: str = "understudy predict", schedulers: Iterable[str] = SCHEDULERS) -> str:
    """Return a report with one run of each scheduler."""
    runs = [outcome(experiment(scheduler=name)) for name in schedulers]
    return report.render(Result(command, tuple(runs)))


@pytest.fixture(scope="module")
def html() -> str:
    """Return the report that most tests look at."""
    return rendered()


def outside_of_scripts(html: str) -> str:
    return re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)


def test_nothing_is_fetched(html: str) -> None:
    """Nothing but the report's own script may run, and no script may ask for anything."""
    assert not re.search(r"https?:|//[a-z]|@import|url\((?!#)", outside_of_scripts(html))
    for tag, attributes in Page(html).tags:
        assert tag not in ("link", "img", "iframe")
        for name in ("src", "href", "xlink:href"):
            assert (attributes.get(name) or "#").startswith("#")
    (script,) = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    policies = [
        attributes["content"]
        for tag, attributes in Page(html).tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policies == [
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    ]


def test_every_scheduler_is_in_the_table_and_in_the_views(html: str) -> None:
    assert [run["name"] for run in views_in(html)["runs"]] == list(SCHEDULERS)
    for name in SCHEDULERS:
        assert f"<th>{name}</th>" in html


def views_in(html: str) -> dict[str, Any]:
    """Return the header of the runs in a report."""
    (text,) = re.findall(r'<script [^>]*id="runs">(.*?)</script>', html, re.DOTALL)
    packed = gzip.decompress(b64decode(text))
    header: dict[str, Any] = json.loads(packed[4 : 4 + int.from_bytes(packed[:4], "little")])
    return header


def test_few_requests_of_long_runs_are_in_a_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """The report says so; the quantiles are those of all."""
    monkeypatch.setattr(pictures, "REQUESTS", 400)
    runs = [
        outcome(experiment(scheduler=name, seed=seed)) for name in SCHEDULERS for seed in (5, 6)
    ]
    html = report.render(Result("x", tuple(runs)))
    assert (
        "Runs with seed 5, the first 100 requests of each; distributions of response times are of "
        "all seeds. requests.parquet has every request."
    ) in html
    for run in views_in(html)["runs"]:
        assert run["requests"] == 200
        assert run["columns"]["sector"][2] == 100
        assert run["responses"][2] == 400


def test_without_the_built_views_a_report_says_how_to_get_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(pictures, "views_file", lambda: tmp_path / "views.json")
    html = rendered()
    assert "the views are not built here: run make setup" in html
    assert "<script" not in html
    assert all(f"<th>{name}</th>" in html for name in SCHEDULERS)


def test_many_schedulers_are_ranked() -> None:
    ours = schedulers.core()
    page = rendered(schedulers=ours)
    Page(page)
    for name in ours:
        assert f"<tr><td>{name}</td>" in page
    assert page.index("<tr><td>cats</td>") < page.index("<tr><td>sstf</td>")


def test_inputs_environment_and_qemu_lines_are_there(html: str) -> None:
    text = Page(html).text
    for words in ("disk.model.intercept_ms", "4.25", "virtual_bytes", "for mean response pick"):
        assert words in text
    assert "qemu-system-x86_64 -append 'console=ttyS0 quiet'" in text


def test_what_people_type_is_escaped() -> None:
    html = rendered("understudy predict --out '<script>'")
    assert "<script>" not in outside_of_scripts(html)
    assert "&lt;script&gt;" in html


def test_the_same_run_gives_the_same_page(html: str) -> None:
    assert rendered() == html


def test_a_reproduction_shows_the_papers_columns() -> None:
    names = ("cats", "mq-deadline", "cfq")
    runs = [outcome(experiment(scheduler=name, seed=seed)) for name in names for seed in (1, 2)]
    text = Page(report.render(Result("x", tuple(runs)))).text
    for words in ("839,270.49 (3)", "6,961.50 (2)", "deadline (mq-deadline)", "95", "±"):
        assert words in text


def test_the_ranked_table_has_the_tail_and_units() -> None:
    """There are more schedulers than the table has room for columns."""
    page = rendered(schedulers=schedulers.core())
    (ranked,) = re.findall(r'<table class="ranked">.*?</table>', page, re.DOTALL)
    headings = [" ".join(each.split()) for each in re.findall("<th>(.*?)</th>", ranked, re.DOTALL)]
    assert "p99.9 response (ms)" in headings
    assert all(re.search(r"\((ms|sectors/ms)\)$", each) for each in headings if each)


def test_on_a_phone_lines_are_as_wide_as_they_need(html: str) -> None:
    """Long lines scroll in their own boxes; a value is below its name."""
    (narrow,) = re.findall(r"@media \(max-width: 40rem\) \{(.*?)\n\}", html, re.DOTALL)
    rules = {key.strip(): value for key, value in re.findall(r"([^{}]+)\{([^{}]*)\}", narrow)}
    assert "display: block" in rules[".inputs :is(table, tbody, tr, td)"]
    assert "overflow-x: auto" in rules["pre"]


@pytest.mark.parametrize("headings", [consolidated.HEADINGS, consolidated.LESS, placed.VM])
def test_times_have_their_unit_in_the_heading(headings: tuple[str, ...]) -> None:
    times = {"alone", "p95", "together", "95 %", "at most", "target"}
    assert not times & set(headings)
    assert times & {each.partition("\n")[0] for each in headings}
