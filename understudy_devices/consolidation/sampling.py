# SPDX-License-Identifier: MIT
"""How well a trace, which is only a sample, shows the process that it is from.

A prediction is repeated for resamples of each trace: blocks of consecutive requests from random
places (circular block bootstrap, Politis and Romano 1992).  The predictions vary about as much as
predictions from other traces of the same process would.  A block must be long enough to hold the
trace's autocorrelation, and short enough that the trace has several blocks (Politis and White 2004,
with the correction of Patton, Politis and White 2009).

The spread of these predictions is itself uncertain if few requests decide it: a response time
depends on the second moments of service and interarrival times (Pollaczek and Khinchine), which in
a skewed sample are those of its few longest times.  So the interval takes Student's t with as many
degrees of freedom as there are independent times that decide the second moment.  If a trace is so
short that its autocorrelation does not end, it may be a part of a single episode.  Then there is
one degree of freedom.

Real traces often have long-range dependence: the variance of the means of batches decreases more
slowly than one over their length (Leland, Taqqu, Willinger and Wilson 1994; for disks, Gomez and
Santonja 2000).  Then no block is long enough.  So the variance of the mean is computed from batches
of many lengths, and a power of the length is fitted from a block to an eighth of the trace.  If it
grows clearly, the spread of resamples is stretched by this growth.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy_devices.traces.characterise import autocorrelation

Array = NDArray[np.float64]

EXAMINED = 100_000  # the first times of a trace, from which both figures are computed
FEWEST_BLOCKS = 4
LEAST_FREEDOM = 1.5
NO_END = 1.0  # degrees of freedom if the autocorrelation goes on at all examined lags
MOST_LAGS = 2000
FEWEST_BATCHES, MOST_BATCHES = 8, 1024
LEAST_SCALES = 3
CLEAR = 1.0  # standard errors
SHORTEST_BATCH = 10
DRIFTS = 3.0  # standard errors; with 14 degrees of freedom chance exceeds it once in a hundred
FLAT = 5  # so many consecutive autocorrelations are small where a series has none left


@dataclass(frozen=True)
class Sample:
    """What a trace says about its process.

    block: requests in a block of a resample. freedom: degrees of freedom of the spread, at least 1.
    stretch: by which factor the mean's standard error is larger than blocks of this length show.
    """

    block: int
    freedom: float
    stretch: float = 1.0


def judge(
    arrival_ns: NDArray[np.int64], service_ns: NDArray[np.int64], response_ns: NDArray[np.int64]
) -> Sample:
    """Return what a trace of two requests or more says about its process."""
    gaps = np.diff(arrival_ns[: EXAMINED + 1]).astype(np.float64)
    times = service_ns[:EXAMINED].astype(np.float64)
    share = len(service_ns) / len(times)
    series = [one for one in (gaps, times) if len(one) > 1 and one.std() > 0]
    if not series:
        return Sample(1, LEAST_FREEDOM)
    memories = [_memory(one) for one in series]
    counts = [_deciding(one) / own.alike for one, own in zip(series, memories, strict=True)]
    longest = max(own.block for own in memories) * share ** (1 / 3)
    block = min(max(1, round(longest)), max(1, len(service_ns) // FEWEST_BLOCKS))
    if not all(own.ends for own in memories):
        return Sample(block, NO_END)
    requests = len(arrival_ns)
    stretch = max(
        _stretch(lambda count: _mean_gaps(arrival_ns, count), requests - 1, block),
        _stretch(lambda count: _means(response_ns, count), requests, block),
    )
    return Sample(block, max(LEAST_FREEDOM, share * min(counts) - 1), stretch)


def _stretch(batched: Callable[[int], Array], length: int, block: int) -> float:
    """Return the growth of the mean's standard error from batches of a block to an eighth.

    batched: returns the means of so many batches.
    """
    most = min(MOST_BATCHES, length // block)
    counts = [FEWEST_BATCHES << power for power in range(16) if FEWEST_BATCHES << power <= most]
    if len(counts) < LEAST_SCALES:
        return 1.0
    errors = [float(batched(count).var(ddof=1)) / count for count in counts]
    if min(errors) <= 0:
        return 1.0
    lengths = -np.log(counts)
    weights = (np.array(counts) - 1) / 2  # one over the variance of a logarithm
    middle = np.average(lengths, weights=weights)
    squares = float((weights * (lengths - middle) ** 2).sum())
    slope = float((weights * (lengths - middle) * np.log(errors)).sum()) / squares
    if slope < CLEAR / np.sqrt(squares):
        return 1.0
    return float(np.exp(slope / 2 * np.log(length / block / FEWEST_BATCHES)))


def drift(times: NDArray[np.int64]) -> tuple[float, float] | None:
    """Return the means of both halves of a series if they differ significantly, otherwise None.

    The standard error is that of batches of a sixteenth of the series.
    """
    if len(times) < 2 * FEWEST_BATCHES * SHORTEST_BATCH:
        return None
    before, after = _means(times, 2 * FEWEST_BATCHES).reshape(2, FEWEST_BATCHES)
    error = np.sqrt((before.var(ddof=1) + after.var(ddof=1)) / FEWEST_BATCHES)
    if abs(before.mean() - after.mean()) <= DRIFTS * error:
        return None
    return float(before.mean()), float(after.mean())


def _means(times: NDArray[np.int64], count: int) -> Array:
    """Return the means of so many batches of equal length."""
    length = len(times) // count
    sums = np.add.reduceat(times[: count * length], np.arange(count) * length)
    return np.asarray(sums / length, np.float64)


def _mean_gaps(at_ns: NDArray[np.int64], count: int) -> Array:
    length = (len(at_ns) - 1) // count
    return np.asarray(np.diff(at_ns[np.arange(count + 1) * length]) / length, np.float64)


def _deciding(times: Array) -> float:
    """Return the number of times that decide the second moment (Kish's effective sample size)."""
    squares = (times / times.max()) ** 2
    return float(squares.sum() ** 2 / (squares**2).sum())


@dataclass(frozen=True)
class _Memory:
    """block: the block length. alike: the number of consecutive times that say as much as one
    independent time. ends: whether the autocorrelation ends within the examined lags."""

    block: float
    alike: float
    ends: bool


def _memory(times: Array) -> _Memory:
    count = len(times)
    furthest = max(int(np.ceil(np.sqrt(count))), min(count // 10, MOST_LAGS))
    most = min(count // 2, furthest + FLAT)
    lags = range(1, most + 1)
    known = np.array([value or 0.0 for value in autocorrelation(times, lags).values()])
    small = np.abs(known) < 2 * np.sqrt(np.log10(count) / count)
    last = next((k for k in range(most) if small[k : k + FLAT].all()), most)
    lags_used = np.arange(1, min(2 * last, most) + 1)
    if not last:
        return _Memory(1.0, 1.0, ends=True)
    taper = np.minimum(1.0, 2 * (1 - lags_used / (2 * last)))
    used = taper * known[: len(lags_used)]
    long_run = max(1.0, 1 + 2 * float(used.sum()))
    slope = 2 * float((lags_used * used).sum())
    length = (2 * slope**2 / (4 / 3 * long_run**2)) ** (1 / 3) * count ** (1 / 3)
    return _Memory(max(1.0, length), long_run, ends=last < most)
