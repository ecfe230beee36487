# SPDX-License-Identifier: MIT
"""--set NAME.TUNABLE=VALUE sets a tunable of a scheduler, or of a policy of the page cache.

Tunables of this project's schedulers and of policies are checked against their declarations before
anything starts.  The kernel's schedulers check their own tunables when the guest sets them.
"""

import re
from collections.abc import Mapping, Sequence

from understudy_devices.ask.policies import Policy
from understudy_devices.ask.schedulers import Tunables
from understudy_devices.base.catalog import unknown
from understudy_devices.base.errors import UserError
from understudy_devices.device.profile import Servers
from understudy_devices.device.timing import Timing
from understudy_devices.native import descriptions, registry

PAGE_SECTORS = 8
SETTING = re.compile(r"([\w-]+)\.(\w+)=(\d{1,20})")


def parse(
    settings: Sequence[str], schedulers: Sequence[str], policies: Mapping[str, Policy] | None = None
) -> dict[str, Tunables]:
    """Return the tunables of each scheduler in the run, and of each policy, by name."""
    chosen: dict[str, Tunables] = {}
    declared = {each.name: each.described for each in (policies or {}).values()}
    for text in settings:
        match = SETTING.fullmatch(text)
        if not match:
            raise UserError(f'--set: "{text}" is not of the form cats.busdriver_ns=5000000')
        scheduler, name, value = match[1], match[2], int(match[3])
        if scheduler in declared:
            _check(declared[scheduler], name, value)
        elif scheduler not in schedulers:
            others = f", and no policy: {', '.join(declared)}" if declared else ""
            raise UserError(
                f"--set: {scheduler} is not among --schedulers {','.join(schedulers)}{others}"
            )
        elif registry.known(scheduler):
            check(scheduler, name, value)
        chosen[scheduler] = (*chosen.get(scheduler, ()), (name, value))
    return chosen


def following(scheduler: str, disk: Timing) -> dict[str, int]:
    """Return the tunables that describe this disk to a scheduler that has a model of the disk.

    CATS has a shadow copy of the disk's cache.  SCAN's model of the arm needs the duration of a
    seek across the disk.
    """
    segments, segment_sectors, prefetch_sectors = disk.cache
    if disk.buffer:
        segments = disk.buffer["buffer_segments"]
        segment_sectors = disk.buffer["buffer_segment_sectors"]
        prefetch_sectors = _ahead_at_once(disk)
    values = {
        "shadow_segments": segments,
        "shadow_segment_sectors": segment_sectors,
        "shadow_prefetch_sectors": prefetch_sectors,
        "full_seek_ns": max(0, disk.seek[-1][1] - disk.seek[0][1]),
    }
    return _that_it_has(scheduler, values)


def following_array(scheduler: str, array: Servers) -> dict[str, int]:
    """Return the tunables that describe an array: its mean service time, for every request size.

    The service times of an array are not known in advance.  On an array the time between two
    completions is not one request's service time (docs/schedulers/sfq.md).
    """
    values = {"cost_request_ns": array.service_ns, "cost_sector_ns": 0, "settle": 0}
    return _that_it_has(scheduler, values)


def _that_it_has(scheduler: str, values: dict[str, int]) -> dict[str, int]:
    ours = descriptions.scheduler(scheduler) if registry.known(scheduler) else None
    has = {tunable.name for tunable in ours.tunables} if ours else set()
    return {name: value for name, value in values.items() if name in has}


def _ahead_at_once(disk: Timing) -> int:
    """Return how many sectors the drive has surely prefetched while a page was sent over the bus.

    This is the prefetch that a scheduler can assume on any track when the next request follows
    immediately.
    """
    most = disk.buffer["read_ahead_sectors"]
    slowest_ps = max((ps for _, ps in disk.transfer), default=0)
    if not slowest_ps:
        return most
    spare_ps = PAGE_SECTORS * (disk.buffer["bus_sector_ps"] - slowest_ps)
    return min(most, max(0, spare_ps // slowest_ps))


def check(scheduler: str, name: str, value: int) -> None:
    """Refuse a tunable that the scheduler does not have, or a value outside the tunable's range."""
    _check(descriptions.scheduler(scheduler), name, value)


def _check(declared: descriptions.Scheduler, name: str, value: int) -> None:
    tunables = {tunable.name: tunable for tunable in declared.tunables}
    if name not in tunables:
        raise UserError(f"--set: {unknown(f'tunable of {declared.name}', name, tunables)}")
    tunable = tunables[name]
    if not tunable.min <= value <= tunable.max:
        raise UserError(
            f"--set: {declared.name}.{name}: {value} is outside {tunable.min} to {tunable.max}"
        )
