# SPDX-License-Identifier: MIT
"""The QEMUs of this host, whoever has started them."""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from understudy_devices.platforms.vm import qemu

START_FIELD = 19
"""Of /proc/PID/stat, after the name: when the process began, in ticks since the host's boot."""


def qemus() -> Iterator[int]:
    """Return the number of each process that is a QEMU."""
    name = qemu.BINARY[:15]  # as much as the kernel keeps
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (folder / "comm").read_text().strip() == name:
                yield int(folder.name)


def qemus_in(place: Path, log: str) -> Iterator[tuple[int, float]]:
    """Return each QEMU that runs in a folder and prints to a file there, and when it began, in
    seconds since 1970.  A QEMU in a container is none of this host."""
    for pid in qemus():
        with suppress(OSError):
            folder = Path(f"/proc/{pid}")
            here = (folder / "ns" / "pid").samefile("/proc/self/ns/pid")
            prints = (folder / "fd" / "1").samefile(place / log)
            if here and prints and (folder / "cwd").samefile(place):
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                age = time.clock_gettime(time.CLOCK_BOOTTIME) - int(
                    fields[START_FIELD]
                ) / os.sysconf("SC_CLK_TCK")
                yield pid, time.time() - age
