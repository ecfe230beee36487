# SPDX-License-Identifier: MIT
"""Small JSON files with the lab's state: either the old or the new content, also after a crash.

Everybody may read them who may look into their folder.  They have up to BYTES_MAX bytes.
"""

import json
import os
from pathlib import Path
from typing import Any

from understudy_devices.base import regular_file, scratch
from understudy_devices.base.errors import RunFailed

BYTES_MAX = 2**20


def write(path: Path, content: dict[str, Any], durable: bool = True) -> None:
    """Replace the file; if `durable`, the new content survives a power cut from now on."""
    with scratch.replacing(path) as fresh, fresh.open("w", encoding="utf-8") as file:
        os.fchmod(file.fileno(), 0o644)
        file.write(json.dumps(content, indent=1) + "\n")
        if durable:
            file.flush()
            os.fsync(file.fileno())
    if durable:
        sync(path.parent)


def required(path: Path, bytes_max: int = BYTES_MAX) -> dict[str, Any]:
    """Return the content; RunFailed if the file is missing, damaged or too large."""
    try:
        content = json.loads(regular_file.read(path, bytes_max))
    except OSError as error:
        raise RunFailed(f"{path}: {error.strerror}: take it from a backup") from None
    except (ValueError, RecursionError):
        raise damaged(path) from None
    if not isinstance(content, dict):
        raise damaged(path)
    return content


def optional(path: Path, bytes_max: int = BYTES_MAX) -> dict[str, Any]:
    """Return the content; nothing if the file is missing, damaged or too large."""
    try:
        return required(path, bytes_max)
    except RunFailed:
        return {}


def damaged(path: Path) -> RunFailed:
    """Return the error for a file that has not the content that was written."""
    return RunFailed(f"{path}: damaged: take it from a backup")


def sync(path: Path) -> None:
    """Let a file's content, or the names in a folder, survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
