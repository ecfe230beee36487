# SPDX-License-Identifier: MIT
"""Copies values that a trace cannot show from an existing profile.

A trace of reads all over the disk has no hits and few short seeks, and does not name the drive.
"""

import numpy as np

from understudy_devices.device.profile import DiskProfile
from understudy_devices.profiler.findings.finding import Finding
from understudy_devices.profiler.from_trace.seek_curve import Curve
from understudy_devices.profiler.probes.hits import NS_TO_MB_PER_S

SECTIONS = ("buffer", "cache", "queue", "facts")
LAYOUT = "layout"


def findings(profile: DiskProfile | None) -> list[Finding]:
    """Return the profile's cache, queue, facts and layout; the layout is for traces that
    show none.
    """
    if not profile:
        return []
    tables = profile.model_dump(include={*SECTIONS}, exclude_unset=True, exclude_none=True)
    if profile.layout:
        tables[LAYOUT] = profile.layout.keys()
    return [
        Finding(f"{section}.{name}", value)
        for section in (LAYOUT, *SECTIONS)
        for name, value in tables.get(section, {}).items()
    ]


def instead(old: list[Finding], new: list[Finding]) -> list[Finding]:
    """Return `old`, with the sections that `new` has replaced.

    A [buffer] and a [cache] replace each other, since a disk has only one of the two.
    """
    sections = {each.section for each in new}
    if sections & {"buffer", "cache"}:
        sections |= {"buffer", "cache"}
    return [each for each in old if each.section not in sections] + new


def bus_sector_ns(entries: list[Finding]) -> float:
    """Return a sector's time on the bus, ns; 0 if it is not known."""
    rates = [each.value for each in entries if each.key == "buffer.bus_mb_per_s"]
    return NS_TO_MB_PER_S / rates[0] if rates and isinstance(rates[0], float | int) else 0.0


def seeks(profile: DiskProfile | None, capacity_sectors: int) -> Curve | None:
    """Return the profile's seek curve: distances as fractions of the disk, and times, ns."""
    if not profile:
        return None
    if profile.seek and profile.seek.at:
        return np.array(profile.seek.at), np.array(profile.seek.ms) * 1e6
    distance, ns = np.array(profile.timing(capacity_sectors).seek, float).T
    return distance / capacity_sectors, ns
