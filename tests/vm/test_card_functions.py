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
from guests import boot, group, once, text

from understudy_devices.base.paths import cards_dir
from understudy_devices.cards import journal, register_log, specification
from understudy_devices.cards.journal import What
from understudy_devices.platforms.vm import card_modules, debian_programs, modules, packages
from understudy_devices.platforms.vm.machine import Result
from understudy_devices.referee import run

pytestmark = group("card-functions")

SCENARIO = """
cd /sys/bus/pci/devices
insmod /card.ko || fail 'no card'
lspci -D -vv > /out/lspci
lspci -D -xxx -s 10000:00:00 > /out/bytes
sh /exercise || fail exercise
cat /proc/interrupts > /out/interrupts
( sh /exercise > /tmp/said 2>&1; : > /tmp/ended ) &
wait_for '[ $(cat /tmp/pinged | wc -l) -gt 0 ]'
rm /tmp/pinged
wait_for '[ -e /tmp/pinged ]'
sleep 1
put 0 /sys/kernel/vpcib/remove
[ ! -e /tmp/ended ] || fail 'the exercise has ended before'
cat /dev/vpcib > /out/journal
ls -d 10000:00:* > /out/left 2> /dev/null
wait_for '[ -e /tmp/ended ]'
put rtl8139cp /sys/kernel/vpcib/add
sh /exercise || fail 'the exercise, after the card was put back'
put 0 /sys/kernel/vpcib/remove
rmmod card_rtl8139cp || fail 'the card stays'
"""


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
    kernel = packages.fetch_kernel()
    with TemporaryDirectory() as name:
        return boot(
            SCENARIO,
            {"vpcib": "", "8139cp": ""},
            files={
                "card.ko": card_modules.card(kernel, dual(Path(name))),
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
    with TemporaryDirectory() as name:
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
    assert accesses["card"][first] == 0
    assert accesses["card"][second] == journal.SLOTS
    after = touched[touched["number"] > accesses["number"][second]]
    assert (after["flags"] & journal.ABSENT).all()
    assert text(booted(), "left") == ""
    lines = [*register_log.lines(card, accesses[[first, second]])]
    assert [re.findall(r"slot \S+", line) for line in lines] == [["slot 0.0"], ["slot 0.1"]]


def test_the_referee_judges_each_function() -> None:
    """Debian's driver has no mistake; all four functions were used."""
    assert refereed().findings == ()
    accesses = refereed().accesses
    used = accesses[accesses["what"] == What.STORE]["card"]
    assert set(used.tolist()) == {0, 1, journal.SLOTS, journal.SLOTS + 1}
