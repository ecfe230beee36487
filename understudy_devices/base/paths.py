# SPDX-License-Identifier: MIT
"""The locations of the project's sources and profiles, the cache and the run folders; and whether
this machine is one of a guest's architecture.

In a checkout the package is installed editable, and ROOT is the folder above it.  A wheel carries
the same folders (core, kernel, profiles ...) inside the package.  Caches follow the XDG convention.
"""

import os
import platform
from pathlib import Path

from understudy_devices.base.errors import RunFailed

PACKAGE = Path(__file__).resolve().parents[1]
INSTALLED = (PACKAGE / "sources").is_dir()
ROOT = PACKAGE / "sources" if INSTALLED else PACKAGE.parent
IS_X86 = platform.machine() == "x86_64"


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


def views_file() -> Path:
    """Return the file with the page's views, for reports; web/build.py writes it."""
    page = PACKAGE / "studio" / "page" if INSTALLED else ROOT / "web" / "public"
    return page / "views.json"
