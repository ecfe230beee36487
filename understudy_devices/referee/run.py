# SPDX-License-Identifier: MIT
"""Runs a driver against a virtual card, with a new VM for each run.

A seed determines at which of the driver's accesses interrupts arrive.  A run on one processor
uses the virtual clock, so it is repeatable; a run on several processors uses the wall clock.  In
each run the driver is loaded, exercised, unloaded, loaded again, exercised while its card is
removed, and unloaded.
"""

import re
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from understudy_devices.base.errors import RunFailed
from understudy_devices.base.programs import compiled_for_guest
from understudy_devices.cards import specification
from understudy_devices.cards.journal import Journal, Kept, What
from understudy_devices.cards.model import Card
from understudy_devices.platforms import guest_programs
from understudy_devices.platforms.vm import card_modules, card_programs, machine, packages, qemu
from understudy_devices.referee import leftovers, memory
from understudy_devices.referee.events import DETAILS, Finding
from understudy_devices.referee.faults import Fault, causes, drawn
from understudy_devices.referee.findings import found, noted
from understudy_devices.referee.recording import Recording
from understudy_devices.referee.requests import candidates, packed
from understudy_devices.referee.script import module_name, script

MEMORY_MIB = 1280
LOW_MIB = 1024
"""The rest of the memory is above 4 GiB, so that addresses for DMA may have more than 32 bits."""
COMPLAINT = re.compile(
    r"\bWARNING\b|\bBUG\b|Oops|Call Trace|INFO: |general protection|refcount_t|did not free|"
    r"is not answered|still maps"
)
PAST_END = "copy past the end"
TOO_LONG = re.compile(r"usercopy: Kernel memory \w+ attempt|__copy_overflow")
"""The kernel refuses to copy more than the memory has."""
ATOMIC = re.compile(r"sleeping function called from invalid context")
LINES = {
    "interrupt requested too early": re.compile(r"\bline_is_requested\+0x"),
    "interrupt freed too late": re.compile(r"\bline_is_freed\+0x"),
}
"""The callers when a shared line's handler is called right after request_irq and right before
free_irq (kernel/vpcib/line.c)."""
DEATHS = {
    **LINES,
    "sleeping in atomic context": re.compile(r"a driver sleeps where it must not"),
    # An address of the modules' area, where no module is now.
    "used after unloading": re.compile(r"page fault for address: f{8}c\w{7}\b"),
    # A page of the process is there, and yet the kernel may not access it (SMAP).
    "a user's pointer used directly": re.compile(
        r"page fault for address: 0000[0-7]\w{11} .*#PF: error_code\(\w+\) - permissions violation",
        re.DOTALL,
    ),
    PAST_END: TOO_LONG,
    memory.FREED: memory.PATTERN,
    "deadlock": re.compile(r"is stuck in \S*spin_lock"),
    "the kernel hangs": re.compile(r"is stuck|did not end within"),
    "the kernel died": re.compile(r"panic|Oops|BUG"),
}
ENDING = ("hot removal", "removal while a device is open", "hostile exercise", "the fault")
"""Steps in which a wait has to end although what it waits for does not come."""
WAITS = re.compile(r"(?:it waits without end|when its process is killed): (.+)")
"""A process that waits in the driver, and its stack, as the guest prints it."""
REFUSED = re.compile(r"vpcib: fault: (.+ is refused \w+)")
"""A request that the kernel has refused (kernel/vpcib/refusal.c)."""
KERNEL_CHECKS = {
    "CONFIG_PROVE_LOCKING": "the order of locks",
    "CONFIG_DEBUG_ATOMIC_SLEEP": "calls outside the referee's list that may sleep",
    "CONFIG_DMA_API_DEBUG": "the kernel's own checks of DMA calls",
    "CONFIG_KASAN": "loads past the end of the driver's own memory, or after it was freed",
}
STEPS = {
    1: "loading",
    2: "exercise",
    3: "unloading",
    4: "loading again",
    5: "hot removal",
    6: "hostile exercise",
    7: "the fault",
    8: "the exercise after the fault",
    9: "removal while a device is open",
}

Notify = Callable[[str], None]


