# SPDX-License-Identifier: MIT
"""The names of the project's compiled schedulers in a wheel.

A wheel contains every scheduler of the project as a shared object, so that simulations need no
compiler.  The object's name contains a digest of its sources: an object whose sources have changed
is not found, and the scheduler is compiled as in a checkout.
"""

from pathlib import Path

from understudy_devices.base import sources
from understudy_devices.base.cache import digest

FOLDER = "core/schedulers"


def names() -> dict[str, str]:
    """Return the name of each scheduler's shared object without its suffix, by scheduler."""
    return {
        Path(file).stem: name(Path(file).stem, text)
        for file, text in sources.matching(f"{FOLDER}/*.c").items()
    }


def name(stem: str, text: bytes) -> str:
    """Return the name of the shared object that is compiled from this file."""
    headers = sources.matching(*sources.CORE_HEADERS)
    return f"{stem}-{digest([text, *sources.parts(headers)])}"
