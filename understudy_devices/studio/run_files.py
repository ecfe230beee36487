# SPDX-License-Identifier: MIT
"""The files of a run's folder, which others may have made: no links out of it, and no FIFOs."""

from pathlib import Path


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
