# SPDX-License-Identifier: MIT
"""What finding the optimal order costs, ours and by the papers' table.

Points at random, the head as well; means of 20 sets and 20 heads (C: HEADS).

    python -m bench.order
"""

import click

from bench import programs

SETS = 20
HEADS = 20
POINTS = (8, 64, 256, 1024)
WAYS = {"turns": "optimal_order_find", "table": "order_table_find"}


@click.command()
def main() -> None:
    """Print the table, a line as soon as it is measured."""
    program = programs.build("order", "tests/core/order_table.c")
    click.echo("| points | instructions | ns | by the table: instructions | ns |")
    click.echo("| --- | --- | --- | --- | --- |")
    for points in POINTS:
        cells = [f"{points:,}"]
        for way, function in WAYS.items():
            counted = programs.instructions(program, function, way, points, SETS)
            spent_ns = programs.printed(program, way, points, SETS)
            cells += [f"{counted / SETS / HEADS:,.0f}", f"{spent_ns:,.0f}"]
        click.echo(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
