# SPDX-License-Identifier: MIT
"""Recognises a ring buffer in memory that a driver has given to its card, from the addresses of
the transfers that the driver starts.

A ring's addresses increase in equal steps from the beginning of the memory, and wrap to the
beginning.  A ring wraps early if it always wraps after the same address and there is room for
more steps.  That alone is not a mistake: the remaining memory may have another use.
"""


class Ring:
    """A piece of memory given to the card."""

    def __init__(self, begin: int, size: int) -> None:
        self._begin, self._size = begin, size
        self._step = self._top = 0
        self._last: int | None = None
        self._turned: set[int] = set()
        self._is_ring = True

    def holds(self, address: int) -> bool:
        """Return whether the address is in this memory."""
        return 0 <= address - self._begin < self._size

    def sent(self, address: int) -> None:
        """Record the address of a transfer that the driver starts in this memory."""
        place = address - self._begin
        if place == 0:
            self._turned |= {self._last} if self._last else set()
        elif self._last is None or self._last + (self._step or place) != place:
            self._is_ring = False
        else:
            self._step = place - self._last
        self._last, self._top = place, max(self._top, place)

    def restart(self) -> None:
        """Record that the card restarts, so that the driver may continue at any address."""
        self._last = None

    def has_turned(self) -> bool:
        """Return whether the ring has ever wrapped."""
        return bool(self._turned)

    def early(self) -> str | None:
        """Return in words where the ring wraps; None if it does not wrap early."""
        if not self._is_ring or self._turned != {self._top}:
            return None
        used, there = self._top // self._step + 1, self._size // self._step
        if used == there:
            return None
        return f"at {self._begin:#x} the ring wraps after {used} of {there} places"
