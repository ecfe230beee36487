# SPDX-License-Identifier: MIT
"""The Python interface of detailed.h: detailed magnetic disk drives, which serve as an oracle for
the project's own model.

A drive serves one request at a time. The caller passes the time at which the request is sent:

    drive = random_drive(7)
    completion_ns = drive.request("read", 1_000, 8, at_ns=0)

`Parameters` has the fields of `struct detailed_parameters`, which documents them.
"""

import math
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from cffi import FFI

from understudy_devices.base.programs import Program, compiled

FOLDER = Path(__file__).resolve().parent
SOURCES = tuple(
    str(FOLDER / f"{name}.c")
    for name in ("detailed", "background", "segments", "dirty", "mechanism", "layout")
)
LIBRARY = Program(
    name="detailed.so",
    sources=SOURCES,
    flags=("-shared", "-fPIC", "-ffp-contract=off"),
    libraries=("-lm",),
)

CYLINDERS, CYLINDER_SERPENTINE, SURFACE_SERPENTINE = range(3)
SHORTEST_POSITIONING, CLOOK = range(2)
MS = 1e6
US = 1e3
SECTOR_BYTES = 512

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Zone:
    """Adjacent cylinders whose tracks all have the same number of sectors. The skews are in
    sectors.
    """

    cylinders: int
    sectors: int
    spare_sectors: int = 0
    spare_tracks: int = 0
    track_skew: int = 0
    cylinder_skew: int = 0


@dataclass(frozen=True)
class Parameters:
    """`struct detailed_parameters`. The defaults describe a drive without a cache."""

    zone: tuple[Zone, ...]
    period_ns: float
    heads: int
    layout: int = CYLINDERS
    band_cylinders: int = 0
    seek_a_ns: float = 0.5 * MS
    seek_b_ns: float = 0.1 * MS
    seek_threshold: int = 400
    seek_slope_ns: float = 0.002 * MS
    read_settle_ns: float = 0.5 * MS
    write_settle_ns: float = 0.8 * MS
    head_switch_ns: float = 0.7 * MS
    read_hit_overhead_ns: float = 0.1 * MS
    read_miss_overhead_ns: float = 0.3 * MS
    write_overhead_ns: float = 0.3 * MS
    bus_sector_ns: float = 5 * US
    bus_watermark: float = 0.0
    segments: int = 0
    segment_sectors: int = 256
    ahead_sectors: int = 0
    reach_sectors: int = 0
    ahead_keeps_request: bool = False
    ahead_stops_at_track_end: bool = False
    ahead_stops_at_hits: bool = False
    ahead_after_hit: bool = False
    write_sectors: int = 0
    write_extents: int = 0
    write_low_sectors: int = 0
    write_idle_ns: float = 0
    write_order: int = SHORTEST_POSITIONING
    write_whole_extent: bool = False
    queue_depth: int = 0
    queue_age_ns: float = 1e12


@dataclass(frozen=True)
class Place:
    """The location of a sector. The angle is in rotations."""

    cylinder: int
    head: int
    slot: int
    angle: float


@dataclass(frozen=True)
class Request:
    """A request that is pending in the drive's queue."""

    op: str
    sector: int
    sectors: int
    arrival_ns: int


@cache
def _ffi() -> Any:
    header = (FOLDER / "detailed.h").read_text()
    ffi = FFI()
    ffi.cdef(re.sub(r"^#.*$", "", header, flags=re.MULTILINE))
    return ffi


@cache
def _library() -> Any:
    return _ffi().dlopen(str(compiled(LIBRARY)))


def _declared(parameters: Parameters) -> Any:
    declared = _ffi().new("struct detailed_parameters *")
    for each in fields(parameters):
        if each.name != "zone":
            setattr(declared, each.name, getattr(parameters, each.name))
    declared.zones = len(parameters.zone)
    for index, zone in enumerate(parameters.zone):
        for each in fields(zone):
            setattr(declared.zone[index], each.name, getattr(zone, each.name))
    return declared


