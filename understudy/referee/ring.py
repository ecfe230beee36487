# SPDX-License-Identifier: MIT
"""How a driver goes round in memory that it has given to its card, as far as the places show to
which the card was sent.

A ring goes from the beginning of the memory upwards in equal steps, and back to the beginning.
One that always turns at the same place, and leaves room for more behind it, turns early.  That
alone is no mistake: the memory may have another use there.
"""


class Ring:
    """One piece of memory."""

    def __init__(self, begin: int, size: int) -> None:
        self._begin, self._size = begin, size
        self._step = 0
        self._last: int | None = None
        self._top = 0
        self._turned: set[int] = set()
        self._is_ring = True

    def holds(self, address: int) -> bool:
        """Whether it lies there."""
        return 0 <= address - self._begin < self._size

    def sent(self, address: int) -> None:
        """The card is sent to a place in it."""
        place = address - self._begin
        if place == 0:
            self._turned |= {self._last} if self._last else set()
        elif self._last is None or self._last + (self._step or place) != place:
            self._is_ring = False
        else:
            self._step = place - self._last
        self._last, self._top = place, max(self._top, place)

    def restart(self) -> None:
        """The card begins anew, and so may the driver, wherever it was."""
        self._last = None

    def has_turned(self) -> bool:
        """Whether it has done so at all."""
        return bool(self._turned)

    def early(self) -> str | None:
        """After which place it turns, if that is too early."""
        if not self._is_ring or self._turned != {self._top}:
            return None
        used, there = self._top // self._step + 1, self._size // self._step
        if used == there:
            return None
        return f"at {self._begin:#x} it turns after {used} of {there} places"
