# SPDX-License-Identifier: MIT
"""Work that gives a result even if it is interrupted: the command then prints what it has.

An interrupted command is killed by its parent process, which first sends SIGTERM to a worker that
still has a result to print (docs/decisions/0027-stopping.md).
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from understudy_devices.base import scratch


class Stopped(BaseException):
    """The command is interrupted.  No Exception: code that handles errors must not catch it."""


class Stops:
    """What the worker does if the command is interrupted; only for the main thread.

    asked: whether the command was interrupted, since the work began.
    """

    def __init__(self, seconds: int) -> None:
        """Let the process go on for so many seconds after an interruption."""
        self.asked = False
        self._seconds = seconds
        self._works = False

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Raise Stopped in the block, at most once, if the command is interrupted.

        After the block, an interruption leaves time to print the result.
        """
        self._works = True
        signal.signal(signal.SIGTERM, self._stop)
        scratch.report_if_interrupted(self._seconds)
        try:
            yield
        finally:
            self._works = False

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        if self._works:
            self._works = False
            raise Stopped
