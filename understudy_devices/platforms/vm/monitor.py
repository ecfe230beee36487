# SPDX-License-Identifier: MIT
"""Controls a running QEMU with its machine protocol (QMP), which sends a line of JSON per
message.
"""

import json
from collections.abc import Callable
from typing import Any

from understudy_devices.platforms.vm.link import Gone, Link

CAPABILITIES = ("events", "x-ignore-shared")


class Monitor:
    """A connection to QEMU's monitor; create it only after QEMU's start.

    `going` is called repeatedly during waits; an exception from it ends the wait.
    """

    def __init__(self, link: Link, going: Callable[[], None]) -> None:
        self._link = link
        self._received = b""
        self._events: set[str] = set()
        link.begin(going)
        self._message()
        self.do("qmp_capabilities")

    def do(self, command: str, *files: int, **arguments: Any) -> dict[str, Any]:
        """Execute a command, passing it open files; return its result.

        Gone if QEMU refuses the command.
        """
        line = json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n"
        self._link.send(line, files)
        while "return" not in (answer := self._message()):
            if "error" in answer:
                raise Gone(f"QEMU refused {command}: {answer['error']['desc']}")
        returned: dict[str, Any] = answer["return"]
        return returned

    def wait_until_stopped(self) -> None:
        """Wait until the machine stops; return at once if it has stopped since the last call."""
        self._wait_for("STOP")
        self._events.discard("STOP")

    def save_state(self, file: int) -> None:
        """Wait until the machine stops, save its state without the memory, which is already in a
        file, and end QEMU.

        Raises Gone at once, before the boot, if the machine has a device that can't be saved.
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
        """Load the state of a saved machine, and continue the machine."""
        self._prepare(file)
        self.do("migrate-incoming", uri="fd:state")
        self._wait_for("MIGRATION completed")
        self.do("cont")

    def _prepare(self, file: int) -> None:
        self.do("getfd", file, fdname="state")
        capabilities = [{"capability": name, "state": True} for name in CAPABILITIES]
        self.do("migrate-set-capabilities", capabilities=capabilities)

    def _wait_for(self, event: str) -> None:
        """Wait for an event, given by its name and, if the event reports a status, that status."""
        while event not in self._events:
            self._message()
            if "MIGRATION failed" in self._events:
                raise Gone("QEMU could not move the machine's state")

    def _message(self) -> dict[str, Any]:
        while b"\n" not in self._received:
            self._received += self._link.receive()
        line, self._received = self._received.split(b"\n", 1)
        message: dict[str, Any] = json.loads(line)
        if "event" in message:
            status = message.get("data", {}).get("status", "")
            self._events.add(f"{message['event']} {status}".strip())
        return message
