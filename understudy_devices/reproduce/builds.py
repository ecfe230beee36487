# SPDX-License-Identifier: MIT
"""Times a build in the VMs of labs, all at once, with an empty page cache."""

import os
import re
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from understudy_devices.base.errors import RunFailed
from understudy_devices.lab import console, disk_use, holder, start, stop
from understudy_devices.lab.hardware import CONSOLE, Hardware
from understudy_devices.lab.monitor import connect
from understudy_devices.lab.store import Lab, Team
from understudy_devices.platforms.vm.accelerator import best
from understudy_devices.platforms.vm.trouble import last_words

PATIENCE_SECONDS = 3600
POLL_SECONDS = 0.05
WAITS = re.compile(r"^waiting$", re.MULTILINE)
ENDS = re.compile(r"^(built|failed:) (.*)\nwaiting$", re.MULTILINE)
READ = re.compile(r"^read_bytes: (\d+)$", re.MULTILINE)


@dataclass(frozen=True)
class Built:
    """A build in several VMs at once.

    seconds: of each VM, by this machine's clock, sorted.  read_bytes: what all QEMUs read from this
    machine's storage meanwhile.  disk_bytes: what bases and clones take on it at the end.  sums:
    checksums of what was built.
    """

    seconds: tuple[float, ...]
    read_bytes: int
    disk_bytes: int
    sums: frozenset[str]


def build(labs: Sequence[Lab]) -> Built:
    """Boot all VMs, have them build at once, and end them; RunFailed if a build fails."""
    teams = [team for lab in labs for team in lab.teams()]
    with ExitStack() as running:
        for team in teams:
            running.enter_context(_running(team))
        _each(teams, WAITS)
        for image in {image.resolve() for team in teams for image in team.images()}:
            _drop_from_cache(image)
        before = sum(map(_read_bytes, teams))
        begun = time.monotonic()
        for team in teams:
            _type(team, b"b")
        ends = _each(teams, ENDS)
        read = sum(map(_read_bytes, teams)) - before
    for _, end in ends:
        if end[1] != "built":
            raise RunFailed(f"a VM's build failed: {end[2]}")
    uses = [disk_use.of(lab) for lab in labs]
    clones = sum(team.clone_bytes for use in uses for team in use.teams)
    on_disk = clones + sum(size for use in uses for size in use.base_bytes.values())
    seconds = sorted(when - begun for when, _ in ends)
    return Built(tuple(seconds), read, on_disk, frozenset(end[2] for _, end in ends))


@contextmanager
def _running(team: Team) -> Iterator[None]:
    start.start(team, Hardware(team.lab.settings, best()), stays=False)
    try:
        yield
    finally:
        if holder.of(team):
            stop.cut_power(team)


def _each(teams: Sequence[Team], line: re.Pattern[str]) -> list[tuple[float, re.Match[str]]]:
    """Wait until each VM has printed a line; return when, and what it was."""
    found: dict[Path, tuple[float, re.Match[str]]] = {}
    deadline = time.monotonic() + PATIENCE_SECONDS
    while len(found) < len(teams):
        time.sleep(POLL_SECONDS)
        for team in teams:
            if team.folder in found:
                continue
            if match := line.search(console.log(team, None)):
                found[team.folder] = time.monotonic(), match
            elif not holder.of(team) or time.monotonic() > deadline:
                said = last_words(console.log(team, None))
                raise RunFailed(f"a VM ended, or took over an hour; its last words:\n{said}")
    return list(found.values())


def _type(team: Team, keys: bytes) -> None:
    with socket.socket(socket.AF_UNIX) as line:
        connect(line, team.folder, CONSOLE)
        line.sendall(keys)


def _drop_from_cache(image: Path) -> None:
    descriptor = os.open(image, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


def _read_bytes(team: Team) -> int:
    """Return what a VM's QEMU has had read from storage (proc(5): read_bytes)."""
    who = holder.of(team)
    match = READ.search(Path(f"/proc/{who.pid}/io").read_text()) if who else None
    if not match:
        raise RunFailed(f"{team.name}: its QEMU is gone")
    return int(match[1])
