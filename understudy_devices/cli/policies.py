# SPDX-License-Identifier: MIT
"""`understudy policies`: list the prefetchers and replacement policies of the page cache."""

import json
from dataclasses import asdict

import click

from understudy_devices.ask import policies
from understudy_devices.cli.schedulers import TUNABLES, WORDS
from understudy_devices.cli.session import console
from understudy_devices.show.grid import Grid

OMITTED = {"needs_model"}


@click.command("policies", epilog="Example: understudy policies --json")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def command(as_json: bool) -> None:
    """List the policies of the simulated page cache, and their tunables for --set.

    The first ones are prefetchers, for --prefetch; the others are replacement policies, for
    --replacement.  A virtual machine's page cache has the policies of its kernel.
    """
    found = {field: policies.declarations(kind) for field, kind in policies.KINDS.items()}
    if as_json:
        document = [
            {
                "kind": field,
                "default": name == policies.KINDS[field].default,
                **{key: value for key, value in asdict(one).items() if key not in OMITTED},
            }
            for field, declarations in found.items()
            for name, one in declarations.items()
        ]
        click.echo(json.dumps(document, indent=2))
        return
    summaries = [
        [(name, (one.summary,)) for name, one in declarations.items()]
        for declarations in found.values()
    ]
    Grid(("what it is",), summaries, words=WORDS).show(console())
    rows = [
        [
            (name, (each.name, f"{each.initial}", f"{each.min}", f"{each.max}", each.help))
            for each in one.tunables
        ]
        for declarations in found.values()
        for name, one in declarations.items()
    ]
    Grid(TUNABLES, [block for block in rows if block], words=WORDS).show(console())
    click.echo("--set POLICY.TUNABLE=VALUE sets a tunable")
