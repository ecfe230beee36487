# SPDX-License-Identifier: MIT
"""Find the parts of a profile that need each sector's angle: rotation, layout, rates and seeks."""

from itertools import pairwise

import numpy as np

from understudy_devices.profiler.findings.finding import Finding
from understudy_devices.profiler.from_trace import positions, seek_curve, turning
from understudy_devices.profiler.from_trace.seek_curve import Curve
from understudy_devices.profiler.from_trace.services import Bools, Served
from understudy_devices.profiler.layout.layout import Layout, Unseen
from understudy_devices.profiler.probes import rotation
from understudy_devices.profiler.probes.medium import Medium
from understudy_devices.profiler.probes.rotation import Rotation


def findings(
    served: Served,
    hit: Bools,
    about_ns: float | None,
    capacity_sectors: int,
    bus_sector_ns: float,
    near: Curve | None,
) -> list[Finding] | Unseen:
    """Return the findings, or why there are none; `about_ns` is the approximate period."""
    reads = turning.measure(served, hit, about_ns)
    if isinstance(reads, Unseen):
        return reads
    ends = positions.measure(reads, capacity_sectors)
    if isinstance(ends, Unseen):
        return ends
    bus_turns = bus_sector_ns * reads.sectors / reads.period_ns
    layout = positions.led(ends, reads.sectors, bus_turns)
    surely = reads.index[np.logical_and(*positions.in_line(reads, ends))]
    lead_ns = bus_sector_ns * reads.sectors
    arm = seek_curve.moves(served, hit, surely, layout, reads.period_ns, lead_ns)
    seek = seek_curve.measure(arm, reads.period_ns, near)
    if seek is None:
        return Unseen("there are too few reads for a seek curve over tracks")
    turn = Rotation(reads.period_ns, reads.error_ns, reads.period_ns, everywhere=True)
    return [
        *seek.findings(),
        *_medium(layout, reads.period_ns).findings(),
        *rotation.findings(turn, is_known=True),
        Finding("layout.switch_ms", _switch_ms(layout, reads.period_ns), "the least of all skews"),
        *layout.findings(),
    ]


def _medium(layout: Layout, period_ns: float) -> Medium:
    """Return the medium's rates; join neighbouring zones with equally long tracks."""
    zones = layout.zones[:1] + tuple(
        after for before, after in pairwise(layout.zones) if after.slots != before.slots
    )
    at = tuple(zone.first / layout.capacity_sectors for zone in zones)
    rates = tuple(period_ns / zone.slots for zone in zones)
    return Medium(at, rates, "from slots, without what is lost between tracks")


def _switch_ms(layout: Layout, period_ns: float) -> float:
    """Return the time to switch tracks: the smallest skew, since no skew is shorter than a
    switch.
    """
    least = min(min(zone.skew, zone.cylinder_skew) for zone in layout.zones)
    return round(least * period_ns / 1e6, 6)
