# SPDX-License-Identifier: MIT
"""Machines that are saved in the cache after their boot; many runs resume each of them.

A saved machine is a folder. `memory` is the guest's memory, a file that runs share; each run copies
the pages that it writes. `state` is everything else (QEMU's migration stream). The folder appears
when it is complete. If the machines need more than BYTES_MAX, the oldest ones are removed. A
machine that can't be resumed is removed, too.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from understudy_devices.base import cache

FOLDER = "machines"
BYTES_MAX = 4 * 2**30
BLOCK_BYTES = 512  # of st_blocks


@dataclass(frozen=True)
class SavedMachine:
    """A saved machine; its key names everything that the machine depends on."""

    key: str
    folder: Path

    @property
    def memory(self) -> Path:
        return self.folder / "memory"

    @property
    def state(self) -> Path:
        return self.folder / "state"


def find(key: str, make: Callable[[SavedMachine], None]) -> SavedMachine:
    """Return the machine of that key; `make` saves it if it is missing."""
    made = []

    def fill(folder: Path) -> None:
        make(SavedMachine(key, folder))
        made.append(key)

    machine = SavedMachine(key, cache.cached_folder(f"{FOLDER}/{key}", fill))
    if made:
        _remove_oldest(machine.folder.parent, keep=machine.folder)
    return machine


def discard(machine: SavedMachine) -> None:
    """Remove a machine from the cache at once and completely; runs that have resumed it
    continue.
    """
    cache.remove(machine.folder)


def _remove_oldest(top: Path, keep: Path) -> None:
    machines = [path for path in top.iterdir() if path.is_dir() and path.name[0] != "."]
    machines.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    room = BYTES_MAX - _bytes_on_disk(keep.iterdir())
    for machine in machines:
        if machine == keep:
            continue
        room -= _bytes_on_disk(machine.iterdir())
        if room < 0:
            cache.remove(machine)


def _bytes_on_disk(files: Iterable[Path]) -> int:
    """Return the bytes used on disk: the memory file has holes where the guest has never
    written.
    """
    return sum(path.stat().st_blocks * BLOCK_BYTES for path in files)
