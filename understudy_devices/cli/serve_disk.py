# SPDX-License-Identifier: MIT
"""`understudy serve-disk`: serve a timed disk to any guest or program, over NBD."""

import json
import os
import time
from contextlib import AbstractContextManager
from pathlib import Path

import click

from understudy_devices.ask.device import LARGEST, SMALLEST, Device
from understudy_devices.base import scratch, sizes
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.cli.names import Names
from understudy_devices.device import profile
from understudy_devices.device.profile import DiskProfile
from understudy_devices.serve import listening, report, server, store
from understudy_devices.serve.disk import ServedDisk
from understudy_devices.serve.listening import Listening, Place
from understudy_devices.serve.store import SECTOR

EXIT_INTERRUPTED = 130  # docs/decisions/0027-stopping.md
PORT_MAX = 65535
WAYS = {
    "guest": "to a guest (in wall time: without -icount)",
    "host": "to this host, as root",
    "copy": "to fill it",
    "measure": "to measure it",
}


@click.command("serve-disk", epilog="Example: understudy serve-disk --disk cheetah-15k4")
@click.option(
    "--disk",
    "name",
    required=True,
    metavar="NAME",
    type=Names(profile.catalogue),
    help="A disk, or FILE.toml.",
)
@click.option(
    "--virtual-size",
    "size",
    metavar="SIZE",
    help="Size of the disk: 512M, 1.5GiB, 2929687s (sectors) [default: that of its data file or "
    "profile, or 1.5G].",
)
@click.option(
    "--socket",
    type=click.Path(path_type=Path),
    help="Unix socket for clients [default: NAME.sock in this folder].",
    show_default=False,
)
@click.option(
    "--port",
    type=click.IntRange(0, PORT_MAX),
    help="Listen on this port of localhost instead; 0: any free port.",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="File for the data, created if missing [default: memory, lost at the end].",
)
@click.option(
    "--scale",
    type=click.FloatRange(0.001, 1000),
    default=1.0,
    help="k, the slowdown of the disk.",
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=1, help="Random seed.")
@click.option(
    "--records",
    type=click.Path(path_type=Path),
    help="New file with one record per request (format: docs/vpt-sysfs.md).",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(
    name: str,
    size: str | None,
    socket: Path | None,
    port: int | None,
    data: Path | None,
    scale: float,
    seed: int,
    records: Path | None,
    as_json: bool,
) -> int:
    """Serve a disk with the timing of its profile, until Ctrl-C.

    Any program or guest that speaks NBD may use the disk.  Data is stored in memory or a file at
    once.  Each answer is delayed until the disk would have sent it.  At the end the command
    reports how late the answers were.

    A guest with a virtual clock (QEMU with -icount, predict --on vm) can't use this disk: its
    clock does not follow the host's time, so the disk would seem to take almost no time.  Use the
    throttle (docs/vpt-sysfs.md) for such a guest, or link core/ into it.
    """
    disk_profile = profile.load(name)
    disk = ServedDisk(disk_profile, _bytes(disk_profile, size, data), scale, seed)
    began = time.monotonic()
    with _listening(disk_profile.name, socket, port) as at, store.kept(data, disk.size) as storage:
        service = server.Service(disk.timed, storage, disk.at_once, _new(records))
        scratch.say_if_interrupted(f"{disk_profile.name} is no longer served")
        try:
            server.serve(service, at.socket, lambda: _announce(disk, at.place))
        finally:
            if disk.timed.serves:
                _print(disk, at.place, time.monotonic() - began, as_json)
    return EXIT_INTERRUPTED


def _bytes(disk: DiskProfile, size: str | None, data: Path | None) -> int:
    if size:
        return sizes.parse("--virtual-size", size, SMALLEST, LARGEST)
    if data and (data_bytes := store.size_of(data)):
        if not SMALLEST <= data_bytes <= LARGEST:
            raise UserError(
                f"--data: {data} has {data_bytes:,} bytes, which no disk can have; "
                "give --virtual-size"
            )
        return data_bytes
    if disk.facts:
        return disk.facts.capacity_sectors * SECTOR
    return Device.virtual_bytes


def _listening(name: str, path: Path | None, port: int | None) -> AbstractContextManager[Listening]:
    if path and port is not None:
        raise UserError("--socket and --port: a disk listens at one of them; leave the other out")
    if port is not None:
        return listening.at_port(port)
    return listening.at_socket(path or Path(f"{name}.sock"))


def _new(records: Path | None) -> Path | None:
    if records:
        try:
            records.open("xb").close()
        except OSError as error:
            raise UserError(f"--records: {records}: {error.strerror}; name a new file") from error
    return records


def _announce(disk: ServedDisk, place: Place) -> None:
    click.echo(f"{disk.profile.name}, {disk.size:,} bytes, at {place.uri}; attach it", err=True)
    for way, line in place.ways().items():
        click.echo(f"  {WAYS[way]}:\n    {line}", err=True)
    click.echo("Ctrl-C ends it with a report.", err=True)


def _print(disk: ServedDisk, place: Place, seconds: float, as_json: bool) -> None:
    lateness = disk.timed.lateness()
    if as_json:
        facts = {
            "schema": report.SCHEMA,
            "disk": disk.profile.name,
            "bytes": disk.size,
            "scale": disk.scale,
            "seed": disk.seed,
            "uri": place.uri,
            "seconds": seconds,
        }
        click.echo(json.dumps(facts | report.figures(lateness)))
    else:
        for label, text in report.lines(lateness, disk.scale):
            click.echo(f"{label:14}{text}")
    if disk.timed.record_error:
        raise RunFailed(f"--records: {os.strerror(disk.timed.record_error)}; records are cut off")
