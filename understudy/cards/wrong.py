# SPDX-License-Identifier: MIT
"""How a specification is refused: the file, and each mistake with its line."""

from collections.abc import Iterable

from understudy.base.errors import UserError


class WrongCard(UserError):  # noqa: N818 - it is the card that is wrong
    """A file that is no card: a line `FILE:LINE: reason` a mistake.

    `mistakes`: (line from 1, reason) each, in the order of lines, none twice.
    """

    def __init__(self, file: str, mistakes: Iterable[tuple[int, str]]) -> None:
        """Of a file by that name."""
        self.file = file
        self.mistakes = sorted(set(mistakes))
        super().__init__("\n".join(f"{file}:{line}: {reason}" for line, reason in self.mistakes))
