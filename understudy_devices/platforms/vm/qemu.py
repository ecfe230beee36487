# SPDX-License-Identifier: MIT
"""QEMU's command line; in platforms/, only this module and controllers.py know its flags.

Virtual clock: the guest's clock counts executed instructions, two nanoseconds each, and skips idle
time. So neither the host's speed nor its load is visible in the guest
(docs/decisions/0003-virtual-clock.md). Everything that would differ between two starts is fixed:
processor model, real-time clock, random seeds.
"""

import contextlib
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from understudy_devices.ask.setting import Clock
from understudy_devices.base.errors import UserError
from understudy_devices.base.paths import IS_X86
from understudy_devices.base.programs import Program, compiled

BINARY = "qemu-system-x86_64"
INSTALL = "apt-get install -y --no-install-recommends qemu-system-x86"
EXIT_PORT = 0x501
REST_PORT = 0x505
ASK_PORT = 0x506
NOTIFY_PORT = 0xE9
HOST_BOOT = Path("/proc/sys/kernel/random/boot_id")
FIRMWARE = (Path("/usr/share/seabios/bios-256k.bin"), Path("/usr/share/qemu/pvh.bin"))
MIB = 2**20
GIB = 2**30

KERNEL_ARGUMENTS = (
    "console=ttyS0 panic=-1 oops=panic nokaslr norandmaps quiet loglevel=5 "
    "random.trust_cpu=off random.trust_bootloader=off mitigations=off "
    "tsc=reliable clocksource=tsc no_timer_check nowatchdog audit=0 cryptomgr.notests "
    "rdinit=/init"
)

TSC_KHZ = Program("tsc_khz", ("host/qemu/tsc_khz.c",))

DISPLAY = ("-device", "VGA")
"""A display, for a machine that has none; the guest's driver for it is bochs."""

ALL_INSTRUCTIONS = ("-cpu", "max")
"""A processor with all features that QEMU supports, such as AVX, instead of the ordinary one."""

GUARDED = ("-cpu", "qemu64,+smap,+smep")
"""The ordinary processor, but the kernel can't access a process's memory by mistake."""

Accelerator = Literal["tcg", "kvm"]


@dataclass(frozen=True)
class Machine:
    """The hardware of one VM."""

    clock: Clock = "virtual"
    cpus: int = 1
    memory_mib: int = 512
    low_mib: int | None = None
    """How much of the memory is below 4 GiB; None: as much as fits there."""
    accelerator: Accelerator = "tcg"
    devices: tuple[str, ...] = ()
    kernel_arguments: str = ""
    """Further arguments for the kernel."""


def binary() -> str:
    """Return the path of QEMU."""
    path = shutil.which(BINARY)
    if not path:
        raise UserError(f"no {BINARY} here: {INSTALL}")
    return path


def version() -> str:
    """Return QEMU's version, such as 7.2.22."""
    match = re.search(r"version (\S+)", _said_version(binary()))
    return match.group(1) if match else "unknown"


@cache
def _said_version(path: str) -> str:
    return subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout


def identity(machine: Machine) -> list[bytes]:
    """Return everything about QEMU and the host that affects a saved machine, except the command
    line.

    In the wall clock, the guest's time stamp counter runs at the host's rate, which the guest
    measures while it boots. Another host may have another rate.
    """
    firmware = [path.read_bytes() for path in FIRMWARE if path.exists()]
    built = Path(binary()).stat()
    program = f"{_said_version(binary())} {built.st_size} {built.st_mtime_ns}".encode()
    host = [HOST_BOOT.read_bytes()] if machine.clock == "wall" else []
    return [program, *firmware, *host]


@cache
def _tsc_khz() -> int:
    """Return the rate of the guest's time stamp counter in kHz, rounded to MHz, so that repeated
    measurements agree.

    On a host without such a counter, QEMU counts nanoseconds.
    """
    if not IS_X86:
        return 1_000_000
    hz = subprocess.run([compiled(TSC_KHZ)], capture_output=True, text=True, check=True).stdout
    return round(int(hz) / 1000) * 1000


def _kernel_arguments(machine: Machine) -> str:
    """Return the kernel's arguments.

    In the wall clock, TCG's time stamp counter runs at the host's rate. If the host is busy while a
    guest boots, the guest may measure a rate that is wrong by a large factor, and it keeps that
    rate whenever it is resumed. So the rate is one of the kernel's arguments.
    """
    arguments = f"{KERNEL_ARGUMENTS} {machine.kernel_arguments}".rstrip()
    if machine.clock == "wall" and machine.accelerator == "tcg":
        return f"{arguments} tsc_early_khz={_tsc_khz()}"
    return arguments


def _clock_arguments(machine: Machine) -> list[str]:
    if machine.clock == "virtual":
        return ["-accel", "tcg", "-icount", "shift=1,sleep=off", "-seed", "1"]
    if machine.accelerator == "kvm":
        return ["-accel", "kvm"]
    # One thread of TCG may not notice code that another thread patches (QEMU before 8.1 translates
    # a page before it watches the page), and ftrace patches code.  So there is one thread, which
    # switches between the processors every few instructions.
    return ["-accel", "tcg,thread=single"]


