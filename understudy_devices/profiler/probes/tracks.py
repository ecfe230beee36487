# SPDX-License-Identifier: MIT
"""Measures tracks and zones, from the angles of sectors.

The completion time of a one-sector read, modulo the period, is that sector's angle.  From sector to
sector the angle grows by a sector's time.  From one track to the next it also grows by the skew,
the time that a transfer loses there (Worthington and others 1995, sections 3.2 and 3.3).  If the
time per sector differs between two locations, bisection finds where a zone begins.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from understudy_devices.device import layout as device
from understudy_devices.profiler.findings.finding import Finding, Points, not_seen
from understudy_devices.profiler.findings.statistics import median
from understudy_devices.profiler.layout import zones
from understudy_devices.profiler.layout.layout import ZONES, Layout, size
from understudy_devices.profiler.layout.zones import FINEST, Zone
from understudy_devices.profiler.probes.rotation import Behind, Rotation
from understudy_devices.profiler.targets.bench import Bench

A_TRACK = 16  # steps
TRACKS = 2.5
PLACES = 24  # locations measured first
LONG = 3  # longest skew, in units of the median: a cylinder's skew is not much longer
SAME = 0.004  # of a track: two zones differ by more
KEYS = (ZONES, "layout.switch_ms")


@dataclass(frozen=True)
class Track:
    """The time per sector at one location, and the skews seen there, ns."""

    sector_ns: float
    skews_ns: tuple[float, ...]


@dataclass(frozen=True)
class Tracks:
    """All zones, from the outermost; `seen` has the measured time per sector, ns, by location."""

    period_ns: float
    zones: tuple[Zone, ...]
    skews_ns: tuple[float, ...]
    seen: Points = field(default=(), repr=False)

    @property
    def skew_ns(self) -> float:
        """Return the mean skew, without far longer skews, which come from a late host."""
        if not self.skews_ns:
            return 0.0
        middle_ns = median(self.skews_ns)
        longest_ns = max(middle_ns, LONG * middle_ns)
        return float(np.mean([skew for skew in self.skews_ns if skew <= longest_ns]))

    def sectors(self, zone: Zone) -> int:
        """Return the number of sectors of a track, including spare sectors, which can't be
        addressed.
        """
        return max(1, round(self.period_ns / zone.sector_ns))

    def of_layout(self, layout: Layout) -> "Tracks":
        """Return the same with the exact zones of a layout; join neighbouring zones with equally
        long tracks.
        """
        all_zones: list[Zone] = []
        for zone in layout.zones:
            sector_ns = self.period_ns / zone.slots
            if not all_zones or all_zones[-1].sector_ns != sector_ns:
                all_zones.append(Zone(zone.first / layout.capacity_sectors, sector_ns))
        return replace(self, zones=tuple(all_zones))

    def findings(self, capacity_sectors: int) -> list[Finding]:
        """Convert to findings."""
        confidence = f"{len(self.zones)} zones; begins known to +- {1 / FINEST:.2g} of the disk"
        switch = f"mean of {len(self.skews_ns)} skews, +- {_error(self.skews_ns) / 1e6:.2g}"
        rows = [(round(zone.at * capacity_sectors), self.sectors(zone)) for zone in self.zones]
        return [
            *_layout(rows, confidence, capacity_sectors),
            Finding(KEYS[1], round(self.skew_ns / 1e6, 6), switch),
        ]


def measure(bench: Bench, rotation: Rotation | None) -> Tracks | None:
    """Measure the tracks; return None if sectors have no fixed angles."""
    if rotation is None or rotation.sector_ns is None:
        return None
    surveyor = _Surveyor(bench, rotation.period_ns, rotation.sector_ns)
    return surveyor.tracks()


def findings(tracks: Tracks | None, sectors: int | None, capacity_sectors: int) -> list[Finding]:
    """Convert to findings; `sectors` is a track's number of sectors, if the prefetch showed it."""
    if tracks:
        return tracks.findings(capacity_sectors)
    if sectors:
        confidence = "one length for all, from where the prefetch stops; +- 20 %"
        return [
            *_layout([(0, sectors)], confidence, capacity_sectors),
            not_seen(KEYS[1], "completions have no phase"),
        ]
    return [not_seen(key, "completions have no phase") for key in KEYS]


def _layout(
    rows: Sequence[tuple[int, int]], confidence: str, capacity_sectors: int
) -> list[Finding]:
    """Return the findings for a layout: each row is a zone's first sector and its tracks' number of
    sectors.
    """
    text = device.zones_text([device.Zone(first, sectors) for first, sectors in rows])
    return [Finding(ZONES, text, confidence), *size(capacity_sectors)]


class _Surveyor:
    """Measures the time per sector at several locations, and at more locations between neighbours
    that differ.
    """

    def __init__(self, bench: Bench, period_ns: float, sector_ns: float) -> None:
        self._bench = bench
        self._period_ns = period_ns
        self._sector_ns = sector_ns
        self._skews_ns: list[float] = []
        self._seen: list[tuple[float, float]] = []

    def tracks(self) -> Tracks:
        all_zones = zones.find(self._look, PLACES, SAME)
        return Tracks(self._period_ns, tuple(all_zones), tuple(self._skews_ns), tuple(self._seen))

    def _look(self, at: float) -> float:
        steps = round(A_TRACK * TRACKS)
        step = max(1, round(self._period_ns / self._sector_ns / A_TRACK))
        way = step * steps
        middle = int(at * self._bench.capacity_sectors) + self._bench.random.randint(0, step)
        place = Behind(self._bench, way)
        place.sector = min(max(middle + way // 2, way), self._bench.capacity_sectors - 1)
        track = _track(self._angles(place, step, steps), step, self._period_ns)
        self._skews_ns += track.skews_ns
        self._seen.append((at, track.sector_ns))
        return track.sector_ns

    def _angles(self, place: Behind, step: int, steps: int) -> list[float]:
        """Read backwards; return the angle of each step, in ns of rotation."""
        place.read(0)
        turns = []
        for _ in range(steps):
            before_ns = self._bench.now_ns
            place.read(step)
            turns.append((before_ns - self._bench.now_ns) % self._period_ns)
        return turns


def _track(turns: list[float], step: int, period_ns: float) -> Track:
    """Return the time per sector and the skews, from the angles of steps: a step that crosses a
    track's end includes a skew.
    """
    usual_ns = median(turns)
    beyond = [(turn - usual_ns + period_ns / 2) % period_ns - period_ns / 2 for turn in turns]
    skewed = [abs(each) > 0.25 * usual_ns for each in beyond]
    plain = [turn for turn, is_skewed in zip(turns, skewed, strict=True) if not is_skewed]
    skews = [each % period_ns for each, is_skewed in zip(beyond, skewed, strict=True) if is_skewed]
    return Track(float(np.mean(plain or [usual_ns])) / step, tuple(skews))


def _error(values: tuple[float, ...]) -> float:
    return float(np.std(values)) / max(1, len(values)) ** 0.5 if values else 0.0
