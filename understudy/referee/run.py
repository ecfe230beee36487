# SPDX-License-Identifier: MIT
"""A driver's runs against a virtual card, each in a VM of its own.

The first is on one processor in the virtual clock, where interrupts come between the driver's
accesses as a seed draws them, so that it can be repeated; the others are on several processors.
In each the driver is loaded, exercised, unloaded and loaded again, exercised while its card is
pulled out, and unloaded.
"""

import re
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from understudy.base.errors import RunFailed
from understudy.base.programs import compiled
from understudy.cards import specification
from understudy.cards.journal import Journal, journal
from understudy.cards.model import Card
from understudy.platforms.vm import card_programs, machine, modules, packages, qemu
from understudy.referee.findings import Finding, found

JOURNAL_RECORDS = 2**20
EXERCISE_SECONDS = 120
MEMORY_MIB = 512
COMPLAINT = re.compile(
    r"\bWARNING\b|\bBUG\b|Oops|Call Trace|INFO: |general protection|refcount_t|did not free|"
    r"is not answered|still maps"
)
STEPS = {1: "loading", 2: "exercise", 3: "unloading", 4: "loading again", 5: "hot removal"}

Notify = Callable[[str], None]


@dataclass(frozen=True)
class Setting:
    """How many processors, and the seed of the races."""

    cpus: int
    seed: int

    def __str__(self) -> str:
        return f"{self.cpus} CPU{'s' if self.cpus > 1 else ''}, seed {self.seed}"


@dataclass(frozen=True)
class Subject:
    """A driver that is built, its card, and what the driver has to stand."""

    card: Card
    card_module: Path
    driver: Path
    exercise: Path | None
    """A shell script, or a program; None: it is only loaded and unloaded."""


@dataclass(frozen=True)
class Outcome:
    """What came of one run."""

    setting: Setting
    findings: tuple[Finding, ...]
    accesses: Journal | None
    """None: the kernel died, and the journal with it."""
    log: str
    """The kernel's."""


def settings(cpus: Iterable[int], seed: int) -> list[Setting]:
    """One run for each number of processors."""
    return [Setting(count, seed) for count in cpus]


def script(driver: Path) -> str:
    """What the guest does with a driver; its exit code is the step that went wrong."""
    return f"""
insmod /card.ko || exit 99
load() {{
	insmod /{driver.name} || exit $1
	sleep 1
}}
unload() {{
	tries=0
	while ! rmmod {driver.stem}; do
		tries=$((tries + 1))
		[ $tries -lt 50 ] || exit $1
		sleep 0.1
	done 2> /dev/null
}}
judge() {{
	cat /dev/vpcib > /out/journal
}}
trap judge EXIT
[ -e /dev/vgpu0 ] && vcd --card /dev/vgpu0 &
load 1
timeout {EXERCISE_SECONDS} /bin/exercise || exit 2
unload 3
load 4
timeout {EXERCISE_SECONDS} /bin/exercise > /dev/null 2>&1 &
sleep 0.5
echo 0 > /sys/kernel/vpcib/remove || exit 5
wait
unload 5
"""


def run(
    subject: Subject,
    setting: Setting,
    heard: Notify = lambda line: None,
    stop: threading.Event | None = None,
) -> Outcome:
    """One run of a built driver; RunFailed only if the VM itself is at fault."""
    vm = machine.Vm(
        script(subject.driver),
        {"vpcib": f"journal_records={JOURNAL_RECORDS} races={setting.seed}"},
        {
            "card.ko": subject.card_module,
            subject.driver.name: subject.driver,
            "bin/exercise": subject.exercise or "#!/bin/sh\n",
            "bin/vcd": compiled(card_programs.vcd()),
            "bin/draw_triangles": compiled(card_programs.draw_triangles()),
        },
        qemu.Machine(
            clock="virtual" if setting.cpus == 1 else "wall",
            cpus=setting.cpus,
            memory_mib=MEMORY_MIB,
        ),
    )
    try:
        result = machine.run(vm, packages.fetch_kernel(), heard, stop)
    except RunFailed as error:
        return _died(setting, error)
    accesses = journal(result.out["journal"])
    log = result.out["dmesg"].decode(errors="replace")
    findings = [*found(subject.card, accesses), *_complaints(log)]
    if result.exit_code:
        step = STEPS.get(result.exit_code, f"exit code {result.exit_code}")
        findings.append(Finding(f"{step} failed", len(accesses), _last(result.console)))
    return Outcome(setting, tuple(findings), accesses, log)


def _died(setting: Setting, error: RunFailed) -> Outcome:
    text = str(error)
    if "panic" not in text and "Oops" not in text and "BUG" not in text:
        raise error
    return Outcome(setting, (Finding("the kernel died", 0, text),), None, text)


def _complaints(log: str) -> list[Finding]:
    lines = [line for line in log.splitlines() if COMPLAINT.search(line)]
    return [Finding("the kernel complains", 0, lines[0])] if lines else []


def _last(console: str) -> str:
    lines = console.strip().splitlines()
    return lines[-1] if lines else "(it said nothing)"


def prepared(name: str, source: Path, exercise: Path | None = None) -> Subject:
    """The driver of a card, built; without an exercise it is the card's own.

    UserError with the compiler's words if something does not build.
    """
    card = specification.load(name)
    kernel = packages.fetch_kernel()
    own = specification.file_of(name).parent / "drivers" / f"{card.name}_exercise"
    given = exercise or (own if own.exists() else None)
    return Subject(
        card,
        modules.card_module(kernel, name),
        modules.driver_module(kernel, source, card),
        given and card_programs.exercise(given, source, card),
    )