def wire_bytes(machine: Machine) -> int:
    """Return the wire's size in bytes: that of the guest's memory, so that all results fit on the
    wire.
    """
    return machine.memory_mib * MIB


def wire_address(machine: Machine) -> int:
    """Return the wire's address: where QEMU's machine "pc" maps memory beyond the ordinary
    memory.
    """
    memory = machine.memory_mib * MIB
    low = machine.low_mib * MIB if machine.low_mib else 3 * GIB
    high = memory - low if machine.low_mib or memory >= 3.5 * GIB else 0
    return 4 * GIB + -(-high // GIB) * GIB


def command_line(machine: Machine, kernel: Path, initramfs: Path, folder: Path) -> list[str]:
    """Return the command that boots the VM and runs the scenario on the wire.

    folder contains the wire (platforms/vm/wire.py), and console.log and notify.log are
    written to it.
    """
    address, size = wire_address(machine), wire_bytes(machine)
    low = f",max-ram-below-4g={machine.low_mib}M" if machine.low_mib else ""
    wire = f"memory-backend-file,id=wire,mem-path={folder / 'wire'},size={size},share=on"
    return [
        binary(),
        *["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"],
        *["-monitor", "stdio"],
        *["-machine", f"pc,nvdimm=on,hpet=off{low}", "-cpu", "qemu64", "-smp", str(machine.cpus)],
        *["-m", f"{machine.memory_mib}M,slots=1,maxmem={2 * machine.memory_mib}M"],
        *_clock_arguments(machine),
        *["-rtc", "base=2010-10-14T00:00:00,clock=vm"],
        *["-kernel", str(kernel), "-initrd", str(initramfs)],
        *["-append", f"{_kernel_arguments(machine)} WIRE={address} WIRE_BYTES={size}"],
        *["-chardev", f"file,id=console,path={folder / 'console.log'}"],
        *["-serial", "chardev:console"],
        *["-chardev", f"file,id=notify,path={folder / 'notify.log'}"],
        *["-device", f"isa-debugcon,iobase={NOTIFY_PORT:#x},chardev=notify"],
        *["-device", f"isa-debug-exit,iobase={EXIT_PORT:#x},iosize=0x04"],
        *["-device", f"pvpanic,ioport={REST_PORT:#x}", "-action", "panic=none"],
        *["-object", wire, "-device", f"nvdimm,memdev=wire,addr={address:#x}"],
        *machine.devices,
    ]


def saving(machine: Machine, memory: Path, monitor: int) -> list[str]:
    """Return further arguments for a machine that is to be saved: it stops where the guest pauses,
    and its memory is in the file `memory`.
    """
    return [*_memory_arguments(machine, memory, "on"), *watched(monitor), "-action", "panic=pause"]


def resuming(machine: Machine, memory: Path) -> list[str]:
    """Return further arguments for a machine that is to be resumed: it waits for a saved state. The
    machine's memory is read from the file `memory`, which is not modified.
    """
    return [*_memory_arguments(machine, memory, "off"), "-incoming", "defer"]


def loading(state: int) -> str:
    """Return monitor commands that load the state from an open file, which QEMU has inherited."""
    return f"migrate_set_capability x-ignore-shared on\nmigrate_incoming fd:{state}\n"


WHERE = "nmi\n"
"""Monitor command that makes the guest's kernel print its location in the code, and panic
(guest/init).
"""

GO_ON = "cont\n"
"""Monitor command that continues a machine after its state is loaded. Before that, and while the
machine runs, the command does nothing.
"""


def tell(process: subprocess.Popen[bytes], commands: str) -> None:
    """Send commands to the monitor at the process's standard input; ignore a process that has
    ended.
    """
    assert process.stdin
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(commands.encode())
        process.stdin.flush()


def talking(questions: int) -> list[str]:
    """Return further arguments for a machine that is watched or resumed: it stops wherever the
    guest pauses.

    The guest's questions pass through a device without state, so that the machine can be saved.
    """
    return [
        *["-action", "panic=pause"],
        *["-chardev", f"socket,id=questions,fd={questions}"],
        *["-device", f"isa-debugcon,iobase={ASK_PORT:#x},chardev=questions"],
    ]


def shown_at(host: str, number: int) -> list[str]:
    """Return further arguments: show the guest's display as VNC display `number` of `host`."""
    return ["-vnc", f"{host}:{number}"]


def _memory_arguments(machine: Machine, memory: Path, share: str) -> list[str]:
    size = machine.memory_mib * MIB
    return [
        *["-machine", "memory-backend=memory"],
        "-object",
        f"memory-backend-file,id=memory,mem-path={memory},size={size},share={share}",
    ]


def watched(monitor: int) -> list[str]:
    """Return further arguments: a monitor that accepts commands and reports events.

    This monitor has its own thread, which wakes whenever the guest's timers change: 37,000 times in
    a SURGE run of 5,000 requests. The monitor at standard input has no separate thread.
    """
    socket = f"socket,id=monitor,fd={monitor}"
    return ["-chardev", socket, "-mon", "chardev=monitor,mode=control"]