WRITE = {"read": 0, "write": 1}


@dataclass
class DetailedDrive:
    """A target that serves one request at a time. No `at_ns` may be before the last completion."""

    parameters: Parameters
    writable: bool = True
    capacity_sectors: int = field(init=False)
    _drive: Any = field(init=False, repr=False)
    _request: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        library = _library()
        drive = library.detailed_new(_declared(self.parameters))
        if not drive:
            raise ValueError(f"no drive can be like this: {self.parameters}")
        self._drive = _ffi().gc(drive, library.detailed_free)
        self._request = library.detailed_request
        self.capacity_sectors = library.detailed_capacity(drive)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle only the parameters, so that unpickling yields a drive in its initial state."""
        return type(self), (self.parameters, self.writable)

    def reset(self) -> None:
        """Reset to the initial state: caches empty, time 0."""
        _library().detailed_reset(self._drive)

    def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        """Serve a request, and return the time at which it completes."""
        completion_ns: int = self._request(self._drive, WRITE[op], sector, sectors, at_ns)
        if completion_ns < 0:
            raise ValueError(f"{op} of {sectors} sectors at {sector}, {at_ns} ns: not possible")
        return completion_ns

    def adapt(self, segments: int, ahead_sectors: int) -> None:
        """Change the cache from now on. If the number of segments changes, all segments are
        emptied.
        """
        if _library().detailed_adapt(self._drive, segments, ahead_sectors):
            raise ValueError(f"{segments} segments, of {self.parameters.segments} at most")

    def flush(self, at_ns: int) -> int:
        """Destage everything, and return the time at which all written data are on the medium."""
        completion_ns: int = _library().detailed_flush(self._drive, at_ns)
        if completion_ns < 0:
            raise ValueError(f"flush at {at_ns} ns: before the last completion")
        return completion_ns

    def choose(self, queue: Sequence[Request], now_ns: int) -> int:
        """Return the index of the request that a drive with command queueing serves next."""
        waiting = _ffi().new("struct detailed_request[]", len(queue))
        for one, request in zip(waiting, queue, strict=True):
            one.write = WRITE[request.op]
            one.sector = request.sector
            one.sectors = request.sectors
            one.arrival_ns = request.arrival_ns
        chosen: int = _library().detailed_choose(self._drive, waiting, len(queue), now_ns)
        if chosen < 0:
            raise ValueError(f"nothing to choose at {now_ns} ns")
        return chosen

    def locate(self, sector: int) -> Place:
        """Return a sector's location on the platters."""
        if not 0 <= sector < self.capacity_sectors:
            raise ValueError(f"sector {sector} of {self.capacity_sectors}")
        place = _ffi().new("struct detailed_place *")
        _library().detailed_locate(self._drive, sector, place)
        return Place(place.cylinder, place.head, place.slot, place.angle)

    def batch(
        self,
        write: npt.ArrayLike,
        sector: npt.ArrayLike,
        sectors: npt.ArrayLike,
        at_ns: npt.ArrayLike = 0,
        think_ns: npt.ArrayLike = 0,
    ) -> Integers:
        """Serve the requests of a trace in order, and return their completion times.

        Each request is sent at its `at_ns`, but not before `think_ns` after the completion of the
        previous request.
        """
        n = len(np.atleast_1d(np.asarray(sector)))
        completion_ns = np.empty(n, np.int64)
        columns = (
            _column("uint8_t", write, n, np.uint8),
            _column("uint64_t", sector, n, np.uint64),
            _column("uint32_t", sectors, n, np.uint32),
            _column("int64_t", at_ns, n, np.int64),
            _column("int64_t", think_ns, n, np.int64),
            _ffi().from_buffer("int64_t[]", completion_ns),
        )
        served = _library().detailed_batch(self._drive, n, *columns)
        if served < n:
            raise ValueError(f"request {served} is not possible")
        return completion_ns


def _column(declared: str, values: npt.ArrayLike, n: int, kind: type[np.generic]) -> Any:
    column = np.ascontiguousarray(np.broadcast_to(np.asarray(values, kind), (n,)))
    return _ffi().from_buffer(f"{declared}[]", column)


