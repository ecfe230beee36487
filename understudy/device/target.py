# SPDX-License-Identifier: MIT
"""A drive as a black box: what is measured, and what a profile of it is held against."""

from typing import Protocol


class Target(Protocol):
    """A drive: one request at a time, `at_ns` never before the last completion."""

    @property
    def capacity_sectors(self) -> int:
        """Its size; it stays what it is."""

    @property
    def writable(self) -> bool:
        """Whether it takes writes."""

    def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        """When a "read" or a "write" that is sent at `at_ns` completes, ns."""
