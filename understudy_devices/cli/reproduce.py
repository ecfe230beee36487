# SPDX-License-Identifier: MIT
"""`understudy reproduce`: run a table or a figure of the papers, and print the papers' figures
beside ours; or run all of them, into a folder."""

import json
import os
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource
from rich.console import Console

from understudy_devices import reproduce
from understudy_devices.base import catalog, run_folder
from understudy_devices.base.errors import UserError
from understudy_devices.cli.main import EXIT_FAILED
from understudy_devices.cli.names import Names
from understudy_devices.cli.options import Grouped, Typed, with_settings
from understudy_devices.cli.progress import phases
from understudy_devices.cli.session import carry_out, console
from understudy_devices.reproduce import Result

if TYPE_CHECKING:
    from understudy_devices.reproduce.artifact import Artifact

ALL = "all"
ANY = {"name", "on", "jobs", "out", "as_json", "dry_run"}  # what every result takes


def _names() -> list[str]:
    return [*reproduce.names(), *reproduce.GROUPS, ALL]


@click.command("reproduce", cls=Grouped, epilog="Example: understudy reproduce table2 --seeds 5")
@click.argument("name", metavar="|".join(_names()), type=Names(_names))
@click.option(
    "--triangles",
    metavar="N",
    type=click.IntRange(1, 10_000_000),
    help="Number of triangles of table3.1; default: 1,000,000, which takes minutes.",
)
@with_settings()
@click.pass_obj
def command(line: str, name: str, triangles: int | None, typed: Typed) -> None:
    """Run a table or a figure of the papers and print the papers' figures beside ours.

    table2 and table3 run cats, mq-deadline (the successor of deadline) and our cfq on the papers'
    disk.  As in the papers, the disk has two requests at once.  Compare the ranks by each
    measure, not the absolute figures. table3.1 draws triangles directly, and through the virtual
    graphics card. `all` carries out every result, in less than ten minutes, and writes a page,
    pictures and checksums into a folder (docs/artifact.md); without --on, on every platform that a
    result has but host. table5.1 and clones measure this machine; lab is both.
    """
    catalog.pick("result", name, dict.fromkeys(_names()))
    results = [reproduce.named(each) for each in _carried_out(name)]
    question = getattr(results[0].module, "question", None) if _is_one(name) else None
    given = _given()
    _refuse_useless(name, results, given, takes_more=bool(question))
    if question:
        carry_out(question(line, typed.options), typed)
        return
    on = typed.options["on"] if "on" in given else None
    wanted = _wanted(name, results, on)
    if typed.dry_run:
        for result, platform in wanted:
            click.echo(f"{result.name} on {platform}: about {result.seconds[platform]} s")
        return
    own = {"triangles": triangles, "seed": typed.options["seed"]}
    _carry_out(line, name, wanted, {key: own[key] for key in given & {*own}}, typed)


def _is_one(name: str) -> bool:
    """Return whether a name means one result."""
    return name not in (*reproduce.GROUPS, ALL)


def _carried_out(name: str) -> Sequence[str]:
    """Return the names of the results that a name on the command line means."""
    if name == ALL:
        return [each for each in _names() if _is_one(each)]
    return reproduce.GROUPS.get(name, (name,))


def _given() -> set[str]:
    """Return the names of the options that were typed."""
    context = click.get_current_context()
    return {
        name
        for name in context.params
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }


def _refuse_useless(
    name: str, results: Sequence[Result], given: set[str], *, takes_more: bool
) -> None:
    """Refuse an option that has no effect; `takes_more`: the options of predict have one."""
    own = {*results[0].takes} if _is_one(name) else set()
    useless = given & {"triangles"} if takes_more else given - ANY - own
    if useless:
        takes = "predict's options" if takes_more else _spelled((ANY | own) - {"name"})
        raise UserError(f"{name}: takes no {_spelled([min(useless)])}, only {takes}")


def _spelled(names: Iterable[str]) -> str:
    """Return names of options as they are typed."""
    context = click.get_current_context()
    spellings = {option.name: option.opts[0] for option in context.command.params}
    return ", ".join(sorted(spellings[name] for name in names))


def _wanted(name: str, results: Sequence[Result], on: str | None) -> list[tuple[Result, str]]:
    """Return which results to carry out, on which platforms: the fast ones first.

    `all` measures this machine only if it is asked to, since such a page has no checksum.
    """
    asked = None if on is None else [each.strip() for each in on.split(",")]
    known = {platform for result in results for platform in result.seconds}
    for platform in asked or ():
        catalog.pick("platform", platform, dict.fromkeys(known))
    if asked is None:
        asked = [each for each in reproduce.PLATFORMS if name != ALL or each != reproduce.HOST]
    return [
        (result, platform)
        for platform in reproduce.PLATFORMS
        for result in results
        if platform in result.seconds and platform in asked
    ]


def _carry_out(
    line: str,
    name: str,
    wanted: Sequence[tuple[Result, str]],
    parameters: dict[str, int],
    typed: Typed,
) -> None:
    from understudy_devices.reproduce import artifact  # Matplotlib takes half a second

    jobs = typed.options["jobs"] or os.cpu_count() or 1
    kept = typed.out is not None or name == ALL
    with run_folder.reserved(typed.out, "artifact") if kept else nullcontext() as folder:
        with phases("reproduce") as report:
            own = parameters if _is_one(name) else None
            found = artifact.carry_out(line, wanted, jobs, report, own)
        if typed.as_json:
            click.echo(json.dumps(found.as_json(), indent=2))
        else:
            _show(found, console())
        if folder:
            with run_folder.filled(folder) as partial:
                found.write(partial)
            click.echo(f"wrote {folder}: {artifact.PAGE}, and its lists of checksums", err=True)
    for failure in found.failures:
        click.echo(f"understudy: {failure}", err=True)
    if found.failures:
        raise click.exceptions.Exit(EXIT_FAILED)


def _show(found: "Artifact", output: Console) -> None:
    """Print the tables of each result, and what differs."""
    for part in found.parts:
        if part.reproduced:
            for grid in part.reproduced.tables:
                grid.show(output)
            for sentence in part.reproduced.sentences:
                output.print(sentence, highlight=False, markup=False, soft_wrap=True)
    for words in dict.fromkeys(part.result.differs for part in found.parts if part.reproduced):
        output.print(words, highlight=False, markup=False, soft_wrap=True)
