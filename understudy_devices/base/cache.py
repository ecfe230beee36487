# SPDX-License-Identifier: MIT
"""Folders in the cache.  One process makes a folder; the folder appears when it is complete.

A hidden lock file next to each folder records a digest of the folder's contents when the folder
was made.  If the contents have changed since then, the folder is made again.  A command that uses
a folder also holds a lock on the folder itself until the command ends; `prune` removes only
folders that no command uses.
"""

import fcntl
import hashlib
import os
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISREG

from understudy_devices.base import scratch
from understudy_devices.base.errors import RunFailed
from understudy_devices.base.paths import cache_dir

READ_BYTES_MAX = 8 * 2**20
"""For a folder with more bytes than this, only the sizes of its files are recorded."""

USED_MOST = 200
_using = threading.Lock()
_used: dict[Path, int] = {}
"""The folders that this process uses, each with the file descriptor that holds its lock."""


def digest(parts: Iterable[bytes]) -> str:
    """Return a digest of the parts and their lengths: 16 hexadecimal digits."""
    sha = hashlib.sha256()
    for part in parts:
        sha.update(len(part).to_bytes(8, "little"))
        sha.update(part)
    return sha.hexdigest()[:16]


def digest_of_files(files: Iterable[Path]) -> str:
    """Return a digest of the names and contents of the files."""
    return digest(
        part for path in sorted(files) for part in (path.name.encode(), path.read_bytes())
    )


def cached_folder(name: str, make: Callable[[Path], None]) -> Path:
    """Return the cache folder `name`; if it is missing or incomplete, make(folder) fills it.

    The folder appears only when it is complete.  If another process is making it, wait for that
    process.
    """
    final = cache_dir() / name
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        while not _is_mine(final):
            _make(final, make)
    except OSError as error:
        raise RunFailed(
            f"the cache: {error.filename or final}: {error.strerror}; set XDG_CACHE_HOME to "
            "another folder"
        ) from error
    return final


def remove(folder: Path) -> None:
    """Remove a folder from the cache in one step; files that are open stay readable."""
    with scratch.folder(".gone.", folder.parent) as trash, suppress(FileNotFoundError):
        folder.rename(trash / folder.name)  # unless another process was faster


def prune(folder: Path) -> bool:
    """Remove a folder unless a command uses it; return whether it was removed."""
    with _opened(folder) as descriptor:
        if not _locks(descriptor, fcntl.LOCK_EX):
            return False
        if os.fstat(descriptor).st_ino != folder.stat().st_ino:  # made again meanwhile
            return False
        remove(folder)
        return True


def _is_mine(final: Path) -> bool:
    """Lock the folder for use and update its time stamp; False if it is missing or incomplete."""
    try:
        inode = final.stat().st_ino
        with _using:
            if final not in _used or os.fstat(_used[final]).st_ino != inode:
                descriptor = os.open(final, os.O_RDONLY | os.O_DIRECTORY)
                fcntl.flock(descriptor, fcntl.LOCK_SH)
                if final.stat().st_ino != os.fstat(descriptor).st_ino or not _is_whole(final):
                    os.close(descriptor)
                    return False
                _used[final] = descriptor
                _let_go()
    except FileNotFoundError:
        return False
    with suppress(OSError):  # another user's folder
        os.utime(final)
    return True


def _let_go() -> None:
    """Unlock the folders whose use began longest ago, so that they do not use up descriptors."""
    while len(_used) > USED_MOST:
        os.close(_used.pop(next(iter(_used))))


def _is_whole(final: Path) -> bool:
    """Return whether the folder's digest is the recorded one; True for an old folder without a
    record."""
    try:
        noted = _lock(final.name, final.parent).read_text()
    except FileNotFoundError:
        return False
    return noted == _contents(final)


def _contents(folder: Path) -> str:
    """Return a digest of the sizes of the folder's files and, if the folder is small, of their
    contents."""
    files = sorted(f"{at}/{name}" for at, _, names in os.walk(folder) for name in names)
    statuses = {file: os.lstat(file) for file in files}
    parts = [os.fsencode(f"{file[len(str(folder)) :]} {statuses[file].st_size}") for file in files]
    if sum(status.st_size for status in statuses.values()) <= READ_BYTES_MAX:
        parts += [Path(file).read_bytes() for file in files if S_ISREG(statuses[file].st_mode)]
    return digest(parts)


def _make(final: Path, make: Callable[[Path], None]) -> None:
    with _lock(final.name, final.parent).open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if final.is_dir() and _is_whole(final):
            return
        _sweep(final)
        with scratch.folder(f".{final.name}.", final.parent) as filled:
            make(filled)
            filled.chmod(0o755)
            lock.truncate(0)
            lock.write(_contents(filled))
            lock.flush()
            remove(final)
            filled.rename(final)


def _sweep(mine: Path) -> None:
    """Remove the unfinished folders of killed processes: those without a lock."""
    for left in mine.parent.glob(".*"):
        name = left.name[1:].rpartition(".")[0]
        if left.is_dir() and (name == mine.name or _is_free(_lock(name, mine.parent))):
            shutil.rmtree(left, ignore_errors=True)


def _is_free(lock: Path) -> bool:
    with lock.open("a") as file:
        return _locks(file.fileno(), fcntl.LOCK_EX)


def _locks(descriptor: int, how: int) -> bool:
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _lock(name: str, parent: Path) -> Path:
    return parent / f".{name}.lock"
