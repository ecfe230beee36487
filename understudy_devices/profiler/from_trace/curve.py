# SPDX-License-Identifier: MIT
"""Fits the times of reads from the medium: a seek, a part of a rotation and a transfer.

The seek time is piecewise linear over the square root of the distance.  The transfer is a time per
sector, for each zone.  Least squares fits both together.  Since rotational latency is random, the
residuals should be uniform over one rotation; if they are, their spread gives the period.
"""

from dataclasses import dataclass, replace

import numpy as np

from understudy_devices.profiler.findings.statistics import ascending
from understudy_devices.profiler.from_trace.services import Bools, Floats, Served

KNOTS = 24  # of the curve
A_KNOT = 16  # smallest number of reads between two knots
ZONES = 9
SURE = 0.05  # largest relative error of a zone's rate; a single rate may have 3 times this error
WILD = 3.0  # an outlier's error, in units of the 90th percentile of all errors
PASSES = 3
MOST = 200_000  # largest number of reads
ROOT_12 = 12**0.5  # a uniform distribution's width over its standard deviation
QUARTERS = (0.05, 0.275, 0.5, 0.725, 0.95)
UNEVEN = 0.12  # of the range: largest difference of the quarters' widths, 0 if uniform


@dataclass(frozen=True)
class Sample:
    """Reads from the medium: seek distance and location (fractions of the disk), length, time."""

    distance: Floats
    at: Floats
    sectors: Floats
    ns: Floats

    def where(self, chosen: Bools) -> "Sample":
        """Return the chosen reads."""
        return Sample(self.distance[chosen], self.at[chosen], self.sectors[chosen], self.ns[chosen])


@dataclass(frozen=True)
class Curve:
    """The seek time plus half a rotation, by distance, and the time per sector, by zone, in ns."""

    at: Floats
    ns: Floats
    zones: tuple[float, ...]
    sector_ns: Floats
    sector_error: Floats

    def of(self, sample: Sample) -> Floats:
        """Return the time that the curve predicts for each read."""
        ns: Floats = np.interp(np.sqrt(sample.distance), np.sqrt(self.at), self.ns)
        if not self.zones:
            return ns
        zone = np.searchsorted(self.zones, sample.at, side="right") - 1
        added: Floats = ns + self.sector_ns[zone] * sample.sectors
        return added


def from_medium(served: Served, hit: Bools) -> Sample:
    """Return the reads whose previous request was a read, too, with the distance from its end.

    Hits are left out, since they do not move the arm.
    """
    moved = ~hit
    ends = (served.sector + served.sectors)[moved]
    reads = served.reads[moved]
    sector = served.sector[moved]
    size = served.capacity_sectors
    distance = np.abs(sector[1:] - ends[:-1]) / size
    chosen = reads[1:] & reads[:-1]  # after a write the arm's location is unknown
    chosen[np.flatnonzero(chosen)[MOST:]] = False
    return Sample(
        distance[chosen],
        (sector[1:] / size)[chosen],
        served.sectors[moved][1:][chosen].astype(float),
        served.service_ns[moved][1:][chosen].astype(float),
    )


def fitted(sample: Sample) -> tuple[Curve, Floats]:
    """Return the curve, with as many zones as the data support, and the residuals of the reads."""
    if np.ptp(sample.sectors) == 0:
        return _without_wild(sample, ())
    for zones in (_even(ZONES), (0.0,)):
        curve, left_ns = _without_wild(sample, zones)
        if (curve.sector_ns > 0).all() and sure(curve) < SURE:
            return curve, left_ns
    if (curve.sector_ns > 0).all() and sure(curve) < 3 * SURE:
        return curve, left_ns
    return _without_wild(sample, ())


def _even(number: int) -> tuple[float, ...]:
    return tuple(index / number for index in range(number))


def sure(curve: Curve) -> float:
    """Return the relative error of the time per sector in the least certain zone."""
    return float((curve.sector_error / np.maximum(curve.sector_ns, 1e-3)).max())


def _without_wild(sample: Sample, zones: tuple[float, ...]) -> tuple[Curve, Floats]:
    """Fit repeatedly, each time without the outliers of the previous fit."""
    inliers = sample
    for _ in range(PASSES):
        curve = _least_squares(inliers, zones)
        left_ns = inliers.ns - curve.of(inliers)
        limit_ns = WILD * float(np.quantile(np.abs(left_ns), 0.9))
        if (np.abs(left_ns) <= limit_ns).all():
            break
        inliers = inliers.where(np.abs(left_ns) <= limit_ns)
    curve = replace(curve, ns=np.array(ascending(curve.ns.tolist())))
    return curve, inliers.ns - curve.of(inliers)


def _least_squares(sample: Sample, zones: tuple[float, ...]) -> Curve:
    """Return the curve whose knots and times per sector fit the reads best."""
    roots = np.sqrt(sample.distance)
    knots = _knots(roots)
    place = np.clip(np.searchsorted(knots, roots, side="right") - 1, 0, len(knots) - 2)
    part = (roots - knots[place]) / np.diff(knots)[place]
    rows = np.arange(len(roots))
    matrix = np.zeros((len(roots), len(knots) + len(zones)))
    matrix[rows, place] = 1 - part
    matrix[rows, place + 1] = part
    if zones:
        zone = np.searchsorted(zones, sample.at, side="right") - 1
        matrix[rows, len(knots) + zone] = sample.sectors
    inverse = np.linalg.pinv(matrix.T @ matrix)
    weights = inverse @ (matrix.T @ sample.ns)
    spread_ns = float(np.std(sample.ns - matrix @ weights))
    error_ns = spread_ns * np.sqrt(np.maximum(np.diag(inverse), 0))
    unseen = np.diag(matrix.T @ matrix)[len(knots) :] == 0
    error_ns[len(knots) :][unseen] = np.inf
    number = len(knots)
    curve_ns = np.maximum(weights[:number], 0)
    return Curve(knots**2, curve_ns, zones, weights[number:], error_ns[number:])


def _knots(roots: Floats) -> Floats:
    """Return knots (roots of distances) from 0 to 1, with equally many reads between neighbours."""
    number = max(2, min(KNOTS, len(roots) // A_KNOT))
    inner = np.unique(np.quantile(roots, np.linspace(0, 1, number)[1:-1]))
    return np.concatenate([[0.0], inner[(inner > 1e-6) & (inner < 1)], [1.0]])


def period_ns(left_ns: Floats) -> float | None:
    """Return the period of the rotation; None if the residuals are not uniform."""
    quarters = np.quantile(left_ns, QUARTERS)
    if float(np.ptp(np.diff(quarters))) > UNEVEN * float(np.ptp(quarters)):
        return None
    return ROOT_12 * float(np.std(left_ns))
