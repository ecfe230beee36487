# SPDX-License-Identifier: MIT
"""A disk from the figures of its data sheet: three seek times, rpm and two rates.

Seeks follow the curve that Lee and Katz drew through the same three figures ("An analytic
performance model of disk arrays", SIGMETRICS 1993): with x from 0 (one track) to 1 (the full
stroke), a seek takes

    track to track + a sqrt(x) + b x

with a and b such that the times of the full stroke and of the average seek are those of the
sheet.  If the sheet has no full stroke, b = 0.  A seek of distance 0 takes no time.  A seek
shorter than a track takes the track-to-track time multiplied by the probability that the seek
crosses a track's end.

Transfer rates decrease along the disk.  The tracks are assumed to have equal width and equally
dense sectors, so the square of the rate decreases linearly. docs/disks.md derives the curves of
seeks and rates.
"""

from collections.abc import Callable
from math import sqrt
from typing import Annotated, Self

from pydantic import Field, model_validator

from understudy_devices.device.section import MegabytesPerSecond, Section, wrong

STEPS = 128  # number of steps of the curve; they are shorter at its beginning
RATES = 17
LINE = 1 / 3  # mean of x over random pairs of places
ROOT = 8 / 15  # mean of sqrt(x)
CYLINDERS = 100_000  # the right order of magnitude for disks since 2000

Printed = Annotated[float, Field(ge=0, le=1000)]  # ms; no disk needs a longer time
Positive = Annotated[float, Field(ge=1e-6, le=1000)]
Samples = tuple[tuple[float, ...], tuple[float, ...]]  # fractions of the disk, values


class DataSheet(Section):
    """The figures that vendors print, and the timing computed from them."""

    rpm: Annotated[float, Field(ge=1, le=100_000)]
    """Rotations per minute."""
    track_to_track_ms: Printed
    """Time of a seek to the next track."""
    average_seek_ms: Positive
    """Mean time of a seek between random pairs of tracks."""
    full_stroke_ms: Positive | None = None
    """Time of a seek across the whole disk."""
    overhead_ms: Printed = 0.0
    """Overhead of a command, in addition to seek, rotation and transfer."""

    cylinders: Annotated[int, Field(ge=2, le=10**7)] = CYLINDERS
    """Number of cylinders; its order of magnitude suffices."""
    outer_mb_per_s: MegabytesPerSecond | None = None
    """Sequential throughput at the beginning of the disk; without it, transfer takes no time."""
    inner_mb_per_s: MegabytesPerSecond | None = None
    """Sequential throughput at the end of the disk."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.average_seek_ms <= self.track_to_track_ms:
            raise wrong(
                "average_seek_ms",
                f"{self.average_seek_ms} is not above track to track, {self.track_to_track_ms}",
            )
        if self.full_stroke_ms is not None:
            self._check_shape(self.full_stroke_ms)
        self._check_rates(self.outer_mb_per_s, self.inner_mb_per_s)
        return self

    def _check_rates(self, outer: float | None, inner: float | None) -> None:
        if outer is not None and inner is not None:
            if inner > outer:
                raise wrong("inner_mb_per_s", f"{inner} is above the outer rate, {outer}")
        elif outer is not None:
            raise wrong("inner_mb_per_s", "is missing: give both rates, or none")
        elif inner is not None:
            raise wrong("outer_mb_per_s", "is missing: give both rates, or none")

    def _check_shape(self, full_stroke_ms: float) -> None:
        """Check that the curve is increasing and concave."""
        if full_stroke_ms <= self.average_seek_ms:
            raise wrong(
                "full_stroke_ms",
                f"{full_stroke_ms} is not above the average, {self.average_seek_ms}",
            )
        share = self._above_ms / (full_stroke_ms - self.track_to_track_ms)
        most = 2 * ROOT - LINE
        if not LINE <= share <= most:
            raise wrong(
                "average_seek_ms",
                f"{self.average_seek_ms} is {share:.0%} of the way from track to track to full "
                f"stroke; a disk's is between {LINE:.0%} and {most:.0%}",
            )

    @property
    def period_ms(self) -> float:
        """Return the period of a rotation in ms, rounded to a nanosecond."""
        return round(60_000 / self.rpm, 6)

    @property
    def _above_ms(self) -> float:
        return self.average_seek_ms - self.track_to_track_ms

    @property
    def _root_ms(self) -> float:
        """Return the coefficient `a` of the seek curve, in ms."""
        if self.full_stroke_ms is None:
            return self._above_ms / ROOT
        rise_ms = self.full_stroke_ms - self.track_to_track_ms
        return (self._above_ms - LINE * rise_ms) / (ROOT - LINE)

    @property
    def _line_ms(self) -> float:
        """Return the coefficient `b` of the seek curve, in ms."""
        if self.full_stroke_ms is None:
            return 0.0
        return self.full_stroke_ms - self.track_to_track_ms - self._root_ms

    def seeks(self) -> Samples:
        """Return seek distances and seek times; the times include the overhead of a command."""
        shares = [(step / STEPS) ** 2 for step in range(STEPS + 1)]
        one = 1 / self.cylinders
        distances = (0.0, *(one + (1 - one) * share for share in shares))
        ms = (0.0, *(self._seek_ms(share) for share in shares))
        return distances, tuple(round(each + self.overhead_ms, 6) for each in ms)

    def _seek_ms(self, share: float) -> float:
        return self.track_to_track_ms + self._root_ms * sqrt(share) + self._line_ms * share

    def rates(self) -> Samples | None:
        """Return locations on the disk and their throughput; None if the sheet has no rates."""
        if self.outer_mb_per_s is None or self.inner_mb_per_s is None:
            return None
        rate = _falling(self.outer_mb_per_s, self.inner_mb_per_s)
        places = tuple(step / (RATES - 1) for step in range(RATES))
        return places, tuple(round(rate(place), 4) for place in places)


def _falling(outer: float, inner: float) -> Callable[[float], float]:
    return lambda place: sqrt(outer**2 - (outer**2 - inner**2) * place)
