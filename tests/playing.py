# SPDX-License-Identifier: MIT
"""A guest's program at work on the host, watched until it has made enough calls.

Since the host may be slow, progress is counted in system calls, not in seconds.
"""

import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy_devices.base import programs
from understudy_devices.files import image
from understudy_devices.platforms import guest_programs, reads

PAGE = 4096
FILES = 150
GENEROUS = 300  # seconds; a program that takes longer hangs
Log = npt.NDArray[Any]


def program(name: str) -> Path:
    """Return a compiled guest program, from the cache if possible."""
    return programs.compiled(guest_programs.program(name))


class Play:
    """A workload that has been started on the host."""

    def __init__(self, *command: str | Path | int) -> None:
        """Start the workload and wait until it is ready; it is killed when this process ends."""
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *(str(word) for word in command)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._before: dict[int, int] = {}
        assert self.process.stdout is not None
        self.ready = self.process.stdout.readline()

    def go(self) -> None:
        """Let the processes begin."""
        assert self.process.stdin is not None
        self._before = {pid: calls(pid) for pid in self.children()}
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def until(self, done: int) -> None:
        """Wait until each process has read, written or slept `done` times since go()."""
        latest = time.monotonic() + GENEROUS
        for pid in self.children():
            while calls(pid) - self._before.get(pid, 0) < done:
                assert time.monotonic() < latest, f"process {pid} does not get on"
                time.sleep(0.01)

    def children(self) -> list[int]:
        """List the ids of the workload's processes."""
        pid = self.process.pid
        listed = Path(f"/proc/{pid}/task/{pid}/children").read_text()
        return [int(word) for word in listed.split()]

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str, str]:
        """Stop the workload; return its exit code and the rest of its output."""
        self.process.send_signal(number)
        stdout, stderr = self.process.communicate(timeout=GENEROUS)
        return self.process.returncode, stdout, stderr


def make_files(top: Path) -> list[int]:
    """Make files of various sizes, in the image's folders; return their sizes."""
    sizes = [index * 131 for index in range(FILES)]
    for index, size in enumerate(sizes):
        path = top / image.file_path(index, FILES)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(size))
    return sizes


def calls(pid: int) -> int:
    """Return how often a process has read, written and slept."""
    io = dict(line.split(": ") for line in Path(f"/proc/{pid}/io").read_text().splitlines())
    status = Path(f"/proc/{pid}/status").read_text()
    slept = int(status.partition("\nvoluntary_ctxt_switches:")[2].split()[0])
    return int(io["syscr"]) + int(io["syscw"]) + slept


def play(log: Path, done: int, *command: str | Path | int) -> Log:
    """Run a workload until each process has made `done` calls, and return its log."""
    workload = Play(*command, "--log", log)
    assert workload.ready == "ready\n"
    workload.go()
    workload.until(done)
    code, stdout, stderr = workload.end()
    assert (code, stderr) == (0, "")
    entries = reads.read_log(log)
    failed = int((entries["result"] < 0).sum())
    assert stdout == f"done {len(entries)} {failed} 0\n"
    return entries


def surge(folder: Path, log: Path, done: int, **options: int) -> Log:
    """Run surge on the folder."""
    words: list[str | int] = []
    for name, value in options.items():
        words += [f"--{name.replace('_', '-')}", value]
    return play(
        log,
        done,
        program("surge"),
        "--dir",
        folder,
        "--files",
        FILES,
        "--log-max",
        4000000,
        *words,
    )


def by_owner(entries: Log) -> list[Log]:
    """Split a log by process, in the order of their start."""
    return [entries[entries["owner"] == owner] for owner in np.unique(entries["owner"])]
