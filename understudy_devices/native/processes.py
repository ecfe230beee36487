# SPDX-License-Identifier: MIT
"""Processes of a job: start them, watch them from outside, and end them."""

import fcntl
import math
import os
import select
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

HIGH = 64  # above all descriptors that a process gets
SIGNALLED = 128  # added to the signal that ended a program, in the exit code of its parent
SOON_SECONDS = 1.0
STANDARD = 2  # the last descriptor that every program has


class Processes:
    """A set of processes; those that still run at the end of its `with` block are killed."""

    def __init__(self) -> None:
        """Begin without processes."""
        self._status: dict[int, int | None] = {}

    def __enter__(self) -> "Processes":
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._status:
            self._kill(process)

    def start(self, words: Sequence[str], descriptors: Sequence[int]) -> int:
        """Start a program that gets only these descriptors, numbered from 0; return its process
        id.
        """
        _keep_ours()
        high = [fcntl.fcntl(each, fcntl.F_DUPFD_CLOEXEC, HIGH) for each in descriptors]
        try:
            process = os.posix_spawnp(
                words[0],
                list(words),
                {},
                file_actions=[(os.POSIX_SPAWN_DUP2, each, at) for at, each in enumerate(high)],
                setpgroup=0,
                setsigmask=(),
                setsigdef=(signal.SIGPIPE, signal.SIGXFSZ),
            )
        finally:
            for each in high:
                os.close(each)
        self._status[process] = None
        return process

    def status(self, process: int) -> int | None:
        """Wait a moment for the process's end; return its wait status, or None if it still runs."""
        ends_within(process, SOON_SECONDS)
        reaped, status = os.waitpid(process, os.WNOHANG)
        if reaped:
            self._status[process] = status
        return self._status[process]

    def _kill(self, process: int) -> None:
        if self._status[process] is None:
            with suppress(ProcessLookupError):
                os.killpg(process, signal.SIGKILL)
            _, self._status[process] = os.waitpid(process, 0)


def _keep_ours() -> None:
    """Let no program that we start have a descriptor that our own starter has left open."""
    for each in Path("/proc/self/fd").iterdir():
        descriptor = int(each.name)
        with suppress(OSError):  # the descriptor of the folder itself
            if descriptor > STANDARD and os.get_inheritable(descriptor):
                os.set_inheritable(descriptor, False)


def ends_within(process: int, seconds: float) -> bool:
    """Return whether the process ends within that time."""
    handle = os.pidfd_open(process)
    try:
        return bool(select.select([handle], [], [], seconds)[0])
    finally:
        os.close(handle)


def signal_of(status: int) -> int:
    """Return the signal that ended the process or its child; 0 if no signal did."""
    code = os.waitstatus_to_exitcode(status)
    return -code if code < 0 else max(0, code - SIGNALLED)


# For a process that has ended, the following functions report no time, no memory and no sleep.


def used_seconds(process: int) -> float:
    """Return the process's processor time until now, in seconds."""
    try:
        return time.clock_gettime(~process << 3 | 2)  # as in clock_getcpuclockid(3)
    except OSError:
        return 0.0


def largest_bytes(process: int) -> int:
    """Return the process's peak memory until now, in bytes."""
    lines = _read(process, "status").split("\n")
    return 1024 * sum(int(line.split()[1]) for line in lines if "VmHWM" in line)


def sleeps(process: int) -> bool:
    """Return whether the process sleeps or is stopped; waiting for a processor is not sleep."""
    return _read(process, "stat").rpartition(")")[2].split()[:1] in (["S"], ["T"], ["t"])


def awake_seconds(process: int) -> float:
    """Return for how long the process has run, or waited for a processor, until now, in seconds;
    infinity if the process has ended or this kernel does not measure the waiting.
    """
    ran_ns, waited_ns, times = map(int, _read(process, "schedstat").split() or (0, 0, 0))
    return (ran_ns + waited_ns) / 1e9 if times else math.inf


def _read(process: int, name: str) -> str:
    try:
        return Path(f"/proc/{process}/{name}").read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
