# SPDX-License-Identifier: MIT
"""Options of commands that can carry out their runs on a cluster with Slurm."""

import functools
import re
from collections.abc import Callable
from typing import Any

import click

from understudy_devices.base.errors import UserError
from understudy_devices.engine.cluster import Request, check_installed, check_slurm

DAY, HOUR = 24 * 60, 60
NAME = re.compile(r"[a-z][a-z0-9-]+")
TIME = re.compile(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?")


def _minutes(context: click.Context, option: click.Parameter, text: str | None) -> int:
    """Return the minutes of a time in one of Slurm's notations, rounded up; 0 without a time."""
    if text is None:
        return 0
    match = TIME.fullmatch(text)
    if not match:
        raise UserError(f"--time: {text} is not a time; write minutes, H:M:S or D-H:M:S")
    days, *rest = match.groups()
    first, second, third = (int(number or 0) for number in rest)
    if days is not None:
        minutes, seconds = int(days) * DAY + first * HOUR + second, third
    elif rest[2] is not None:
        minutes, seconds = first * HOUR + second, third
    else:
        minutes, seconds = first, second
    if not minutes + seconds:
        raise UserError("--time: a task needs some time; write minutes, H:M:S or D-H:M:S")
    return minutes + (seconds > 0)


def _pairs(context: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> Any:
    pairs = [text.removeprefix("--").partition("=") for text in texts]
    for text, (name, equals, value) in zip(texts, pairs, strict=True):
        if not NAME.fullmatch(name) or bool(equals) != bool(value):
            raise UserError(f"--sbatch: {text} is not of the form OPTION=VALUE, such as qos=long")
    return {name: value or True for name, _, value in pairs}


_PLACE = (
    click.option("--partition", help="Slurm's partition."),
    click.option("--account", help="Slurm's account."),
)
_MORE = (
    click.option(
        "--sbatch",
        "more",
        multiple=True,
        metavar="OPTION=VALUE",
        callback=_pairs,
        help="Another option of sbatch, such as qos=long.",
    ),
    click.option(
        "--node-python", "python", help="The Python on the nodes [default: this command's]."
    ),
)
OPTIONS = (
    click.option(
        "--on-cluster",
        is_flag=True,
        help="Carry out the runs as array jobs of Slurm; --out is on a disk that all nodes share.",
    ),
    click.option(
        "--workers",
        type=click.IntRange(1, 1000),
        default=8,
        help="Tasks at a time.",
    ),
    *_PLACE,
    click.option(
        "--time",
        "minutes",
        default="60",
        metavar="TIME",
        callback=_minutes,
        help="Most time for a task: minutes, H:M:S or D-H:M:S.",
    ),
    *_MORE,
)
OPTIONS_OF_JOB = (
    click.option(
        "--on-cluster",
        is_flag=True,
        help="Let Slurm start it on one of its nodes, which share the folder.",
    ),
    *_PLACE,
    click.option(
        "--time",
        "minutes",
        metavar="TIME",
        callback=_minutes,
        help="Suspend it before so much time is over: minutes, H:M:S or D-H:M:S "
        "[default: the partition's].",
    ),
    *_MORE,
)
NAMES = ("workers", "partition", "account", "minutes", "more", "python")


def with_cluster(function: Callable[..., None]) -> Callable[..., None]:
    """Decorate a command with the options of a cluster.

    The command receives them in one argument `cluster`, which is None without --on-cluster.
    """
    return _with(OPTIONS, {}, check_installed, function)


def with_job(function: Callable[..., None]) -> Callable[..., None]:
    """Decorate a command that may be one job of Slurm, as `with_cluster` does."""
    return _with(OPTIONS_OF_JOB, {"workers": 1}, check_slurm, function)


def _with(
    options: tuple[Any, ...],
    fixed: dict[str, Any],
    check: Callable[[], None],
    function: Callable[..., None],
) -> Callable[..., None]:

    @functools.wraps(function)
    def gathered(*args: Any, on_cluster: bool, **arguments: Any) -> None:
        context = click.get_current_context()
        given = {name: fixed.get(name) or arguments.pop(name) for name in NAMES}
        if not on_cluster:
            for option in context.command.params:
                source = context.get_parameter_source(str(option.name))
                if option.name in NAMES and source is click.core.ParameterSource.COMMANDLINE:
                    raise UserError(f"{option.opts[0]} goes with --on-cluster")
        else:
            check()
        function(*args, cluster=Request(**given) if on_cluster else None, **arguments)

    for option in reversed(options):
        gathered = option(gathered)
    return gathered
