# SPDX-License-Identifier: MIT
"""The data of a served disk, in nbdkit's memory or in a sparse file that the user names."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from understudy_devices.base.errors import UserError

SECTOR = 512


def size_of(file: Path) -> int | None:
    """Return the file's size in bytes, rounded down to sectors; None if there is no file yet."""
    if not file.exists():
        return None
    if not file.is_file():
        raise UserError(f"--data: {file} is not a file; name one, or leave --data out")
    return file.stat().st_size // SECTOR * SECTOR


@contextmanager
def kept(file: Path | None, disk_bytes: int) -> Iterator[list[str]]:
    """Yield nbdkit's options for the plug-in that stores the data.

    Only one disk at a time may use a file.  A missing file is created as a sparse file.
    """
    if file is None:
        yield ["memory", f"size={disk_bytes}"]
        return
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise UserError(f"--data: {file}: {error.strerror}") from error
    try:
        _reserve(descriptor, file, disk_bytes)
        yield ["file", str(file.absolute())]
    finally:
        os.close(descriptor)


def _reserve(descriptor: int, file: Path, disk_bytes: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UserError(f"--data: another disk keeps its data in {file}") from None
    size = os.fstat(descriptor).st_size
    if size == 0:
        try:
            os.ftruncate(descriptor, disk_bytes)
        except OSError as error:
            raise UserError(
                f"--data: {file}: {error.strerror}; take a smaller --virtual-size"
            ) from error
    elif size < disk_bytes:
        raise UserError(
            f"--data: {file} has {size:,} bytes, too few for a disk of {disk_bytes:,}; "
            f"--virtual-size {size // SECTOR}s takes what there is"
        )
