# SPDX-License-Identifier: MIT
"""Arguments and options that several sub-commands of `understudy lab` have."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from understudy_devices.base import sizes
from understudy_devices.base.errors import RunFailed
from understudy_devices.base.plain import plain
from understudy_devices.cli.names import Names
from understudy_devices.lab import owner, viewers
from understudy_devices.lab.settings import MIB
from understudy_devices.lab.store import Lab, Team

QUOTA_MIN, QUOTA_MAX = MIB, 4 * 2**40
BANDWIDTH_MIN = 4096
FILE = click.Path(path_type=Path)


def _labs() -> list[str]:
    return [each.parent.name for each in Path("labs").glob("[!.]*/lab.json")]


NAME = click.argument("name", type=Names(_labs))
TEAM = click.argument("team")
FOLDER = click.option(
    "--folder",
    "labs",
    type=FILE,
    default=Path("labs"),
    envvar="UNDERSTUDY_LABS",
    show_envvar=True,
    help="The folder with the labs.",
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
OF_KERNELS = (
    click.option("--kernel", type=FILE, help="Boot this kernel, and no boot loader."),
    click.option("--initrd", type=FILE, help="The kernel's initrd."),
    click.option(
        "--kernel-arguments",
        "arguments",
        default="",
        show_default=False,
        help="The kernel's arguments [default: console=ttyS0 root=/dev/vda rw].",
    ),
)


def with_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that boot a base without its boot loader."""
    for option in reversed(OF_KERNELS):
        function = option(function)
    return function


def team_of(lab: Lab, name: str) -> Team:
    """Return the team that a command is about; UserError if there is none.

    If the user is not of the team, its log has a line for the command.
    """
    team = lab.team(name)
    if viewers.is_of_team(team):
        return team
    with owner.acting(team.folder):
        try:
            viewers.note(team, click.get_current_context().command_path.partition(" ")[2])
        except RunFailed as error:
            click.echo(plain(f"note: {error}"), err=True)
    return team


def quota_bytes(text: str) -> int:
    """Return the size that --quota names."""
    return sizes.parse("--quota", text, QUOTA_MIN, QUOTA_MAX)


def bandwidth_bytes(text: str) -> int:
    """Return the bytes a second that --bandwidth names."""
    return sizes.parse("--bandwidth", text, BANDWIDTH_MIN, QUOTA_MAX)


def megabytes(size: int) -> str:
    """Return a size as people read it."""
    return f"{size / 1e6:,.1f} MB"
