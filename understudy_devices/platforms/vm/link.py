# SPDX-License-Identifier: MIT
"""A pair of connected sockets: one end is this process's, the other is QEMU's."""

import socket
import time
from collections.abc import Callable, Sequence
from types import TracebackType

POLL_SECONDS = 0.05


class Gone(Exception):  # noqa: N818 - as RunFailed
    """QEMU has ended, or refuses a command."""


class Link:
    """A connection to QEMU; `theirs` is the descriptor of QEMU's end, which QEMU inherits at its
    start.
    """

    def __init__(self) -> None:
        self._ours, self._theirs = socket.socketpair()
        self._ours.settimeout(POLL_SECONDS)
        self._going: Callable[[], None] = lambda: None
        self._asked_seconds = 0.0

    @property
    def theirs(self) -> int:
        return self._theirs.fileno()

    def __enter__(self) -> "Link":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ours.close()
        self._theirs.close()

    def begin(self, going: Callable[[], None]) -> None:
        """Begin to exchange data; call this after QEMU's start.

        `going` is called repeatedly during waits; an exception from it ends the wait.
        """
        self._going = going
        self._theirs.close()

    def send(self, data: bytes, files: Sequence[int] = ()) -> None:
        """Send data and open files; Gone if QEMU has ended."""
        try:
            socket.send_fds(self._ours, [data], files)
        except OSError as error:
            raise Gone(f"QEMU is gone: {error.strerror}") from error

    def receive(self) -> bytes:
        """Wait for data from QEMU and return them; Gone if QEMU has ended."""
        while True:
            self._ask_whether_it_is_going()
            try:
                data = self._ours.recv(65536)
            except TimeoutError:
                continue
            except OSError as error:
                raise Gone(f"QEMU is gone: {error.strerror}") from error
            if not data:
                raise Gone("QEMU is gone")
            return data

    def _ask_whether_it_is_going(self) -> None:
        now_seconds = time.monotonic()
        if now_seconds >= self._asked_seconds + POLL_SECONDS:
            self._asked_seconds = now_seconds
            self._going()
