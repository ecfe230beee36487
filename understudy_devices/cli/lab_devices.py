# SPDX-License-Identifier: MIT
"""Options for the devices that the VMs of a base have at each boot."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from understudy_devices.base import sizes
from understudy_devices.base.errors import UserError
from understudy_devices.lab.base_image import DEVICES, Source

if TYPE_CHECKING:
    from understudy_devices.lab.devices import Device

SIZE_MIN, SIZE_MAX = 2**20, 2**40
DISK_SIZE = "64MiB"
OPTIONS = (
    click.option(
        "--disk",
        "profile",
        metavar="NAME|FILE.toml",
        help="A second disk with the timing of this profile, such as cheetah-15k4.",
    ),
    click.option(
        "--disk-size",
        metavar="SIZE",
        help=f"Size of that disk [{DISK_SIZE}]; its data is in the guest's memory.",
    ),
    click.option(
        "--card",
        "cards",
        metavar="NAME|FILE.yaml",
        multiple=True,
        help="A virtual card, such as zach1; repeatable.",
    ),
)


def with_devices(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for devices."""
    for option in reversed(OPTIONS):
        function = option(function)
    return function


def disk_of(name: str, option: str, size: str | None, memory_bytes: int) -> "Device":
    """Return the disk of a profile, in the size of this option, for VMs with so much memory;
    UserError if it takes more than half of that."""
    from understudy_devices.device import profile
    from understudy_devices.lab import devices

    size_bytes = sizes.parse(option, size or DISK_SIZE, SIZE_MIN, SIZE_MAX)
    disk = devices.disk(profile.load(name), size_bytes)
    if size_bytes > memory_bytes // 2:
        raise UserError(
            f"{option}: {size or DISK_SIZE}: the disk's data may take half of the guest's memory, "
            f"which has {memory_bytes // 2**20} MiB: take a smaller disk, or more --memory"
        )
    return disk


def chosen(
    profile: str | None, size: str | None, cards: Sequence[str], memory_bytes: int
) -> "list[Device]":
    """Return the devices that the options name, for VMs with so much memory."""
    if size and not profile:
        raise UserError("--disk-size goes with --disk")
    if not profile and not cards:
        return []
    from understudy_devices.lab import devices

    every = [devices.card(name) for name in dict.fromkeys(cards)]
    if profile:
        every.append(disk_of(profile, "--disk-size", size, memory_bytes))
    return every


def check(every: "Sequence[Device]", source: Source | None) -> None:
    """Build the modules; UserError if they do not fit the base, if that is there yet."""
    if not every:
        return
    from understudy_devices.lab import debian, devices, ext4
    from understudy_devices.platforms.vm import packages

    ext4.check("--disk, --card")
    ours = packages.fetch_kernel()
    if source:
        source.check()
        if not source.kernel:
            raise UserError(
                f"--disk, --card: which kernel {source.disk} boots is not known before it boots: "
                "name it by --kernel, or use understudy lab plug when a VM runs"
            )
        devices.check_kernel(source.kernel, ours)
        if debian.loads_no_devices(source.disk):
            click.echo(
                f"note: {source.disk} was made before --base debian had the unit lab-devices, so "
                "its VMs will have no devices: make the base anew",
                err=True,
            )
    for each in every:
        each.modules(ours)


def added(every: "Sequence[Device]", source: Source, folder: Path) -> Source:
    """Return a base with a drive for these devices, which is written into this folder."""
    from understudy_devices.lab import devices
    from understudy_devices.platforms.vm import packages

    kernel = packages.fetch_kernel()
    assert source.kernel, "check has seen to that"
    devices.check_kernel(source.kernel, kernel)
    devices.write(every, kernel, folder / DEVICES)
    return replace(source, devices=folder / DEVICES)
