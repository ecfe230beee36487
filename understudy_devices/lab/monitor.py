# SPDX-License-Identifier: MIT
"""Talks to the QEMU of a team's VM over its monitor (QMP), a Unix socket in the team's folder.

One command at a time may talk to it; another one waits.
"""

import json
import os
import select
import signal
import socket
import struct
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from understudy_devices.base.errors import RunFailed
from understudy_devices.lab.hardware import MONITOR

UCRED = struct.Struct("3i")
END_SECONDS = 0.5
"""A QEMU that ends closes its sockets some time before."""
NO_ROOM = "io-error"
"""QEMU's word for a VM that waits since a write has failed."""


class Gone(RunFailed):
    """QEMU has ended, does not answer in time, or refuses a command."""


class Refused(Gone):
    """QEMU cannot load or save the VM's state."""


class NoRoom(Gone):
    """The VM waits, since its disk or its quota is full; it has lost nothing."""


class NotRunning(Gone):
    """No QEMU listens."""


class Silent(Gone):
    """QEMU runs as the process `pid`, and does not answer."""

    def __init__(self, pid: int) -> None:
        """Store the process."""
        super().__init__(f"QEMU (process {pid}) does not answer; stop --now ends it")
        self.pid = pid


class Monitor:
    """A connection to a running QEMU.

    pid: QEMU's process.
    """

    def __init__(self, folder: Path, seconds: float = 30) -> None:
        """Connect within `seconds`, which is also the most that a command may take.

        NotRunning if there is no QEMU, PermissionError if this user may not use it, Silent if it
        does not answer, Gone if too many wait for it.
        """
        self._seconds = seconds
        self._received = b""
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        try:
            self._socket.settimeout(seconds)
            self._connect(folder, time.monotonic() + seconds)
            peer = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, UCRED.size)
            self.pid: int = UCRED.unpack(peer)[0]
            self._ended = os.pidfd_open(self.pid)
        except PermissionError as error:
            self._socket.close()
            raise PermissionError(error.errno, error.strerror, str(folder / MONITOR)) from None
        except OSError as error:
            self._socket.close()
            raise NotRunning(f"QEMU does not run: {error.strerror or error}") from None
        try:
            self._message(time.monotonic() + seconds)
            self.do("qmp_capabilities")
        except BaseException as error:
            has_ended = self.ended(END_SECONDS)
            self.close()
            if not isinstance(error, Gone):
                raise
            raise (NotRunning("QEMU has ended") if has_ended else Silent(self.pid)) from None

    def __enter__(self) -> "Monitor":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Disconnect; QEMU goes on."""
        self._socket.close()
        os.close(self._ended)

    def do(
        self, command: str, *files: int, exact: Mapping[str, Any] | None = None, **arguments: Any
    ) -> Any:
        """Execute a command, passing it open files; return its result.

        exact: arguments whose names have underscores for QEMU, too.
        """
        named = {name.replace("_", "-"): value for name, value in arguments.items()}
        named |= exact or {}
        line = json.dumps({"execute": command, "arguments": named}).encode() + b"\n"
        deadline = time.monotonic() + self._seconds
        try:
            socket.send_fds(self._socket, [line], files)
        except OSError as error:
            raise Gone(f"QEMU is gone: {error.strerror or error}") from None
        while True:
            answer = self._message(deadline)
            if "error" in answer:
                raise Gone(f"QEMU refused {command}: {answer['error']['desc']}")
            if "return" in answer:
                return answer["return"]

    def status(self) -> str:
        """Return QEMU's word for what the VM does: running, paused, prelaunch, io-error ..."""
        status: str = self.do("query-status")["status"]
        return status

    def migrated(self, seconds: float) -> None:
        """Wait until a migration that was begun is complete; Refused if QEMU cannot do it."""
        deadline = time.monotonic() + seconds
        while True:
            state = self.do("query-migrate")
            if state.get("status") == "completed":
                return
            if state.get("status") in ("failed", "cancelled"):
                raise Refused(state.get("error-desc") or "QEMU could not move the VM's state")
            if time.monotonic() > deadline:
                raise Gone(f"QEMU has not moved the VM's state in {seconds:.0f} s")
            time.sleep(0.02)

    def wait_until_running(self) -> None:
        """Wait until the VM runs, after `cont`; NoRoom if it cannot write, Gone if it does not."""
        deadline = time.monotonic() + self._seconds
        while (status := self.status()) != "running":
            if status == NO_ROOM:
                raise NoRoom("its disk or its quota is full")
            if time.monotonic() > deadline:
                raise Gone(f"QEMU does not let the VM run: it is {status}")
            time.sleep(0.02)

    def ended(self, seconds: float) -> bool:
        """Wait until QEMU has ended, at most so many seconds; return whether it has."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            sources = [self._ended, self._socket.fileno()]
            ready, _, _ = select.select(sources, [], [], left)
            if self._ended in ready:
                return True
            if ready and not self._receive():
                return bool(select.select([self._ended], [], [], max(0, left))[0])
        return bool(select.select([self._ended], [], [], 0)[0])

    def was_killed(self) -> bool:
        """Return whether QEMU, a child of this process, was killed and did not end by itself."""
        with suppress(ChildProcessError):
            how = os.waitid(os.P_PIDFD, self._ended, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            return bool(how and how.si_code == os.CLD_KILLED and how.si_status == signal.SIGKILL)
        return False

    def _connect(self, folder: Path, deadline: float) -> None:
        """Connect; while QEMU's short queue of those who wait is full, try again."""
        while True:
            try:
                connect(self._socket, folder, MONITOR)
            except BlockingIOError:
                if time.monotonic() > deadline:
                    self._socket.close()
                    raise Gone("QEMU does not answer: too many commands wait for it") from None
                time.sleep(0.02)
            else:
                return

    def _message(self, deadline: float) -> dict[str, Any]:
        """Return the next answer; skip events."""
        while True:
            while b"\n" not in self._received:
                left = deadline - time.monotonic()
                if left <= 0 or not select.select([self._socket], [], [], left)[0]:
                    raise Gone("QEMU does not answer")
                if not self._receive():
                    raise Gone("QEMU is gone")
            line, self._received = self._received.split(b"\n", 1)
            message: dict[str, Any] = json.loads(line)
            if "event" not in message:
                return message

    def _receive(self) -> bool:
        try:
            data = self._socket.recv(65536)
        except OSError:
            return False
        self._received += data
        return bool(data)


def connect(client: socket.socket, folder: Path, name: str) -> None:
    """Connect to a socket in a folder whose path may be too long for a socket's address."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        client.connect(f"/proc/self/fd/{descriptor}/{name}")
    finally:
        os.close(descriptor)
