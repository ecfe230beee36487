# SPDX-License-Identifier: MIT
"""How many requests a hypervisor merges: the merge value at which a simulation's queue is as long
as expected (ICPE 2011, section 4.3.2, Algorithm 2).

The search needs nothing but the mean queue length of a simulation with a merge value.  Merging
shortens the queue; `corrected` (Eq. 8) is what is compared with the expected length.  While
only one side of the answer is known the value moves by a step, then by halves (Eq. 10).  A value is
never below 1, which means that nothing is merged: where even that leaves the queue shorter than
expected the search ends there, since no merging explains more.
"""

from collections.abc import Callable
from dataclasses import dataclass

from understudy.base.errors import RunFailed

TOLERANCE = 0.05  # of the expected length, Eq. 9
STEP = 1.0
TRIES = 40
NARROW = 1e-3  # between values that the answer lies between: it jumps there


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
    if not expected > 0:
        raise ValueError(f"an expected queue length of {expected} requests: has to be above 0")
    if not start >= 1:
        raise ValueError(f"a merge value of {start}: has to be 1 or more")
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
