# SPDX-License-Identifier: MIT
"""The shared drive: a read-only file system, made from a folder, that all VMs of a lab have.

    LABS/NAME/drive.json             which version VMs have that are started from now on
    LABS/NAME/drives/1/drive.img     the first version, an ext4 file system; 2, 3 ... are later ones
    LABS/NAME/drives/1/manifest.json its seal

A version never changes.  A VM keeps the version with which it was started, also while it is
suspended or boots again; a machine that was booted once for all is resumed only with the version
that it has.
"""

import os
import stat
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from understudy_devices.base import scratch
from understudy_devices.base.catalog import unknown
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.base.plain import one_line
from understudy_devices.lab import ext4, locks, sealed, state_file
from understudy_devices.lab.sealed import Seal
from understudy_devices.lab.store import FOR_ALL, Lab

SCHEMA = "understudy.lab-drive/1"
DRIVES, CURRENT = "drives", "drive.json"
IMAGE, MANIFEST = "drive.img", "manifest.json"
LABEL = "shared"
NONE = 0
"""The version of a lab whose VMs have no drive."""
BYTES_MAX = 2**40
LOCK_SECONDS = 60
SECTOR_BYTES = 512  # of st_blocks
SHA256_SHOWN = 16


@dataclass(frozen=True)
class Drive:
    """A version of the shared drive.

    source: the name of the folder that it was made from.  made: when, in seconds since 1970.
    """

    folder: Path
    source: str
    made: float
    seal: Seal

    @property
    def version(self) -> int:
        """Return its number."""
        return int(self.folder.name)

    @property
    def image(self) -> Path:
        """Return the path of the file system."""
        return self.folder / IMAGE

    @property
    def identity(self) -> str:
        """Return what a saved machine with this drive needs."""
        return f"{self.version} {self.seal.sha256[:SHA256_SHOWN]}"

    @property
    def disk_bytes(self) -> int:
        """Return what the file takes on disk."""
        return self.image.stat().st_blocks * SECTOR_BYTES

    def check_quickly(self, whole: str) -> None:
        """Raise RunFailed if the file has changed, as base_image does."""
        sealed.check_quickly(self.image, self.seal, whole)

    def check_fully(self) -> None:
        """Raise RunFailed if a byte has changed; accept a file that was copied or moved."""
        seal = sealed.check_fully(self.image, self.seal)
        if seal != self.seal:
            _write(replace(self, seal=seal))


def all_of(lab: Lab) -> list[Drive]:
    """Return all versions, oldest first."""
    return [_read(lab.folder / DRIVES / str(number)) for number in _numbers(lab)]


def current(lab: Lab) -> Drive | None:
    """Return the version that VMs have which are started now; None if they have none."""
    version = current_version(lab)
    return _read(lab.folder / DRIVES / str(version)) if version != NONE else None


def current_version(lab: Lab) -> int:
    """Return its number, or NONE."""
    path = lab.folder / CURRENT
    if not path.exists():
        return NONE
    version = state_file.required(path).get("version")
    if not isinstance(version, int):
        raise state_file.damaged(path)
    return version


def find(lab: Lab, identity: str) -> Drive | None:
    """Return the drive of a saved machine; None if it had none, or if it is gone."""
    number = identity.partition(" ")[0]
    if number not in map(str, _numbers(lab)):
        return None
    drive = _read(lab.folder / DRIVES / number)
    return drive if drive.identity == identity else None


def use(lab: Lab, version: int) -> None:
    """Let VMs that are started from now on have this version, or none."""
    with locks.folder(lab.folder, LOCK_SECONDS, shared=True, who=lab.name):  # no drop is under way
        if version != NONE:
            _read(folder_of(lab, version))
        state_file.write(lab.folder / CURRENT, {"version": version})


def make(lab: Lab, source: Path) -> Drive:
    """Make a new version from a folder, and let VMs that are started from now on have it.

    In it, all files belong to root.  UserError if the folder has something else than files,
    folders and links, or something that this user may not read.
    """
    ext4.check("lab drive")
    entries = _entries(lab, source)
    size = ext4.room(entry.size for entry in entries.values())
    _check_room(lab, source, size)
    epoch = max(entry.mtime_ns for entry in entries.values()) // 10**9
    drives = lab.folder / DRIVES
    drives.mkdir(exist_ok=True)
    drives.chmod(FOR_ALL)
    with (
        locks.folder(drives, LOCK_SECONDS, who=f"{lab.name}, its drive"),
        scratch.folder(".drive.", drives) as folder,
    ):
        raw = folder / "raw"
        ext4.write(source, raw, size, LABEL, max(1, epoch), shared=True)
        if _entries(lab, source) != entries:
            raise _changed(source)
        fresh = folder / str(max(_numbers(lab), default=0) + 1)
        fresh.mkdir()
        fresh.chmod(FOR_ALL)
        seal = sealed.copy(raw, fresh / IMAGE)
        _write(Drive(fresh, one_line(source.resolve().name), time.time(), seal))
        final = drives / fresh.name
        with locks.folder(lab.folder, LOCK_SECONDS, shared=True, who=lab.name):
            fresh.rename(final)
            state_file.sync(drives)
            use(lab, int(final.name))
    return _read(final)


