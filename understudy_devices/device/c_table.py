# SPDX-License-Identifier: MIT
"""A profile as a table in C, for libvesper (vesper/vesper.h): a kernel needs no parser of TOML.

A table for disks of any size holds the samples as they are in the profile, in whole parts of the
disk, whole ns, and whole bytes a second; vesper/at_size.c computes the curves for a size as
timing.py does, to the last bit.  Not every profile has such numbers.  A table for one size holds
the curves of that size, in the core's units.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from understudy_devices.base.errors import UserError
from understudy_devices.base.plain import plain
from understudy_devices.device.profile import DiskProfile, Scaling, SeekCurve, Throughput
from understudy_devices.device.section import SECTOR_BYTES, exact
from understudy_devices.device.timing import Timing, flat

SMALL_BYTES = 16 * 2**20  # SMALL_BYTES in vesper/at_size.c, also for the next two
REAL_TRACK_SECTORS, TRACK_SECTORS = 800, 8
WHOLE_MAX = 2**20
POINTS_MAX = 512  # AT_SIZE_POINTS
ANY_SECTORS = 2**30  # a size at which settings that do not depend on the size are computed
Rows = Sequence[Sequence[int]]

HEAD = """\
/* SPDX-License-Identifier: MIT */
/*
 * Profiles of disks for libvesper, made by this command from the project Understudy:
 *
 *	{command}
 */
/* clang-format off */
#include "vesper.h"
"""


@dataclass(frozen=True)
class Table:
    """A profile in the terms of struct vesper_profile; `sectors` is 0 if it has any size."""

    name: str
    sectors: int
    queue_depth: int
    seek: tuple[int, Rows]
    rates: tuple[int, Rows]
    scaling: tuple[int, int]
    settings: Mapping[str, int]
    zones: Rows = ()
    slips: Rows = ()


def any_size(disk: DiskProfile) -> Table:
    """Return the table of a profile for disks of any size, or raise a UserError that says why the
    profile has none."""
    _check_has_head(disk)
    if disk.layout:
        raise _needs_size(disk, "its tracks have a layout")
    timing = disk.timing(ANY_SECTORS, _depth(disk))
    scaling = disk.scaling
    return Table(
        name=disk.name,
        sectors=0,
        queue_depth=disk.queue.depth if disk.queue else 1,
        seek=_seek(disk, disk.seek) if disk.seek else (1, ((0, 0), (1, timing.seek[-1][1]))),
        rates=_rates(disk, disk.throughput) if disk.throughput else (0, ()),
        scaling=(scaling.real_track_sectors, scaling.track_sectors) if scaling else (0, 0),
        settings=_settings(timing),
    )


def one_size(disk: DiskProfile, virtual_bytes: int, *, scales: bool = True) -> Table:
    """Return the table of a profile for disks of one size.

    Tracks of a small disk are scaled (SIGCSE 2006 section 2.3) unless `scales` is false; the
    profile's own scaling always counts.
    """
    _check_has_head(disk)
    sectors = virtual_bytes // SECTOR_BYTES
    can_scale = disk.throughput and not disk.scaling and not disk.knows_positions
    if scales and can_scale and virtual_bytes < SMALL_BYTES and not disk.layout:
        shorter = Scaling(real_track_sectors=REAL_TRACK_SECTORS, track_sectors=TRACK_SECTORS)
        disk = disk.model_copy(update={"scaling": shorter})
    timing = disk.timing(sectors, _depth(disk))
    return Table(
        name=disk.name,
        sectors=sectors,
        queue_depth=disk.queue.depth if disk.queue else 1,
        seek=(sectors, timing.seek),
        rates=(sectors, timing.transfer),
        scaling=(0, 0),
        settings=_settings(timing),
        zones=[flat(zone) for zone in timing.tracks.zones],
        slips=timing.tracks.slips,
    )


def _check_has_head(disk: DiskProfile) -> None:
    if disk.array:
        raise UserError(f"{disk.name}: an array has no head: libvesper simulates disks")


def _needs_size(disk: DiskProfile, why: str) -> UserError:
    return UserError(
        f"{disk.name}: no table for disks of any size, since {why}; add --virtual-size SIZE"
    )


def _depth(disk: DiskProfile) -> int:
    """Return a depth with which the timing contains the queue's settings."""
    return disk.queue.depth if disk.queue else 1


def _settings(timing: Timing) -> dict[str, int]:
    """Return the settings that are not 0; how much of its queue a drive uses is set later."""
    values = timing.settings()
    del values["queue_depth"]
    return {name: value for name, value in values.items() if value}


def _seek(disk: DiskProfile, seek: SeekCurve) -> tuple[int, Rows]:
    whole, places = _places(disk, "seek.at", seek.at, len(seek.ms))
    ns = [exact(ms) * 10**6 for ms in seek.ms]
    if any(each.denominator != 1 for each in ns):
        raise _needs_size(disk, "a time in seek.ms is not in whole ns")
    return whole, list(zip(places, map(int, ns), strict=True))


