# SPDX-License-Identifier: MIT
"""Write the table of our schedulers into docs/vpt-sysfs.md, from what they declare.

.venv/bin/python scripts/scheduler_table.py
"""

import re
from pathlib import Path

from understudy.native import declared

PAGE = Path(__file__).parents[1] / "docs" / "vpt-sysfs.md"
TABLE = re.compile(r"\| scheduler \| tunables.*?\n(?=\n)", re.DOTALL)
UNITS = ((3_600_000_000_000, "h"), (1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"))


def value(name: str, number: int) -> str:
    """A number, or a time in the largest unit of which it is one at least."""
    if number >= 2**20 and number.bit_count() == 1:
        return f"2^{number.bit_length() - 1}"
    for nanoseconds, unit in UNITS:
        if name.endswith("_ns") and number >= nanoseconds:
            return f"{number / nanoseconds:g} {unit}"
    return f"{number:,}"


def row(scheduler: declared.Scheduler) -> str:
    """Its line of the table."""
    tunables = [
        f"`{t.name}` {value(t.name, t.initial)} ({value(t.name, t.min)} to {value(t.name, t.max)})"
        for t in scheduler.tunables
    ]
    counters = [f"`{counter.name}`" for counter in scheduler.counters]
    columns = (", ".join(tunables) or "none", ", ".join(counters) or "none")
    return f"| `{scheduler.name}` | {columns[0]} | {columns[1]} |\n"


def table() -> str:
    """All of it, with its head."""
    head = "| scheduler | tunables: default (range) | counters |\n| --- | --- | --- |\n"
    return head + "".join(row(scheduler) for scheduler in declared.schedulers().values())


def with_table(page: str) -> str:
    """The page with the table in the place of the one that it has."""
    changed, found = TABLE.subn(lambda old: table(), page)
    assert found == 1, f"{found} tables of schedulers in {PAGE}"
    return changed


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text()))
