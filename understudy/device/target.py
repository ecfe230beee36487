# SPDX-License-Identifier: MIT
"""A drive as a black box: it can be measured, and its profile can be checked against it."""

from typing import Protocol


class Target(Protocol):
    """A drive that serves one request at a time; `at_ns` is never before the last completion.

    A target with its own clock, which may send a request later than `at_ns`, also has `sent_ns`:
    the time when it sent the last request.  A target that splits long requests also has
    `longest_sectors`, the longest request that is not split.
    """

    @property
    def capacity_sectors(self) -> int:
        """The drive's size, which does not change."""

    @property
    def writable(self) -> bool:
        """Whether the drive accepts writes."""

    def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        """Send a "read" or a "write" at `at_ns`; return its completion time in ns."""
