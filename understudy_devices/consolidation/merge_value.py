# SPDX-License-Identifier: MIT
"""Find the merge value: the number of requests that a hypervisor merges into one.

With the right merge value, a simulation's queue is as long as expected (ICPE 2011, section 4.3.2,
Algorithm 2).  There is either one merge value for all VMs, or one for each VM (the paper's future
work).

The search calls a function that simulates with a given merge value and returns the mean queue
length.  It divides this length by the merge value (Eq. 8), and compares the `corrected` length with
the expected length.  The merge value changes by a constant step until a lower and an upper bound
are known, then by bisection (Eq. 10).  A merge value of 1 means no merging; smaller values are
impossible.  If the queue is shorter than expected even with a merge value of 1, the search ends,
since a greater value would only shorten the corrected length.

If each VM has its own merge value, the corrected length of each VM must equal the expected length
of that VM, its N_iso (Eq. 7 has the sum over all VMs).  Each step multiplies each merge value by
the ratio of corrected to expected length, but at most by 4.  When this ratio crosses 1, the VM's
further steps become smaller.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from understudy_devices.base.errors import RunFailed

TOLERANCE = 0.05  # as a fraction of the expected length, Eq. 9
STEP = 1.0
TRIES = 40
NARROW = 1e-3  # if the interval around the answer is narrower, the length must have a jump there
WIDEST = math.log(4)  # logarithm of the largest factor in one step, with a value for each VM


@dataclass(frozen=True)
class Tried:
    """A merge value, and the mean queue length of a simulation with that value."""

    merge: float
    queue_length: float

    @property
    def corrected(self) -> float:
        """Return the corrected queue length (Eq. 8)."""
        return self.queue_length / self.merge


@dataclass(frozen=True)
class Search:
    """All merge values tried; the last one is the answer.

    within: whether the corrected length is within the tolerance.  If not, the merge value is 1, and
    the queue is shorter than expected even without merging.
    """

    expected: float
    tried: tuple[Tried, ...]
    within: bool

    @property
    def merge(self) -> float:
        """Return the merge value."""
        return self.tried[-1].merge


def search(
    queue_length: Callable[[float], float],
    expected: float,
    start: float = 1.0,
    tolerance: float = TOLERANCE,
    step: float = STEP,
    tries: int = TRIES,
) -> Search:
    """Find the merge value.

    queue_length(merge) returns the mean queue length of a simulation; all simulations must use the
    same random numbers.  Raises RunFailed, with the last values tried, if no merge value is found.
    """
    _check(expected, start)
    tried: list[Tried] = []
    merge, low, high = start, None, None
    while len(tried) < tries:
        now = Tried(merge, queue_length(merge))
        tried.append(now)
        if abs(now.corrected - expected) <= tolerance * expected:
            return Search(expected, tuple(tried), within=True)
        if now.corrected > expected:
            low = merge
        elif merge == 1:
            return Search(expected, tuple(tried), within=False)
        else:
            high = merge
        if low is not None and high is not None and high - low < NARROW:
            break
        merge = _next(low, high, step)
    raise RunFailed(_did_not_converge(expected, tried))


def search_each(
    queue_lengths: Callable[[tuple[float, ...]], Sequence[float]],
    expected: Sequence[float],
    start: float = 1.0,
    tolerance: float = TOLERANCE,
    tries: int = TRIES,
) -> tuple[Search, ...]:
    """Find a merge value for each VM.

    queue_lengths(merges) returns each VM's mean queue length in a simulation; all simulations must
    use the same random numbers.  Raises RunFailed, with the VM's number counted from 1, if no merge
    value is found for a VM.
    """
    for one in expected:
        _check(one, start)
    merges = [start] * len(expected)
    tried: list[list[Tried]] = [[] for _ in expected]
    gain, before = [1.0] * len(expected), [0.0] * len(expected)
    for _ in range(tries):
        lengths = queue_lengths(tuple(merges))
        for k, length in enumerate(lengths):
            tried[k].append(Tried(merges[k], length))
        off = [tried[k][-1].corrected / one for k, one in enumerate(expected)]
        within = [abs(each - 1) <= tolerance for each in off]
        ends = [each < 1 and merge == 1 for each, merge in zip(off, merges, strict=True)]
        if all(map(max, within, ends)):
            return tuple(map(Search, expected, map(tuple, tried), within))
        for k, each in enumerate(off):
            step = max(-WIDEST, min(WIDEST, math.log(each)))
            gain[k] /= 2 if step * before[k] < 0 else 1
            before[k] = step
            merges[k] = max(1.0, merges[k] * math.exp(gain[k] * step))
    worst = max(range(len(off)), key=lambda k: abs(off[k] - 1) * (not ends[k]))
    raise RunFailed(f"VM {worst + 1}: {_did_not_converge(expected[worst], tried[worst])}")


def _check(expected: float, start: float) -> None:
    if not expected > 0:
        raise ValueError(f"an expected queue length of {expected} requests: must be above 0")
    if not start >= 1:
        raise ValueError(f"a merge value of {start}: must be 1 or more")


def _next(low: float | None, high: float | None, step: float) -> float:
    """Return the next merge value to try: by Eq. 10 if both bounds are known, else by a step.

    With the merge value `low` the queue is too long, with `high` too short.
    """
    if low is None:
        assert high is not None
        return max(1.0, high - step)
    return low + step if high is None else (low + high) / 2


def _did_not_converge(expected: float, tried: list[Tried]) -> str:
    nearest = min(tried, key=lambda one: abs(one.corrected - expected))
    return (
        f"no merge value found in {len(tried)} tries: {expected:.3g} requests are expected in the "
        f"system; nearest is {nearest.merge:.4g}, with {nearest.corrected:.3g}; the last tried "
        f"are {', '.join(f'{one.merge:.4g}' for one in tried[-3:])}; more replications make the "
        "queue's length steadier"
    )
