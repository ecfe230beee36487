# SPDX-License-Identifier: MIT
"""Generated modules for our cards in a stock kernel.

The self-test passes two cards of each kind, and names the faults if the specification is wrong. The
driver skeleton binds to its card and is removed again.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from guests import boot, group, once, text

from understudy_devices.base.paths import cards_dir
from understudy_devices.cards import specification
from understudy_devices.cards.driver import driver
from understudy_devices.cards.model import Card
from understudy_devices.cards.selftest import selftest
from understudy_devices.platforms.vm import card_modules, packages
from understudy_devices.platforms.vm.machine import Result

pytestmark = group("card-selftest")

CARDS = tuple(specification.catalogue())
WRONG = [("COMPLETED", "access: rc", "access: rw"), ("PATTERN", 'bits: "7:0"', 'bits: "8:0"')]
"""Registers of the copier: name, the correct line, and the wrong line."""

SCENARIO = (
    f"""
CARDS='{" ".join(CARDS)}'
"""
    + """
again() {
	rmmod card_$1 && insmod /modules/card_$1.ko instances=2 || fail "$1: not again"
	for device in /sys/bus/pci/devices/10000:*; do # the kernel's own driver, such as 8250_pci
		[ ! -e $device/driver ] || echo ${device##*/} > $device/driver/unbind
	done
}
insmod /wrong_selftest.ko 2> /out/wrong && fail 'a wrong card passes'
for card in $CARDS; do
	again $card
	insmod /${card}_driver.ko || fail "$card: no driver"
	ls /sys/bus/pci/drivers/${card}_driver > /out/bound-$card
	insmod /${card}_selftest.ko 2> /out/busy-$card && fail "$card: tested under its driver"
	rmmod ${card}_driver || fail "$card: the driver stayed"
	insmod /${card}_selftest.ko || fail "$card: wrong after its driver"
	rmmod ${card}_selftest
	again $card
	insmod /${card}_selftest.ko || fail "$card: a right card fails"
done
dmesg > /out/said
"""
)


def built(text_of_c: str, name: str, card: Card) -> Path:
    """Compile a generated file to a module."""
    with TemporaryDirectory() as folder:
        source = Path(folder) / f"{name}.c"
        source.write_text(text_of_c)
        return card_modules.driver(packages.fetch_kernel(), source, card)


def wrong_copier() -> Card:
    """Return the copier with wrong specifications."""
    spec = (cards_dir() / "copier.yaml").read_text()
    for _, so, wrong in WRONG:
        assert so in spec
        spec = spec.replace(so, wrong)
    return specification.parse("copier.yaml", spec.encode())


@once
def seen() -> Result:
    """Boot the VM in which all modules are loaded."""
    files = {}
    for name in CARDS:
        card = specification.load(name)
        files[f"{name}_selftest.ko"] = built(selftest(card), f"{name}_selftest", card)
        files[f"{name}_driver.ko"] = built(driver(card), f"{name}_driver", card)
    wrong = wrong_copier()
    files["wrong_selftest.ko"] = built(selftest(wrong), "wrong_selftest", wrong)
    loaded = {f"card_{name}": "" for name in CARDS}
    return boot(SCENARIO, loaded, files=files, clock="wall")


@pytest.mark.parametrize("name", CARDS)
def test_the_cards_are_right(name: str) -> None:
    registers = [one for one in specification.load(name).registers if one.kind != "port"]
    message = f"{name}_selftest: cards: 2, registers: {len(registers)}, faults: 0"
    assert text(seen(), "said").count(message) == 2


@pytest.mark.parametrize("name", CARDS)
def test_the_skeleton_takes_both_cards(name: str) -> None:
    bound = [line for line in text(seen(), f"bound-{name}").split() if ":" in line]
    assert len(bound) == 2
    assert "busy" in text(seen(), f"busy-{name}")
    assert "not tested: error -16; has it a driver?" in text(seen(), "said")


@pytest.mark.parametrize("register", [register for register, *_ in WRONG])
def test_what_is_wrong_is_named(register: str) -> None:
    assert f"{register}: rw bits: " in text(seen(), "said")


def test_nothing_else_is_wrong() -> None:
    faults = [line for line in text(seen(), "said").splitlines() if ", not 0x" in line]
    assert faults
    assert all(any(register in line for register, *_ in WRONG) for line in faults)
    assert "Input/output error" in text(seen(), "wrong")
