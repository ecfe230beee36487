# SPDX-License-Identifier: MIT
"""`understudy reproduce`: compare this project's figures with those of the papers' Tables 2 and 3
(PERFORM 2010, section 6) and of the dissertation's Table 3.1 (Jones 2010)."""

import click

from understudy_devices.api.options import FIELDS
from understudy_devices.api.predict import ask
from understudy_devices.base import catalog
from understudy_devices.base.errors import UserError
from understudy_devices.cli import drawing_table
from understudy_devices.cli.names import Names
from understudy_devices.cli.options import Grouped, Typed, with_settings
from understudy_devices.cli.session import carry_out
from understudy_devices.papers.drawing import TRIANGLES
from understudy_devices.papers.tables import AT_ONCE, PAPERS_DISK, REPRODUCED, TABLES

DRAWING = "table3.1"
KNOWN = (*TABLES, DRAWING)


@click.command("reproduce", cls=Grouped, epilog="Example: understudy reproduce table2 --seeds 5")
@click.argument("name", metavar="|".join(KNOWN), type=Names(lambda: KNOWN))
@click.option(
    "--triangles",
    metavar="N",
    type=click.IntRange(1, 10_000_000),
    help=f"Number of triangles of {DRAWING}; default: {TRIANGLES:,}, which takes minutes.",
)
@with_settings()
@click.pass_obj
def command(line: str, name: str, triangles: int | None, typed: Typed) -> None:
    """Run a table of the papers and print the papers' figures beside ours.

    table2 and table3 run cats, mq-deadline (the successor of deadline) and our cfq on the papers'
    disk.  As in the papers, the disk has two requests at once.  Compare the ranks by each
    measure, not the absolute figures. table3.1 draws triangles directly, and through the virtual
    graphics card.
    """
    paper = catalog.pick("table", name, {**TABLES, DRAWING: None})
    if paper is None:
        _drawing(triangles, typed)
        return
    if triangles is not None:
        raise UserError(f"{name}: takes no --triangles; only {DRAWING} does")
    depth = typed.options["queue_depth"]
    question = ask(
        "reproduce",
        disk=PAPERS_DISK,
        workload=paper.workload,
        schedulers=REPRODUCED,
        command=line,
        **typed.options | {"queue_depth": AT_ONCE if depth is None else depth},
    )
    carry_out(question, typed)


def _drawing(triangles: int | None, typed: Typed) -> None:
    given = [name for name in FIELDS if typed.options[name] is not None]
    useless = sorted(set(given) - {"seed"})
    if useless:
        option = useless[0].replace("_", "-")
        raise UserError(f"{DRAWING}: takes no --{option}, only --triangles, --seed and --json")
    seed = typed.options["seed"]
    drawing_table.reproduce(triangles or TRIANGLES, 1 if seed is None else seed, typed.as_json)
