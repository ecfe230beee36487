# SPDX-License-Identifier: MIT
"""`understudy reproduce`: the papers' Tables 2 and 3, ours beside theirs (PERFORM 2010, 6)."""

import click

from understudy.ask.workloads import WORKLOADS
from understudy.base import catalog
from understudy.cli.options import Settings, with_settings
from understudy.cli.session import Asked, carry_out
from understudy.device import profile
from understudy.papers.tables import PAPERS_DISK, REPRODUCED, TABLES


@click.command("reproduce", epilog="Example: understudy reproduce table2 --seeds 5")
@click.argument("name", metavar="|".join(TABLES))
@with_settings()
@click.pass_obj
def command(line: str, name: str, settings: Settings) -> None:
    """Run a table of the papers and print theirs beside ours.

    The schedulers are cats, mq-deadline, which is deadline's successor, and our cfq, on
    the papers' disk; the ranks by each measure are what to compare, not the absolute
    figures.
    """
    paper = catalog.pick("table", name, TABLES)
    asked = Asked(
        disk=profile.load(PAPERS_DISK),
        workload=WORKLOADS[paper.workload],
        schedulers=list(REPRODUCED),
    )
    carry_out(line, settings, asked)
