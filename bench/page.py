# SPDX-License-Identifier: MIT
"""docs/benchmarks.md: the text of each benchmark, with the tables of its last results."""

from collections.abc import Mapping, Sequence
from typing import Any

import jinja2

from bench import results
from bench.part import Column, Part, Row
from bench.results import Result
from understudy_devices.base.paths import ROOT

FILE = ROOT / "docs" / "benchmarks.md"
TEMPLATE = ROOT / "bench" / "page.md.j2"
ENVIRONMENT = jinja2.Environment(  # makes Markdown from the project's own files
    undefined=jinja2.StrictUndefined, autoescape=False, keep_trailing_newline=True
)


def write(parts: Mapping[str, Part]) -> None:
    """Write docs/benchmarks.md from the stored results."""
    FILE.write_text(render(parts), encoding="utf-8")


def render(parts: Mapping[str, Part]) -> str:
    """Return the page's text."""
    measured = [(part, results.read(name)) for name, part in parts.items()]
    page = ENVIRONMENT.from_string(TEMPLATE.read_text(encoding="utf-8"))
    return page.render(parts=measured, summary=_summary, text=_text)


def _summary(result: Result | None) -> str:
    """Return a line with the result's date, size, duration and versions."""
    if not result:
        return "not measured yet."
    size = "; ".join(f"{name} {_plain(value)}" for name, value in result.arguments.items())
    versions = ", ".join(f"{name} {version}" for name, version in result.versions.items())
    return (
        f"{result.date}, {result.size} size ({size}), {result.wall_seconds:,.0f} s at a load of "
        f"{result.load:g}; {versions}."
    )


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)


def _text(part: Part, result: Result | None) -> str:
    rows = result.tables if result else {}
    tables = {name: table(part.tables[name], rows.get(name, ())) for name in part.tables}
    return ENVIRONMENT.from_string(part.text.strip()).render(tables)


def table(columns: Sequence[Column], rows: Sequence[Row]) -> str:
    """Return the table in Markdown."""
    lines = [[column.heading for column in columns], ["---"] * len(columns)]
    lines += [[column.cell(row) for column in columns] for row in rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
