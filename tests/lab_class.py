# SPDX-License-Identifier: MIT
"""A lab of small VMs for tests.  Commands that start a VM run as processes of their own, as a user
would run them; the others run in this process, which takes less time.
"""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import lab_images
from click.testing import CliRunner, Result
from terminal import COMMAND

from understudy_devices.cli.main import main
from understudy_devices.lab import store
from understudy_devices.lab.hardware import CONSOLE, LOG
from understudy_devices.lab.monitor import connect
from understudy_devices.lab.store import Team

PATIENCE_SECONDS = 120
HEADING = "team,name,email"
NAME = "os822"


def students(folder: Path, count: int = 2) -> Path:
    """Write a students.csv with teams of one student: team01, team02 ..."""
    file = folder / "students.csv"
    lines = [f"team{n:02},Student {n},s{n}@example.org" for n in range(1, count + 1)]
    file.write_text("\n".join([HEADING, *lines, ""]))
    return file


def understudy(*words: str | Path) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)


class Class:
    """A lab in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.labs = folder / "labs"

    def create(self, base: Path, *options: str, count: int = 2) -> None:
        """Make the lab; its VMs have 32 MiB."""
        words = ("--base", base, "--students", students(self.folder, count), "--memory", "32MiB")
        done = understudy("lab", "create", NAME, *words, *options, "--folder", self.labs)
        assert done.exit_code == 0, done.stderr

    def team(self, name: str = "team01") -> Team:
        """Return a team."""
        return store.read(self.labs, NAME).team(name)

    def lab(self, command: str, *words: str) -> Result:
        """Run a command of the lab in this process."""
        return understudy("lab", command, NAME, *words, "--folder", self.labs)

    def do(self, command: str, *words: str) -> str:
        """Run a command of the lab, which has to succeed; return what it says."""
        done = self.lab(command, *words)
        assert done.exit_code == 0, done.stderr
        return done.stdout + done.stderr

    def refuses(self, command: str, *words: str) -> str:
        """Run a command of the lab, which has to fail with one line; return the line."""
        done = self.lab(command, *words)
        assert done.exit_code in (1, 2), done.stdout
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1
        return done.stderr

    def begin(self, team: str = "team01") -> "subprocess.Popen[str]":
        """Begin to start a team's VM, as a user would."""
        words = [str(COMMAND), "lab", "start", NAME, team, "--folder", str(self.labs)]
        return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def start(self, team: str = "team01", code: int = 0) -> str:
        """Start a team's VM; return what the command says."""
        command = self.begin(team)
        output, errors = command.communicate(timeout=PATIENCE_SECONDS)
        assert command.returncode == code, errors
        assert output == ""
        return errors

    def log(self, team: str = "team01") -> str:
        """Return what the VM's console has printed."""
        with suppress(FileNotFoundError):
            return (self.team(team).folder / LOG).read_text(errors="replace")
        return ""

    def wait_for(self, text: str, count: int = 1, team: str = "team01") -> None:
        """Wait until the console's log has the text so many times."""
        self.until(lambda: self.log(team).count(text) >= count)

    def until(self, happens: Callable[[], bool]) -> None:
        """Wait until something happens."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not happens():
            assert time.monotonic() < deadline, self.log()
            time.sleep(0.02)

    def type(self, keys: str, answers: Sequence[str], team: str = "team01") -> None:
        """Type keys at the VM's console, and wait for an answer to each of them."""
        counts = [self.log(team).count(answer) for answer in answers]
        with socket.socket(socket.AF_UNIX) as line:
            connect(line, self.team(team).folder, CONSOLE)
            for key, answer, count in zip(keys, answers, counts, strict=True):
                line.sendall(key.encode())
                self.wait_for(answer, count + 1, team)

    def qemus(self) -> dict[int, Path]:
        """Return the folder of each team whose VM has a process, by process."""
        running = {}
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                place = (process / "cwd").readlink()
                name = (process / "comm").read_text()
                if place.is_relative_to(self.labs.resolve()) and name.startswith("qemu"):
                    running[int(process.name)] = place
        return running

    def kill(self) -> None:
        """Kill every QEMU of the lab, and wait until none is left."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while running := self.qemus():
            for process in running:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            assert time.monotonic() < deadline, running
            time.sleep(0.02)


@contextmanager
def running_lab(folder: Path, *options: str) -> Iterator[Class]:
    """Yield a lab whose VMs run the tests' guest; none is left at the end."""
    lab = Class(folder)
    try:
        lab.create(lab_images.guest(folder), *options)
        yield lab
    finally:
        lab.kill()
