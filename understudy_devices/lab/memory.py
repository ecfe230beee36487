# SPDX-License-Identifier: MIT
"""The memory of a suspended VM, beside its clone.

`memory.json` names the file with the memory, and says with which state of the clone and which QEMU
it belongs together.  The memory exists if memory.json does: writing and removing that file are the
instants at which a suspend or a resume counts.  A resume removes it before the guest runs, so no
memory ever meets a disk that has been written to since.
"""

import hashlib
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from understudy_devices.lab import state_file
from understudy_devices.lab.hardware import Hardware
from understudy_devices.lab.monitor import Monitor
from understudy_devices.lab.store import Team

FILE = "memory.json"
PREFIX = "memory-"
BYTES_PER_SECOND_MAX = 2**40
HEAD_BYTES = 2**20
"""Header, tables and the first clusters of a clone."""


@dataclass(frozen=True)
class Memory:
    """A saved memory; `obstacle` says why it does not fit, and is empty if it does."""

    path: Path
    obstacle: str


def new_file(team: Team) -> Path:
    """Return a path for a memory that is about to be saved."""
    return team.folder / f"{PREFIX}{secrets.token_hex(6)}"


def save(monitor: Monitor, path: Path, seconds: float) -> None:
    """Write the memory of a VM that is stopped into a new file; Gone if QEMU cannot do that."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        monitor.do("getfd", descriptor, fdname="memory")
    finally:
        os.close(descriptor)
    monitor.do("migrate-set-parameters", max_bandwidth=BYTES_PER_SECOND_MAX)
    monitor.do("migrate", uri="fd:memory")
    monitor.migrated(seconds)


def commit(team: Team, path: Path, hardware: dict[str, str]) -> None:
    """Let a memory that has been written completely count, with the clone as it is now;
    `hardware` is that of the VM."""
    state_file.sync(path)
    content = {
        "file": path.name,
        "bytes": path.stat().st_size,
        "clone": _state(team.disk),
        "hardware": hardware,
    }
    state_file.write(team.folder / FILE, content)


def exists(team: Team) -> bool:
    """Return whether a suspended VM's memory is there."""
    return (team.folder / FILE).exists()


def find(team: Team, hardware: Hardware) -> Memory | None:
    """Return the team's saved memory; None if there is none."""
    if not exists(team):
        return None
    content = state_file.optional(team.folder / FILE)
    path = team.folder / Path(str(content.get("file"))).name
    if not path.name.startswith(PREFIX) or not path.is_file():
        return Memory(path, "its file is missing")
    if path.stat().st_size != content.get("bytes"):
        return Memory(path, "its file is incomplete")
    if content.get("clone") != _state(team.disk):
        return Memory(path, "the clone has changed since")
    return Memory(path, difference(content.get("hardware"), hardware.identity()))


def saved_with(team: Team) -> dict[str, str]:
    """Return the identity of the QEMU and hardware that the suspended VM has; empty if nobody knows
    it."""
    hardware = state_file.optional(team.folder / FILE).get("hardware")
    return hardware if isinstance(hardware, dict) else {}


def drive(team: Team) -> str:
    """Return the identity of the shared drive that the suspended VM has; empty if it has none."""
    return str(saved_with(team).get("drive", ""))


def drop(team: Team) -> None:
    """Forget the saved memory, and what interrupted commands have left of others."""
    (team.folder / FILE).unlink(missing_ok=True)
    state_file.sync(team.folder)
    sweep(team)


def sweep(team: Team) -> None:
    """Remove memory files that do not count."""
    kept = state_file.optional(team.folder / FILE).get("file")
    for path in team.folder.glob(f"{PREFIX}*"):
        if path.name != kept:
            path.unlink(missing_ok=True)


def _state(disk: Path) -> dict[str, object]:
    """Return what changes whenever somebody writes to the clone."""
    with disk.open("rb") as file:
        now = os.fstat(file.fileno())  # of the open file, which NFS has just asked the server for
        head = hashlib.sha256(file.read(HEAD_BYTES)).hexdigest()
    return {
        "inode": now.st_ino,
        "bytes": now.st_size,
        "mtime_ns": now.st_mtime_ns,
        "head": head,
    }


def difference(saved: object, now: dict[str, str]) -> str:
    """Return why a memory that this QEMU and hardware saved cannot be resumed by those of now;
    empty if it can."""
    if saved == now:
        return ""
    before = saved if isinstance(saved, dict) else {}
    if before.get("qemu") != now["qemu"]:
        return f"QEMU {before.get('qemu')} saved it, and this is {now['qemu']}"
    if before.get("build") != now["build"]:
        return f"another build of QEMU {now['qemu']} saved it"
    if before.get("processor") != now.get("processor"):
        return "a host with another processor saved it"
    if before.get("drive") != now.get("drive"):
        return "it has another version of the shared drive"
    return "the VM has other hardware now"
