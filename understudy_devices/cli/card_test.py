# SPDX-License-Identifier: MIT
"""`understudy card test`: run a driver against a virtual card and check it (docs/referee.md)."""

import json
import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from understudy_devices.base.errors import UserError
from understudy_devices.base.plain import plain
from understudy_devices.cards import specification
from understudy_devices.cards.model import Card
from understudy_devices.cards.register_log import lines
from understudy_devices.cli.main import EXIT_FAILED
from understudy_devices.cli.names import Names
from understudy_devices.cli.progress import phases
from understudy_devices.referee import kept_files, run
from understudy_devices.referee.events import Finding
from understudy_devices.referee.faults import FAULTS, possible

CPUS_MOST = 8


def _cpus(context: click.Context, option: click.Parameter, text: str) -> tuple[int, ...]:
    words = text.split(",")
    if not all(word.isdecimal() and 1 <= int(word) <= CPUS_MOST for word in words):
        raise click.BadParameter(f"{text!r}: numbers from 1 to {CPUS_MOST}, as 1,2,4")
    return tuple(map(int, words))


def _faults(context: click.Context, option: click.Parameter, text: str) -> tuple[str, ...]:
    words = tuple(FAULTS) if text == "all" else tuple(filter(None, text.split(",")))
    for word in words:
        if word not in FAULTS:
            raise click.BadParameter(f"{word!r}: one of {', '.join(FAULTS)}, or all")
    return words


