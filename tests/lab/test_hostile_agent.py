# SPDX-License-Identifier: MIT
"""A guest that answers as its agent should not: one line of error, and nothing that never ends."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from understudy_devices.lab import agent
from understudy_devices.lab.agent import Agent, NoAnswer
from understudy_devices.lab.hardware import AGENT

SECONDS = 60


@contextmanager
def guest(folder: Path, answers: list[bytes]) -> Iterator[Agent]:
    """Connect to an agent that greets, and then answers each command with the next bytes."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(str(folder / AGENT))
        server.listen()

        def serve() -> None:
            connection, _ = server.accept()
            with connection, connection.makefile("rb") as commands, suppress(OSError):
                number = json.loads(commands.readline().lstrip(agent.DELIMITER))["arguments"]["id"]
                connection.sendall(agent.DELIMITER + b'{"return": %d}\n' % number)
                for answer in answers:
                    commands.readline()
                    connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            with Agent(folder, SECONDS) as connection:
                yield connection
        finally:
            thread.join()


STARTED = b'{"return": {"pid": 1}}\n'


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ([b"[" * 100_000 + b"\n"], "is gone"),
        ([b"no JSON\n[]\n"], "is gone"),
        ([b'{"return": 5}\n'], "with no object"),
        ([b'{"error": {"desc": "\\u001b[2Jno"}}\n'], r"refuses guest-exec: \?\[2Jno"),
        ([b'{"error": []}\n'], "refuses guest-exec"),
        ([b"x" * 2**20], "more than 262144 bytes"),
        ([STARTED, b'{"return": {"exited": true, "exitcode": 0, "out-data": 5}}\n'], "no base64"),
        ([STARTED, b'{"return": {"exited": true, "exitcode": "0"}}\n'], "it gave no reason"),
    ],
)
def test_a_script_fails_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answers: list[bytes], words: str
) -> None:
    monkeypatch.setattr(agent, "ANSWER_BYTES_MAX", 2**18)
    with guest(tmp_path, answers) as connection, pytest.raises(NoAnswer, match=words):
        connection.run("true", (), SECONDS)


@pytest.mark.parametrize("answer", [b'{"return": "now"}\n', b'{"return": 1%s}\n' % (b"0" * 400)])
def test_a_time_that_is_none(tmp_path: Path, answer: bytes) -> None:
    with guest(tmp_path, [answer]) as connection, pytest.raises(NoAnswer, match="the time"):
        connection.time_ns()
