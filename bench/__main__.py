# SPDX-License-Identifier: MIT
"""Measure, keep the results, and write docs/benchmarks.md: python -m bench [NAME ...].

With `python -m bench fidelity --target MODULE:FACTORY`, profile any drive instead, and compare
predictions from the profile with the drive.
"""

import traceback

import click

from bench import on_target, page, part, results
from bench.part import Part, Row
from understudy_devices.base.catalog import unknown
from understudy_devices.base.errors import RunFailed, UserError

ON_TARGET = {"full": {"seeds": 5, "requests": 5000}, "quick": {"seeds": 2, "requests": 1000}}


@click.command("bench")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option(
    "--quick",
    is_flag=True,
    help="Make shorter runs; they never replace the result of a full run.",
)
@click.option("--list", "listed", is_flag=True, help="Name the benchmarks and stop.")
@click.option("--page", "only_page", is_flag=True, help="Write the page again, without measuring.")
@click.option(
    "--target",
    metavar="MODULE:FACTORY",
    help="With fidelity: profile this drive (destroys its data) and print predictions for it.",
)
@click.option("--seed", default=1, show_default=True, help="Seed for profiling --target.")
@click.option(
    "--seeds",
    type=click.IntRange(2),
    help="Number of runs of each case on --target.  [default: 5; 2 if --quick]",
)
@click.option("--json", "as_json", is_flag=True, help="Print --target's figures as JSON.")
def main(
    names: tuple[str, ...],
    quick: bool,
    listed: bool,
    only_page: bool,
    target: str | None,
    seed: int,
    seeds: int | None,
    as_json: bool,
) -> None:
    """Run all benchmarks, or those that are named, and update docs/benchmarks.md.

    If a benchmark fails, the command prints the benchmark's name and keeps its last result.  The
    other benchmarks still run, and the exit code is 1.
    """
    if target:
        _on_target(names, target, seed, seeds, quick=quick, as_json=as_json)
        return
    if as_json or seeds:
        raise click.UsageError(f"{'--json' if as_json else '--seeds'} goes with --target")
    parts = part.found()
    for name in names:
        if name not in parts:
            raise click.UsageError(unknown("benchmark", name, parts))
    if listed:
        for one in parts.values():
            click.echo(f"{one.name:12} {one.title}")
        return
    chosen = [] if only_page else [parts[name] for name in names or parts]
    failed = [one.name for one in chosen if not _measured(one, "quick" if quick else "full", parts)]
    page.write(parts)
    if failed:
        raise click.ClickException(f"failed: {', '.join(failed)}")


def _on_target(
    names: tuple[str, ...],
    target: str,
    seed: int,
    seeds: int | None,
    *,
    quick: bool,
    as_json: bool,
) -> None:
    if names != ("fidelity",):
        raise click.UsageError("--target goes with fidelity alone: python -m bench fidelity")
    size = ON_TARGET["quick" if quick else "full"]
    try:
        on_target.measure(target, seed, seeds or size["seeds"], size["requests"], as_json=as_json)
    except (RunFailed, UserError) as error:
        raise click.ClickException(str(error)) from None


def _measured(one: Part, size: str, parts: dict[str, Part]) -> bool:
    click.echo(f"## {one.name}: {one.title}")
    try:
        result = results.take(one, size, _show)
        last = results.read(one.name)
        if size == "quick" and last and last.size == "full":
            click.echo(f"{one.name}: not kept: the last result is of a full run, of {last.date}")
            return True
        results.write(one.name, result)
    except (RunFailed, UserError) as error:
        click.echo(f"{one.name}: {error}", err=True)
        return False
    except Exception:  # the other benchmarks still run
        traceback.print_exc()
        return False
    page.write(parts)
    return True


def _show(table: str, row: Row) -> None:
    values = " ".join(f"{name}={_value(value)}" for name, value in row.items())
    click.echo(f"{table}: {values}")


def _value(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
