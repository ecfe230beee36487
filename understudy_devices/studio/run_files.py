# SPDX-License-Identifier: MIT
"""Run folders below the studio's folder, and their files.  Others may have made both: no links out
of a folder are followed, and no FIFO is read.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from understudy_devices.studio.plain_text import is_plain

DEPTH = 4  # folders below the studio's


def inside(run: Path, name: str) -> Path | None:
    """Return a file of a folder; None if it is none, or a link to what is outside the folder.

    A FIFO is no file: it would block its reader for ever.
    """
    file = run / name
    try:
        is_file = file.is_file() and file.resolve().is_relative_to(run.resolve())
    except (OSError, ValueError, RuntimeError):  # too long, a zero byte, or links in a circle
        return None
    return file if is_file else None


def latest_first(folder: Path, is_run: Callable[[Path], object]) -> list[Path]:
    """Return the run folders, the last changed first.  A folder in a run is not looked at."""
    return sorted(_folders(folder, DEPTH, is_run), key=lambda run: (-changed_s(run), str(run)))


def changed_s(run: Path) -> float:
    """Return when a folder was changed; 0 if it was deleted since it was listed."""
    try:
        return run.stat().st_mtime
    except OSError:
        return 0.0


def _folders(folder: Path, depth: int, is_run: Callable[[Path], object]) -> Iterator[Path]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith(".") or not is_plain(entry.name):
            continue
        if not entry.is_dir(follow_symlinks=False):
            continue
        if is_run(Path(entry)):
            yield Path(entry)
        elif depth > 1:
            yield from _folders(Path(entry), depth - 1, is_run)
