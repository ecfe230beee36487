# SPDX-License-Identifier: MIT
"""What a trace is like: sizes, interarrival and response times, and how many were outstanding
(ICPE 2011, section 5.2, Figure 6 and Table 3).

Deviations are those of the population, percentiles are nearest-rank (the smallest value that so
many do not exceed), as everywhere (docs/method.md).  What a trace does not say is None.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from understudy.traces.trace import Ints, Trace

LAGS = (1, 2, 3, 10, 100)
PERCENTS = (50, 95, 99)
BLOCK_SECTORS = 8  # 4 kB
BLOCKS = (1, 2, 4, 8, 16, 32, 64, 128)  # Figure 6: the most in each bin; a last one has the rest
BINS = (*(f"{blocks}" for blocks in BLOCKS), f">{BLOCKS[-1]}")
NS_PER_MS = 10**6
SECTORS_PER_KIB = 2
ROUNDING = 1e-12  # of the mean

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Series:
    """Figures of one value a request, in the order of arrival."""

    mean: float
    std: float
    cv: float | None  # std / mean; None if the mean is 0
    autocorrelation: Mapping[int, float | None]  # by lag; None if too short, or all are alike
    percentiles: Mapping[int, float]


@dataclass(frozen=True)
class Outstanding:
    """How many had arrived and were not completed, from first arrival to last completion."""

    mean: float
    most: int


@dataclass(frozen=True)
class Character:
    """Of a whole trace; sizes in KiB, times in ms, the duration in s."""

    requests: int
    reads: int
    writes: int
    owners: int
    duration_s: float
    size: Series
    bins: Sequence[int]  # requests by size, one for each of BINS
    interarrival: Series | None
    response: Series | None
    outstanding: Outstanding | None
    utilisation: float | None


def characterise(trace: Trace) -> Character:
    """All that it tells of itself."""
    writes = int(trace.op.sum())
    done_ns = trace.arrival_ns if trace.completion_ns is None else trace.completion_ns
    span_ns = int(done_ns.max())
    answered = trace.completion_ns is not None
    return Character(
        requests=len(trace),
        reads=len(trace) - writes,
        writes=writes,
        owners=trace.owners,
        duration_s=span_ns / 10**9,
        size=series(trace.sectors / SECTORS_PER_KIB),
        bins=bins(trace.sectors),
        interarrival=series(np.diff(trace.arrival_ns) / NS_PER_MS) if len(trace) > 1 else None,
        response=series(trace.response_ns() / NS_PER_MS) if answered else None,
        outstanding=_outstanding(trace, span_ns),
        utilisation=_utilisation(trace, span_ns),
    )


def series(values: Floats) -> Series:
    """The figures of at least one value."""
    mean, std = float(values.mean()), float(values.std())
    return Series(
        mean=mean,
        std=std,
        cv=std / mean if mean else None,
        autocorrelation=autocorrelation(values, LAGS),
        percentiles=percentiles(values),
    )


def autocorrelation(values: Floats, lags: Iterable[int]) -> dict[int, float | None]:
    """The sum of (x[i] - mean) (x[i + lag] - mean) over that of (x[i] - mean)^2, by lag from 1.

    None if there are no two so far apart, or all are alike but for rounding.
    """
    mean = values.mean()
    off = values - mean
    squares = float(off @ off)
    alike = squares <= len(values) * (ROUNDING * mean) ** 2
    return {
        lag: None if alike or len(values) <= lag else float(off[:-lag] @ off[lag:] / squares)
        for lag in lags
    }


def percentiles(values: Floats) -> dict[int, float]:
    """Nearest rank."""
    ranks = {percent: -(-percent * len(values) // 100) for percent in PERCENTS}
    ordered = np.partition(values, [rank - 1 for rank in ranks.values()])
    return {percent: float(ordered[rank - 1]) for percent, rank in ranks.items()}


def bins(sectors: Ints) -> list[int]:
    """How many have at most so many blocks, and more than the bin before."""
    at = np.searchsorted(np.array(BLOCKS) * BLOCK_SECTORS, sectors, side="left")
    counts: list[int] = np.bincount(at, minlength=len(BLOCKS) + 1).tolist()
    return counts


def _outstanding(trace: Trace, span_ns: int) -> Outstanding | None:
    """On average by Little: the sum of response times over the span."""
    if trace.completion_ns is None or not span_ns:
        return None
    mean = float(trace.response_ns().sum(dtype=np.float64)) / span_ns
    return Outstanding(mean, most_outstanding(trace.arrival_ns, trace.completion_ns))


def most_outstanding(arrival_ns: Ints, completion_ns: Ints) -> int:
    """Of requests in order of arrival; one is outstanding until just before its completion."""
    ended = np.searchsorted(np.sort(completion_ns), arrival_ns, side="right")
    arrived = np.searchsorted(arrival_ns, arrival_ns, side="right")
    return int((arrived - ended).max())


def _utilisation(trace: Trace, span_ns: int) -> float | None:
    """The share of the span in which the device had at least one request."""
    if trace.completion_ns is None or trace.dispatch_ns is None or not span_ns:
        return None
    order = np.argsort(trace.dispatch_ns, kind="stable")
    begin, end = trace.dispatch_ns[order], trace.completion_ns[order]
    before = np.maximum.accumulate(np.concatenate([begin[:1], end[:-1]]))
    busy_ns = np.maximum(end - np.maximum(begin, before), 0).sum()
    return float(busy_ns) / span_ns
