# SPDX-License-Identifier: MIT
"""The locks of a lab.  The kernel drops each of them when its owner dies, however it dies.

* QEMU locks the image that it runs on.  This is the lock that keeps a clone from a second VM.  A
  command that replaces a clone holds the same lock.
* A command that starts, stops or changes a team's VM holds the lock of the team's folder, so that
  there is one such command at a time.
* A start shares the lock of the lab's folder; a command that changes the lab's maintenance mode
  holds it alone.
"""

import errno
import fcntl
import os
import stat
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from understudy_devices.base.errors import RunFailed

FLOCK = struct.Struct("hhqqi4x")
FIRST_BYTE, BYTES = 100, 200
WRITE_BYTE = 101
"""QEMU locks some of the bytes from 100 on for what it does, and from 200 on for what others may
not do (block/file-posix.c)."""
POLL_SECONDS = 0.05


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
        try:
            fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, _lock(FIRST_BYTE, BYTES))
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EACCES):
                raise Held from None
            raise
        yield
    finally:
        os.close(descriptor)


@contextmanager
def folder(path: Path, seconds: float, *, shared: bool = False, who: str = "") -> Iterator[None]:
    """Hold the lock of a folder; Busy if somebody else still has it after so many seconds."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _wait(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX, seconds, who or str(path))
        yield
    finally:
        os.close(descriptor)


def is_folder_locked(path: Path) -> bool:
    """Return whether a command holds the lock of a folder."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _wait(descriptor: int, how: int, seconds: float, who: str) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(descriptor, how | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise Busy(f"{who}: another command is at work there; try again") from None
            time.sleep(POLL_SECONDS)
        else:
            return


def _lock(first: int, count: int) -> bytes:
    return FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, first, count, 0)
