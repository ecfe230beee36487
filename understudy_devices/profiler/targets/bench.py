# SPDX-License-Identifier: MIT
"""Measures a target's service times: keeps the clock, checks completions, selects random
sectors.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager

from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.device.target import Target

NS_PER_S = 10**9
NEVER_NS = 2**63
LATE_NS = 60 * NS_PER_S  # longer than anything a drive does
LONGEST_SECTORS = 2**17  # of a request, if the target has no limit
SMALLEST_SECTORS = 2**18  # 128 MiB: a smaller target has too few sectors for all probes


class TimeUp(Exception):  # noqa: N818 - as RunFailed
    """The time limit of a part of the measurement has passed."""


class Bench:
    """Sends requests to a target one by one, and returns each service time.

    After `deadline_ns` on the target's clock, requests raise TimeUp.
    """

    def __init__(self, target: Target, seed: int) -> None:
        """Begin at time 0; the seed determines random sectors and waits."""
        self._target = target
        self.capacity_sectors = capacity(target)
        self.longest_sectors = int(getattr(target, "longest_sectors", LONGEST_SECTORS))
        self.random = random.Random(f"profile {seed}")
        self.now_ns = 0
        self.sent_ns = 0
        self.deadline_ns = NEVER_NS
        self.requests = 0
        if self.capacity_sectors < SMALLEST_SECTORS:
            raise UserError(
                f"target: {self.capacity_sectors} sectors are too few to profile, "
                f"at least {SMALLEST_SECTORS}"
            )

    @property
    def writable(self) -> bool:
        """Return whether the target accepts writes."""
        return bool(self._target.writable)

    def read(self, sector: int, sectors: int = 1) -> int:
        """Send a read; return its service time, ns."""
        return self.serve("read", sector, sectors)

    def write(self, sector: int, sectors: int = 1) -> int:
        """Send a write, which overwrites data; return its service time, ns."""
        return self.serve("write", sector, sectors)

    def wait(self, ns: float) -> None:
        """Leave the drive idle for that time."""
        self.now_ns += round(ns)

    def place(self, sectors: int, begin: float = 0.0, end: float = 1.0) -> int:
        """Return a random sector between the fractions `begin` and `end` of the disk, with room for
        `sectors` sectors.
        """
        first = int(begin * self.capacity_sectors)
        last = min(int(end * self.capacity_sectors), self.capacity_sectors) - sectors
        return self.random.randint(first, max(first, last))

    def elsewhere(self, requests: int) -> None:
        """Read `requests` random sectors, which move the arm and replace the contents of
        the cache.
        """
        for _ in range(requests):
            self.read(self.place(1))

    @contextmanager
    def limited(self, share: float) -> Iterator[None]:
        """Limit the block to a share of the remaining time."""
        whole_ns = self.deadline_ns
        if whole_ns < NEVER_NS:
            self.deadline_ns = self.now_ns + round(share * max(0, whole_ns - self.now_ns))
        try:
            yield
        finally:
            self.deadline_ns = whole_ns

    def milestone(self) -> None:
        """Mark the end of a part: a target with a journal can resume from here."""
        getattr(self._target, "milestone", lambda: None)()

    def serve(self, op: str, sector: int, sectors: int) -> int:
        """Send a "read" or "write" now, or as soon as possible; return its service time, ns."""
        if self.now_ns > self.deadline_ns:
            raise TimeUp
        what = f"{op} of {sectors} sectors at sector {sector}, sent at {self.now_ns} ns"
        try:
            completion_ns = self._target.request(op, sector, sectors, self.now_ns)
        except (RunFailed, UserError):
            raise
        except Exception as error:
            raise RunFailed(f"target: {what}: {_said(error)}") from error
        if not isinstance(completion_ns, int):
            raise RunFailed(f"target: {what}: completed at {completion_ns!r}, not a whole ns")
        sent_ns = getattr(self._target, "sent_ns", self.now_ns)
        if not isinstance(sent_ns, int) or sent_ns < self.now_ns:
            raise RunFailed(f"target: {what}: it reports sending at {sent_ns!r} ns")
        service_ns = completion_ns - sent_ns
        if service_ns < 0:
            raise RunFailed(f"target: {what}: completed before, at {completion_ns} ns")
        if service_ns > LATE_NS:
            raise RunFailed(f"target: {what}: took {service_ns / NS_PER_S:.0f} s, given up")
        if (now := capacity(self._target)) != self.capacity_sectors:
            raise RunFailed(f"target: {what}: it had {self.capacity_sectors} sectors, now {now}")
        self.sent_ns, self.now_ns = sent_ns, completion_ns
        self.requests += 1
        return service_ns


def capacity(target: Target) -> int:
    """Return the target's capacity in sectors; raise UserError if it has none."""
    try:
        return int(target.capacity_sectors)
    except Exception as error:
        raise UserError(f"target: capacity_sectors: {_said(error)}") from error


def _said(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": ")
