# SPDX-License-Identifier: MIT
"""The two ways a command can end badly.

Both carry one line that names the next thing to try.  The command line turns
them into exit codes 2 and 1 (README); nothing else catches them.
"""


class UserError(Exception):
    """The request was wrong: exit code 2."""


class RunFailed(Exception):  # noqa: N818 - it is the run that has the error
    """The request was right and the run failed: exit code 1."""


class Unstable(RunFailed):
    """More was asked for than the device can serve, for ever.

    `load` is the utilisation that was asked for, None if it isn't known.
    """

    def __init__(self, message: str, load: float | None) -> None:
        """The line, and the figure in it."""
        super().__init__(message)
        self.load = load


class NotCompiled(RunFailed):
    """A compiler refused what it was given; `words` are its own."""

    def __init__(self, message: str, words: str) -> None:
        """The line, and what follows it."""
        super().__init__(f"{message}:\n{words}")
        self.words = words
