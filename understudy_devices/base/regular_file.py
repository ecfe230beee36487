# SPDX-License-Identifier: MIT
"""Opens files in a folder that somebody else may own: there may be a link, a pipe or a device
instead.

Whoever writes to a team's folder acts as its owner (lab/owner.py).
"""

import errno
import os
import stat
from contextlib import ExitStack
from pathlib import Path, PurePath
from typing import BinaryIO


def opened(path: Path) -> BinaryIO:
    """Open a file to read; OSError if there is none, or something else of that name."""
    return os.fdopen(_opened(path, os.O_RDONLY), "rb")


def to_append_to(path: Path) -> BinaryIO:
    """Open a file, perhaps a new one, to write at its end; OSError as `opened`."""
    return os.fdopen(_opened(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT), "ab")


def _opened(path: Path, how: int, folder: int | None = None) -> int:
    flags = how | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags, 0o644, dir_fd=folder)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise OSError(errno.ELOOP, "a link, and not a file", str(path)) from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a file", str(path))
        return descriptor
    except BaseException:
        os.close(descriptor)
        raise


def read(path: Path, bytes_max: int) -> bytes:
    """Return a file's content; OSError if it has more bytes, or as `opened`."""
    with opened(path) as file:
        return _content(file, path, bytes_max)


def _content(file: BinaryIO, path: Path, bytes_max: int) -> bytes:
    content = file.read(bytes_max + 1)
    if len(content) > bytes_max:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    return content


def read_within(folder: Path, place: str, bytes_max: int) -> bytes:
    """Return the content of the file at a place in a folder, as `read`; OSError, too, if a folder
    on the way is a link."""
    way, how = PurePath(place), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    with ExitStack() as opened_folders:

        def at(name: Path | str, how: int, within: int | None = None) -> int:
            descriptor = os.open(name, how, dir_fd=within)
            opened_folders.callback(os.close, descriptor)
            return descriptor

        here = at(folder, how)
        for name in way.parts[:-1]:
            here = at(name, how | os.O_NOFOLLOW, here)
        with os.fdopen(_opened(Path(way.name), os.O_RDONLY, here), "rb") as file:
            return _content(file, folder / place, bytes_max)


def last(path: Path, bytes_max: int) -> bytes:
    """Return the last lines of a file that have so many bytes together; OSError as `opened`."""
    with opened(path) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - bytes_max))
        content = file.read(bytes_max)
    return content if size <= bytes_max else content.partition(b"\n")[2]
