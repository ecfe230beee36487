# SPDX-License-Identifier: MIT
"""Options of commands that carry out runs.

The slots, which are the parts of an experiment (ask/), declare most options; this file
declares the other options.  An option that was not given is None until its slot inserts the
default.
"""

import functools
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from understudy_devices.ask import schedulers, tunables
from understudy_devices.ask.device import Device
from understudy_devices.ask.experiment import Experiment, Run, asked
from understudy_devices.ask.parameters import Parameter, Parameters, only_on
from understudy_devices.ask.setting import SETTINGS
from understudy_devices.ask.workloads import WORKLOADS
from understudy_devices.ask.workloads.workload import Workload
from understudy_devices.base import catalog, sandbox
from understudy_devices.base.errors import UserError
from understudy_devices.cli.names import Names
from understudy_devices.device import profile
from understudy_devices.device.profile import DiskProfile
from understudy_devices.platforms import PLATFORMS

SLOTS: tuple[type[Parameters], ...] = (*WORKLOADS.values(), Run, Device, *SETTINGS.values())


def _predicting(context: click.Context, option: click.Parameter, value: str) -> str:
    if "real" in value.split(","):
        raise UserError(
            "--on: real: to measure a real disk, use understudy measure --device /dev/sdX"
        )
    return value


ON = click.option(
    "--on",
    default="sim",
    type=Names(lambda: (name for name in PLATFORMS if name != "real")),
    callback=_predicting,
    help="Platform: sim (the simulator, at once), vm (a stock kernel in a VM), or sim,vm.",
)
COMMON = (
    click.option(
        "--set",
        "tunables",
        multiple=True,
        metavar="SCHEDULER.TUNABLE=VALUE",
        help="Set a scheduler's tunable, such as cats.busdriver_ns=5000000.",
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
class Settings:
    """The values of all options; `given` has the values of the slots' parameters, by field name."""

    on: str
    seeds: int
    tunables: tuple[str, ...]
    out: Path | None
    as_json: bool
    dry_run: bool
    jobs: int | None = None
    given: dict[str, Any]

    def experiments(
        self, disk: DiskProfile, workload: type[Workload], names: Sequence[str], platform: str
    ) -> list[Experiment]:
        """Return an experiment for each scheduler and seed; every value is checked."""
        self._refuse_useless(workload)
        chosen = tunables.parse(self.tunables, names)
        slots = (workload, Device, SETTINGS[platform], Run)
        values = {name: self.given[name] for name in self.given if name in _declared(slots)}
        first = Run.of(values).seed
        return [
            asked(
                workload,
                schedulers.Choice(name, chosen.get(name, ())),
                disk,
                platform,
                **values | {"seed": seed},
            )
            for name in names
            for seed in range(first, first + self.seeds)
        ]

    def or_else(self, **defaults: Any) -> "Settings":
        """Return the same settings, with a command's own defaults for options not given."""
        return Settings(**{**vars(self), "given": defaults | self.given})

    def without(self, workload: type[Workload]) -> "Settings":
        """Return the same settings without the options that this workload does not have."""
        useful = {name: self.given[name] for name in self.given if not _is_useless(name, workload)}
        return Settings(**{**vars(self), "given": useful})

    def _refuse_useless(self, workload: type[Workload]) -> None:
        """Refuse options that would have no effect in this command."""
        for name in self.given:
            if _is_useless(name, workload):
                raise UserError(_useless(name, workload))
            holders = [key for key, entry in SETTINGS.items() if name in entry.declared()]
            if holders and not set(holders) & set(self.platforms):
                raise UserError(only_on(DECLARED[name].option, holders[0]))

    @property
    def platforms(self) -> list[str]:
        """Return the platforms of --on, in the order in which they were typed."""
        names = [name.strip() for name in self.on.split(",")]
        for name in names:
            catalog.pick("platform", name, PLATFORMS)
        if len(set(names)) < len(names):
            raise UserError(f"--on: {self.on} names a platform twice")
        return names

    @property
    def jobs_at_once(self) -> int:
        """Return the value of --jobs or its default."""
        return self.jobs or (1 if self.given.get("clock") == "wall" else os.cpu_count() or 1)


def workload_of(text: str, settings: Settings) -> tuple[type[Workload], Settings]:
    """Return the workload for a name, for a C file (.c, or a path), or for a job file of fio.

    Also return the settings, with the file inserted.
    """
    if text.endswith((".fio", ".job", ".ini")):
        jobs = OF_WORKLOADS["job_file"].parse
        assert jobs
        return WORKLOADS["fio"], settings.or_else(job_file=jobs(text))
    if not (text.endswith(".c") or "/" in text):
        return catalog.pick("workload", text, WORKLOADS), settings
    file = OF_WORKLOADS["file"].parse
    assert file
    return WORKLOADS["own"], settings.or_else(file=file(text))


def _on_real(workload: type[Workload]) -> bool:
    return workload.on_real


def _declared(slots: Iterable[type[Parameters]]) -> dict[str, Parameter]:
    """Return every parameter of the slots, without duplicates, by field."""
    return {name: entry for slot in slots for name, entry in slot.declared().items()}


DECLARED = _declared(SLOTS)
OF_DISKS = {
    name: entry
    for name, entry in _declared((*filter(_on_real, WORKLOADS.values()), Device, Run)).items()
    if "real" in entry.platforms and name != "virtual_bytes"
}
OF_WORKLOADS = _declared(WORKLOADS.values())
GROUPS = {
    "Workload": {"workload", "workloads", *OF_WORKLOADS},
    "Disk": {"disk", "disks", "path", "destroy_data", *Device.declared()},
    "Schedulers": {"names", "tunables", "unsafe"},
    "Platform": {"on", *_declared(SETTINGS.values())},
    "Runs": {"seeds", "jobs", *Run.declared()},
    "Cluster": {"on_cluster", "workers", "partition", "account", "minutes", "more", "python"},
    "Output": {"out", "as_json", "dry_run"},
}
REST = "Options"
COMPLETED = {
    **dict.fromkeys(("disk", "disks"), Names(profile.catalogue)),
    **dict.fromkeys(("workload", "workloads"), Names(lambda: WORKLOADS)),
    "names": Names(lambda: schedulers.on("vm")),
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


def _is_useless(name: str, workload: type[Workload]) -> bool:
    return name in OF_WORKLOADS and name not in workload.declared()


def _useless(name: str, workload: type[Workload]) -> str:
    users = [entry.name for entry in WORKLOADS.values() if name in entry.declared()]
    return (
        f"{DECLARED[name].option}: {workload.name} does not use it; it goes with --workload "
        + " or ".join(users)
    )


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

    The command receives all values in one argument `settings`.  `seeds` is the default of --seeds.
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
    """Wrap the function: click's arguments become the one argument `settings`."""

    @functools.wraps(function)
    def gathered(*args: Any, **arguments: Any) -> None:
        values = {name: arguments.pop(name, None) for name in DECLARED}
        values = {name: _parsed(name, value) for name, value in values.items() if value is not None}
        own = {
            name: arguments.pop(name) for name in Settings.__dataclass_fields__ if name in arguments
        }
        function(*args, settings=Settings(**{"on": "real", **own}, given=values), **arguments)

    return gathered


def _parsed(name: str, value: Any) -> Any:
    parse = DECLARED[name].parse
    return parse(value) if parse else value
