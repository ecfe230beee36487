# SPDX-License-Identifier: MIT
"""Measures how long it takes to draw triangles, in one VM in the virtual clock (Jones 2010, section
3.2).

The triangles are drawn once through the card, its driver and the daemon, and once by calling the
same rasteriser directly.
"""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from understudy_devices.base.errors import RunFailed
from understudy_devices.base.paths import cards_dir
from understudy_devices.base.programs import compiled_for_guest
from understudy_devices.cards import specification
from understudy_devices.platforms.vm import (
    card_modules,
    card_programs,
    machine,
    modules,
    packages,
    qemu,
)
from understudy_devices.platforms.vm.trouble import last_words

CARD = "zach1"
TIMEOUT_SECONDS = 7200
SCRIPT = """
vcd --card /dev/vgpu0 &
insmod /driver.ko || exit 1
for size in {sizes}; do
	port notify "size $size, directly"
	draw="draw_triangles --size $size --triangles {triangles} --seed {seed}"
	echo "$size $($draw)" >> /out/direct || exit 2
	port notify "size $size, through the card"
	echo "$size $($draw --card /dev/zach1_0)" >> /out/card || exit 3
done
"""


@dataclass(frozen=True)
class DrawingTimes:
    """Times to draw triangles of one size, in seconds of the guest's clock."""

    direct: float
    card: float

    @property
    def slowdown(self) -> float:
        """Return the card's time divided by the rasteriser's."""
        return self.card / self.direct


def times(
    sizes: Iterable[int],
    triangles: int,
    seed: int,
    heard: Callable[[str], None] = lambda line: None,
    stop: threading.Event | None = None,
) -> dict[int, DrawingTimes]:
    """Measure both times for each size; RunFailed if the two pictures of a size differ."""
    kernel = packages.fetch_kernel()
    driver = cards_dir() / "drivers" / f"{CARD}_driver.c"
    vm = machine.Vm(
        SCRIPT.format(sizes=" ".join(map(str, sizes)), triangles=triangles, seed=seed),
        {f"{modules.CARD}{CARD}": ""},
        {
            "driver.ko": card_modules.driver(kernel, driver, specification.load(CARD)),
            "bin/vcd": compiled_for_guest(card_programs.vcd()),
            "bin/draw_triangles": compiled_for_guest(card_programs.draw_triangles()),
        },
        qemu.Machine(),
        timeout_seconds=TIMEOUT_SECONDS,
    )
    result = machine.run(vm, kernel, heard, stop)
    if result.exit_code:
        raise RunFailed(f"drawing failed:\n{last_words(result.console)}")
    direct, card = _read(result.out["direct"]), _read(result.out["card"])
    for size in direct:
        if direct[size][1] != card[size][1]:
            raise RunFailed(f"size {size}: the card draws another picture than the rasteriser")
    return {size: DrawingTimes(direct[size][0], card[size][0]) for size in direct}


def _read(raw: bytes) -> dict[int, tuple[float, str]]:
    """Parse lines SIZE done SECONDS CHECKSUM."""
    rows = (line.split() for line in raw.decode().splitlines())
    return {int(row[0]): (float(row[2]), row[3]) for row in rows}
