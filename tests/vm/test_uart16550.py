# SPDX-License-Identifier: MIT
"""The kernel's 8250 driver, unmodified, drives the card uart16550, whose output is its input.

Below the card, newer kernels have further devices, which have the port.
"""

import re
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from guests import boot, group, once, text

from understudy_devices.base.paths import cards_dir
from understudy_devices.platforms.vm import card_modules, packages
from understudy_devices.platforms.vm.machine import Result

pytestmark = group("uart16550")

SCENARIO = """
[ ! -e /card.ko ] || insmod /card.ko || fail 'no card'
card=/sys/bus/pci/devices/10000:00:00.0
tty=$(basename "$(ls -d $card/tty/ttyS* $card/*/*/tty/ttyS* 2> /dev/null | head -1)")
[ -c "/dev/$tty" ] || fail "no port: $(dmesg | grep -E 'ttyS|serial|10000:00' | tail -12)"
stty -F /dev/$tty raw -echo 115200 || fail stty
seq 1 400 > /sent
timeout 60 head -c "$(wc -c < /sent)" < /dev/$tty > /out/received &
reader=$!
sleep 1
cat /sent > /dev/$tty
wait $reader
cat /sent > /out/sent
cat /proc/tty/driver/serial > /out/serial
put 0 /sys/kernel/vpcib/remove
[ ! -d /sys/bus/pci/devices/10000:00:00.0 ] || fail 'still there'
"""


IN_MEMORY = "bytes: 4096, kind: memory32"
IN_PORTS = "bytes: 8, kind: io"
WHERE = {IN_MEMORY: "MMIO", IN_PORTS: "I/O"}
everywhere = pytest.mark.parametrize("bar", WHERE)
with_processors = pytest.mark.parametrize("processors", [1, 2])


@once
def driven(processors: int, bar: str) -> Result:
    """Boot the VM, and send a text through the port, whose registers are in such a BAR."""
    if bar == IN_MEMORY:
        return boot(SCENARIO, {"card_uart16550": ""}, cpus=processors, clock="wall")
    with TemporaryDirectory() as folder:
        copy = Path(folder, "uart16550.yaml")
        copy.write_text((cards_dir() / copy.name).read_text().replace(IN_MEMORY, bar))
        shutil.copy(cards_dir() / "uart16550.c", folder)
        module = card_modules.card(packages.fetch_kernel(), copy)
        files = {"card.ko": module}
        return boot(SCENARIO, {"vpcib": ""}, files=files, cpus=processors, clock="wall")


@everywhere
@with_processors
def test_it_is_a_16550a(processors: int, bar: str) -> None:
    where = rf"ttyS\d at {WHERE[bar]} 0x\w+ \(irq = \d+.*is a 16550A"
    assert re.search(where, driven(processors, bar).out["dmesg"].decode())


@everywhere
@with_processors
def test_what_is_sent_comes_back(processors: int, bar: str) -> None:
    run = driven(processors, bar)
    assert text(run, "received") == text(run, "sent")
    assert "tx:1492" in text(run, "serial")
