# SPDX-License-Identifier: MIT
"""The base class of black-box magnetic drives: firmware that controls the mechanism of a detailed
drive (oracle/detailed).

Such a drive is a target (device/target.py). The firmware decides what the mechanism does
for a request (`serve`), and what background work the mechanism does once the host has been idle for
`idle_ms` (`step`). The mechanism performs one access at a time and always finishes it.
"""

import math
from dataclasses import dataclass, field, fields, replace
from typing import Any

from oracle.detailed.drive import MS, DetailedDrive, random_parameters


def check(op: str, sector: int, sectors: int, capacity_sectors: int) -> None:
    """Raise ValueError for a request that no drive of that size can serve."""
    if op not in ("read", "write"):
        raise ValueError(f"{op!r}: neither read nor write")
    if sectors < 1 or not 0 <= sector <= capacity_sectors - sectors:
        raise ValueError(f"{op} of {sectors} sectors at {sector}, of {capacity_sectors}")


def check_time(op: str, at_ns: int, earliest_ns: int) -> None:
    """Raise ValueError for a request that is sent before `earliest_ns`."""
    if at_ns < earliest_ns:
        raise ValueError(f"{op} sent at {at_ns} ns, when it is {earliest_ns} ns already")


@dataclass(eq=False)
class Firmware:
    """Firmware that passes every request to the mechanism and does nothing when idle."""

    drive: DetailedDrive
    idle_ms: float = math.inf
    writable: bool = field(default=True, init=False)
    capacity_sectors: int = field(init=False)
    completion_ns: int = field(init=False, repr=False)
    free_ns: int = field(init=False, repr=False)  # when the mechanism is free

    def __post_init__(self) -> None:
        self.capacity_sectors = self.drive.capacity_sectors
        self.reset()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle only the parameters: unpickling yields a drive in its initial state."""
        return type(self), tuple(getattr(self, each.name) for each in fields(self) if each.init)

    def reset(self) -> None:
        """Reset to the initial state, at time 0."""
        self.drive.reset()
        self.completion_ns = self.free_ns = 0

    def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        """Do background work until a request is sent, then serve it; return its completion time."""
        check(op, sector, sectors, self.capacity_sectors)
        check_time(op, at_ns, self.completion_ns)
        while (begin_ns := self.next_step_ns()) < at_ns and self.step(round(begin_ns)):
            pass
        self.completion_ns = self.serve(op, sector, sectors, at_ns)
        return self.completion_ns

    def serve(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        """Serve a request by means of the mechanism; return the request's completion time."""
        return self.mechanism(op, sector, sectors, at_ns)

    def next_step_ns(self) -> float:
        """Return the time of the next background step if no request arrives before it."""
        return max(self.completion_ns + self.idle_ms * MS, self.free_ns)

    def step(self, at_ns: int) -> bool:
        """Begin one piece of background work; return False if there is none."""
        return False

    def mechanism(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        """Let the mechanism serve a request as soon as the mechanism is free; return the completion
        time.
        """
        self.free_ns = self.drive.request(op, sector, sectors, max(at_ns, self.free_ns))
        return self.free_ns


def random_mechanism(seed: int) -> DetailedDrive:
    """Return a random drive without a write cache, for firmware that defers writes in its own
    way.
    """
    return DetailedDrive(replace(random_parameters(seed), write_sectors=0))
