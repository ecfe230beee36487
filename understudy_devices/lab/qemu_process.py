# SPDX-License-Identifier: MIT
"""Starts the QEMU of a team's VM, and ends it.  QEMU waits until it is let run.

QEMU's log, which is its standard output, is locked as long as QEMU lives.  So a QEMU whose command
was killed is noticed even before it opens the clone or its sockets.
"""

import fcntl
import os
import select
import signal
import subprocess
import time
from contextlib import nullcontext, suppress
from pathlib import Path

from understudy_devices.base import scratch
from understudy_devices.base.errors import RunFailed
from understudy_devices.base.plain import one_line
from understudy_devices.lab import holder, pinning, processes, remote, submissions
from understudy_devices.lab.base_image import Base
from understudy_devices.lab.hardware import (
    AGENT,
    CONSOLE,
    DISPLAY,
    LOG,
    MONITOR,
    QEMU_LOG,
    Hardware,
    remedy,
)
from understudy_devices.lab.monitor import Monitor, NotRunning
from understudy_devices.lab.store import DISK, Team

START_SECONDS = 60
END_SECONDS = 10
FINISH_SECONDS = 60
POLL_SECONDS = 0.01
FOR_OWNER = 0o077
"""Nobody else may connect to the sockets, even if the folder were open to others."""
LOG_BYTES_MAX, LOG_BYTES_KEPT = 16 * 2**20, 2**20


def find(team: Team) -> Monitor | None:
    """Return a connection to the team's QEMU; None if there is none on this host.

    This waits for a QEMU that is about to listen, or to end.  RunFailed if it does neither.
    """
    _end_lost(team)
    deadline = time.monotonic() + START_SECONDS
    while not holder.is_elsewhere(team):
        with suppress(NotRunning):
            return Monitor(team.folder)
        if not _is_alive(team):
            return None
        if time.monotonic() > deadline:
            raise RunFailed(
                f"{team.name}: its QEMU neither answers nor ends: kill the process, here or on "
                f"another host, that has {team.folder / QEMU_LOG} open"
            )
        time.sleep(POLL_SECONDS)
    return None


def launch(
    folder: Path, name: str, hardware: Hardware, base: Base, resumes: bool, stays: bool = True
) -> Monitor:
    """Start a QEMU that runs in a folder with its clone; return a connection to it.

    name: of the lab and the team, LAB/TEAM.  stays: whether it goes on when this command ends.
    RunFailed, with QEMU's own words, if it does not start.
    """
    team = name.rpartition("/")[2]
    command = hardware.command_line(
        name, DISK, base, submissions.forward(), resumes, remote.is_remote(folder)
    )
    if not stays:
        command = ["setpriv", "--pdeathsig", "KILL", *command]
    settings = hardware.settings
    with (
        pinning.pinned(settings.cpus) if settings.pin else nullcontext(),
        (folder / QEMU_LOG).open("ab") as log,
    ):
        try:
            fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunFailed(
                f"{team}: another QEMU, here or on another host, has its log: try again"
            ) from None
        log.truncate(0)
        for socket in (MONITOR, CONSOLE, AGENT, DISPLAY):
            (folder / socket).unlink(missing_ok=True)
        _shorten_log(folder)
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            umask=FOR_OWNER,
            restore_signals=False,  # a file that may not grow is an error, not a signal
        )
    try:
        deadline = time.monotonic() + START_SECONDS
        while True:
            if process.poll() is not None:
                raise RunFailed(f"{team}: QEMU did not start: {_last_words(folder)}")
            with suppress(NotRunning):
                monitor = Monitor(folder)
                break
            if time.monotonic() > deadline:
                raise RunFailed(f"{team}: QEMU has not started in {START_SECONDS} s")
            time.sleep(POLL_SECONDS)
        if stays:
            scratch.goes_on(process.pid)
        process.returncode = 0  # nobody waits for it with this object
    except BaseException:
        process.kill()
        process.wait()
        raise
    return monitor


def end(monitor: Monitor) -> None:
    """End QEMU at once, as if the power were cut; QEMU writes what it still buffers."""
    with suppress(Exception):
        monitor.do("quit")
    if not monitor.ended(END_SECONDS):
        kill(monitor.pid)


def finish(monitor: Monitor) -> None:
    """Let a QEMU that this process has launched write what it buffers, however long that takes,
    and end; RunFailed if it has not ended by itself."""
    monitor.do("quit")
    while not monitor.ended(FINISH_SECONDS):
        pass
    _, status = os.waitpid(monitor.pid, 0)
    if status:
        raise RunFailed(f"QEMU has ended with status {os.waitstatus_to_exitcode(status)}")


def bury(monitor: Monitor) -> None:
    """End a QEMU that this process has launched, and wait for it."""
    end(monitor)
    with suppress(ChildProcessError):
        os.waitpid(monitor.pid, 0)


def kill(pid: int) -> None:
    """Kill a QEMU that does not answer, and wait until it is gone."""
    with suppress(ProcessLookupError):
        handle = os.pidfd_open(pid)
        try:
            signal.pidfd_send_signal(handle, signal.SIGKILL)
            deadline = time.monotonic() + END_SECONDS
            while time.monotonic() < deadline and not _has_ended(handle):
                time.sleep(POLL_SECONDS)
        finally:
            os.close(handle)


def _end_lost(team: Team) -> None:
    """End a QEMU of this host after whose begin another host has started the VM.

    This host was cut off from the folder for so long that the file server has dropped its locks.
    Nothing that such a QEMU writes reaches the clone, but this host's kernel still counts its
    locks, so no VM could be started here.
    """
    who = holder.recorded(team)
    if who and not who.is_here:
        for pid, began in processes.qemus_in(team.folder, QEMU_LOG):
            if pid != who.pid and began < who.since:  # its pid: the host has another name now
                kill(pid)


def _is_alive(team: Team) -> bool:
    """Return whether a QEMU lives that was started for the team."""
    try:
        with (team.folder / QEMU_LOG).open("rb") as log:
            fcntl.flock(log, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def _has_ended(handle: int) -> bool:

    return bool(select.select([handle], [], [], 0)[0])


def _shorten_log(folder: Path) -> None:
    path = folder / LOG
    if path.exists() and path.stat().st_size > LOG_BYTES_MAX:
        with path.open("rb") as log, scratch.replacing(path) as fresh:
            log.seek(-LOG_BYTES_KEPT, os.SEEK_END)
            fresh.write_bytes(log.read())


def _last_words(folder: Path) -> str:
    text = (folder / QEMU_LOG).read_text(errors="replace").strip()
    if not text:
        return "it gave no reason"
    last = one_line(text.splitlines()[-1])
    return f"{last}{remedy(last)}"
