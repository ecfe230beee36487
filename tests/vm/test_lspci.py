# SPDX-License-Identifier: MIT
"""Debian's lspci, which knows nothing of this project, on the virtual bus: it finds ordinary cards,
with and without their drivers.
"""

import re

from guests import boot, group, once, text

from understudy_devices.base.paths import cards_dir
from understudy_devices.cards import specification
from understudy_devices.platforms.vm import card_modules, debian_programs, packages
from understudy_devices.platforms.vm.machine import Result

pytestmark = group("lspci")

SCENARIO = """
lspci -vvnn -D > /out/before || fail 'lspci before'
insmod /copier_driver.ko && insmod /zach1_driver.ko || fail 'no driver'
lspci -vvnn -D > /out/bound || fail 'lspci after'
lspci -xxx -s 10000:00:00.0 > /out/bytes || fail 'lspci -xxx'
put 0 /sys/kernel/vpcib/remove
lspci -D > /out/removed
"""


@once
def listed() -> Result:
    """Boot the VM with a copier in slot 0 and a Zach 1 in slot 1."""
    kernel = packages.fetch_kernel()
    drivers = {
        f"{name}_driver.ko": card_modules.driver(
            kernel, cards_dir() / "drivers" / f"{name}_driver.c", specification.load(name)
        )
        for name in ("copier", "zach1")
    }
    return boot(
        SCENARIO,
        {"card_copier": "", "card_zach1": ""},
        files={**drivers, **debian_programs.files("lspci", "pciutils")},
    )


def card(when: str, slot: int) -> str:
    """Return what lspci prints about one card."""
    match = re.search(
        rf"^10000:00:{slot:02x}\.0 .*?(?=^\S|\Z)", text(listed(), when), re.MULTILINE | re.DOTALL
    )
    assert match, text(listed(), when)
    return match.group()


def test_identity() -> None:
    """Check class, vendor, device, subsystem and revision of copier.yaml."""
    head, subsystem = card("before", 0).splitlines()[:2]
    assert re.search(r"\[0880\]: .*\[1d55:0c0b\] \(rev 01\)$", head)
    assert re.search(r"Subsystem: .*\[1d55:0001\]$", subsystem)


def test_regions() -> None:
    """Each of zach1.yaml's memory regions (registers, framebuffer) is aligned to its size."""
    regions = re.findall(
        r"Region (\d): Memory at ([0-9a-f]+) \((\d\d)-bit, .*\[size=(\S+)\]", card("bound", 1)
    )
    expected = [
        (str(bar.number), bar.kind.removeprefix("memory"), size)
        for bar, size in zip(specification.load("zach1").bars, ("4K", "16M"), strict=True)
    ]
    assert [(number, bits, size) for number, _, bits, size in regions] == expected
    for _, address, _, size in regions:
        unit = {"K": 2**10, "M": 2**20}[size[-1]]
        assert int(address, 16) % (int(size[:-1]) * unit) == 0


def test_without_a_driver() -> None:
    """Without a driver, the card neither masters the bus nor sends messages."""
    assert "BusMaster-" in card("before", 0)
    assert "MSI: Enable- Count=1/1 Maskable+ 64bit+" in card("before", 0)
    assert "Kernel driver in use" not in card("before", 0)


def test_with_a_driver() -> None:
    """With a driver, the card does both, and lspci names the driver."""
    for slot, name in enumerate(("copier", "zach1")):
        output = card("bound", slot)
        assert f"Kernel driver in use: {name}" in output
        assert "Mem+ BusMaster+" in output
        assert re.search(r"MSI: Enable\+ .*\n\s+Address: 00000000fee0", output)
        assert "access denied" not in output
        assert "Unknown" not in output


def test_capabilities_end() -> None:
    """The configuration space has a chain of capabilities after the header, without a loop."""
    rows = re.findall(r"^[0-9a-f]+: ((?:[0-9a-f]{2} ?)+)$", text(listed(), "bytes"), re.MULTILINE)
    config = bytes.fromhex("".join(rows))
    assert len(config) == 256
    at, seen = config[0x34], []
    while at:
        assert at >= 0x40
        assert at % 4 == 0
        assert at not in seen
        seen.append(at)
        at = config[at + 1]
    assert seen


def test_a_card_that_was_pulled_out() -> None:
    """The other card is still there."""
    output = text(listed(), "removed")
    assert "10000:00:00.0" not in output
    assert "10000:00:01.0" in output