@dataclass(frozen=True)
class Setting:
    """The number of processors, the seed for the times of interrupts, and a fault of the card."""

    cpus: int
    seed: int
    fault: Fault | None = None

    def __str__(self) -> str:
        fault = f", {self.fault}" if self.fault else ""
        return f"{self.cpus} CPU{'s' if self.cpus > 1 else ''}, seed {self.seed}{fault}"


@dataclass(frozen=True)
class Subject:
    """A built driver, its card, and its exercise."""

    card: Card
    card_module: Path
    driver: Path
    exercise: Path | None
    """A shell script or a program; None: the driver is only loaded and unloaded."""
    mistakes: tuple[Finding, ...] = ()
    """Those that the driver's source shows."""
    unchecked: tuple[str, ...] = ()
    """What nobody looks for on this machine and with this kernel."""


@dataclass(frozen=True)
class Outcome:
    """The results of one run."""

    setting: Setting
    findings: tuple[Finding, ...]
    notes: tuple[Finding, ...]
    """Remarks that are no mistakes."""
    accesses: Journal
    missed: int
    """How many accesses are not in the journal, since they came after it was full."""
    log: str
    """The kernel's log."""


def settings(cpus: Iterable[int], seed: int, faults: Iterable[str] = ()) -> list[Setting]:
    """Return one setting for each number of processors, and one for each kind of fault."""
    plain = [Setting(count, seed) for count in cpus]
    return plain + [Setting(1, seed, drawn(kind, seed)) for kind in faults]


def run(
    subject: Subject,
    setting: Setting,
    heard: Notify = lambda line: None,
    stop: threading.Event | None = None,
    journal: Path | None = None,
) -> Outcome:
    """Run a built driver once; RunFailed only if the VM itself fails.

    `journal`: a file that gets the journal's records while the VM runs.
    """
    hardware = qemu.Machine(
        clock="virtual" if setting.cpus == 1 else "wall",
        cpus=setting.cpus,
        memory_mib=MEMORY_MIB,
        low_mib=LOW_MIB,
        devices=qemu.GUARDED,
        kernel_arguments=memory.ARGUMENTS,
    )
    recording = Recording(hardware, journal)
    parameters = {**recording.parameters(), "races": setting.seed}
    modules = dict.fromkeys(card_modules.needed_by(subject.driver), "")
    modules["vpcib"] = " ".join(f"{name}={value}" for name, value in parameters.items())
    vm = machine.Vm(
        script(subject.driver, subject.card.name, setting.cpus, setting.seed, setting.fault),
        modules,
        {
            "card.ko": subject.card_module,
            subject.driver.name: subject.driver,
            "requests": packed(candidates(subject.driver.read_bytes())),
            "bin/hostile": compiled_for_guest(guest_programs.program("hostile")),
            "bin/holder": compiled_for_guest(guest_programs.program("holder")),
            "bin/exercise": subject.exercise or "#!/bin/sh\n",
            "bin/vcd": compiled_for_guest(card_programs.vcd(subject.card)),
            "bin/draw_triangles": compiled_for_guest(card_programs.draw_triangles(subject.card)),
        },
        hardware,
        began=recording.begin,
        salvage=recording.end,
    )
    try:
        result = machine.run(vm, packages.fetch_kernel(), heard, stop)
    except RunFailed as error:
        return _died(subject, setting, error, recording.kept())
    accesses, missed = recording.kept()
    log = result.out["dmesg"].decode(errors="replace")
    findings = [*subject.mistakes, *_found(subject.card, setting, accesses, not missed, log)]
    findings += _complaints(log)
    findings += leftovers.named(log, subject.driver)
    if result.exit_code:
        step = STEPS.get(result.exit_code, f"exit code {result.exit_code}")
        findings.append(_failed(step, len(accesses), subject.driver, _last(result.console)))
    notes = tuple(noted(accesses))
    if setting.fault and not (accesses["what"] == What.FAULT).any():
        notes += (Finding("no fault", 0, "the exercise has not so many opportunities for it"),)
    return Outcome(setting, tuple(findings), notes, accesses, missed, log)


def _found(card: Card, setting: Setting, accesses: Journal, whole: bool, log: str) -> list[Finding]:
    """Return the findings in a journal, without those that a fault may cause."""
    findings = found(card, accesses, whole, log)
    excused = causes(setting.fault.kind) if setting.fault else frozenset()
    return [one for one in findings if one.rule not in excused]


