# SPDX-License-Identifier: MIT
"""QEMU's command line: the only place that knows its flags.

Virtual clock: the guest's clock counts executed instructions, two nanoseconds
each, and jumps over idle time, so neither the host's speed nor its load can be
seen inside (docs/decisions/0003-virtual-clock.md).  Everything that would differ between two
starts is pinned: processor model, real-time clock, random seeds.
"""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from understudy.ask.setting import Clock
from understudy.base.errors import UserError

BINARY = "qemu-system-x86_64"
INSTALL = "apt-get install -y --no-install-recommends qemu-system-x86"
EXIT_PORT = 0x501
NOTIFY_PORT = 0xE9

KERNEL_ARGUMENTS = (
    "console=ttyS0 panic=-1 oops=panic nokaslr norandmaps quiet loglevel=5 "
    "random.trust_cpu=off random.trust_bootloader=off mitigations=off "
    "tsc=reliable clocksource=tsc no_timer_check nowatchdog audit=0 rdinit=/init"
)

Accelerator = Literal["tcg", "kvm"]


@dataclass(frozen=True)
class Machine:
    """The hardware of one VM."""

    clock: Clock = "virtual"
    cpus: int = 1
    memory_mib: int = 512
    accelerator: Accelerator = "tcg"
    devices: tuple[str, ...] = ()


def binary() -> str:
    """Path of QEMU."""
    found = shutil.which(BINARY)
    if not found:
        raise UserError(f"no {BINARY} here: {INSTALL}")
    return found


def version() -> str:
    """QEMU's version, such as 7.2.22."""
    answer = subprocess.run([binary(), "--version"], capture_output=True, text=True, check=True)
    found = re.search(r"version (\S+)", answer.stdout)
    return found.group(1) if found else "unknown"


def _clock_arguments(machine: Machine) -> list[str]:
    if machine.clock == "virtual":
        return ["-accel", "tcg", "-icount", "shift=1,sleep=off", "-seed", "1"]
    if machine.accelerator == "kvm":
        return ["-accel", "kvm"]
    # Two threads of TCG may miss code that the other one patches (QEMU before 8.1
    # translates a page before it watches it), and ftrace patches code: one thread,
    # which switches between the processors every few instructions.
    return ["-accel", "tcg,thread=single"]


def command_line(machine: Machine, kernel: Path, initramfs: Path, folder: Path) -> list[str]:
    """The command that runs the VM.

    folder receives console.log, notify.log and out.tar (the disk that the guest
    writes its results to).
    """
    out = folder / "out.tar"
    return [
        binary(),
        *["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"],
        *["-machine", "pc", "-cpu", "qemu64", "-smp", str(machine.cpus)],
        *["-m", f"{machine.memory_mib}M"],
        *_clock_arguments(machine),
        *["-rtc", "base=2010-10-14T00:00:00,clock=vm"],
        *["-kernel", str(kernel), "-initrd", str(initramfs)],
        *["-append", KERNEL_ARGUMENTS],
        *["-chardev", f"file,id=console,path={folder / 'console.log'}"],
        *["-serial", "chardev:console"],
        *["-chardev", f"file,id=notify,path={folder / 'notify.log'}"],
        *["-device", f"isa-debugcon,iobase={NOTIFY_PORT:#x},chardev=notify"],
        *["-device", f"isa-debug-exit,iobase={EXIT_PORT:#x},iosize=0x04"],
        *["-drive", f"file={out},format=raw,if=none,id=out,cache=unsafe"],
        *["-device", "virtio-blk-pci,drive=out,serial=out"],
        *machine.devices,
    ]