def folder_of(lab: Lab, version: int) -> Path:
    """Return the folder of a version; UserError if there is none of that number."""
    if version not in _numbers(lab):
        raise UserError(unknown("version", str(version), [str(each) for each in _numbers(lab)]))
    return lab.folder / DRIVES / str(version)


def remove(place: Path) -> None:
    """Remove the folder of a version, which no VM may have."""
    with scratch.folder(".gone.", place.parent) as folder:
        place.rename(folder / "drive")


@dataclass(frozen=True)
class _Entry:
    """What changes if somebody changes a file, a link or a folder."""

    mode: int
    size: int
    mtime_ns: int
    ctime_ns: int  # nobody can set it
    inode: int


def _entries(lab: Lab, source: Path) -> dict[str, _Entry]:
    """Return all that is in a folder; UserError if a drive cannot have it."""
    if not source.is_dir():
        raise UserError(f"{source}: not a folder; name one whose files all VMs are to have")
    if lab.folder.resolve().is_relative_to(source.resolve()):
        raise UserError(f"{source}: the lab itself is in it; name another folder")
    entries, mistakes = {}, []
    for path in ext4.everything(source):
        try:
            now = path.lstat()
        except FileNotFoundError:
            raise _changed(source) from None
        if mistake := _mistake(path, now.st_mode):
            mistakes.append(f"{one_line(str(path))}: {mistake}")
        times = (now.st_mtime_ns, now.st_ctime_ns)
        entries[str(path)] = _Entry(now.st_mode, now.st_size, *times, now.st_ino)
    if mistakes:
        more = f" (and {len(mistakes) - 1} more)" if len(mistakes) > 1 else ""
        raise UserError(f"{min(mistakes)}{more}")
    return entries


def _changed(source: Path) -> RunFailed:
    return RunFailed(f"{source}: changed while it was read: give the command again")


def _mistake(path: Path, mode: int) -> str:
    """Return why a drive cannot have this; empty if it can."""
    if stat.S_ISLNK(mode):
        return ""
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        return "a device, a pipe or a socket; a drive has only files, folders and links"
    wanted = os.R_OK | os.X_OK if stat.S_ISDIR(mode) else os.R_OK
    return "" if os.access(path, wanted) else "you may not read it"


def _check_room(lab: Lab, source: Path, size: int) -> None:
    """Raise an error if a drive of so many bytes, and its copy, have no room."""
    if size > BYTES_MAX:
        raise UserError(f"{source}: {size / 1e6:,.0f} MB; a drive may have {BYTES_MAX / 1e6:,.0f}")
    disk = os.statvfs(lab.folder)
    free = disk.f_bavail * disk.f_frsize
    if 2 * (size - ext4.SPARE_BYTES) > free:
        raise RunFailed(
            f"{source}: twice its {size / 1e6:,.1f} MB are needed for a while, and the disk has "
            f"{free / 1e6:,.1f} MB: make room there"
        )


def _numbers(lab: Lab) -> list[int]:
    names = (path.name for path in (lab.folder / DRIVES).glob("[1-9]*"))
    return sorted(int(name) for name in names if name.isdigit())


def _read(folder: Path) -> Drive:
    """Return the drive in a folder; RunFailed if its manifest is missing or damaged."""
    manifest = state_file.required(folder / MANIFEST)
    try:
        seal = Seal(**manifest["seal"])
        return Drive(folder, str(manifest["source"]), float(manifest["made"]), seal)
    except (KeyError, TypeError, ValueError):
        raise state_file.damaged(folder / MANIFEST) from None


def _write(drive: Drive) -> None:
    content = {"schema": SCHEMA, "source": drive.source, "made": drive.made}
    state_file.write(drive.folder / MANIFEST, {**content, "seal": asdict(drive.seal)})
