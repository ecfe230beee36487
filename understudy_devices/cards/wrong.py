# SPDX-License-Identifier: MIT
"""The error for a wrong specification: the file, and each mistake with its line."""

from collections.abc import Iterable

from understudy_devices.base.errors import UserError


class WrongCard(UserError):  # noqa: N818 - it is the card that is wrong
    """A file that is not a card, with a line `FILE:LINE: reason` per mistake.

    `mistakes`: pairs (line from 1, reason), sorted by line, without duplicates.
    """

    def __init__(self, file: str, mistakes: Iterable[tuple[int, str]]) -> None:
        """Build the message, which begins each line with `file`."""
        self.file = file
        self.mistakes = sorted(set(mistakes))
        super().__init__("\n".join(f"{file}:{line}: {reason}" for line, reason in self.mistakes))
