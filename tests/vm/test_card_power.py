# SPDX-License-Identifier: MIT
"""Cards with power management and PCI Express: D3hot and back, runtime power management, and the
kernel's resets; and the referee names an access while the card sleeps.  One of the cards also has
vendor-specific capabilities, which the resets leave as they are.
"""

import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from gaps_card import GAPS
from guests import boot, group, once, text

from understudy_devices.cards import specification
from understudy_devices.cards.selftest import selftest
from understudy_devices.platforms.vm import card_modules, debian_programs, packages
from understudy_devices.platforms.vm.machine import Result
from understudy_devices.referee import run

pytestmark = group("card-power")

DRIVER = Path(__file__).parent / "drivers" / "power_driver.c"
CAPABILITIES = {
    "loses": "  pm: {}\n  express: {}\n  vendor:\n"
    "    - {data: [0x01, 0xff, 0x80, 0x7f], description: Small.}\n"
    f"    - {{data: {list(range(40))}, description: Large.}}\n",
    "keeps": "  pm: {no_soft_reset: true}\n  express: {flr: false}\n",
}
"""What the two cards do with their registers in D3hot."""
SCENARIO = """
device=/sys/bus/pci/devices/10000:00:00.0
sleeps() { # the kernel lets it sleep soon after its driver has been loaded
	for _ in $(seq 100); do
		[ "$(cat $device/power_state)" = D3hot ] && return
		sleep 0.1
	done
	fail "$card is awake: $(cat $device/power_state $device/power/runtime_status)"
}
for card in loses keeps; do
	insmod /$card.ko || fail "no card $card"
	insmod /power_driver.ko careful=1 || fail "$card: no driver"
	sleeps
	lspci -vv -s 10000:00:00.0 > /out/lspci-$card
	lspci -xxx -s 10000:00:00.0 > /out/bytes-$card
	rmmod power_driver || fail "$card: the driver stayed"
	cat $device/reset_method > /out/methods-$card 2> /dev/null || true
	for method in $(cat /out/methods-$card); do
		put $method $device/reset_method
		put 1 $device/reset
		insmod /selftest_$card.ko || fail "$card: not reset by $method"
		rmmod selftest_$card
		insmod /power_driver.ko careful=1 && rmmod power_driver || fail "$card: again"
	done
	[ $card = keeps ] || ! insmod /selftest_other.ko || fail 'other data are not noticed'
	rmmod card_gaps
done
dmesg > /out/said
"""


def built(folder: Path, name: str) -> Path:
    """Write a card into a folder, and return its file."""
    folder.mkdir(exist_ok=True)
    file = folder / "gaps.yaml"
    file.write_text(GAPS.replace("capabilities:\n", f"capabilities:\n{CAPABILITIES[name]}"))
    return file


@once
def booted() -> Result:
    """Boot with one card after the other."""
    kernel = packages.fetch_kernel()
    files: dict[str, Path] = dict(debian_programs.files("lspci", "pciutils"))
    with TemporaryDirectory() as place:
        for name in CAPABILITIES:
            file = built(Path(place) / name, name)
            card = specification.load(file)
            (file.parent / f"selftest_{name}.c").write_text(selftest(card))
            files[f"{name}.ko"] = card_modules.card(kernel, file)
            test = file.parent / f"selftest_{name}.c"
            files[f"selftest_{name}.ko"] = card_modules.driver(kernel, test, card)
            if name == "loses":
                test = file.parent / "selftest_other.c"
                test.write_text(selftest(card).replace("0x80, 0x7f", "0x80, 0x70"))
                files[test.with_suffix(".ko").name] = card_modules.driver(kernel, test, card)
            files["power_driver.ko"] = card_modules.driver(kernel, DRIVER, card)
        return boot(SCENARIO, {"vpcib": ""}, files=files, clock="wall")


@once
def refereed() -> run.Outcome:
    """Run the driver, which reads while the card sleeps."""
    with TemporaryDirectory() as place:
        file = built(Path(place), "keeps")
        return run.run(run.prepared(str(file), DRIVER), run.Setting(1, 1))


@pytest.mark.parametrize(("name", "after"), [("loses", "0x5"), ("keeps", "0x21")])
def test_it_sleeps_and_wakes(name: str, after: str) -> None:
    """The registers have their values, or those after a reset."""
    lines = re.findall(r"power: (.+)", text(booted(), "said"))
    assert lines[{"loses": 0, "keeps": -1}[name]] == f"0x21 0x0 {after}"


def test_the_kernel_resets_it() -> None:
    """By the function-level reset, by power management if that resets it, and with its slot.  The
    self-test then passes, though the driver has changed a register."""
    assert text(booted(), "methods-loses").split() == ["flr", "pm", "bus"]
    assert text(booted(), "methods-keeps").split() == ["bus"]


def test_lspci_knows_the_capabilities() -> None:
    shown = text(booted(), "lspci-loses")
    assert "Power Management version 3" in shown
    assert re.search(r"Status: D3 NoSoftRst-", shown)
    assert "Root Complex Integrated Endpoint" in shown
    assert "FLReset+" in shown
    assert "NoSoftRst+" in text(booted(), "lspci-keeps")


def test_a_driver_finds_the_vendor_specific_capabilities() -> None:
    """The self-test compares their data, by pci_find_capability, and notices another byte.  The
    small one is before MSI-X, and the large one after PCI Express.
    """
    shown = text(booted(), "lspci-loses")
    found = re.findall(r"Capabilities: \[(\w+)\] Vendor Specific Information: Len=(\w+)", shown)
    assert found == [("40", "07"), ("bc", "2b")]
    assert re.search(r"^40: 09 bc 07 01 ff 80 7f 00", text(booted(), "bytes-loses"), re.MULTILINE)
    wrong = set(re.findall(r"vendor-specific: .+", text(booted(), "said")))
    assert wrong == {"vendor-specific: data: 0x7f, not 0x70"}
    assert "Vendor Specific" not in text(booted(), "lspci-keeps")


def test_an_access_in_d3_is_named() -> None:
    """Loads return ones.  Nothing else is wrong."""
    assert {finding.rule for finding in refereed().findings} == {"access in D3"}
    assert "power: 0x21 0xffffffff 0x21" in refereed().log
