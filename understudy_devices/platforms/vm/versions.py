# SPDX-License-Identifier: MIT
"""Versions that a run's bytes depend on: of the guest's parts, and of the programs that run the
guest.

Two machines with equal versions produce the same bytes (docs/method.md, "The same seed, the same
bytes").
"""

import os
import subprocess
from functools import cache
from pathlib import Path

import numpy as np

from understudy_devices.base.cache import digest
from understudy_devices.base.programs import GUEST_COMPILER, GUEST_PREFIX, compiler_version
from understudy_devices.files import image

FIRMWARE = Path("/usr/share/seabios/bios-256k.bin")


@cache
def of_guest() -> dict[str, str]:
    """Return versions by name, except QEMU's and the kernel's."""
    return {
        "firmware": digest([FIRMWARE.read_bytes()]) if FIRMWARE.exists() else "QEMU's own",
        "gcc": compiler_version(GUEST_COMPILER),
        "binutils": _first_line(f"{GUEST_PREFIX}ld", "--version"),
        "libc": os.confstr("CS_GNU_LIBC_VERSION") or "unknown",
        "busybox": _first_line("busybox"),
        "e2fsprogs": image.mke2fs_version(),
        "numpy": np.__version__,
    }


def _first_line(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.partition("\n")[0].strip()