def _rates(disk: DiskProfile, throughput: Throughput) -> tuple[int, Rows]:
    rates = [exact(mb_per_s) * 10**6 for mb_per_s in throughput.mb_per_s]
    if any(each.denominator != 1 for each in rates):
        raise _needs_size(disk, "a rate in throughput.mb_per_s is not in whole bytes a second")
    if not throughput.zones:
        if len(set(rates)) > 1:
            raise _needs_size(disk, "throughput has lines instead of zones")
        return 1, [(0, int(rates[0]))]
    whole, places = _places(disk, "throughput.at", throughput.at, len(rates))
    return whole, list(zip(places, map(int, rates), strict=True))


def _places(
    disk: DiskProfile, key: str, at: Sequence[float] | None, values: int
) -> tuple[int, list[int]]:
    """Return the number of parts into which the places divide the disk, and the places in them."""
    if values > POINTS_MAX // 2:
        raise _needs_size(disk, f"{key} has more than {POINTS_MAX // 2} places")
    if at is None:
        return values - 1, list(range(values))
    places = [exact(each) for each in at]
    whole = lcm(*(place.denominator for place in places))
    if whole > WHOLE_MAX:
        raise _needs_size(disk, f"{key} has places of too many digits")
    return whole, [int(Fraction(whole) * place) for place in places]


# ---- as text --------------------------------------------------------------------------------


def text(tables: Sequence[Table], command: str, *, listed: bool = False) -> str:
    """Return a C file with the tables, and if they are `listed`, with the list that libvesper looks
    names up in.  Tables share equal arrays."""
    arrays: dict[str, str] = {}
    static = "static " if listed else ""  # other files find them by name
    structures = [static + _structure(table, arrays) for table in tables]
    definitions = [f"static const {start} = {body};" for body, start in arrays.items()]
    head = HEAD.format(command=plain(command).replace("*/", "* /"))
    parts = [head, *definitions, *structures]
    if listed:
        names = "".join(f"\t&{symbol(table.name)},\n" for table in tables)
        parts += [
            f"const struct vesper_profile *const vesper_profiles[] = {{\n{names}}};",
            f"const uint32_t vesper_profiles_nr = {len(tables)};",
        ]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def symbol(name: str) -> str:
    """Return the name in C of a profile's table."""
    return "vesper_" + "".join(each if each.isascii() and each.isalnum() else "_" for each in name)


def _structure(table: Table, arrays: dict[str, str]) -> str:
    settings = [f'{{ "{name}", {_number(value)} }}' for name, value in table.settings.items()]
    own = symbol(table.name)
    lines = [
        f".name = {json.dumps(table.name)},",
        f".sectors = {table.sectors}," if table.sectors else "",
        f".queue_depth = {table.queue_depth},",
        f".seek = {_curve(table.seek, f'{own}_seek', arrays)},",
        f".rates = {_curve(table.rates, f'{own}_rates', arrays)}," if table.rates[1] else "",
        f".real_track_sectors = {table.scaling[0]}," if table.scaling[0] else "",
        f".track_sectors = {table.scaling[1]}," if table.scaling[0] else "",
        *_pointer("setting", "struct vesper_setting {}[]", settings, own, arrays),
        *_pointer("zone", "uint64_t {}[][13]", _braced(table.zones), own, arrays),
        *_pointer("slip", "uint64_t {}[][2]", _braced(table.slips), own, arrays),
    ]
    body = "".join(f"\t{line}\n" for line in lines if line)
    return f"const struct vesper_profile {own} = {{\n{body}}};"


def _curve(curve: tuple[int, Rows], name: str, arrays: dict[str, str]) -> str:
    whole, rows = curve
    array = _array(f"struct vesper_point {name}[]", _braced(rows), arrays)
    return f"{{ {whole}, {len(rows)}, {array} }}"


def _pointer(
    field: str, kind: str, items: Sequence[str], own: str, arrays: dict[str, str]
) -> list[str]:
    if not items:
        return []
    array = _array(kind.format(f"{own}_{field}"), items, arrays)
    return [f".{field}s = {len(items)},", f".{field} = {array},"]


def _array(start: str, items: Sequence[str], arrays: dict[str, str]) -> str:
    """Add an array, unless there is one of these items already; return its name."""
    body = "{\n" + "".join(f"\t{item},\n" for item in items) + "}"
    return arrays.setdefault(body, start).split("[")[0].split(" ")[-1]


def _braced(rows: Rows) -> list[str]:
    return [f"{{ {', '.join(map(_number, row))} }}" for row in rows]


def _number(value: int) -> str:
    return f"{value}u" if value < 2**32 else f"{value}ull"
