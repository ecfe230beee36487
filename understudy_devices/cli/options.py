# SPDX-License-Identifier: MIT
"""Options of commands that carry out runs.

The slots, which are the parts of an experiment (ask/), declare most options; this file
declares the other options.  The functions in api/ check the values.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from understudy_devices.api.options import DECLARED, OF_WORKLOADS, declared_by, keyword
from understudy_devices.ask import policies, schedulers
from understudy_devices.ask.device import Device
from understudy_devices.ask.experiment import Run
from understudy_devices.ask.parameters import Parameter
from understudy_devices.ask.setting import SETTINGS
from understudy_devices.ask.workloads import WORKLOADS
from understudy_devices.ask.workloads.workload import Workload
from understudy_devices.base import sandbox
from understudy_devices.cli.names import Names
from understudy_devices.device import profile
from understudy_devices.platforms import PLATFORMS

ON = click.option(
    "--on",
    default="sim",
    type=Names(lambda: (name for name in PLATFORMS if name != "real")),
    help="Platform: sim (the simulator, at once), vm (a stock kernel in a VM), or sim,vm.",
)
COMMON = (
    click.option(
        "--set",
        "tunables",
        multiple=True,
        metavar="SCHEDULER.TUNABLE=VALUE",
        help="Set a tunable of a scheduler, or of a policy of the page cache, such as "
        "cats.busdriver_ns=5000000.",
    ),
    click.option("--out", type=click.Path(path_type=Path), help="New folder for the results."),
    click.option("--json", "as_json", is_flag=True, help="Print result.json instead of the table."),
    click.option(
        "--dry-run",
        is_flag=True,
        help="Print what would be run and stop.",
    ),
)


def _trust(context: click.Context, option: click.Parameter, value: bool) -> None:
    if value:
        sandbox.leave_open()


UNSAFE = click.option(
    "--unsafe",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_trust,
    help="Compile and run other people's files without a sandbox: you trust them.",
)
OPTIONS = (
    *COMMON,
    UNSAFE,
    click.option(
        "--jobs",
        type=click.IntRange(1, 1000),
        help="Runs at a time [default: one per processor; 1 with --clock wall, where runs would "
        "disturb each other].",
    ),
)


@dataclass(frozen=True, kw_only=True)
class Typed:
    """The options of a command that carries out runs, as they were typed.

    `options` are keyword arguments of the functions in api/; those that were not typed are None.
    """

    options: dict[str, Any]
    out: Path | None
    as_json: bool
    dry_run: bool


def _on_real(workload: type[Workload]) -> bool:
    return workload.on_real


OF_DISKS = {
    name: entry
    for name, entry in declared_by((*filter(_on_real, WORKLOADS.values()), Device, Run)).items()
    if "real" in entry.platforms and name != "virtual_bytes"
}
GROUPS = {
    "Workload": {"workload", "workloads", *OF_WORKLOADS},
    "Disk": {"disk", "disks", "path", "destroy_data", *Device.declared()},
    "Schedulers": {"names", "tunables", "unsafe"},
    "Platform": {"on", *declared_by(SETTINGS.values())},
    "Runs": {"seeds", "jobs", *Run.declared()},
    "Cluster": {"on_cluster", "workers", "partition", "account", "minutes", "more", "python"},
    "Output": {"out", "as_json", "dry_run"},
}
REST = "Options"
COMPLETED = {
    **dict.fromkeys(("disk", "disks"), Names(profile.catalogue)),
    **dict.fromkeys(("workload", "workloads"), Names(lambda: WORKLOADS)),
    "names": Names(lambda: schedulers.on("vm")),
    **{field: Names(kind.ours) for field, kind in policies.KINDS.items()},
}


class Grouped(click.Command):
    """A command whose help groups the options: workload, disk, schedulers and so on.

    A shell completes the names of disks, workloads and schedulers.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        for option in self.params:
            option.type = COMPLETED.get(option.name or "", option.type)

    def groups(self, ctx: click.Context) -> dict[str, list[click.Parameter]]:
        """Return the options of each group, in the order of the help."""
        sections: dict[str, list[click.Parameter]] = {name: [] for name in (*GROUPS, REST)}
        for each in self.get_params(ctx):
            group = (name for name, fields in GROUPS.items() if each.name in fields)
            sections[next(group, REST)].append(each)
        return sections

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each group."""
        for name, options in self.groups(ctx).items():
            if records := [record for each in options if (record := each.get_help_record(ctx))]:
                with formatter.section(name):
                    formatter.write_dl(records)


def _option(name: str, declared: Parameter) -> Callable[..., Any]:
    """Return the decorator that adds the command-line option of a parameter."""
    kind: Any = click.Choice(declared.choices) if declared.choices else declared.kind
    return click.option(
        declared.option,
        name,
        type=str if declared.parse else kind,
        metavar=declared.metavar,
        help=declared.help,
    )


def with_settings(
    seeds: int = 1, *, predicts: bool = True
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a command with all slots' parameters and the options declared here.

    The command receives all values in one argument `typed`.  `seeds` is the default of --seeds.
    If `predicts` is false, the command measures a disk of this machine, and lacks --on, --jobs and
    --unsafe.
    """
    repeated = click.option(
        "--seeds",
        type=click.IntRange(1, 1000),
        default=seeds,
        help="Number of seeds, starting from --seed.",
    )
    declared = DECLARED if predicts else OF_DISKS
    of_slots = [_option(name, entry) for name, entry in declared.items()]
    own = [ON, repeated, *of_slots, *OPTIONS] if predicts else [repeated, *of_slots, *COMMON]

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        wrapped = _gathered(function)
        for option in reversed(own):
            wrapped = option(wrapped)
        return wrapped

    return decorate


def _gathered(function: Callable[..., None]) -> Callable[..., None]:
    """Wrap the function: click's arguments become the one argument `typed`."""

    @functools.wraps(function)
    def gathered(*args: Any, **arguments: Any) -> None:
        options = {
            keyword(declared): arguments.pop(name, None) for name, declared in DECLARED.items()
        }
        names = [name for name in ("on", "seeds", "tunables", "jobs") if name in arguments]
        own: dict[str, Any] = {name: arguments.pop(name) for name in names}
        rest = {name: arguments.pop(name) for name in ("out", "as_json", "dry_run")}
        function(*args, typed=Typed(options={**own, **options}, **rest), **arguments)

    return gathered
