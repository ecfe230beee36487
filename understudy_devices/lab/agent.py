# SPDX-License-Identifier: MIT
"""Runs scripts inside a VM, through QEMU's guest agent if the guest has it (qemu-guest-agent).

The agent listens at a virtio serial port.  QEMU knows whether somebody in the guest has that port
open, so nobody waits for an agent that is not there.  A guest may answer anything, as long and as
deep as it likes.
"""

import base64
import json
import secrets
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from understudy_devices.base.errors import RunFailed
from understudy_devices.base.plain import one_line
from understudy_devices.lab.hardware import AGENT
from understudy_devices.lab.monitor import Monitor, connect

DELIMITER = b"\xff"
"""Both sides forget what they have received before this byte, which is in no JSON."""
POLL_SECONDS = 0.02
ANSWER_SECONDS = 120
"""An agent answers at once; a busy host takes longer.  One that does not is gone."""
WORDS_MAX = 200
ANSWER_BYTES_MAX = 16 * 2**20


class NoAnswer(RunFailed):
    """The guest has no agent, or it does not do what it has to."""


def is_there(monitor: Monitor) -> bool:
    """Return whether somebody in the guest has the agent's port open."""
    devices = monitor.do("query-chardev")
    return any(each["label"] == AGENT and each["frontend-open"] for each in devices)


class Agent:
    """A connection to a guest's agent; only one at a time reaches it."""

    def __init__(self, folder: Path, seconds: float) -> None:
        """Connect; NoAnswer if the agent does not answer within so many seconds."""
        self._received = b""
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        deadline = time.monotonic() + seconds
        try:
            self._connect(folder, deadline)
            self._synchronize(deadline)
        except OSError as error:
            self._socket.close()
            raise NoAnswer(f"its agent is out of reach: {error.strerror or error}") from None
        except BaseException:
            self._socket.close()
            raise

    def __enter__(self) -> "Agent":
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def run(self, script: str, arguments: tuple[str, ...], seconds: float) -> str:
        """Run a script in the guest, by its /bin/sh as root; return what it prints.

        NoAnswer if it fails, or has not ended in so many seconds.
        """
        deadline = time.monotonic() + seconds
        words = {
            "path": "/bin/sh",
            "arg": ["-s", "-", *arguments],
            "input-data": base64.b64encode(script.encode()).decode(),
            "capture-output": True,
        }
        process = self._object("guest-exec", deadline, **words).get("pid")
        while not (now := self._object("guest-exec-status", deadline, pid=process)).get("exited"):
            time.sleep(POLL_SECONDS)
        output, errors = (_text(now.get(name, "")) for name in ("out-data", "err-data"))
        if now.get("exitcode") != 0:
            lines = errors.strip().splitlines()
            reason = one_line(lines[-1])[:WORDS_MAX] if lines else "it gave no reason"
            raise NoAnswer(f"a script in the guest has failed: {reason}")
        return output

    def time_ns(self, seconds: float = 10) -> int:
        """Return the guest's clock, in nanoseconds since 1970; NoAnswer if that fails."""
        answer = self._do("guest-get-time", time.monotonic() + seconds)
        if not isinstance(answer, int) or abs(answer) >= 2**63:
            raise NoAnswer("its agent does not know the time")
        return answer

    def set_time(self, meanwhile: Callable[[], None], seconds: float) -> None:
        """Set the guest's clock to the host's, and call `meanwhile` before the agent answers;
        NoAnswer if it refuses."""
        deadline = time.monotonic() + seconds
        self._send("guest-set-time", deadline, time=time.time_ns())
        meanwhile()
        self._result("guest-set-time", deadline)

    def _connect(self, folder: Path, deadline: float) -> None:
        """Connect; while QEMU's short queue of those who wait is full, try again."""
        while True:
            self._socket.settimeout(_left(deadline))
            with suppress(BlockingIOError):
                connect(self._socket, folder, AGENT)
                return
            time.sleep(POLL_SECONDS)

    def _synchronize(self, deadline: float) -> None:
        """Skip answers to an earlier connection."""
        number = secrets.randbits(31)
        self._send("guest-sync-delimited", deadline, before=DELIMITER, id=number)
        while self._answer(deadline).get("return") != number:
            pass

    def _object(self, command: str, deadline: float, **arguments: Any) -> dict[str, Any]:
        answer = self._do(command, deadline, **arguments)
        if not isinstance(answer, dict):
            raise NoAnswer(f"its agent answers {command} with no object")
        return answer

    def _do(self, command: str, deadline: float, **arguments: Any) -> Any:
        self._send(command, deadline, **arguments)
        return self._result(command, deadline)

    def _send(self, command: str, deadline: float, before: bytes = b"", **arguments: Any) -> None:
        words = json.dumps({"execute": command, "arguments": arguments})
        try:
            self._socket.settimeout(_left(deadline))
            self._socket.sendall(before + words.encode() + b"\n")
        except TimeoutError:
            raise NoAnswer("its agent does not listen") from None
        except OSError as error:
            raise NoAnswer(f"its agent is gone: {error.strerror or error}") from None

    def _result(self, command: str, deadline: float) -> Any:
        answer = self._answer(deadline)
        if "return" not in answer:
            refusal = answer.get("error")
            reason = refusal.get("desc") if isinstance(refusal, dict) else None
            raise NoAnswer(f"its agent refuses {command}: {one_line(str(reason))[:WORDS_MAX]}")
        return answer["return"]

    def _answer(self, deadline: float) -> dict[str, Any]:
        deadline = min(deadline, time.monotonic() + ANSWER_SECONDS)
        while True:
            while b"\n" not in self._received:
                try:
                    self._socket.settimeout(_left(deadline))
                    data = self._socket.recv(65536)
                except TimeoutError:
                    raise NoAnswer("its agent does not answer") from None
                except OSError as error:
                    raise NoAnswer(f"its agent is gone: {error.strerror or error}") from None
                if not data:
                    raise NoAnswer("its agent is gone")
                self._received += data
                if len(self._received) > ANSWER_BYTES_MAX:
                    raise NoAnswer(f"its agent answers with more than {ANSWER_BYTES_MAX} bytes")
            line, self._received = self._received.split(b"\n", 1)
            try:
                answer = json.loads(line.rpartition(DELIMITER)[2])
            except (ValueError, RecursionError):
                continue
            if isinstance(answer, dict):
                return answer


def _left(deadline: float) -> float:
    """Return the seconds until a deadline; TimeoutError if it is over."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("timed out")
    return left


def _text(data: object) -> str:
    try:
        return base64.b64decode(str(data)).decode(errors="replace")
    except ValueError:
        raise NoAnswer("its agent answers with no base64") from None
