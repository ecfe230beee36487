# SPDX-License-Identifier: MIT
"""Profiles written by a test, among them one with sampled curves."""

from pathlib import Path

from understudy_devices.device import profile

SAMPLED = """
[seek]
ms = [2.0, 4.0, 3.5, 10.0]
at = [0, 0.25, 0.5, 1]
[throughput]
mb_per_s = [60, 40]
[rotation]
period_ms = 6.0
[facts]
vendor = "none"
model = "none"
capacity_sectors = 70312500
"""


def load_text(folder: Path, text: str) -> profile.DiskProfile:
    """Load a profile from mine.toml with this text."""
    file = folder / "mine.toml"
    file.write_text(text, encoding="utf-8")
    return profile.load(str(file))


def sampled(folder: Path, *changes: tuple[str, str]) -> profile.DiskProfile:
    """Load SAMPLED with some parts replaced; each part occurs once in it."""
    text = SAMPLED
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return load_text(folder, text)