# ---- random drives ------------------------------------------------------------------


def random_drive(seed: int) -> DetailedDrive:
    """Return a plausible drive from the years 1996 to 2015, a different one for each seed."""
    return DetailedDrive(random_parameters(seed))


def random_parameters(seed: int) -> Parameters:
    """Return the parameters of a random drive of 4 GB to 2 TB."""
    draw = random.Random(f"detailed drive {seed}")
    while True:
        parameters = _random_parameters(draw)
        gigabytes = _sectors(parameters) * SECTOR_BYTES / 1e9
        if 4 <= gigabytes <= 2000:
            return parameters


def _sectors(parameters: Parameters) -> int:
    return sum(
        (zone.cylinders * parameters.heads - zone.spare_tracks) * zone.sectors
        for zone in parameters.zone
    )


def _grown(first: float, last: float, age: float) -> float:
    """Return a density or rate at an age from 0 (1996) to 1 (2015), if it grew exponentially."""
    return float(first * (last / first) ** age)


def _random_parameters(draw: random.Random) -> Parameters:
    age = draw.random()
    rpm = draw.choice((5400, 5400, 5900, 7200, 7200, 7200, 10000, 10000, 15000, 15000))
    period_ns = 60e9 / rpm
    heads = draw.randint(1, 12)
    cylinders = int(_grown(6_000, 160_000, age) * draw.uniform(0.7, 1.3))
    arm = _random_arm(draw, rpm, cylinders)
    # Fast drives have small platters.
    outer = int(_grown(180, 2400, age) * draw.uniform(0.75, 1.25) * (7200 / max(rpm, 7200)) ** 0.5)
    layout = draw.choice((CYLINDERS, CYLINDER_SERPENTINE, SURFACE_SERPENTINE))
    return Parameters(
        zone=_random_zones(draw, period_ns, heads, cylinders, outer, arm),
        period_ns=period_ns,
        heads=heads,
        layout=layout,
        band_cylinders=draw.choice((0, 16, 50, 150, 500)) if layout == SURFACE_SERPENTINE else 0,
        **arm,
        **_random_controller(draw, age, period_ns / outer),
        **_random_caches(draw, age, outer),
        queue_depth=draw.choice((1, 8, 32, 64)),
        queue_age_ns=draw.uniform(100, 2000) * MS,
    )


def _random_arm(draw: random.Random, rpm: int, cylinders: int) -> dict[str, Any]:
    """Compute the arm's parameters from random seek times of the kinds in data sheets: a mean time
    (over a third of the cylinders) and a full stroke.
    """
    mean_ms = {5400: (9, 13), 5900: (8, 12), 7200: (7, 9.5), 10000: (4.5, 6), 15000: (3.2, 4.2)}
    mean_ns = draw.uniform(*mean_ms[rpm]) * MS
    full_ns = mean_ns * draw.uniform(1.7, 2.0)
    settle_ns = mean_ns * draw.uniform(0.05, 0.1)
    a_ns = mean_ns * draw.uniform(0.02, 0.08)
    slope_ns = (full_ns - mean_ns) / (cylinders * 2 / 3)
    threshold = int(cylinders * draw.uniform(0.1, 0.33))
    there_ns = mean_ns - settle_ns - slope_ns * (cylinders / 3 - threshold)
    return {
        "seek_a_ns": a_ns,
        "seek_b_ns": (there_ns - a_ns) / math.sqrt(threshold),
        "seek_threshold": threshold,
        "seek_slope_ns": slope_ns,
        "read_settle_ns": settle_ns,
        "write_settle_ns": settle_ns + draw.uniform(0.05, 0.4) * MS,
        "head_switch_ns": settle_ns * draw.uniform(0.9, 1.3),
    }


