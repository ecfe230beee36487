# SPDX-License-Identifier: MIT
"""Folders in the cache that are made once, whole, by one process at a time."""

import fcntl
import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

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
    final.parent.mkdir(parents=True, exist_ok=True)
    with (final.parent / f".{final.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if final.is_dir():
            return final
        scratch = Path(tempfile.mkdtemp(prefix=f".{final.name}.", dir=final.parent))
        try:
            make(scratch)
            scratch.chmod(0o755)
            scratch.rename(final)
        except BaseException:
            shutil.rmtree(scratch, ignore_errors=True)
            raise
    return final
