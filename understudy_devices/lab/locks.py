# SPDX-License-Identifier: MIT
"""The locks of a lab.  The kernel drops each of them when its owner dies, however it dies.

* QEMU locks the image that it runs on.  This is the lock that keeps a clone from a second VM.  A
  command that replaces a clone holds the same lock.
* A command that starts, stops or changes a team's VM holds the lock of the team's folder, so that
  there is one such command at a time.
* A start shares the lock of the lab's folder; a command that changes the lab's maintenance mode
  holds it alone.

All of them are locks of bytes, which NFS 4 carries between hosts.  It does not carry `flock` on a
folder; so the lock of a folder is that of the file FILE in it.  In a folder where this user may not
make that file, as a lab of an earlier version is for a student, `flock` has to do.
"""

import errno
import fcntl
import os
import stat
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from understudy_devices.base.errors import RunFailed

FLOCK = struct.Struct("hhqqi4x")
FIRST_BYTE, BYTES = 100, 200
WHOLE = 0
"""As a number of bytes: all of a file."""
WRITE_BYTE = 101
"""QEMU locks some of the bytes from 100 on for what it does, and from 200 on for what others may
not do (block/file-posix.c)."""
POLL_SECONDS = 0.05
FILE = ".lock"
FOR_ALL = 0o644
NO_LOCKS = {errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS}


class Held(Exception):  # noqa: N818 - as RunFailed
    """Somebody else holds the lock."""


class Busy(RunFailed):
    """Another command has a folder's lock for longer than one waits."""


def is_image_locked(image: Path) -> bool:
    """Return whether a QEMU, or a command that replaces the image, holds its lock."""
    return _is_locked(image, FIRST_BYTE, BYTES)


def is_written(image: Path) -> bool:
    """Return whether a QEMU may write to the image; those that only read it do not count."""
    return _is_locked(image, WRITE_BYTE, 1)


def _is_locked(image: Path, first: int, count: int) -> bool:
    descriptor = os.open(image, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a file", str(image))
        answer = fcntl.fcntl(descriptor, fcntl.F_OFD_GETLK, _lock(first, count))
    finally:
        os.close(descriptor)
    kind: int = FLOCK.unpack(answer)[0]
    return kind != fcntl.F_UNLCK


@contextmanager
def image(path: Path) -> Iterator[None]:
    """Hold the lock of an image, as a QEMU would; Held if a QEMU has it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        if not _take(descriptor, path, fcntl.F_WRLCK, FIRST_BYTE, BYTES):
            raise Held
        yield
    finally:
        os.close(descriptor)


@contextmanager
def folder(path: Path, seconds: float, *, shared: bool = False, who: str = "") -> Iterator[None]:
    """Hold the lock of a folder; Busy if somebody else still has it after so many seconds.

    What other hosts have done in the folder before is seen from now on.
    """
    deadline = time.monotonic() + seconds
    with ExitStack() as opened:
        with suppress(PermissionError):
            file = _file(path, writable=not shared)
            opened.callback(os.close, file)
            kind = fcntl.F_RDLCK if shared else fcntl.F_WRLCK
            _wait(lambda: _take(file, path, kind, 0, WHOLE), deadline, who or str(path))
        # Opened when the lock is held: then NFS asks the server again what the folder has.
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        opened.callback(os.close, descriptor)
        how = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        _wait(lambda: _flock(descriptor, how), deadline, who or str(path))
        yield


def prepare(path: Path) -> None:
    """Make the file by which a folder is locked, for users who may not make it themselves."""
    os.close(_file(path, writable=True))


def is_folder_locked(path: Path) -> bool:
    """Return whether a command holds the lock of a folder."""
    with suppress(FileNotFoundError):
        if _is_locked(path / FILE, 0, WHOLE):
            return True
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _file(folder: Path, *, writable: bool) -> int:
    """Open the file by which a folder is locked; make it if it is missing."""
    path = folder / FILE
    flags = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    flags |= os.O_RDWR if writable else os.O_RDONLY
    try:
        return os.open(path, flags)
    except FileNotFoundError:
        descriptor = os.open(path, flags | os.O_CREAT, FOR_ALL)
    with suppress(PermissionError):  # another user has made it at the same instant
        os.fchmod(descriptor, FOR_ALL)  # whatever the umask
    return descriptor


def _wait(take: Callable[[], bool], deadline: float, who: str) -> None:
    """Try to take a lock until that succeeds; Busy if it does not until the deadline."""
    while not take():
        if time.monotonic() > deadline:
            raise Busy(f"{who}: another command is at work there; try again")
        time.sleep(POLL_SECONDS)


def _flock(descriptor: int, how: int) -> bool:
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _take(descriptor: int, path: Path, kind: int, first: int, count: int) -> bool:
    """Lock bytes of a file; return False if somebody else has locked them."""
    try:
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, _lock(first, count, kind))
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES):
            return False
        if error.errno in NO_LOCKS:
            raise RunFailed(
                f"{path}: its file system has no locks ({error.strerror}): a lab needs a local "
                "one, or NFS 4"
            ) from None
        raise
    return True


def _lock(first: int, count: int, kind: int = fcntl.F_WRLCK) -> bytes:
    return FLOCK.pack(kind, os.SEEK_SET, first, count, 0)
