# SPDX-License-Identifier: MIT
"""A card at work: its reference driver in a VM, what cards/drivers/NAME_demo does with it, the
pictures that came of it, and the register log."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from understudy.base.errors import RunFailed, UserError
from understudy.base.paths import cards_dir
from understudy.base.programs import compiled
from understudy.cards import specification
from understudy.cards.journal import journal
from understudy.cards.register_log import lines
from understudy.platforms.vm import card_programs, machine, modules, packages, qemu

SCRIPT = """
[ -e /dev/vgpu0 ] && vcd --card /dev/vgpu0 --png /out &
insmod /driver.ko || exit 1
sh /demo > /out/said || exit 2
rmmod {name}_driver || exit 3
cat /dev/vpcib > /out/journal
"""
STEPS = {1: "its driver does not load", 2: "its demo fails", 3: "its driver does not unload"}


@dataclass(frozen=True)
class Demonstration:
    """What the demo printed, the files that it left, and how many accesses were logged."""

    said: str
    files: tuple[Path, ...]
    accesses: int


def drivers() -> Path:
    """Where the reference drivers are."""
    return cards_dir() / "drivers"


def demonstrate(
    name: str,
    out: Path,
    heard: Callable[[str], None] = lambda line: None,
    stop: threading.Event | None = None,
) -> Demonstration:
    """Run the demo of a card of ours; its files go to a folder."""
    card = specification.load(name)
    source = drivers() / f"{card.name}_driver.c"
    if not source.exists():
        raise UserError(f"{card.name}: no {source.name} in cards/drivers, so there is no demo")
    kernel = packages.fetch_kernel()
    vm = machine.Vm(
        SCRIPT.format(name=card.name),
        {"vpcib": "", f"{modules.CARD}{card.name}": ""},
        {
            "driver.ko": modules.driver_module(kernel, source, card),
            "demo": drivers() / f"{card.name}_demo",
            "bin/vcd": compiled(card_programs.vcd()),
            "bin/draw_triangles": compiled(card_programs.draw_triangles()),
        },
        qemu.Machine(),
    )
    result = machine.run(vm, kernel, heard, stop)
    if result.exit_code:
        last = result.console.strip().splitlines()[-1:]
        raise RunFailed(f"{card.name}: {STEPS.get(result.exit_code)}: {' '.join(last)}")
    accesses = journal(result.out["journal"])
    out.mkdir(parents=True, exist_ok=True)
    log = out / "register-log.txt"
    log.write_text("".join(f"{line}\n" for line in lines(card, accesses)))
    pictures = [out / frame for frame in sorted(result.out) if frame.endswith(".png")]
    for picture in pictures:
        picture.write_bytes(result.out[picture.name])
    said = result.out["said"].decode(errors="replace")
    return Demonstration(said, (*pictures, log), len(accesses))
