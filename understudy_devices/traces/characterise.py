# SPDX-License-Identifier: MIT
"""Statistics of a trace: sizes, interarrival times, response times, and outstanding requests
(ICPE 2011, section 5.2, Figure 6 and Table 3).

Standard deviations are those of a population.  A percentile is the smallest value such that at
least the given share of the values does not exceed it (nearest rank), as everywhere
(docs/method.md).  Figures that a trace does not record are None.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from understudy_devices.base import file_arrays
from understudy_devices.traces.faults import pauses
from understudy_devices.traces.trace import Ints, Trace

LAGS = (1, 2, 3, 10, 100)
PERCENTS = (50, 95, 99)
BLOCK_SECTORS = 8  # a block of 4 KiB
BLOCKS = (1, 2, 4, 8, 16, 32, 64, 128)  # Figure 6: largest size of each bin, in blocks
BINS = (*(f"{blocks}" for blocks in BLOCKS), f">{BLOCKS[-1]}")
NS_PER_MS = 10**6
SECTORS_PER_KIB = 2
ROUNDING = 1e-12  # relative to the mean

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Series:
    """Statistics of a series with one value per request, in order of arrival."""

    mean: float
    std: float
    cv: float | None  # std / mean; None if the mean is 0
    autocorrelation: Mapping[int, float | None]  # by lag; None if too short, or constant
    percentiles: Mapping[int, float]


@dataclass(frozen=True)
class Outstanding:
    """The number of requests that have arrived but are not complete, over the span from the first
    arrival to the last completion."""

    mean: float
    most: int


@dataclass(frozen=True)
class Character:
    """Figures of a whole trace; sizes in KiB, times in ms, the duration in s."""

    requests: int
    reads: int
    writes: int
    owners: int
    duration_s: float
    size: Series
    bins: Sequence[int]  # number of requests in each of BINS
    interarrival: Series | None
    response: Series | None
    outstanding: Outstanding | None
    utilisation: float | None  # of the duration without pauses
    pauses_s: float  # sum of long times without a request (faults.py)


def characterise(trace: Trace) -> Character:
    """Compute all figures that the trace supports."""
    writes = int(trace.op.sum())
    done_ns = trace.arrival_ns if trace.completion_ns is None else trace.completion_ns
    span_ns = int(done_ns.max())
    pauses_ns = pauses(trace).total_ns
    answered = trace.completion_ns is not None
    return Character(
        requests=len(trace),
        reads=len(trace) - writes,
        writes=writes,
        owners=trace.owners,
        duration_s=span_ns / 10**9,
        size=series(_parts_of(trace.sectors, SECTORS_PER_KIB)),
        bins=bins(trace.sectors),
        interarrival=series(gaps_ms(trace.arrival_ns)) if len(trace) > 1 else None,
        response=series(_parts_of(trace.response_ns(), NS_PER_MS)) if answered else None,
        outstanding=_outstanding(trace, span_ns),
        utilisation=_utilisation(trace, span_ns - pauses_ns),
        pauses_s=pauses_ns / 10**9,
    )


def gaps_ms(arrival_ns: Ints) -> Floats:
    """Return the N - 1 times from each arrival to the next, in ms."""
    return file_arrays.each(
        lambda later, earlier: (later - earlier) / NS_PER_MS, arrival_ns[1:], arrival_ns[:-1]
    )


def series(values: Floats) -> Series:
    """Return the figures of at least one value."""
    mean, deviation = float(values.mean()), std(values)
    return Series(
        mean=mean,
        std=deviation,
        cv=deviation / mean if mean else None,
        autocorrelation=autocorrelation(values, LAGS),
        percentiles=percentiles(values),
    )


def std(values: Floats) -> float:
    """Return the population's standard deviation, with the same bits as NumPy's."""
    mean = values.mean()
    squares = file_arrays.each(lambda part: np.square(part - mean), values)
    return math.sqrt(squares.mean())


def autocorrelation(values: Floats, lags: Iterable[int]) -> dict[int, float | None]:
    """Return, for each lag, the sum of (x[i] - mean) (x[i + lag] - mean), divided by the sum of
    (x[i] - mean)^2.

    The value is None if the series is too short for the lag, or if all its values are equal
    except for rounding.
    """
    mean = values.mean()
    off = file_arrays.each(lambda part: part - mean, values)
    squares = float(off @ off)
    alike = squares <= len(values) * (ROUNDING * mean) ** 2
    return {
        lag: None if alike or len(values) <= lag else float(off[:-lag] @ off[lag:] / squares)
        for lag in lags
    }


def percentiles(values: Floats) -> dict[int, float]:
    """Return nearest-rank percentiles."""
    ranks = {percent: -(-percent * len(values) // 100) for percent in PERCENTS}
    ordered = file_arrays.each(np.copy, values)
    ordered.partition([rank - 1 for rank in ranks.values()])
    return {percent: float(ordered[rank - 1]) for percent, rank in ranks.items()}


def bins(sectors: Ints) -> list[int]:
    """Return the number of requests in each bin of BINS, by size."""
    counts = np.zeros(len(BINS), np.int64)
    for part in file_arrays.blocks(len(sectors)):
        at = np.searchsorted(np.array(BLOCKS) * BLOCK_SECTORS, sectors[part], side="left")
        counts += np.bincount(at, minlength=len(BINS))
    result: list[int] = counts.tolist()
    return result


def _outstanding(trace: Trace, span_ns: int) -> Outstanding | None:
    """Compute the mean by Little's law: the sum of response times over the span."""
    if trace.completion_ns is None or not span_ns:
        return None
    mean = float(trace.response_ns().sum(dtype=np.float64)) / span_ns
    return Outstanding(mean, most_outstanding(trace.arrival_ns, trace.completion_ns))


def most_outstanding(arrival_ns: Ints, completion_ns: Ints) -> int:
    """Return the largest number of outstanding requests, for requests in order of arrival.

    Each request is outstanding until just before its completion.
    """
    ends_ns = file_arrays.each(np.copy, completion_ns)
    ends_ns.sort()
    most = 0
    for part in file_arrays.blocks(len(arrival_ns)):
        ended = np.searchsorted(ends_ns, arrival_ns[part], side="right")
        arrived = np.searchsorted(arrival_ns, arrival_ns[part], side="right")
        most = max(most, int((arrived - ended).max()))
    return most


def _utilisation(trace: Trace, span_ns: int) -> float | None:
    """Return the share of the span in which the device had at least one request."""
    if trace.completion_ns is None or trace.dispatch_ns is None or not span_ns:
        return None
    begins, ends = file_arrays.ordered(trace.dispatch_ns, trace.dispatch_ns, trace.completion_ns)
    busy_ns, latest = 0, begins[:1]
    for part in file_arrays.blocks(len(begins)):
        before = np.maximum.accumulate(np.concatenate([latest, ends[part]]))
        begin = np.maximum(begins[part], before[:-1])
        busy_ns += int(np.maximum(ends[part] - begin, 0).sum())
        latest = before[-1:]
    return float(busy_ns) / span_ns


def _parts_of(values: Ints, whole: int) -> Floats:
    return file_arrays.each(lambda part: part / whole, values)
