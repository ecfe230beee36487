# SPDX-License-Identifier: MIT
"""A terminal on a VM's serial console: first what it has printed lately, then live."""

import fcntl
import os
import re
import select
import socket
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from understudy_devices.base import regular_file
from understudy_devices.base.errors import RunFailed
from understudy_devices.lab import first_start, holder, owner
from understudy_devices.lab.hardware import CONSOLE, LOG
from understudy_devices.lab.monitor import connect
from understudy_devices.lab.store import Team

LEAVE = b"\x1d"
LEAVE_NAME = "Ctrl-]"
SCROLL_BACK_BYTES = 16 * 2**10
LOG_BYTES_MAX = 16 * 2**20
CHUNK = 65536
CONTROL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])")
"""Sequences that control a terminal (ECMA-48): CSI, OSC, and those of two characters."""
END = re.compile(r"\r+\n?")


def attach(team: Team, announce: Callable[[], None]) -> str:
    """Connect this terminal to the VM's console until the user types Ctrl-], or the VM ends.

    Call `announce` once it is connected.  Return why it ended, in a few words.  RunFailed if the
    VM does not run here, or if somebody else has its console.
    """
    with owner.acting(team.folder), _only_one(team), _connected(team) as line:
        first_start.check(team)
        announce()
        _write(sys.stdout.fileno(), regular_file.last(team.folder / LOG, SCROLL_BACK_BYTES))
        with _raw(sys.stdin.fileno()):
            return _copy(line, sys.stdin.fileno(), sys.stdout.fileno())


def log(team: Team, lines: int | None) -> str:
    """Return what the console has printed, without colours: the last LOG_BYTES_MAX of it, or the
    last lines.

    RunFailed if it has printed nothing.
    """
    try:
        with owner.acting(team.folder):
            text = regular_file.last(team.folder / LOG, LOG_BYTES_MAX).decode(errors="replace")
    except FileNotFoundError:
        starts = team.words("start")
        raise RunFailed(f"{team.name} has printed nothing; {starts} starts it") from None
    every = END.sub("\n", CONTROL.sub("", text)).splitlines()
    return "\n".join(every if lines is None else every[-lines:] if lines else [])


def _copy(line: socket.socket, keys: int, screen: int) -> str:
    """Copy both ways; return why it ended."""
    sources: list[socket.socket | int] = [line, keys]
    while True:
        ready, _, _ = select.select(sources, [], [])
        if line in ready:
            data = _received(line)
            if not data:
                return "the VM has ended"
            _write(screen, data)
        if keys in ready:
            typed = os.read(keys, CHUNK)
            before, left, _ = typed.partition(LEAVE)
            if before:
                line.sendall(before)
            if left or not typed:
                return f"left by {LEAVE_NAME}" if left else "left at the end of the input"


def _received(line: socket.socket) -> bytes:
    try:
        return line.recv(CHUNK)
    except ConnectionError:
        return b""


@contextmanager
def _connected(team: Team) -> Iterator[socket.socket]:
    if holder.is_elsewhere(team):
        raise RunFailed(holder.why_not(team, "console"))
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        try:
            connect(line, team.folder, CONSOLE)
        except OSError:
            raise RunFailed(holder.why_not(team, "console")) from None
        yield line
    finally:
        line.close()


@contextmanager
def _only_one(team: Team) -> Iterator[None]:
    """Let one command at a time have the console: QEMU shows nothing to a second one."""
    path = team.folder / LOG
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunFailed(
                f"{team.name}: its console is open elsewhere: {LEAVE_NAME} leaves it there, and "
                f"{team.words('log')} prints what it shows"
            ) from None
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _raw(terminal: int) -> Iterator[None]:
    """Pass on every key, if the input is a terminal; put its modes back at the end."""
    if not os.isatty(terminal):
        yield
        return
    modes = termios.tcgetattr(terminal)
    try:
        tty.setraw(terminal, termios.TCSADRAIN)  # keys that are typed early count
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, modes)


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
