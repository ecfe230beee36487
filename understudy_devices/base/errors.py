# SPDX-License-Identifier: MIT
"""The two ways a command can fail.

The message of both errors is one line that says what to try next.  The command line turns
a UserError into exit code 2 and a RunFailed into exit code 1 (README); nothing else catches them.
"""


class UserError(Exception):
    """The request was wrong: exit code 2."""


class RunFailed(Exception):  # noqa: N818 - it is the run that has the error
    """The request was right and the run failed: exit code 1."""


class Unstable(RunFailed):
    """Requests arrive faster than the device can ever serve them.

    `load` is the offered load, as a fraction of the device's capacity; None if unknown.
    """

    def __init__(self, message: str, load: float | None) -> None:
        """Store the message and the load."""
        super().__init__(message)
        self.load = load


class NotCompiled(RunFailed):
    """A compiler refused a file; `words` are the compiler's messages."""

    def __init__(self, message: str, words: str) -> None:
        """Store the message, followed by the compiler's output."""
        super().__init__(f"{message}:\n{words}")
        self.words = words
