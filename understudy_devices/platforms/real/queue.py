# SPDX-License-Identifier: MIT
"""The scheduler of a disk and the settings of its queue, as in a VM (guest/measure).

Every setting is recorded before it is changed, and restored at the end, also after an error.  When
the kernel replaces a scheduler it forgets the scheduler's tunables, so they are recorded too.
"""

import os
import stat
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from understudy_devices.ask import schedulers
from understudy_devices.ask.schedulers import KERNEL
from understudy_devices.base import put_back, scratch
from understudy_devices.base.catalog import refuse_twice, unknown
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.platforms.real import disk as disks
from understudy_devices.platforms.real.disk import Disk

PENDING_MAX = 256  # nr_requests with a scheduler
BUILDING = 'docs/vpt-sysfs.md, "Building the modules", says how to load it into this kernel'
TOLD = ("nr_requests", "rotational", "wbt_lat_usec", "read_ahead_kb")


def offered(disk: Disk) -> list[str]:
    """Return the schedulers that the kernel offers for the disk, without the prefix "us-" of some
    of the project's schedulers.
    """
    words = (disk.folder / "queue" / "scheduler").read_text().replace("[", "").replace("]", "")
    return [word.removeprefix("us-") if _is_ours(word) else word for word in words.split()]


def _is_ours(word: str) -> bool:
    """Return whether this is the name of one of the project's schedulers. The name has the prefix
    "us-" if the kernel itself has a scheduler of that name.
    """
    return word.removeprefix("us-") in schedulers.core()


def chosen(names: str | None, disk: Disk) -> list[str]:
    """Return the schedulers of a comma-separated list, or all; UserError if one is not offered."""
    there = offered(disk)
    if names is None or names.strip() == "all":
        return list(dict.fromkeys(there))
    words = [name.strip() for name in names.split(",")]
    for name in words:
        if name not in there:
            raise UserError(f"--schedulers: {_why_not(name, there)}")
    refuse_twice("--schedulers", words)
    return words


def _why_not(name: str, there: list[str]) -> str:
    kernel = os.uname().release
    if name in schedulers.core():
        return f"{name} is not in kernel {kernel}: {BUILDING}"
    if module := KERNEL.get(name):
        return f"kernel {kernel} does not offer {name}: modprobe {module}, if it has it"
    return unknown("scheduler", name, there)


def kept(disk: Disk) -> AbstractContextManager[None]:
    """Record the disk's settings, and restore them at the end of the `with` block."""
    sequence = disk.folder / "diskseq"  # from Linux 5.15 on
    identity = sequence if sequence.exists() else disk.folder / "dev"
    return scratch.settings(_journal(disk.name), identity, _listed(disk))


def left() -> list[str]:
    """Return the disks whose settings a killed command has left changed."""
    names = sorted(journal.stem for journal in put_back.FOLDER.glob("*.json"))
    return [name for name in names if not disks.is_locked(disks.path_of(name))]


def put_back_left(name: str) -> str:
    """Restore the settings of that disk; return a line that says so."""
    why = put_back.put_back(_journal(name))
    state = why[0] if why else "they are put back"
    return f"{disks.path_of(name)}: a command that was killed left other settings; {state}"


def set_up(
    disk: Disk, scheduler: str, depth: int, tunables: Mapping[str, int], read_ahead_kib: int | None
) -> None:
    """Change the settings as in a VM: a rotating disk, `depth` requests at the same time, no
    writeback throttling, and the given read-ahead, if any.
    """
    queue = disk.folder / "queue"
    if disk.told_depth:
        _put(disk.depth_file, depth)
    _put(queue / "scheduler", _in_kernel(disk, scheduler))
    _put(queue / "rotational", 1)
    if _is_setting(queue / "wbt_lat_usec"):
        _put(queue / "wbt_lat_usec", 0)
    if read_ahead_kib is not None:
        _put(queue / "read_ahead_kb", read_ahead_kib)
    if scheduler != "none":
        _put(queue / "nr_requests", PENDING_MAX)
    for name, value in tunables.items():
        _put(queue / "iosched" / name, value)


def settings(disk: Disk) -> dict[str, str]:
    """Return the current values of all settings."""
    return {str(file.relative_to(disk.folder)): put_back.held(file) for file in _listed(disk)}


def _in_kernel(disk: Disk, name: str) -> str:
    words = (disk.folder / "queue" / "scheduler").read_text().replace("[", "").replace("]", "")
    return f"us-{name}" if f"us-{name}" in words.split() else name


def _journal(name: str) -> Path:
    return put_back.FOLDER / f"{name}.json"


def _listed(disk: Disk) -> list[Path]:
    """List the settings in the order in which they are restored: first the scheduler, then the
    scheduler's settings.
    """
    queue = disk.folder / "queue"
    own = sorted((queue / "iosched").glob("*"))
    files = [disk.depth_file, queue / "scheduler", *(queue / name for name in TOLD), *own]
    return [file for file in files if _is_setting(file)]


def _is_setting(file: Path) -> bool:
    """Return whether the file is writable, and has a value now."""
    try:
        return bool(file.stat().st_mode & stat.S_IWUSR) and bool(put_back.held(file))
    except OSError:
        return False


def _put(file: Path, value: str | int) -> None:
    try:
        file.write_text(str(value))
    except OSError as error:
        raise RunFailed(f"{file} refuses {value}: {error.strerror}") from error
