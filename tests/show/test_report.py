# SPDX-License-Identifier: MIT
"""report.html: complete, well-formed, and readable without a network."""

import re
from collections.abc import Iterable
from html.parser import HTMLParser

import pytest
from sample_runs import experiment, outcome

from understudy_devices.ask import schedulers
from understudy_devices.campaign.result import Result
from understudy_devices.show import inline, report
from understudy_devices.show.consolidated import table as consolidated
from understudy_devices.show.placed import table as placed

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


def test_nothing_is_fetched(html: str) -> None:
    assert not re.search(r"https?:|//[a-z]|@import|url\((?!#)", html)
    for tag, attributes in Page(html).tags:
        assert tag not in ("script", "link", "img", "iframe")
        for name in ("src", "href", "xlink:href"):
            assert (attributes.get(name) or "#").startswith("#")


def test_every_scheduler_is_in_the_table_and_in_both_figures(html: str) -> None:
    page = Page(html)
    assert [tag for tag, _ in page.tags].count("svg") == 2
    for name in SCHEDULERS:
        assert f"<th>{name}</th>" in html
        assert len(re.findall(rf">{name}</text>", html)) == 2


def test_many_schedulers_are_ranked_and_have_a_frame_each() -> None:
    """There are more schedulers than colours, and still all curves in a frame look different."""
    ours = schedulers.core()
    assert len(ours) > len(inline.COLOURS)
    page = rendered(schedulers=ours)
    Page(page)
    for name in ours:
        assert f"<tr><td>{name}</td>" in page
        assert len(re.findall(rf">{name}</text>", page)) == 2
    assert page.index("<tr><td>cats</td>") < page.index("<tr><td>sstf</td>")


def test_ids_are_unique_and_references_resolve(html: str) -> None:
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'(?:url\(|href=")#([^)"]+)', html)) <= set(ids)


def test_drawings_take_the_pages_colour(html: str) -> None:
    assert "currentColor" in html
    assert "#010203" not in html
    assert "prefers-color-scheme: dark" in html


def test_inputs_environment_and_qemu_lines_are_there(html: str) -> None:
    text = Page(html).text
    for words in ("disk.model.intercept_ms", "4.25", "virtual_bytes", "for mean response pick"):
        assert words in text
    assert "qemu-system-x86_64 -append 'console=ttyS0 quiet'" in text


def test_what_people_type_is_escaped() -> None:
    html = rendered("understudy predict --out '<script>'")
    assert "<script>" not in html
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


def test_on_a_phone_figures_and_lines_are_as_wide_as_they_need(html: str) -> None:
    """Wide figures and long lines scroll in their own boxes; a value is below its name."""
    (narrow,) = re.findall(r"@media \(max-width: 40rem\) \{(.*?)\n\}", html, re.DOTALL)
    rules = {key.strip(): value for key, value in re.findall(r"([^{}]+)\{([^{}]*)\}", narrow)}
    assert "width: 46rem" in rules[".wide svg"]
    assert "display: block" in rules[".inputs :is(table, tbody, tr, td)"]
    assert "overflow-x: auto" in rules["pre"]
    assert html.count("<svg") == html.count('<div class="wide"><svg')


@pytest.mark.parametrize("headings", [consolidated.HEADINGS, consolidated.LESS, placed.VM])
def test_times_have_their_unit_in_the_heading(headings: tuple[str, ...]) -> None:
    times = {"alone", "p95", "together", "95 %", "at most", "target"}
    assert not times & set(headings)
    assert times & {each.partition("\n")[0] for each in headings}
