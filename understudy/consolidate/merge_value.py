# SPDX-License-Identifier: MIT
"""How many requests a hypervisor merges: the merge value at which a simulation's queue is as long
as expected (ICPE 2011, section 4.3.2, Algorithm 2); and one for each VM (its future work).

The search needs nothing but the mean queue length of a simulation with a merge value.  Merging
shortens the queue; `corrected` (Eq. 8) is what is compared with the expected length.  While
only one side of the answer is known the value moves by a step, then by halves (Eq. 10).  A value is
never below 1, which means that nothing is merged: where even that leaves the queue shorter than
expected the search ends there, since no merging explains more.

With a value for each VM, each VM's own corrected length is to be as expected: its N_iso, of which
Eq. 7 has the sum.  All values move at once, in proportion to what is off, by less and less as they
pass by.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from understudy.base.errors import RunFailed

TOLERANCE = 0.05  # of the expected length, Eq. 9
STEP = 1.0
TRIES = 40
NARROW = 1e-3  # between values that the answer lies between: it jumps there
WIDEST = math.log(4)  # a value for each VM at most becomes so many times as large at once


@dataclass(frozen=True)
class Tried:
    """A merge value, and the mean queue length that a simulation had with it."""

    merge: float
    queue_length: float

    @property
    def corrected(self) -> float:
        """Eq. 8."""
        return self.queue_length / self.merge


@dataclass(frozen=True)
class Search:
    """All that was tried, the last of which is the answer.

    within says whether its corrected length is as expected; if not, the merge value is 1 and
    the queue shorter than expected all the same.
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
    """The merge value; queue_length(merge) simulates, always with the same draws.

    RunFailed, with the values between which it lies, if it is not found.
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
    """A merge value for each VM; queue_lengths(merges) simulates, always with the same draws.

    RunFailed names the VM's place, from 1, whose value is not found.
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
        raise ValueError(f"an expected queue length of {expected} requests: has to be above 0")
    if not start >= 1:
        raise ValueError(f"a merge value of {start}: has to be 1 or more")


def _next(low: float | None, high: float | None, step: float) -> float:
    """Above `low` the queue is too long, below `high` too short; Eq. 10 if both are known."""
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
