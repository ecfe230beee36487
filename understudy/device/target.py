# SPDX-License-Identifier: MIT
"""A drive as a black box: what is measured, and what a profile of it is held against."""

from typing import Protocol


class Target(Protocol):
    """A drive: one request at a time, `at_ns` never before the last completion.

    One that can't send at once, since it has a clock of its own, has `sent_ns` as well: when it
    sent the last request, at_ns or later.  One that would cut a long request into several says
    from where on: `longest_sectors`.
    """

    @property
    def capacity_sectors(self) -> int:
        """Its size; it stays what it is."""

    @property
    def writable(self) -> bool:
        """Whether it takes writes."""

    def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        """When a "read" or a "write" that is sent at `at_ns` completes, ns."""
