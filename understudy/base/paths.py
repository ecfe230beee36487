# SPDX-License-Identifier: MIT
"""The locations of the checkout, the cache and the run folders.

The package is installed editable, so the checkout (kernel sources, profiles)
is always the folder above it.  Caches follow the XDG convention.
"""

import os
from pathlib import Path

from understudy.base.errors import RunFailed

ROOT = Path(__file__).resolve().parents[2]


def cache_dir() -> Path:
    """Return the folder of the cache, created on first use; all its contents can be made again."""
    try:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(base).absolute() / "understudy"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError) as error:
        raise RunFailed(f"no cache: {error}; set XDG_CACHE_HOME to another folder") from error
    return folder


def runs_dir() -> Path:
    """Return the parent folder of all run folders whose path is not given with --out."""
    return Path("runs")


def profiles_dir() -> Path:
    """Return the folder with the profiles of the disks that come with the project."""
    return ROOT / "profiles"


def cards_dir() -> Path:
    """Return the folder with the specifications of the cards that come with the project."""
    return ROOT / "cards"
