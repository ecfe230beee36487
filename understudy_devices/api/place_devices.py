# SPDX-License-Identifier: MIT
"""The devices of `place`.  A device without a number of servers is like the one on which the traces
were recorded."""

from collections.abc import Iterable, Mapping

from understudy_devices.api import vms as of_vms
from understudy_devices.api.depth import HINT, Depth
from understudy_devices.base.errors import UserError
from understudy_devices.consolidation.placement.problem import Device
from understudy_devices.consolidation.placement.speeds import LEAST, MOST
from understudy_devices.consolidation.scenario import SERVERS_MOST

OPTION = "--queue-depths"
SPEEDS = "--speeds"
TRACED_ON = "--traced-on"


def parsed(text: str) -> dict[str, int | None]:
    """Return each device's number of servers, or None, from a text such as "fast=64,slow"."""
    devices: dict[str, int | None] = {}
    for word in filter(None, text.split(",")):
        name, equals, value = word.partition("=")
        wrong = (
            f"{OPTION}: {word}: write NAME=SERVERS, from 1 to {SERVERS_MOST:,}, or only NAME for a "
            "device like the traced one"
        )
        if not name:
            raise UserError(wrong)
        if name in devices:
            raise UserError(f"{OPTION}: {name} is named twice")
        devices[name] = of_vms.whole(value, SERVERS_MOST, wrong) if equals else None
    if not devices:
        raise UserError(f"{OPTION}: no device; write NAME=SERVERS,..., as in fast=64,slow=32")
    return devices


def speeds(text: str, devices: Iterable[str]) -> dict[str, float]:
    """Return the speed of each device, relative to the traced one, from a text such as
    "fast=1.5"."""
    known = dict.fromkeys(devices, 1.0)
    for name, value in of_vms.pairs(SPEEDS, text).items():
        if name not in known:
            raise UserError(f"{SPEEDS}: no device is called {name}; there are {', '.join(known)}")
        wrong = f"{SPEEDS}: {name}={value}: write NAME=K, from {LEAST:g} to {MOST:g}"
        known[name] = of_vms.number(value, LEAST, MOST, wrong)
    return known


def numbered(
    devices: Mapping[str, int | None], fast: Mapping[str, float], traced: Depth
) -> tuple[Device, ...]:
    """Return the devices, with the traced device's number of servers where there is none.

    Raise a UserError if that is unknown.
    """
    unknown = [name for name, servers in devices.items() if servers is None]
    if unknown and traced.most is not None:
        raise UserError(
            f"{OPTION}: {unknown[0]} has no number of servers, and {traced.source}; give the "
            f"number, as {unknown[0]}=8, or that of the traced device, as {TRACED_ON} 8. {HINT}"
        )
    return tuple(
        Device(name, servers or traced.servers, fast[name]) for name, servers in devices.items()
    )


def line(traced: Depth) -> str:
    """Return what to say about the traced device if its D was not given."""
    if traced.most is None:
        return traced.line
    return (
        f"{TRACED_ON}: {traced.source}; response times are taken for service times, which is the "
        "safe side: if requests waited, the VMs need less than predicted"
    )
