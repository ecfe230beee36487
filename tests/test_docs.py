# SPDX-License-Identifier: MIT
"""What the documents say of the code, where it can be held against it."""

import runpy

from understudy.base.paths import ROOT


def test_the_tables_of_settings_and_schedulers_are_what_they_declare() -> None:
    """A device's settings, and each scheduler with its tunables, their defaults and ranges, and its
    counters."""
    script = runpy.run_path(str(ROOT / "scripts" / "sysfs_tables.py"))
    page = script["PAGE"].read_text()
    assert page == script["with_tables"](page), "python scripts/sysfs_tables.py mends it"


def test_the_tables_of_real_drives_are_what_their_profiles_say() -> None:
    """And what the drive's model makes of random pages."""
    script = runpy.run_path(str(ROOT / "scripts" / "disk_tables.py"))
    page = script["PAGE"].read_text()
    assert page == script["with_tables"](page), "python scripts/disk_tables.py mends it"
