# SPDX-License-Identifier: MIT
"""The sources that a command compiles, as they were when the command first read them.

Changing a file while a command runs does not affect that command.
"""

import os
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from understudy_devices.base.errors import RunFailed
from understudy_devices.base.paths import ROOT

FOLDERS = ("core", "kernel", "sim")
SUFFIXES = (".c", ".h")
FILES = ("kernel/Kbuild",)
CORE = ("core/*.[ch]", "core/drive/*.[ch]")
CORE_HEADERS = ("core/*.h", "core/drive/*.h")
CORE_CODE = ("core/*.c", "core/drive/*.c")


@cache
def taken() -> Mapping[str, bytes]:
    """Return every source in core/, kernel/ and sim/, by its path in the checkout."""
    paths = (
        path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES
    )
    names = sorted({*FILES, *(str(path.relative_to(ROOT)) for path in paths)})
    try:
        return {name: (ROOT / name).read_bytes() for name in names}
    except OSError as error:
        raise RunFailed(f"{error.filename}: {error.strerror}") from error


@cache
def matching(*patterns: str) -> Mapping[str, bytes]:
    """Return the sources whose paths match one of the patterns; a "*" does not match a "/"."""
    return {
        name: text
        for name, text in taken().items()
        if any(_is_like(Path(name), pattern) for pattern in patterns)
    }


def _is_like(name: Path, pattern: str) -> bool:
    return len(name.parts) == len(Path(pattern).parts) and name.match(pattern)


def write(sources: Mapping[str, bytes], folder: Path) -> None:
    """Write the sources into a folder, under the same paths."""
    for name, text in sources.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text)
        os.utime(target, (0, 0))  # the compiler's __TIMESTAMP__


def parts(sources: Mapping[str, bytes]) -> Iterable[bytes]:
    """Yield the names and contents of the sources, for a digest."""
    return (part for name in sorted(sources) for part in (name.encode(), sources[name]))
