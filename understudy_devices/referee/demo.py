# SPDX-License-Identifier: MIT
"""Runs cards/drivers/NAME_demo with a card's driver in a VM; writes the demo's pictures and the
register log to a folder.

The driver is cards/drivers/NAME_driver.c.  If the demo has the line `# driver: MODULE`, it is this
module of the stock kernel.  The lines `# modules: A B` and `# programs: A (PACKAGE) B` name further
modules of the kernel, and programs of Debian, that the demo needs.
"""

import re
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from PIL import Image

from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.base.programs import compiled_for_guest
from understudy_devices.cards import specification
from understudy_devices.cards.register_log import lines
from understudy_devices.platforms.vm import (
    card_modules,
    card_programs,
    debian_programs,
    machine,
    packages,
    qemu,
)
from understudy_devices.referee import kept_files
from understudy_devices.referee.findings import found, noted
from understudy_devices.referee.recording import Recording

ASKED = re.compile(r"# (driver|modules|programs): (.+)")
STEM = "demo"
VNC_HOST, VNC_PORT = "127.0.0.1", 5900

ON_VNC = """
SCREEN="--screen /dev/fb0"
HOLD=5
"""
SCRIPT = """
insmod /card.ko || exit 4
[ -e /dev/vgpu0 ] && vcd --card /dev/vgpu0 $SCREEN --ppm /out &
[ ! -e /driver.ko ] || insmod /driver.ko || exit 1
export HOLD
sh /demo > /out/said 2>&1 || {{ tail -1 /out/said; exit 2; }}
rmmod {driver} || exit 3
"""
STEPS = {
    1: "its driver does not load",
    2: "its demo fails",
    3: "its driver does not unload",
    4: "the card can't be plugged in",
}


@dataclass(frozen=True)
class Demonstration:
    """The text that a demo printed, the files that it wrote, and the number of logged accesses."""

    said: str
    files: tuple[Path, ...]
    accesses: int


def demonstrate(
    name: str,
    out: Path,
    vnc: int | None = None,
    heard: Callable[[str], None] = lambda line: None,
    stop: threading.Event | None = None,
) -> Demonstration:
    """Run a card's demo; write its files to a folder.

    With `vnc` the guest has a display, which QEMU serves as VNC display `vnc` of this machine.
    Each picture is then shown for five seconds of wall time.
    """
    card = specification.load(name)
    folder = specification.file_of(name).parent / "drivers"
    source, demo = folder / f"{card.name}_driver.c", folder / f"{card.name}_demo"
    needs = _needs(demo)
    for needed in [demo] if needs.driver else [source, demo]:
        if not needed.exists():
            raise UserError(f"{needed}: not there, so {card.name} has no demo")
    kernel = packages.fetch_kernel()
    own = {} if needs.driver else {"driver.ko": card_modules.driver(kernel, source, card)}
    for program, package in needs.programs:
        own |= debian_programs.files(program, package)
    hardware = qemu.Machine() if vnc is None else _with_display(vnc)
    kept_files.begin(name, out, [STEM])
    recording = Recording(hardware, out / f"{STEM}.journal")
    bus = " ".join(f"{key}={value}" for key, value in recording.parameters().items())
    vm = machine.Vm(
        ("" if vnc is None else ON_VNC)
        + SCRIPT.format(driver=needs.driver or f"{card.name}_driver"),
        {
            "vpcib": bus,
            **dict.fromkeys(needs.modules if vnc is None else ("bochs", *needs.modules), ""),
        },
        {
            **own,
            "card.ko": card_modules.card(kernel, name),
            "demo": demo,
            "bin/vcd": compiled_for_guest(card_programs.vcd(card)),
            "bin/draw_triangles": compiled_for_guest(card_programs.draw_triangles(card)),
        },
        hardware,
        began=recording.begin,
        salvage=recording.end,
    )
    result = machine.run(vm, kernel, heard, stop)
    if result.exit_code:
        last = result.console.strip().splitlines()[-1:]
        raise RunFailed(f"{card.name}: {STEPS.get(result.exit_code)}: {' '.join(last)}")
    accesses, missed = recording.kept()
    log = result.out["dmesg"].decode(errors="replace")
    findings = found(card, accesses, not missed, log)
    kept_files.judge(out, STEM, tuple(findings), tuple(noted(accesses)), missed)
    listing = out / "register-log.txt"
    listing.write_text("".join(f"{line}\n" for line in lines(card, accesses)))
    frames = [name for name in sorted(result.out) if name.endswith(".ppm")]
    pictures = [(out / frame).with_suffix(".png") for frame in frames]
    for frame, picture in zip(frames, pictures, strict=True):
        Image.open(BytesIO(result.out[frame])).save(picture)
    output = result.out["said"].decode(errors="replace")
    return Demonstration(output, (*pictures, listing), len(accesses))


@dataclass(frozen=True)
class _Needs:
    """What the first lines of a demo ask for: the kernel's driver, if it is not the card's own; all
    modules of the kernel; and programs with their packages."""

    driver: str | None
    modules: tuple[str, ...]
    programs: tuple[tuple[str, str], ...]


def _needs(demo: Path) -> _Needs:
    lines = demo.read_text().splitlines() if demo.exists() else []
    asked = {match[1]: match[2] for line in lines if (match := ASKED.fullmatch(line))}
    driver = asked.get("driver")
    modules = asked.get("modules", "").split()
    programs = re.findall(r"(\S+)(?: \((\S+)\))?", asked.get("programs", ""))
    return _Needs(driver, tuple([*modules, driver] if driver else modules), tuple(programs))


def _with_display(vnc: int) -> qemu.Machine:
    try:
        socket.create_server((VNC_HOST, VNC_PORT + vnc)).close()
    except OSError as error:
        raise UserError(f"VNC display {vnc} ({error.strerror}): try another number") from error
    devices = (*qemu.DISPLAY, *qemu.shown_at(VNC_HOST, vnc))
    return qemu.Machine(clock="wall", devices=devices)