@click.command(epilog="Example: understudy card test zach1 --driver my_driver.c")
@click.argument("name", metavar="NAME|FILE.yaml", type=Names(specification.catalogue))
@click.option(
    "--driver",
    required=True,
    metavar="FILE.c|FILE.ko|FOLDER",
    type=click.Path(path_type=Path),
    help="The driver; it may include headers beside it. A folder: all its C files, or its Kbuild. "
    "FILE.ko: a built module.",
)
@click.option(
    "--exercise",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The program that uses the driver: a shell script, or a C program, which may include the "
    "driver's headers.  Default: NAME_exercise or NAME_exercise.c beside the card or in the "
    "folder drivers there.",
)
@click.option(
    "--cpus",
    default="1,2,4",
    show_default=True,
    callback=_cpus,
    help="Numbers of processors, one run for each; a run with 1 processor is repeatable.",
)
@click.option(
    "--seed",
    default=1,
    show_default=True,
    type=click.IntRange(1, 2**31),
    help="Seed for the random times of interrupts.",
)
@click.option(
    "--faults",
    metavar="KIND,...",
    default="",
    callback=_faults,
    help="Faults of the card, or of the kernel (request), a further run with one processor for "
    f"each: {', '.join(FAULTS)}; or all.",
)
@click.option(
    "--out",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Folder for the journal, the register log and the kernel log of each run.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object, for a grader.")
def test(
    name: str,
    driver: Path,
    exercise: Path | None,
    cpus: tuple[int, ...],
    seed: int,
    faults: tuple[str, ...],
    out: Path | None,
    as_json: bool,
) -> int:
    """Build a driver, run it against a virtual card, and report its mistakes.

    The driver is loaded, exercised, unloaded and loaded again; then the card is removed while in
    use. Exit code 1 if anything is wrong.
    """
    subject = run.prepared(name, driver, exercise)
    card = subject.card
    if faults == tuple(FAULTS):
        faults = possible(card)
    if not subject.exercise:
        click.echo(f"{card.name} has no exercise: the driver is only loaded and unloaded", err=True)
    outcomes, settings = [], run.settings(cpus, seed, faults)
    if out:
        kept_files.begin(name, out, map(_stem, settings))
    for setting in settings:
        journal = out / f"{_stem(setting)}.journal" if out else None
        with phases(str(setting)) as report:
            outcome = run.run(subject, setting, lambda line: report(line, 0.5), journal=journal)
        outcomes.append(outcome)
        if out:
            _keep(card, outcome, out)
    if as_json:
        click.echo(json.dumps(_as_json(subject, driver, faults, outcomes), indent=2))
    else:
        for outcome in outcomes:
            for line in told(outcome):
                click.echo(plain(line))
        click.echo(f"not looked for: {'; '.join(_unchecked(subject, faults)) or 'nothing'}")
        if any(outcome.findings for outcome in outcomes):
            click.echo(f"again: {_again(name, driver, exercise, cpus, seed, faults)}")
    return EXIT_FAILED if any(outcome.findings for outcome in outcomes) else 0


def _again(
    name: str,
    driver: Path,
    exercise: Path | None,
    cpus: tuple[int, ...],
    seed: int,
    faults: tuple[str, ...],
) -> str:
    """Return the command that repeats these runs."""
    words = ["understudy", "card", "test", name, "--driver", str(driver)]
    words += ["--exercise", str(exercise)] if exercise else []
    words += ["--faults", ",".join(faults)] if faults else []
    return shlex.join([*words, "--cpus", ",".join(map(str, cpus)), "--seed", str(seed)])


def told(outcome: run.Outcome) -> Iterator[str]:
    """Yield the lines to print about a run."""
    accesses = f"{len(outcome.accesses)} accesses"
    if outcome.missed:
        accesses += f" (and {outcome.missed} more, which were not checked)"
    if outcome.findings:
        yield f"{outcome.setting}, {accesses}:"
    else:
        yield f"{outcome.setting}: nothing wrong in {accesses}"
    yield from _each_rule(outcome.findings, "  ")
    yield from _each_rule(outcome.notes, "  note: ")


def _each_rule(findings: tuple[Finding, ...], begin: str) -> Iterator[str]:
    """Yield one line for each rule that the driver broke, even if it broke the rule many times."""
    times = Counter(finding.rule for finding in findings)
    for rule, count in times.items():
        first = next(finding for finding in findings if finding.rule == rule)
        again = f" ({count} times)" if count > 1 else ""
        yield f"{begin}{rule}{again}: first at access {first.number}: {first.text}"


def _unchecked(subject: run.Subject, faults: tuple[str, ...]) -> list[str]:
    """Return what nobody has looked for."""
    those = possible(subject.card)
    missing = [kind for kind in those if kind not in faults]
    words = "all" if len(missing) == len(those) else ",".join(missing)
    return [*subject.unchecked, *([f"faults of the card (--faults {words})"] if missing else [])]


def _as_json(
    subject: run.Subject, driver: Path, faults: tuple[str, ...], outcomes: list[run.Outcome]
) -> dict[str, Any]:
    return {
        "card": subject.card.name,
        "driver": str(driver),
        "passed": not any(outcome.findings for outcome in outcomes),
        "not_looked_for": _unchecked(subject, faults),
        "runs": [
            {
                "cpus": outcome.setting.cpus,
                "seed": outcome.setting.seed,
                "fault": str(outcome.setting.fault or ""),
                "accesses": len(outcome.accesses),
                "missed": outcome.missed,
                "findings": [kept_files.as_json(finding) for finding in outcome.findings],
                "notes": [kept_files.as_json(note) for note in outcome.notes],
            }
            for outcome in outcomes
        ],
    }


def _stem(setting: run.Setting) -> str:
    fault = f"-{setting.fault.kind}" if setting.fault else ""
    return f"{setting.cpus}-cpus-seed-{setting.seed}{fault}"


def _keep(card: Card, outcome: run.Outcome, out: Path) -> None:
    stem = _stem(outcome.setting)
    try:
        (out / f"{stem}-kernel.log").write_text(outcome.log)
        text = "".join(f"{line}\n" for line in lines(card, outcome.accesses))
        (out / f"{stem}-register-log.txt").write_text(text)
        kept_files.judge(out, stem, outcome.findings, outcome.notes, outcome.missed)
    except OSError as error:
        raise UserError(f"{error.filename}: {error.strerror}: name another --out") from error
