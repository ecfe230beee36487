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
"""

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
FLAT = 5  # so many consecutive autocorrelations are small where a series has none left


@dataclass(frozen=True)
class Sample:
    """What a trace says about its process.

    block: requests in a block of a resample. freedom: degrees of freedom of the spread, at least 1.
    """

    block: int
    freedom: float


def judge(arrival_ns: NDArray[np.int64], service_ns: NDArray[np.int64]) -> Sample:
    """Return the block length and the degrees of freedom of a trace of two requests or more."""
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
    return Sample(block, max(LEAST_FREEDOM, share * min(counts) - 1))


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
