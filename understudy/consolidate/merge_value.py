# SPDX-License-Identifier: MIT
"""Finds how many requests a hypervisor merges: the merge value with which a simulation's queue is
as long as expected (ICPE 2011, section 4.3.2, Algorithm 2); or a value for each VM (the paper's
future work).

The search needs only the mean queue length of a simulation with a merge value.  Merging shortens
the queue; `corrected` (Eq. 8) is compared with the expected length.  The value moves by a step
until both sides of the answer are known, then by bisection (Eq. 10).  A value of 1 means no
merging, and no value is below 1.  If the queue with 1 is still shorter than expected, the search
ends, since no merging can explain that.

With a value for each VM, each VM's own corrected length must be as expected: its N_iso (Eq. 7 has
the sum of these).  All values move at once, in proportion to their errors, and by smaller steps
each time that they pass the answer.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from understudy.base.errors import RunFailed

TOLERANCE = 0.05  # of the expected length, Eq. 9
STEP = 1.0
TRIES = 40
NARROW = 1e-3  # width of the interval around the answer at which the length must jump there
WIDEST = math.log(4)  # logarithm of the largest factor in one step, with a value for each VM


@dataclass(frozen=True)
class Tried:
    """A merge value, and a simulation's mean queue length with it."""

    merge: float
    queue_length: float

    @property
    def corrected(self) -> float:
        """The corrected queue length (Eq. 8)."""
        return self.queue_length / self.merge


@dataclass(frozen=True)
class Search:
    """All values tried; the last one is the answer.

    within: whether the corrected length is as expected.  If not, the merge value is 1, and even so
    the queue is shorter than expected.
    """

    expected: float
    tried: tuple[Tried, ...]
    within: bool

    @property
    def merge(self) -> float:
        """The merge value."""
        return self.tried[-1].merge


def search(
    queue_length: Callable[[float], float],
    expected: float,
    start: float = 1.0,
    tolerance: float = TOLERANCE,
    step: float = STEP,
    tries: int = TRIES,
) -> Search:
    """Find the merge value; queue_length(merge) simulates, always with the same random draws.

    If no value is found, RunFailed names the last ones tried.
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
    """Find a merge value for each VM; queue_lengths(merges) simulates, with the same random draws.

    If no value is found for a VM, RunFailed gives the VM's number, from 1.
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
    """The next value to try: Eq. 10 if both bounds are known, else a step.

    At `low` the queue is too long, at `high` too short.
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
