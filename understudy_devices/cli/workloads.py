# SPDX-License-Identifier: MIT
"""`understudy workloads`: list the workloads and the options of each."""

import dataclasses
import json
from collections.abc import Iterator
from typing import Any

import click

from understudy_devices.ask.workloads import WORKLOADS
from understudy_devices.ask.workloads.workload import Workload
from understudy_devices.cli.session import console
from understudy_devices.show.grid import Grid

OPTIONS = ("option", "default", "unit", "what it is")
WORDS = ("what it is", "option", "unit")


@click.command("workloads", epilog="Example: understudy workloads --json")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def command(as_json: bool) -> None:
    """List the workloads for --workload, and the options of each."""
    options_of = {name: list(_options(one)) for name, one in WORKLOADS.items()}
    if as_json:
        document = [
            {"name": name, "summary": one.summary, "options": options_of[name]}
            for name, one in WORKLOADS.items()
        ]
        click.echo(json.dumps(document, indent=2))
        return
    summaries = [(name, (one.summary,)) for name, one in WORKLOADS.items()]
    Grid(("what it is",), [summaries], words=WORDS).show(console())
    rows = [
        [
            (name, (one["option"], _shown(one["default"]), one["unit"], one["help"]))
            for one in options
        ]
        for name, options in options_of.items()
    ]
    Grid(OPTIONS, [block for block in rows if block], words=WORDS).show(console())


def _options(one: type[Workload]) -> Iterator[dict[str, Any]]:
    declared = one.declared()
    for field in dataclasses.fields(one):
        if entry := declared.get(field.name):
            yield {
                "option": entry.option,
                "help": entry.help,
                "default": None if field.default is dataclasses.MISSING else field.default,
                "unit": entry.unit,
                "platforms": list(entry.platforms),
            }


def _shown(default: Any) -> str:
    if isinstance(default, tuple):
        return ",".join(map(str, default))
    return "" if default is None else f"{default}"
