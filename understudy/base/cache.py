# SPDX-License-Identifier: MIT
"""Folders in the cache that are made once, whole, by one process at a time."""

import fcntl
import hashlib
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from understudy.base import scratch
from understudy.base.errors import RunFailed
from understudy.base.paths import cache_dir


def digest(parts: Iterable[bytes]) -> str:
    """Name for a content: 16 hexadecimal digits."""
    sha = hashlib.sha256()
    for part in parts:
        sha.update(len(part).to_bytes(8, "little"))
        sha.update(part)
    return sha.hexdigest()[:16]


def digest_of_files(files: Iterable[Path]) -> str:
    """Name for the names and contents of files."""
    return digest(
        part for path in sorted(files) for part in (path.name.encode(), path.read_bytes())
    )


def cached_folder(name: str, make: Callable[[Path], None]) -> Path:
    """The folder cache/name, filled by make(folder) if it is not there yet.

    It appears only when it is complete; a second process waits for the first.
    """
    final = cache_dir() / name
    if final.is_dir():
        return final
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        _make(final, make)
    except OSError as error:
        raise RunFailed(
            f"the cache: {error.filename or final}: {error.strerror}; XDG_CACHE_HOME names "
            "another place"
        ) from error
    return final


def _make(final: Path, make: Callable[[Path], None]) -> None:
    with _lock(final.name, final.parent).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if final.is_dir():
            return
        _sweep(final)
        with scratch.folder(f".{final.name}.", final.parent) as filled:
            make(filled)
            filled.chmod(0o755)
            filled.rename(final)


def _sweep(mine: Path) -> None:
    """Remove what killed makers have left: folders for a name whose lock nobody else holds."""
    for left in mine.parent.glob(".*"):
        name = left.name[1:].rpartition(".")[0]
        if left.is_dir() and (name == mine.name or _is_free(_lock(name, mine.parent))):
            shutil.rmtree(left, ignore_errors=True)


def _is_free(lock: Path) -> bool:
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def _lock(name: str, parent: Path) -> Path:
    return parent / f".{name}.lock"