def _random_zones(
    draw: random.Random,
    period_ns: float,
    heads: int,
    cylinders: int,
    outer: int,
    arm: dict[str, Any],
) -> tuple[Zone, ...]:
    """Return random zones. Their tracks get shorter from zone to zone, down to about half."""
    n = draw.randint(4, 20)
    inner = draw.uniform(0.45, 0.7)
    shares = [draw.uniform(0.5, 1.5) for _ in range(n)]
    spare_share = draw.choice((0, 0, 0.005, 0.01))
    spare_tracks = draw.randint(0, 4 * heads)
    slack = draw.uniform(1.02, 1.2)
    zones = []
    for index, share in enumerate(shares):
        slots = int(outer * (1 - (1 - inner) * index / (n - 1)))
        spare = int(slots * spare_share)
        skews = (_skew(time_ns * slack, period_ns, slots) for time_ns in _switches_ns(arm))
        size = int(cylinders * share / sum(shares))
        zones.append(Zone(size, slots - spare, spare, spare_tracks, *skews))
    return tuple(zones)


def _switches_ns(arm: dict[str, Any]) -> tuple[float, float]:
    """Return the times in ns to switch to the next head and to the next cylinder, until the arm has
    settled for a write.
    """
    head_ns = arm["head_switch_ns"] + arm["write_settle_ns"] - arm["read_settle_ns"]
    cylinder_ns = arm["seek_a_ns"] + arm["seek_b_ns"] + arm["write_settle_ns"]
    return head_ns, max(head_ns, cylinder_ns)


def _skew(time_ns: float, period_ns: float, slots: int) -> int:
    return math.ceil(time_ns / period_ns * slots) + 1


def _random_controller(draw: random.Random, age: float, sector_ns: float) -> dict[str, Any]:
    hit_ns = _grown(0.4, 0.04, age) * draw.uniform(0.6, 1.6) * MS
    media_mb_s = SECTOR_BYTES / sector_ns * 1e3
    buses = (10, 20, 40, 80, 100, 133, 160, 300, 320, 600)
    likely = [bus for bus in buses if 0.9 <= bus / media_mb_s <= 6]
    return {
        "read_hit_overhead_ns": hit_ns,
        "read_miss_overhead_ns": hit_ns * draw.uniform(1.0, 2.0),
        "write_overhead_ns": hit_ns * draw.uniform(1.0, 2.0),
        "bus_sector_ns": SECTOR_BYTES / draw.choice(likely) * 1e3,
    }


def _random_caches(draw: random.Random, age: float, outer: int) -> dict[str, Any]:
    """Return a cache of 0.5 to 64 MB, of which a part may be for writes. A segment usually holds at
    least a third of an outer track.
    """
    power = min(max(round(age * 7 + draw.uniform(-1.5, 1.5)), 0), 7)
    sectors = 1024 * 2**power
    writes = draw.random() < 0.6
    write_sectors = sectors // draw.choice((2, 4, 8)) if writes else 0
    room = max((sectors - write_sectors) * 3 // outer, 1)
    segments = draw.choice([n for n in (1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32) if n <= room])
    segment_sectors = (sectors - write_sectors) // segments
    return {
        "segments": segments,
        "segment_sectors": segment_sectors,
        "ahead_sectors": draw.choice((segment_sectors, segment_sectors, 256, 1024)),
        "reach_sectors": draw.choice((0, 64, 256, segment_sectors)),
        "ahead_keeps_request": draw.random() < 0.5,
        "ahead_stops_at_track_end": draw.random() < 0.3,
        "ahead_stops_at_hits": draw.random() < 0.4,
        "ahead_after_hit": draw.random() < 0.5,
        "write_sectors": write_sectors,
        "write_extents": draw.choice((1, 2, 4, 8, 16, 32)) if writes else 0,
        "write_low_sectors": int(write_sectors * draw.choice((0, 0.25, 0.5))),
        "write_idle_ns": draw.choice((0.0, 0.0, draw.uniform(1, 20), draw.uniform(20, 100))) * MS,
        "write_order": draw.choice((SHORTEST_POSITIONING, CLOOK)),
        "write_whole_extent": draw.random() < 0.5,
    }
