# SPDX-License-Identifier: MIT
"""A guest that answers as its agent should not: one line of error, and nothing that never ends."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from unittest.mock import Mock

import pytest

from understudy_devices.lab import agent, start
from understudy_devices.lab.agent import Agent, NoAnswer
from understudy_devices.lab.hardware import AGENT
from understudy_devices.lab.monitor import Gone
from understudy_devices.lab.settings import Settings
from understudy_devices.lab.store import Lab, Team

SECONDS = 60


@contextmanager
def guest(
    folder: Path, answers: list[bytes], done: threading.Event | None = None
) -> Iterator[Agent]:
    """Connect to an agent that greets, and then answers each command with the next bytes.

    With an event, it then reads nothing until that.
    """
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
                if done:
                    done.wait(SECONDS)

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


def test_one_that_is_silent_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long the script may take: an agent says at once that it has begun."""
    done = threading.Event()
    with guest(tmp_path, [], done) as connection:
        monkeypatch.setattr(agent, "ANSWER_SECONDS", 0.1)
        with pytest.raises(NoAnswer, match="its agent does not answer"):
            connection.run("true", (), SECONDS * 1000)
        done.set()


def test_a_guest_that_does_not_listen(tmp_path: Path) -> None:
    """It accepts, greets, and reads no more; or it does not even accept."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(str(tmp_path / AGENT))
        server.listen(0)
        with pytest.raises(NoAnswer, match="its agent does not answer"):
            Agent(tmp_path, 0.1)
        with pytest.raises(NoAnswer, match="its agent is out of reach"):
            Agent(tmp_path, 0.1)
    (tmp_path / AGENT).unlink()
    with guest(tmp_path, []) as connection, pytest.raises(NoAnswer, match="is gone"):
        connection.run("#" * 2**24, (), SECONDS)
    (tmp_path / AGENT).unlink()
    done = threading.Event()
    with guest(tmp_path, [], done) as connection:
        with pytest.raises(NoAnswer, match="its agent does not listen"):
            connection.run("#" * 2**24, (), 0.1)
        done.set()


@pytest.mark.parametrize("error", [Gone("QEMU does not answer"), OSError(24, "Too many files")])
def test_a_clock_that_is_not_set_ends_no_vm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """A start only says so."""

    def fails(*_: object) -> bool:
        raise error

    monkeypatch.setattr(agent, "is_there", fails)
    settings = Settings(memory_mib=32, cpus=1, quota_bytes=None)
    team = Team(Lab(tmp_path, settings), "team01")
    assert "set the clock in the guest" in start._set_clock(team, Mock())
