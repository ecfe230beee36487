# SPDX-License-Identifier: MIT
"""The interface of a drive that the profiler measures as a black box."""

from typing import Protocol


class Target(Protocol):
    """A drive that serves one request at a time; `at_ns` is never before the last completion.

    A target with its own clock may send a request later than `at_ns`.  Such a target also has the
    attribute `sent_ns`, the time when it sent the last request.  A target that splits long requests
    also has `longest_sectors`, the length of the longest request that is not split.
    """

    @property
    def capacity_sectors(self) -> int:
        """Return the drive's size, which does not change."""

    @property
    def writable(self) -> bool:
        """Return whether the drive accepts writes."""

    def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        """Send a "read" or a "write" at `at_ns`; return its completion time in ns."""
