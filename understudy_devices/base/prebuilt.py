# SPDX-License-Identifier: MIT
"""The names of the project's compiled schedulers and policies in a wheel.

A wheel contains every scheduler, prefetcher and replacement policy of the project as a shared
object, so that simulations need no compiler.  The object's name contains a digest of its sources:
an object whose sources have changed is not found, and the file is compiled as in a checkout.
"""

from pathlib import Path

from understudy_devices.base import sources
from understudy_devices.base.cache import digest

# In the order of enum sim_part, sim/engine.h.
FOLDERS = ("core/schedulers", "core/prefetch", "core/replacement")


def names() -> dict[str, str]:
    """Return the name of each shared object without its suffix, by the path of its source."""
    found = sources.matching(*(f"{folder}/*.c" for folder in FOLDERS))
    return {file: name(Path(file).stem, text) for file, text in found.items()}


def name(stem: str, text: bytes) -> str:
    """Return the name of the shared object that is compiled from this file."""
    headers = sources.matching(*sources.CORE_HEADERS)
    return f"{stem}-{digest([text, *sources.parts(headers)])}"
