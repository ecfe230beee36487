# SPDX-License-Identifier: MIT
"""Measures every part of a drive, in an order in which each probe has the results that it needs."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from statistics import fmean

from understudy_devices.base.progress import Report, silent
from understudy_devices.profiler.findings import document
from understudy_devices.profiler.findings.finding import Finding, not_seen
from understudy_devices.profiler.layout.layout import Layout
from understudy_devices.profiler.probes import (
    ahead,
    at_once,
    bus,
    hits,
    medium,
    platters,
    reach,
    rotation,
    seek,
    segments,
    streams,
    tracks,
    writes,
)
from understudy_devices.profiler.probes.ahead import Ahead
from understudy_devices.profiler.probes.at_once import AtOnce
from understudy_devices.profiler.probes.hits import Hits
from understudy_devices.profiler.probes.medium import Medium
from understudy_devices.profiler.probes.rotation import Rotation
from understudy_devices.profiler.probes.seek import Seek
from understudy_devices.profiler.probes.segments import Segments
from understudy_devices.profiler.probes.tracks import Tracks
from understudy_devices.profiler.targets.bench import Bench, TimeUp
from understudy_devices.profiler.targets.model import ModelTarget

LATE = "the time was up"


class Survey:
    """Findings of one target."""

    def __init__(self, bench: Bench, report: Report = silent) -> None:
        """Begin without findings."""
        self._bench = bench
        self._report = report
        self.findings: list[Finding] = []
        self.hits: Hits | None = None
        self._rotation: Rotation | None = None
        self._tracks: Tracks | None = None
        self._medium: Medium | None = None
        self._segments: Segments | None = None
        self._ahead: Ahead | None = None
        self._at_once: AtOnce | None = None
        self._in_time = True

    def reads(self) -> None:
        """Run all probes that only read."""
        bench = self._bench
        self._report("rotation", 0.0)
        self._rotation = rotation.measure(bench)
        self._report("hits", 0.05)
        self.hits = hits.measure(bench)
        self._report("tracks", 0.1)
        self._tracks = tracks.measure(bench, self._rotation)
        self._report("transfer", 0.25)
        self._medium = medium.measure(bench, self._tracks, self.hits)
        cached = self._cache()
        self._report("layout", 0.5)
        self._layout = platters.measure(bench, self._rotation, self.hits, self._segments)
        if self._tracks and isinstance(self._layout, Layout):
            self._tracks = self._tracks.of_layout(self._layout)
            self._medium = medium.measure(bench, self._tracks, self.hits)
        self._report("seeks", 0.55)
        self._seek = self._seeks()
        self.findings += self._seek.findings()
        self.findings += medium.findings(self._medium)
        self.findings += rotation.findings(self._rotation, isinstance(self._layout, Layout))
        self.findings += self._found_tracks()
        self.findings += cached
        self._by_models()

    def read_cache(self) -> list[Finding]:
        """Measure only the read cache; return its findings."""
        self._report("hits", 0.0)
        self.hits = hits.measure(self._bench)
        return self._cache()

    def writes(self) -> None:
        """Run the probes that write, which destroy data; call this after reads()."""
        self._report("writes", 0.75)
        if self._at_once:
            self.findings += writes.unseen("this kind of cache takes no writes")
            return
        with self._share(1.0):
            self.findings += writes.measure(self._bench, self.hits, self._model)
        if not self._in_time:
            self.findings += writes.unseen(LATE)

    def _by_models(self) -> None:
        """Run the probes that compare the drive with models: for the bus's watermark and, if
        tracks' ends stop the prefetch, for the sectors that the prefetch overwrites.
        """
        if not self.hits or self._at_once:
            return
        draws = self._bench.random.getstate()
        with self._share(1 / 4):
            self.findings = self._with([bus.measure(self._bench, self._model)])
        self._bench.random.setstate(draws)
        ahead, known = self._ahead, isinstance(self._layout, Layout)
        if not known or not ahead or not ahead.to_track_end or ahead.overwrites:
            return
        with self._share(1 / 3):
            self.findings = self._with([streams.measure(self._bench, self._model)])
        self._bench.random.setstate(draws)

    @contextmanager
    def _share(self, share: float) -> Iterator[None]:
        """Abandon the block when it has used that share of the remaining time."""
        self._in_time = True
        try:
            with self._bench.limited(share):
                yield
        except TimeUp:
            self._in_time = False

    def _with(self, more: Sequence[Finding]) -> list[Finding]:
        """Return the findings so far; those of `more` replace earlier findings with the
        same keys.
        """
        keys = {finding.key for finding in more}
        return [*(finding for finding in self.findings if finding.key not in keys), *more]

    def _model(self, more: Sequence[Finding]) -> Bench:
        """Return a model made from the findings so far and `more`."""
        profile = document.disk(self._with(more))
        capacity_sectors = self._bench.capacity_sectors
        return Bench(ModelTarget.of(profile, capacity_sectors), 0)

    def _seeks(self) -> Seek:
        """Measure the seek curve, by angles if the layout is known."""
        bench, held = self._bench, self.hits
        if self._rotation and isinstance(self._layout, Layout):
            period_ns = self._rotation.period_ns
            if reach.has_surfaces(bench, self._layout, period_ns, held):
                self._layout = self._layout.along_surfaces()
            curve = reach.measure(bench, self._layout, period_ns, held, self._reach_sectors)
            if curve:
                return curve
        return seek.measure(bench, self._rotation, self._medium, held, self._reach_sectors)

    def _found_tracks(self) -> list[Finding]:
        """Return the findings about tracks; they are exact to the sector if the layout is known."""
        exact = self._layout.findings()
        known = {finding.key for finding in exact}
        capacity_sectors = self._bench.capacity_sectors
        roughly = tracks.findings(self._tracks, self._stop_sectors, capacity_sectors)
        return [finding for finding in roughly if finding.key not in known] + exact

    def _cache(self) -> list[Finding]:
        """Measure the read cache; return its findings."""
        findings = hits.findings(self.hits)
        if not self.hits:
            return findings
        self._report("segments", 0.3)
        self._segments = segments.measure(self._bench, self.hits)
        if not self._segments or not self._segments.number:
            return [*findings, *segments.findings(None)]
        self._report("reading ahead", 0.35)
        medium_ns = self._medium.slowest_ns if self._medium else None
        self._at_once = at_once.measure(self._bench, self.hits, self._segments, medium_ns)
        if self._at_once:
            return self._at_once.findings()
        with self._share(2 / 3):
            self._ahead = ahead.measure(
                self._bench, self.hits, self._segments, self._medium, self._rotation
            )
        if not self._in_time:
            return [*findings, *self._segments.findings(), not_seen(ahead.AHEAD_KEY, LATE)]
        self._report("size of segments", 0.45)
        with self._share(1 / 4):
            self._segments = segments.with_size(
                self._bench, self.hits, self._segments, self._sector_ns, self._ahead.sectors
            )
        findings += segments.findings(self._segments)
        return findings + ahead.findings(self._ahead, self._segments.sectors, self._track_sectors)

    @property
    def _sector_ns(self) -> float:
        return self._medium.slowest_ns if self._medium else ahead.SLOW_SECTOR_NS

    @property
    def _track_sectors(self) -> float | None:
        """Return the mean number of sectors of a track, over all zones."""
        if not self._tracks:
            return None
        return fmean(self._tracks.sectors(zone) for zone in self._tracks.zones)

    @property
    def _stop_sectors(self) -> int | None:
        """Return the number of sectors of a track, from where the prefetch stops."""
        return self._ahead.track_sectors if self._ahead and self._ahead.to_track_end else None

    @property
    def _reach_sectors(self) -> int:
        """Return the longest prefetch seen."""
        if self._at_once:
            return self._at_once.prefetch_sectors
        return self._ahead.sectors if self._ahead else 0
