# SPDX-License-Identifier: MIT
"""The disk of this machine that is measured.

Disks that can't be measured, or must not be touched, are refused before anything is changed.  The
lock on the disk's file keeps other measurements and udev away during a measurement.
"""

import errno
import fcntl
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.device.profile import DiskFacts, DiskProfile, unmodelled
from understudy_devices.profiler.targets.disk import facts, in_use
from understudy_devices.profiler.targets.disk.device_file import CANT_OPEN, LISTED

OPTION = "--on"
SECTOR_BYTES = 512
AT_ONCE_MAX = 4096
MEASURED = "another command measures or prepares it; wait for that"
KINDS: dict[Callable[[int], bool], str] = {
    stat.S_ISDIR: f"is a folder; name a disk: {LISTED}",
    stat.S_ISFIFO: f"is a pipe; name a disk: {LISTED}",
    stat.S_ISSOCK: f"is a socket; name a disk: {LISTED}",
    stat.S_ISCHR: f"is a character device; name a disk: {LISTED}",
    stat.S_ISREG: "is a file; losetup --find --show makes a disk of it",
}


@dataclass(frozen=True)
class Disk:
    """A whole disk; `number` is its device number."""

    path: Path
    number: int

    @property
    def folder(self) -> Path:
        """Return the disk's folder in /sys."""
        return (in_use.SYS / "dev" / "block" / in_use.number(self.number)).resolve()

    @property
    def name(self) -> str:
        """Return the kernel's name for the disk."""
        return self.folder.name

    @property
    def kernels_number(self) -> int:
        """Return the disk's device number as the kernel's events encode it."""
        return os.major(self.number) << 20 | os.minor(self.number)

    @property
    def depth_file(self) -> Path:
        """Return the file that sets the disk's queue depth; some disks have no such file."""
        return self.folder / "device" / "queue_depth"

    @property
    def told_depth(self) -> bool:
        """Return whether the disk's queue depth can be set."""
        with suppress(OSError):
            return bool(self.depth_file.stat().st_mode & stat.S_IWUSR)
        return False

    @property
    def at_once_max(self) -> int:
        """Return how many requests the disk accepts at the same time."""
        tags = sum(int(file.read_text()) for file in self.folder.glob("mq/*/nr_tags"))
        return min(tags or 1, AT_ONCE_MAX)

    @property
    def sectors(self) -> int:
        """Return the size in sectors."""
        return int((self.folder / "size").read_text())

    def profile(self) -> DiskProfile:
        """Return a profile of the disk with everything except its times."""
        with _opened(self, 0) as descriptor:
            report = facts.ask(descriptor)
        known = report.model and DiskFacts(
            vendor=report.vendor or "unknown",
            model=report.model,
            capacity_sectors=self.sectors,
            rpm=report.rpm or None,
        )
        return unmodelled(self.name, known or None, self.at_once_max)


def find(path: Path, destroy_data: bool) -> Disk:
    """Return the disk with that device file; UserError if the disk can't be measured."""
    try:
        status = path.stat()
    except OSError as error:
        refuse(path, f"{error.strerror}; {LISTED}")
    for is_so, words in KINDS.items():
        if is_so(status.st_mode):
            refuse(path, words)
    if whole := in_use.whole(status.st_rdev):
        refuse(path, f"is a partition; take the whole disk, /dev/{whole}")
    disk = Disk(path, status.st_rdev)
    if user := in_use.of_disk(status.st_rdev):
        refuse(path, user)
    if not (disk.folder / "mq").is_dir():
        refuse(
            path,
            "has no scheduler, since nothing waits in it; take a disk, or those it is made of",
        )
    if not disk.sectors:
        refuse(path, "has no sectors: there is nothing behind it")
    if destroy_data and (disk.folder / "ro").read_text().strip() == "1":
        refuse(path, "is read-only; leave --destroy-data out")
    if os.geteuid():
        refuse(path, "only root may choose its scheduler; be root")
    if is_locked(path):
        refuse(path, MEASURED)
    with _opened(disk, os.O_EXCL):
        pass
    return disk


def path_of(name: str) -> Path:
    """Return the device file of the disk with that kernel name."""
    return Path("/dev") / name.replace("!", "/")


def named(name: str) -> Disk:
    """Return the disk with that kernel name."""
    path = path_of(name)
    try:
        return Disk(path, path.stat().st_rdev)
    except OSError as error:
        raise RunFailed(f"{path} is gone: was it unplugged?") from error


@contextmanager
def locked(disk: Disk, *, claimed: bool) -> Iterator[None]:
    """Lock the disk against other measurements and, if `claimed`, against mounts."""
    with _opened(disk, os.O_EXCL if claimed else 0) as descriptor:
        if not _lock(descriptor):
            refuse(disk.path, MEASURED)
        yield


def is_locked(path: Path) -> bool:
    """Return whether another command is measuring the disk; False if its device file is gone."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return not _lock(descriptor)
        finally:
            os.close(descriptor)
    return False


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def _opened(disk: Disk, how: int) -> Iterator[int]:
    try:
        descriptor = os.open(disk.path, os.O_RDONLY | os.O_CLOEXEC | how)
    except OSError as error:
        number = error.errno or errno.EIO
        refuse(disk.path, CANT_OPEN.get(number, f"{os.strerror(number)}; {LISTED}"))
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def refuse(path: Path, why: str) -> NoReturn:
    """Raise a UserError of one line."""
    raise UserError(f"{OPTION}: {path}: {why}")
