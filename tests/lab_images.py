# SPDX-License-Identifier: MIT
"""Images for tests of the lab: a guest in one sector, and disks that no VM can boot."""

import subprocess
from pathlib import Path

from places import CHECKOUT

from understudy_devices.lab import from_raw

SECTOR = 512
LOADED_AT = 0x7C00


def guest_code(folder: Path) -> bytes:
    """Return the first sector of the tests' guest (tests/lab_guest.S)."""
    linked = folder / "guest.o"
    source = CHECKOUT / "tests" / "lab_guest.S"
    subprocess.run(["gcc", "-m32", "-c", source, "-o", linked], check=True)
    binary = folder / "guest.bin"
    layout = ["-Ttext", hex(LOADED_AT), "--oformat", "binary"]
    subprocess.run(["ld", "-m", "elf_i386", *layout, "-o", binary, linked], check=True)
    return binary.read_bytes()[:SECTOR]


def guest(folder: Path, name: str = "guest.qcow2", mib: int = 64) -> Path:
    """Make an image that boots the tests' guest."""
    return image(folder / name, guest_code(folder), mib)


def image(path: Path, first: bytes, mib: int = 64) -> Path:
    """Make an image whose disk begins with these bytes, and has others near its middle and end."""
    raw = path.with_suffix(".raw")
    with raw.open("wb") as file:
        file.write(first)
        for place in (mib // 2, mib - 1):
            file.seek(place * 2**20)
            file.write(b"\xa5" * 5000)
        file.truncate(mib * 2**20)
    from_raw.write(raw, path)
    raw.unlink()
    return path
