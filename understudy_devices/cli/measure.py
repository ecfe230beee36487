# SPDX-License-Identifier: MIT
"""`understudy measure`: measure schedulers on a real disk (PERFORM 2010, section 6)."""

from dataclasses import replace
from pathlib import Path

import click

from understudy_devices.api import options
from understudy_devices.api.predict import Question
from understudy_devices.api.settings import Settings
from understudy_devices.ask.workloads import WORKLOADS
from understudy_devices.ask.workloads.workload import SECTOR_BYTES, Workload
from understudy_devices.base import catalog
from understudy_devices.base.errors import UserError
from understudy_devices.cli.options import Grouped, Typed, with_settings
from understudy_devices.cli.session import carry_out
from understudy_devices.platforms.real import disk as disks
from understudy_devices.platforms.real import on_disk, queue
from understudy_devices.platforms.real.disk import Disk

PLAYED = {name: entry for name, entry in WORKLOADS.items() if entry.on_real}
EXAMPLE = (
    "Example: understudy measure --device /dev/sdX --workload random --processes 20 "
    "--schedulers none,mq-deadline,bfq"
)


@click.command("measure", cls=Grouped, epilog=EXAMPLE)
@click.option(
    "--device",
    "path",
    type=click.Path(path_type=Path, readable=False),
    required=True,
    help="A whole disk that nobody uses.",
)
@click.option("--workload", default="random", help=f"One of {', '.join(PLAYED)}.")
@click.option("--schedulers", "names", help="Comma-separated [default: all that the kernel has].")
@click.option("--destroy-data", is_flag=True, help="The workload may write, anywhere on the disk.")
@with_settings(predicts=False)
@click.pass_obj
def command(
    line: str,
    path: Path,
    workload: str,
    names: str | None,
    destroy_data: bool,
    typed: Typed,
) -> None:
    """Measure I/O schedulers on a disk of this machine.

    The workloads and the table are those of predict --on vm, but the disk itself determines the
    times.  Each scheduler runs in turn.  At the end the disk's settings are restored, even if the
    command is interrupted.  Nothing is written without --destroy-data.
    """
    given = options.parsed({name: typed.options[name] for name in options.FIELDS})
    seeds, tunables = typed.options["seeds"], typed.options["tunables"]
    settings = Settings(on="real", seeds=seeds, tunables=tunables, jobs=1, given=given)
    for notice in on_disk.put_back_left():
        click.echo(notice, err=True)
    workload_class = catalog.pick("workload", workload, WORKLOADS)
    workload_class.check_platform("real")
    disk = disks.find(path, destroy_data)
    _check_writing(workload_class, settings, disk, destroy_data)
    if destroy_data and not typed.dry_run:
        click.echo(f"--destroy-data: what is on {disk.path} is being lost", err=True)
    schedulers = queue.chosen(names, disk)
    question = Question(line, _for(disk, settings), disk.profile(), workload_class, schedulers)
    carry_out(question, typed)


def _check_writing(
    workload: type[Workload], settings: Settings, disk: Disk, destroy_data: bool
) -> None:
    """Refuse workloads that overwrite data, unless --destroy-data is given."""
    writes = settings.given.get("writes_percent", 0) > 0
    if destroy_data and not writes and not workload.reads_files:
        raise UserError(f"--destroy-data: {workload.name} writes nothing; leave it out")
    if destroy_data:
        return
    if writes:
        raise UserError(f"--writes: what is on {disk.path} would be lost: add --destroy-data")
    if workload.reads_files:
        raise UserError(
            f"--workload: {workload.name} uses a file system of its own; what is on {disk.path} "
            "would be lost: add --destroy-data"
        )


def _for(disk: Disk, settings: Settings) -> Settings:
    """Return the settings, with the disk's size and the default of --queue-depth inserted.

    By default the disk gets one request at a time, if its queue depth can be set.
    """
    at_once = settings.given.get("queue_depth")
    if at_once and not disk.told_depth:
        raise UserError(
            f"--queue-depth: {disk.path} takes {disk.at_once_max} at once, and this can't be "
            "changed; leave --queue-depth out"
        )
    values = settings.given | {
        "virtual_bytes": disk.sectors * SECTOR_BYTES,
        "queue_depth": at_once or (1 if disk.told_depth else disk.at_once_max),
    }
    return replace(settings, given=values)
