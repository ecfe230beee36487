# SPDX-License-Identifier: MIT
"""Write the tables of a device's settings and of our schedulers into docs/vpt-sysfs.md, from the
declarations in core/drive/settings.c and the schedulers.

.venv/bin/python scripts/sysfs_tables.py
"""

import re
from pathlib import Path

from understudy_devices.native import descriptions
from understudy_devices.native.drive import SETTINGS

PAGE = Path(__file__).parents[1] / "docs" / "vpt-sysfs.md"
SETTINGS_HEAD = "| setting | range | meaning |\n| --- | --- | --- |\n"
SCHEDULERS_HEAD = "| scheduler | tunables: default (range) | counters |\n| --- | --- | --- |\n"
UNITS = (
    (3_600_000_000_000, "h"),
    (60_000_000_000, "min"),
    (1_000_000_000, "s"),
    (1_000_000, "ms"),
    (1_000, "us"),
)


def value(name: str, number: int) -> str:
    """Return a number as text; a time is in the largest unit in which it is at least 1."""
    if number >= 2**20 and number.bit_count() == 1:
        return f"2^{number.bit_length() - 1}"
    if number >= 2**20 and (number + 1).bit_count() == 1:
        return f"2^{number.bit_length()} - 1"
    for nanoseconds, unit in UNITS:
        if name.endswith("_ns") and number >= nanoseconds:
            return f"{number / nanoseconds:g} {unit}"
    return f"{number:,}"


def row(scheduler: descriptions.Scheduler) -> str:
    """Return the table's row for the scheduler."""
    tunables = [
        f"`{t.name}` {value(t.name, t.initial)} ({value(t.name, t.min)} to {value(t.name, t.max)})"
        for t in scheduler.tunables
    ]
    counters = [f"`{counter.name}`" for counter in scheduler.counters]
    columns = (", ".join(tunables) or "none", ", ".join(counters) or "none")
    return f"| `{scheduler.name}` | {columns[0]} | {columns[1]} |\n"


def setting(one: descriptions.Tunable) -> str:
    """Return the table's row for the setting."""
    limits = f"{value(one.name, one.min)} to {value(one.name, one.max)}"
    return f"| `{one.name}` | {limits} | {one.help} |\n"


def tables() -> dict[str, str]:
    """Return the rows of each table, by the table's heading."""
    return {
        SETTINGS_HEAD: "".join(map(setting, SETTINGS.values())),
        SCHEDULERS_HEAD: "".join(map(row, descriptions.schedulers().values())),
    }


def with_tables(page: str) -> str:
    """Return the page with its tables replaced."""
    for head, rows in tables().items():
        assert page.count(head) == 1, f"{PAGE} has no table that begins with\n{head}"
        page = re.sub(re.escape(head) + r"(\|.*\n)*", lambda old: head + rows, page)  # noqa: B023
    return page


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text()))
