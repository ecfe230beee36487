# SPDX-License-Identifier: MIT
"""Talk to a running QEMU in its machine protocol (QMP): one line of JSON each way."""

import json
import socket
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

POLL_SECONDS = 0.05
CAPABILITIES = ("events", "x-ignore-shared")


class Gone(Exception):  # noqa: N818 - as RunFailed
    """QEMU has ended, or refuses a command."""


class Monitor:
    """Our end of a pair of sockets; QEMU is started with the other, `theirs`."""

    def __init__(self) -> None:
        self._ours, self.theirs = socket.socketpair()
        self._ours.settimeout(POLL_SECONDS)
        self._going: Callable[[], None] = lambda: None
        self._asked_seconds = 0.0
        self._received = b""
        self._events: set[str] = set()

    def __enter__(self) -> "Monitor":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ours.close()
        self.theirs.close()

    def greet(self, going: Callable[[], None]) -> None:
        """To be called first, once QEMU has started.

        going is asked now and then while we wait: what it raises ends the wait.
        """
        self._going = going
        self.theirs.close()
        self._message()
        self.do("qmp_capabilities")

    def do(self, command: str, *files: int, **arguments: Any) -> dict[str, Any]:
        """Have a command carried out, and pass it open files; what it returns.

        Gone if QEMU refuses it.
        """
        line = json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n"
        try:
            socket.send_fds(self._ours, [line], files)
        except OSError as error:
            raise Gone(f"QEMU is gone: {error.strerror}") from error
        while "return" not in (answer := self._message()):
            if "error" in answer:
                raise Gone(f"QEMU refused {command}: {answer['error']['desc']}")
        returned: dict[str, Any] = answer["return"]
        return returned

    def wait_until_stopped(self) -> None:
        """Until the machine stops, again if it has gone on."""
        self._wait_for("STOP")
        self._events.discard("STOP")

    def save_state(self, file: int) -> None:
        """Save a machine where it stops, without the memory that is a file; end it.

        Gone at once, before it has booted, if it has a device that can't be saved.
        """
        blocked = self.do("query-migrate").get("blocked-reasons")
        if blocked:
            raise Gone("; ".join(blocked))
        self.wait_until_stopped()
        self._prepare(file)
        self.do("migrate", uri="fd:state")
        self._wait_for("MIGRATION completed")
        self.do("quit")

    def load_state(self, file: int) -> None:
        """Go on where a machine was saved."""
        self._prepare(file)
        self.do("migrate-incoming", uri="fd:state")
        self._wait_for("MIGRATION completed")
        self.do("cont")

    def _prepare(self, file: int) -> None:
        self.do("getfd", file, fdname="state")
        capabilities = [{"capability": name, "state": True} for name in CAPABILITIES]
        self.do("migrate-set-capabilities", capabilities=capabilities)

    def _wait_for(self, event: str) -> None:
        """Until that event has come, followed by its new status if it has one."""
        while event not in self._events:
            self._message()
            if "MIGRATION failed" in self._events:
                raise Gone("QEMU could not move the machine's state")

    def _message(self) -> dict[str, Any]:
        while b"\n" not in self._received:
            self._receive()
        line, self._received = self._received.split(b"\n", 1)
        message: dict[str, Any] = json.loads(line)
        if "event" in message:
            status = message.get("data", {}).get("status", "")
            self._events.add(f"{message['event']} {status}".strip())
        return message

    def _ask_whether_it_is_going(self) -> None:
        now_seconds = time.monotonic()
        if now_seconds >= self._asked_seconds + POLL_SECONDS:
            self._asked_seconds = now_seconds
            self._going()

    def _receive(self) -> None:
        self._ask_whether_it_is_going()
        try:
            data = self._ours.recv(65536)
        except TimeoutError:
            return
        except OSError as error:
            raise Gone(f"QEMU is gone: {error.strerror}") from error
        if not data:
            raise Gone("QEMU is gone")
        self._received += data
