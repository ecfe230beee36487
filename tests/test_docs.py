# SPDX-License-Identifier: MIT
"""What the documents say of the code, where it can be held against it."""

import runpy

from understudy.base.paths import ROOT


def test_the_table_of_schedulers_is_what_they_declare() -> None:
    """Each one with its tunables, their defaults and ranges, and its counters."""
    script = runpy.run_path(str(ROOT / "scripts" / "scheduler_table.py"))
    page = script["PAGE"].read_text()
    mended = script["with_table"](page)
    assert page == mended, "python scripts/scheduler_table.py writes:\n" + script["table"]()


def test_the_tables_of_real_drives_are_what_their_profiles_say() -> None:
    """And what the drive's model makes of random pages."""
    script = runpy.run_path(str(ROOT / "scripts" / "disk_tables.py"))
    page = script["PAGE"].read_text()
    assert page == script["with_tables"](page), "python scripts/disk_tables.py mends it"
