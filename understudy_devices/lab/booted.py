# SPDX-License-Identifier: MIT
"""A base that was booted once for all: a saved machine, which a team's first start resumes.

It is a folder `booted-N` beside the base's image, with the overlay that the guest has written to
while it booted (`disk.qcow2`), and with its memory.  Both are sealed.  A clone whose first start
resumes this machine becomes an overlay of that overlay, which therefore stays for ever; of the
memories, only the newest is kept.
"""

import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from understudy_devices.base import regular_file, scratch
from understudy_devices.base.errors import RunFailed
from understudy_devices.base.plain import one_line
from understudy_devices.lab import (
    agent,
    base_image,
    locks,
    memory,
    overlay,
    qemu_process,
    renewal,
    sealed,
    state_file,
)
from understudy_devices.lab.agent import Agent
from understudy_devices.lab.base_image import Base
from understudy_devices.lab.hardware import LOG, Hardware
from understudy_devices.lab.monitor import Monitor
from understudy_devices.lab.sealed import Seal

PREFIX = "booted-"
MANIFEST, MEMORY = "manifest.json", "memory"
SCHEMA = "understudy.lab-booted/1"
POLL_SECONDS = 0.2
BLOCK_BYTES = 512  # of st_blocks
ANSWER_SECONDS = 60
LAST_BYTES, LAST_CHARACTERS = 4096, 200
SAVE_SECONDS = 600


@dataclass(frozen=True)
class Booted:
    """A saved machine; `hardware` is what it needs to be resumed."""

    folder: Path
    seals: dict[str, Seal]
    hardware: dict[str, str]

    @property
    def disk(self) -> Path:
        """Return the overlay that the guest has written to while it booted."""
        return self.folder / base_image.DISK

    @property
    def memory(self) -> Path:
        """Return the guest's memory."""
        return self.folder / MEMORY

    @property
    def drive(self) -> str:
        """Return the identity of the shared drive that it has; empty if it has none."""
        return self.hardware.get("drive", "")

    @property
    def disk_bytes(self) -> int:
        """Return what the machine takes on disk."""
        there = (path for path in (self.disk, self.memory) if path.exists())
        return sum(path.stat().st_blocks * BLOCK_BYTES for path in there)

    def obstacle(self, hardware: Hardware) -> str:
        """Return why a VM with this hardware cannot be resumed from it; empty if it can."""
        if not self.memory.is_file():
            return "its memory is missing"
        return memory.difference(self.hardware, hardware.identity())

    def check_quickly(self, whole: str, names: tuple[str, ...]) -> None:
        """Raise RunFailed if one of these files has changed, as base_image does."""
        for name in names:
            sealed.check_quickly(self.folder / name, self.seals[name], whole)

    def check_fully(self) -> None:
        """Raise RunFailed if a byte has changed; accept files that were copied or moved."""
        there = {name: seal for name, seal in self.seals.items() if (self.folder / name).exists()}
        seals = {name: sealed.check_fully(self.folder / name, seal) for name, seal in there.items()}
        if base_image.DISK not in seals:
            raise RunFailed(f"{self.disk}: missing: take it from a backup")
        if seals != there:
            _write(self.folder, {**self.seals, **seals}, self.hardware)


def all_of(base: Base) -> list[Booted]:
    """Return the base's saved machines, oldest first."""
    return [read(base.folder / f"{PREFIX}{number}") for number in _numbers(base)]


def newest(base: Base) -> Booted | None:
    """Return the machine that first starts resume; None if the base was not booted."""
    numbers = _numbers(base)
    return read(base.folder / f"{PREFIX}{numbers[-1]}") if numbers else None


def read(folder: Path) -> Booted:
    """Return the saved machine in a folder; RunFailed if its manifest is damaged."""
    manifest = state_file.required(folder / MANIFEST)
    try:
        seals = {name: Seal(**fields) for name, fields in manifest["seals"].items()}
        if not {base_image.DISK, MEMORY} <= set(seals):
            raise KeyError
        return Booted(folder, seals, manifest["hardware"])
    except (KeyError, TypeError, AttributeError):
        raise state_file.damaged(folder / MANIFEST) from None


def make(base: Base, name: str, hardware: Hardware, seconds: float) -> Booted:
    """Boot the base once, and save the machine; `name` is the lab's.

    RunFailed if the guest has no agent that answers within so many seconds.
    """
    base = replace(base, folder=base.folder.resolve())
    base.check_quickly(f"understudy lab check {name}")
    if hardware.drive:
        hardware.drive.check_quickly(f"understudy lab check {name}")
    with (
        locks.folder(base.folder, 0, who=f"{name}, base {base.folder.name}"),
        scratch.folder(".booting.", base.folder) as folder,
    ):
        overlay.write(folder / base_image.DISK, f"../{base_image.DISK}", base.virtual_bytes)
        saved = folder / MEMORY
        with qemu_process.launch(
            folder, f"{name}/boot", hardware, base, resumes=False, stays=False
        ) as monitor:
            try:
                monitor.do("cont")
                monitor.wait_until_running()
                try:
                    _prepare(folder, monitor, seconds)
                except RunFailed as error:
                    raise RunFailed(f"{error}{_last_words(folder)}") from None
                monitor.do("stop")
                memory.save(monitor, saved, SAVE_SECONDS)
            finally:
                qemu_process.bury(monitor)
        fresh = folder / "sealed"
        fresh.mkdir()
        fresh.chmod(0o755)
        seals = {
            each: sealed.copy(folder / each, fresh / each) for each in (base_image.DISK, MEMORY)
        }
        _write(fresh, seals, hardware.identity())
        number = max(_numbers(base), default=0) + 1
        fresh.rename(base.folder / f"{PREFIX}{number}")
        state_file.sync(base.folder)
    for older in all_of(base)[:-1]:
        older.memory.unlink(missing_ok=True)
    return read(base.folder / f"{PREFIX}{number}")


def _prepare(folder: Path, monitor: Monitor, seconds: float) -> None:
    """Wait until the guest has booted, and let it forget what is its own."""
    deadline = time.monotonic() + seconds
    while not agent.is_there(monitor):
        if monitor.ended(POLL_SECONDS):
            raise RunFailed("the guest has ended while it booted; nothing was saved")
        if time.monotonic() > deadline:
            raise RunFailed(
                f"no agent has answered in {seconds:g} s, so nothing was saved: install "
                "qemu-guest-agent in the image, or let each team's VM boot"
            )
    with Agent(folder, ANSWER_SECONDS) as connection:
        renewal.forget(connection)


def _last_words(folder: Path) -> str:
    """Return the last line that the console has printed, to be added to an error."""
    try:
        printed = regular_file.last(folder / LOG, LAST_BYTES).decode(errors="replace")
    except OSError:
        return ""
    lines = [line for line in map(one_line, printed.splitlines()) if line.strip()]
    return f" (the console's last line: {lines[-1][:LAST_CHARACTERS]})" if lines else ""


def _numbers(base: Base) -> list[int]:
    names = (each.name.removeprefix(PREFIX) for each in base.folder.glob(f"{PREFIX}*"))
    return sorted(int(each) for each in names if each.isdigit())


def _write(folder: Path, seals: dict[str, Seal], hardware: dict[str, str]) -> None:
    content = {name: asdict(seal) for name, seal in seals.items()}
    state_file.write(folder / MANIFEST, {"schema": SCHEMA, "seals": content, "hardware": hardware})
