# SPDX-License-Identifier: MIT
"""The bench on which a target is measured: clock, checks, places nobody has read."""

import random

from understudy.base.errors import RunFailed, UserError
from understudy.device.target import Target

NS_PER_S = 10**9
LATE_NS = 60 * NS_PER_S  # nothing that a drive does takes longer
SMALLEST_SECTORS = 2**18  # 128 MiB: fewer hold no places to go that were not read before


class Bench:
    """Sends requests to a target one after another, and says how long each took."""

    def __init__(self, target: Target, seed: int) -> None:
        """At time 0; the seed is of places and waits."""
        self._target = target
        self.capacity_sectors = _capacity(target)
        self.random = random.Random(f"profile {seed}")
        self.now_ns = 0
        self.requests = 0
        if self.capacity_sectors < SMALLEST_SECTORS:
            raise UserError(
                f"target: {self.capacity_sectors} sectors are too few to profile, "
                f"at least {SMALLEST_SECTORS}"
            )

    @property
    def writable(self) -> bool:
        """Whether the target takes writes."""
        return bool(self._target.writable)

    def read(self, sector: int, sectors: int = 1) -> int:
        """Service time, ns."""
        return self.serve("read", sector, sectors)

    def write(self, sector: int, sectors: int = 1) -> int:
        """Service time, ns; whatever was there is gone."""
        return self.serve("write", sector, sectors)

    def wait(self, ns: float) -> None:
        """Leave the drive alone."""
        self.now_ns += round(ns)

    def place(self, sectors: int, begin: float = 0.0, end: float = 1.0) -> int:
        """Where there is room for so many, somewhere in a part of the disk."""
        first = int(begin * self.capacity_sectors)
        last = min(int(end * self.capacity_sectors), self.capacity_sectors) - sectors
        return self.random.randint(first, max(first, last))

    def elsewhere(self, requests: int) -> None:
        """Read in so many places, so that the cache forgets what it held."""
        for _ in range(requests):
            self.read(self.place(1))

    def serve(self, op: str, sector: int, sectors: int) -> int:
        """Service time, ns, of a "read" or a "write" that is sent now."""
        what = f"{op} of {sectors} sectors at sector {sector}, sent at {self.now_ns} ns"
        try:
            completion_ns = self._target.request(op, sector, sectors, self.now_ns)
        except Exception as error:
            raise RunFailed(f"target: {what}: {_said(error)}") from error
        if not isinstance(completion_ns, int):
            raise RunFailed(f"target: {what}: completed at {completion_ns!r}, not a whole ns")
        service_ns = completion_ns - self.now_ns
        if service_ns < 0:
            raise RunFailed(f"target: {what}: completed at {completion_ns} ns, before that")
        if service_ns > LATE_NS:
            raise RunFailed(f"target: {what}: took {service_ns / NS_PER_S:.0f} s, given up")
        if (now := _capacity(self._target)) != self.capacity_sectors:
            raise RunFailed(f"target: {what}: it had {self.capacity_sectors} sectors, now {now}")
        self.now_ns = completion_ns
        self.requests += 1
        return service_ns


def _capacity(target: Target) -> int:
    try:
        return int(target.capacity_sectors)
    except Exception as error:
        raise UserError(f"target: capacity_sectors: {_said(error)}") from error


def _said(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": ")
