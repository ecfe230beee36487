# SPDX-License-Identifier: MIT
"""Sealed files: a base image, its kernel and its initrd, which must never change.

QEMU does not notice that the image below a clone has changed while no VM ran; the clone is then
garbage.  So a manifest has the size, the SHA-256 and samples of each file.  `check_quickly` takes
milliseconds whatever the size; `check_fully` reads everything.  Where the file system has
fs-verity, the kernel checks all that is ever read.
"""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from understudy_devices.base.errors import RunFailed
from understudy_devices.lab import verity

CHUNK_BYTES = 4 * 2**20
HOLE_BYTES = 64 * 2**10
SAMPLES = 64
SAMPLE_BYTES = 4096
READ_ONLY = 0o444


@dataclass(frozen=True)
class Seal:
    """What is known of a sealed file.

    samples: the SHA-256 of SAMPLES blocks, the first and the last among them.
    verity: the digest of fs-verity; None where the file system has none.
    """

    size: int
    sha256: str
    samples: str
    inode: int
    mtime_ns: int
    verity: str | None

    def as_json(self) -> dict[str, Any]:
        """Return the seal as the manifest has it."""
        return asdict(self)


def copy(source: Path, target: Path) -> Seal:
    """Copy a file to a new, read-only file and seal that; holes stay holes."""
    sha = hashlib.sha256()
    with source.open("rb") as origin, target.open("xb") as file:
        size = 0
        while chunk := origin.read(CHUNK_BYTES):
            sha.update(chunk)
            _write_without_zeroes(file.fileno(), chunk, size)
            size += len(chunk)
        file.truncate(size)
        file.flush()
        os.fsync(file.fileno())
        os.fchmod(file.fileno(), READ_ONLY)
    verity.enable(target)
    return _seal(target, sha.hexdigest())


def check_quickly(path: Path, seal: Seal, whole: str) -> None:
    """Raise RunFailed if the file is not the one that was sealed, as far as that shows at once.

    `whole` is the command that compares every byte.
    """
    now = _status(path)
    if now.st_size != seal.size:
        raise _changed(path, f"{seal.size:,} bytes, now {now.st_size:,}")
    if (now.st_ino, now.st_mtime_ns) != (seal.inode, seal.mtime_ns):
        raise RunFailed(
            f"{path}: written to, copied or moved since it was sealed: {whole} compares each byte"
        )
    if seal.verity and verity.digest(path) != seal.verity:
        raise _changed(path, "fs-verity has another digest")
    if not seal.verity and _samples(path, seal.size) != seal.samples:
        raise _changed(path, "other bytes")


def check_fully(path: Path, seal: Seal) -> Seal:
    """Compare every byte; return the seal with the file's present inode and time stamp.

    Raise RunFailed if a byte differs.
    """
    sha = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(CHUNK_BYTES):
                sha.update(chunk)
    except OSError as error:
        raise RunFailed(f"{path}: {error.strerror or error}") from None
    if sha.hexdigest() != seal.sha256:
        raise _changed(path, "its SHA-256 differs")
    return _seal(path, seal.sha256)


def _seal(path: Path, sha256: str) -> Seal:
    now = _status(path)
    samples = _samples(path, now.st_size)
    return Seal(now.st_size, sha256, samples, now.st_ino, now.st_mtime_ns, verity.digest(path))


def _status(path: Path) -> os.stat_result:
    try:
        return path.stat()
    except OSError as error:
        raise RunFailed(f"{path}: {error.strerror}: take it from a backup") from None


def _samples(path: Path, size: int) -> str:
    sha = hashlib.sha256()
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        for place in _places(size):
            sha.update(os.pread(descriptor, SAMPLE_BYTES, place))
    finally:
        os.close(descriptor)
    return sha.hexdigest()


def _places(size: int) -> Iterator[int]:
    """Yield where samples begin: evenly spread, with the first and the last block."""
    last = max(0, size - SAMPLE_BYTES)
    for number in range(SAMPLES):
        yield last * number // (SAMPLES - 1)


def _changed(path: Path, how: str) -> RunFailed:
    return RunFailed(
        f"{path}: changed since it was sealed ({how}), so no VM may use it: put the sealed file "
        "back from a backup, or move the teams to a new base or drive"
    )


def _write_without_zeroes(descriptor: int, chunk: bytes, at: int) -> None:
    for begin in range(0, len(chunk), HOLE_BYTES):
        part = chunk[begin : begin + HOLE_BYTES]
        if part.count(0) != len(part):
            while part:
                written = os.pwrite(descriptor, part, at + begin)
                part, begin = part[written:], begin + written
