# SPDX-License-Identifier: MIT
"""Finds the current users of a disk: a file system, swap, or another device (md, dm, loop).

Each result is a few words that name the user and how to end the use.  A program that has the disk
open without mounting it can't be detected here.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

PROC, SYS = Path("/proc"), Path("/sys")
ESCAPED = re.compile(r"\\([0-7]{3})")
IN_MEMORY = ("tmpfs", "ramfs")


def number(device: int) -> str:
    """Return a device number in the notation of /sys and /proc, major:minor."""
    return f"{os.major(device)}:{os.minor(device)}"


def whole(device: int, sys: Path = SYS) -> str | None:
    """Return the name of the disk that contains a partition; None if the device is not a
    partition.
    """
    place = sys / "dev" / "block" / number(device)
    return place.resolve().parent.name if (place / "partition").exists() else None


def of_disk(device: int, proc: Path = PROC, sys: Path = SYS) -> str | None:
    """Return a user of the disk or of one of its partitions, in words; None if none is visible."""
    parts = dict(_parts(sys / "dev" / "block" / number(device)))
    uses = (*_mounts(parts, proc), *_swaps(parts, proc), *_holders(parts), *_loops(parts, sys))
    return next(iter(uses), None)


def of_file(file: Path, proc: Path = PROC, sys: Path = SYS) -> str | None:
    """Return a user of an image file, in words; None if none is visible."""
    for swap in _lines(proc / "swaps"):
        if _same(file, _unescaped(swap.split()[0])):
            return "it is swap; swapoff it first"
    for loop, backing in _loop_devices(sys):
        if _same(file, backing):
            return f"{loop} is made of it; losetup -d /dev/{loop} first"
    return None


def in_memory(file: Path, proc: Path = PROC) -> str | None:
    """Return the kind of the file system that contains an image if it is in memory,
    otherwise None.
    """
    device = number(file.stat().st_dev)
    kinds = (kind for at, _, kind, _ in _mounted(proc) if at == device)
    return next((kind for kind in kinds if kind in IN_MEMORY), None)


def _parts(disk: Path) -> Iterator[tuple[str, Path]]:
    """Yield the device number and the folder in /sys, of the disk and of each partition."""
    disk = disk.resolve()
    inside = (place.parent for place in sorted(disk.glob("*/partition")))
    for place in (disk, *inside):
        for line in _read(place / "dev").splitlines():
            yield line, place


def _mounts(parts: dict[str, Path], proc: Path) -> Iterator[str]:
    for at, where, _, source in _mounted(proc):
        part = parts.get(at) or parts.get(_number_of(source))
        if part:
            yield f"{part.name} is mounted on {where}; umount it first"


def _swaps(parts: dict[str, Path], proc: Path) -> Iterator[str]:
    for swap in _lines(proc / "swaps"):
        if part := parts.get(_number_of(_unescaped(swap.split()[0]))):
            yield f"{part.name} is swap; swapoff it first"


def _holders(parts: dict[str, Path]) -> Iterator[str]:
    for part in parts.values():
        for holder in sorted((part / "holders").glob("*")):
            yield f"{holder.name} is made of {part.name}; stop {holder.name} first"


def _loops(parts: dict[str, Path], sys: Path) -> Iterator[str]:
    for loop, backing in _loop_devices(sys):
        if part := parts.get(_number_of(backing)):
            yield f"{loop} is made of {part.name}; losetup -d /dev/{loop} first"


def _loop_devices(sys: Path) -> Iterator[tuple[str, str]]:
    """Yield each loop device's name, and its backing file or device."""
    for file in sorted((sys / "block").glob("*/loop/backing_file")):
        if made_of := _read(file).removesuffix("\n"):
            yield file.parent.parent.name, made_of


def _mounted(proc: Path) -> Iterator[tuple[str, str, str, str]]:
    """Yield the device number, path, file system type and source of each mount."""
    for line in _read(proc / "self" / "mountinfo").splitlines():
        before, _, after = line.partition(" - ")
        at, what = before.split(" "), after.split(" ")
        if len(at) > 4 and len(what) > 1:
            yield at[2], _unescaped(at[4]), what[0], _unescaped(what[1])


def _lines(table: Path) -> list[str]:
    """Return the lines of a table in /proc below its headings."""
    return [line for line in _read(table).splitlines()[1:] if line.strip()]


def _read(file: Path) -> str:
    """Return the file's text; empty if the file can't be read."""
    try:
        return file.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""


def _unescaped(text: str) -> str:
    return ESCAPED.sub(lambda match: chr(int(match[1], 8)), text)


def _number_of(path: str) -> str:
    """Return the device number of a device file; empty if the file can't be found."""
    try:
        return number(Path(path).stat().st_rdev)
    except (OSError, ValueError):
        return ""


def _same(file: Path, other: str) -> bool:
    try:
        return file.samefile(other)
    except (OSError, ValueError):
        return False
