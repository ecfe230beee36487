# SPDX-License-Identifier: MIT
"""The two ways a command can fail.

Both errors carry one line that says what to try next.  The command line turns
them into exit codes 2 and 1 (README); nothing else catches them.
"""


class UserError(Exception):
    """The request was wrong: exit code 2."""


class RunFailed(Exception):  # noqa: N818 - it is the run that has the error
    """The request was right and the run failed: exit code 1."""


class Unstable(RunFailed):
    """Requests arrive faster than the device can ever serve them.

    `load` is the utilisation that the arrivals would need, None if unknown.
    """

    def __init__(self, message: str, load: float | None) -> None:
        """The message and the load."""
        super().__init__(message)
        self.load = load


class NotCompiled(RunFailed):
    """A compiler refused a file; `words` are the compiler's messages."""

    def __init__(self, message: str, words: str) -> None:
        """The message and the compiler's output after it."""
        super().__init__(f"{message}:\n{words}")
        self.words = words
