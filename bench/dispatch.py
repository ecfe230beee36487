# SPDX-License-Identifier: MIT
"""What a dispatch costs with 50 reads pending, the host and the modelled disk included.

A closed loop in user space: 50 owners read 8 sectors at random and do not think, or
think for 3 ms.  With its READDELAY CATS sweeps under such a load; the other CATS has
none to speak of, so that it uses its table.

    python -m bench.dispatch
"""

import click

from bench import programs
from understudy.native import declared

OWNERS = 50
THINKS_NS = (0, 3_000_000)
NEVER = ("read_delay_ns", 3_600_000_000_000)


@click.command()
@click.option("--dispatches", default=1_000_000)
def main(dispatches: int) -> None:
    """Print the table, a line as soon as it is measured."""
    program = programs.build("dispatch")
    runs: dict[str, tuple[str, tuple[object, ...]]] = {
        name: (name, ()) for name in declared.schedulers()
    }
    runs["cats, no READDELAY"] = ("cats", NEVER)
    click.echo("| scheduler | think (ms) | instructions | dispatches a CPU second |")
    click.echo("| --- | --- | --- | --- |")
    for name, (scheduler, tunable) in sorted(runs.items()):
        for think_ns in THINKS_NS:
            few = (scheduler, OWNERS, dispatches // 50, think_ns, *tunable)
            many = (scheduler, OWNERS, dispatches, think_ns, *tunable)
            counted = programs.instructions(program, "run", *few) / (dispatches // 50)
            rate = programs.printed(program, *many)
            click.echo(f"| {name} | {think_ns // 10**6} | {counted:,.0f} | {rate:,.0f} |")


if __name__ == "__main__":
    main()
