# SPDX-License-Identifier: MIT
"""A card with several functions: a network card with two ports, each of which Debian's unmodified
8139cp.ko drives.

The two ports are in one slot and on one hub, and their interfaces in two network namespaces.  The
card is pulled out while both send and receive, and put back.
"""

import re
import shutil
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from guests import attempts, boot, group, once, text
from places import CHECKOUT

from understudy_devices.base.paths import cards_dir
from understudy_devices.cards import journal, register_log, specification
from understudy_devices.cards.journal import What
from understudy_devices.platforms.vm import card_modules, debian_programs, modules, packages
from understudy_devices.platforms.vm.machine import Result
from understudy_devices.referee import run

pytestmark = group("card-functions")

RESETS = Path(__file__).parent / "drivers" / "slot_reset.c"
SCENARIO = """
cd /sys/bus/pci/devices
insmod /card.ko || fail 'no card'
lspci -D -vv > /out/lspci
lspci -D -xxx -s 10000:00:00 > /out/bytes
sh /exercise || fail exercise
cat /proc/interrupts > /out/interrupts
( while sh /exercise > /tmp/said 2>&1 || [ -e 10000:00:00.0 ]; do :; done; : > /tmp/ended ) &
wait_for '[ $(cat /tmp/pinged | wc -l) -gt 0 ]'
rm /tmp/pinged
wait_for '[ -e /tmp/pinged ]'
sleep 1
put 0 /sys/kernel/vpcib/remove
[ ! -e /tmp/ended ] || fail "the exercise has ended before: $(cat /tmp/said)"
cat /dev/vpcib > /out/journal
ls -d 10000:00:* > /out/left 2> /dev/null
wait_for '[ -e /tmp/ended ]'
put rtl8139cp /sys/kernel/vpcib/add
sh /exercise || fail 'the exercise, after the card was put back'
slot=/sys/bus/pci/slots/vpcib0
cat $slot/address $slot/power $slot/adapter > /out/slot-on
put 0 $slot/power
cat $slot/address $slot/power $slot/adapter > /out/slot-off
tail -c 48000 /dev/vpcib > /out/journal-off
ls -d 10000:00:* > /out/left-off 2> /dev/null
attempt 0 $slot/power
attempt 1 /sys/bus/pci/slots/vpcib1/power
put rtl8139cp /sys/kernel/vpcib/add
ls -d 10000:00:* > /out/beside 2> /dev/null
put 1 /sys/kernel/vpcib/remove
put 1 $slot/power
sh /exercise || fail 'the exercise, after the slot was switched on'
rmmod 8139cp || fail 'the driver stays'
insmod /slot_reset.ko || fail 'no reset'
put 0 $slot/power
put 0 /sys/kernel/vpcib/remove
attempt 1 $slot/power
rmmod card_rtl8139cp || fail 'the card stays'
dmesg > /out/said
"""


def ours() -> TemporaryDirectory[str]:
    """Return a folder in the checkout: a card there is built without the limits of a stranger's."""
    build = CHECKOUT / "build"
    build.mkdir(exist_ok=True)
    return TemporaryDirectory(dir=build)


def dual(folder: Path) -> Path:
    """Write the network card with two functions into a folder, and return its specification."""
    for name in ("rtl8139cp.yaml", "rtl8139cp.c"):
        shutil.copy(cards_dir() / name, folder)
    shutil.copytree(cards_dir() / "rtl8139cp", folder / "rtl8139cp")
    shutil.copytree(cards_dir() / "drivers", folder / "drivers")
    file = folder / "rtl8139cp.yaml"
    file.write_text(file.read_text().replace("\ncapabilities:", "\nfunctions: 2\ncapabilities:"))
    return file


def exercise() -> str:
    """Return the card's exercise, for two functions of the card in slot 0."""
    whole = (cards_dir() / "drivers" / "rtl8139cp_exercise").read_text()
    assert whole.count("$devices:0$1.0") == whole.count("$devices:01.0") == 1
    return whole.replace("$devices:0$1.0", "$devices:00.$1").replace(
        "$devices:01.0", "$devices:00.1"
    )