def _died(subject: Subject, setting: Setting, error: RunFailed, journal: Kept) -> Outcome:
    """Return the outcome of a run in which the kernel died: the cause, and the accesses until
    then."""
    text = str(error)
    rule = next((rule for rule, words in DEATHS.items() if words.search(text)), None)
    if rule is None:
        raise error
    stem = module_name(subject.driver)
    frames = re.findall(rf"\b(\w+\+0x[0-9a-f]+)/0x[0-9a-f]+ \[{re.escape(stem)}\]", text)
    where = f" (in {' from '.join(dict.fromkeys(frames))})" if frames else ""
    if refused := REFUSED.findall(text):
        where += f", after {refused[-1]}"
    first = text.partition("; its last words")[0]
    findings = [*subject.mistakes]
    findings += _found(subject.card, setting, journal.accesses, whole=False, log=text)
    if rule not in {finding.rule for finding in findings}:
        findings.append(Finding(rule, len(journal.accesses), f"{first}{where}"))
    notes = tuple(noted(journal.accesses))
    return Outcome(setting, tuple(findings), notes, journal.accesses, journal.missed, text)


def _failed(step: str, number: int, driver: Path, text: str) -> Finding:
    """Return the finding about a step that failed: the console's last line says why."""
    waits = WAITS.search(text)
    frames, module, _ = (waits[1] if waits else "").rpartition(f"[{module_name(driver)}]")
    if not module or step not in ENDING:
        return Finding(f"{step} failed", number, text)
    return Finding("wait without a time-out", number, f"{step}: nothing ends {frames}{module}")


def _complaints(log: str) -> list[Finding]:
    for rule, caller in LINES.items():
        if calls := caller.search(log):
            lines = log[: calls.start()].splitlines()
            complaints = [line for line in lines if COMPLAINT.search(line)]
            return [Finding(rule, 0, next(iter(complaints), lines[-1]))]
    if misused := [*memory.misused(log)]:
        return misused[:1]
    lines = [
        line for line in log.splitlines() if COMPLAINT.search(line) and not DETAILS.search(line)
    ]
    if not lines:
        return []
    rule = "the kernel complains"
    if any(TOO_LONG.search(line) for line in lines):
        rule = PAST_END
    elif ATOMIC.search(lines[0]):
        rule = "sleeping in atomic context"
    return [Finding(rule, 0, lines[0])]


def _last(console: str) -> str:
    lines = console.strip().splitlines()
    return lines[-1] if lines else "(no output)"


def prepared(name: str, source: Path, exercise: Path | None = None) -> Subject:
    """Build a driver for a card; without `exercise`, use the card's own if it has one.

    UserError with the compiler's messages if something does not compile.
    """
    card = specification.load(name)
    kernel = packages.fetch_kernel()
    program = exercise or _own_exercise(specification.file_of(name).parent, card)
    driver = card_modules.driver(kernel, source, card)
    warnings = card_modules.warnings(kernel, source, card)
    pointers = warnings.raw_pointers if warnings else None
    return Subject(
        card,
        card_modules.card(kernel, name),
        driver,
        program and card_programs.exercise(program, source, card),
        (
            *(Finding("raw pointer", 0, text) for text in pointers or ()),
            *(
                Finding("result ignored", 0, text)
                for text in (warnings.ignored if warnings else ())
            ),
        ),
        tuple(_unchecked(kernel, source, pointers is not None, program is not None)),
    )


def _own_exercise(folder: Path, card: Card) -> Path | None:
    """Return the exercise of a card whose specification is in a folder; None if it has none."""
    names = (f"{card.name}_exercise", f"{card.name}_exercise.c")
    places = (path / name for path in (folder / "drivers", folder) for name in names)
    return next((place for place in places if place.exists()), None)


def _unchecked(
    kernel: packages.Kernel, source: Path, has_pointers: bool, has_exercise: bool
) -> Iterator[str]:
    """Yield what nobody looks for, and what it takes."""
    if not has_exercise:
        yield "what the driver does when it is used (an exercise)"
    if not has_pointers:
        why = "sparse has not ended" if shutil.which("sparse") else "apt-get install sparse"
        why = "the driver's source" if source.suffix == ".ko" else why
        yield f"raw pointers to registers and processes ({why})"
    for option, what in KERNEL_CHECKS.items():
        if not kernel.has(option):
            yield f"{what} (a kernel with {option})"