@once
def booted() -> Result:
    """Boot with one card."""
    kernel, plain = packages.fetch_kernel(), specification.load("rtl8139cp")
    with ours() as name:
        return boot(
            SCENARIO,
            {"vpcib": "", "8139cp": ""},
            files={
                "card.ko": card_modules.card(kernel, dual(Path(name))),
                "slot_reset.ko": card_modules.driver(kernel, RESETS, plain),
                "exercise": exercise(),
                **debian_programs.files("lspci", "pciutils"),
            },
            clock="wall",
        )


@once
def refereed() -> run.Outcome:
    """Run Debian's driver; the exercise plugs in a second card, which has two functions, too."""
    driver = modules.ModuleTree(packages.fetch_kernel(), ()).path("8139cp")
    assert driver
    with ours() as name:
        return run.run(run.prepared(str(dual(Path(name))), driver), run.Setting(1, 1))


def test_lspci_shows_both_functions() -> None:
    """Both say that there are several, and have BARs of their own."""
    shown = text(booted(), "lspci")
    assert re.findall(r"^10000:00:(\S+) ", shown, re.MULTILINE) == ["00.0", "00.1"]
    assert shown.count("Kernel driver in use: 8139cp") == 2
    assert len(set(re.findall(r"Region 1: Memory at (\w+)", shown))) == 2
    headers = re.findall(r"^00: (?:\w\w ){14}(\w\w)", text(booted(), "bytes"), re.MULTILINE)
    assert headers == ["80", "80"]


def test_each_function_has_its_interrupts() -> None:
    """The exercise needs both, since one port sends what the other receives."""
    counts = re.findall(r"^ *\d+: +(\d+) +vpcib-inta", text(booted(), "interrupts"), re.MULTILINE)
    assert len(counts) == 2
    assert min(map(int, counts)) > 100


def test_both_are_pulled_out_at_once() -> None:
    """While both were used: neither answers after the first record of the removal."""
    accesses = np.frombuffer(booted().out["journal"], journal.ACCESS)
    card = specification.load("rtl8139cp").model_copy(update={"functions": 2})
    touched = accesses[np.isin(accesses["what"], (What.LOAD, What.STORE))]
    assert min(Counter(touched["card"].tolist()).values()) > 100
    assert set(touched["card"].tolist()) == {0, journal.SLOTS}
    first, second = np.flatnonzero(accesses["what"] == What.REMOVED)[-2:]
    assert accesses["card"][first] == journal.SLOTS
    assert accesses["card"][second] == 0
    after = touched[touched["number"] > accesses["number"][second]]
    assert (after["flags"] & journal.ABSENT).all()
    assert text(booted(), "left") == ""
    lines = [*register_log.lines(card, accesses[[first, second]])]
    assert [re.findall(r"slot \S+", line) for line in lines] == [["slot 0.1"], ["slot 0.0"]]


def test_a_slot_is_switched_off_in_order() -> None:
    """Each driver is removed while its function answers.  The card stays in its slot, so another
    card gets the next one.
    """
    assert text(booted(), "slot-on").split() == ["10000:00:00", "1", "1"]
    assert text(booted(), "slot-off").split() == ["10000:00:00", "0", "1"]
    assert text(booted(), "left-off") == ""
    assert text(booted(), "beside").split() == ["10000:00:01.0", "10000:00:01.1"]
    accesses = np.frombuffer(booted().out["journal-off"], journal.ACCESS)
    ends = accesses[np.isin(accesses["what"], (What.UNBOUND, What.REMOVED))]
    both = [(int(one["what"]), int(one["card"])) for one in ends[-4:]]
    last, first = journal.SLOTS, 0
    assert both == [
        (What.UNBOUND, last),
        (What.UNBOUND, first),
        (What.REMOVED, last),
        (What.REMOVED, first),
    ]
    assert not (ends[-4:]["flags"][:2] & journal.ABSENT).any()
    assert attempts(booted()) == {"power=0": "ok", "power=1": "No such device"}


def test_a_driver_resets_the_whole_slot() -> None:
    """The registers of both functions have their values after a reset, at the same addresses."""
    assert re.findall(r"reset: (.+)", text(booted(), "said")) == ["0x1234 0x1235 0x0 0x0"]


def test_the_referee_judges_each_function() -> None:
    """Debian's driver has no mistake; all four functions were used."""
    assert refereed().findings == ()
    accesses = refereed().accesses
    used = accesses[accesses["what"] == What.STORE]["card"]
    assert set(used.tolist()) == {0, 1, journal.SLOTS, journal.SLOTS + 1}
