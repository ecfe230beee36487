# SPDX-License-Identifier: MIT
"""The portable core from Python: schedulers, replay, table, drive, draws.

The C headers hold the contracts; this module adds types, arrays and errors.
Times are integer nanoseconds, positions sectors.
"""

import errno
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from understudy._core import ffi, lib
from understudy.timing import Timing, steps

READ, WRITE = 0, 1
NONE_PICKED = -1
REASONS = ("order", "hit", "table", "expired", "waited", "burst")  # enum pick_reason
TABLE_MAX = 4096
POSITION_MAX = 2**48 - 1
CURVE_POINTS_MAX: int = lib.CURVE_POINTS_MAX
DISK_NS_MAX: int = lib.DISK_NS_MAX
SECTOR_PS_MAX: int = lib.DISK_SECTOR_PS_MAX
CACHE_SEGMENTS_MAX: int = lib.DISK_CACHE_SEGMENTS_MAX
ADD, REMOVE, NEXT, COMPLETED = (
    lib.TAPE_ADD,
    lib.TAPE_REMOVE,
    lib.TAPE_NEXT,
    lib.TAPE_COMPLETED,
)

U8 = npt.NDArray[np.uint8]
U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]
Columns = dict[str, npt.NDArray[Any]]
Tape = npt.NDArray[Any]  # of CALL: every call into a scheduler, core/tape.h


def _dtype(structure: str) -> np.dtype[Any]:
    """A C structure as NumPy has it; the compiler has checked that it is the header's."""
    fields = ffi.typeof(structure).fields
    return np.dtype([(name, _format(field.type)) for name, field in fields])


def _format(ctype: Any) -> Any:
    if ctype.kind != "array":
        return f"<u{ffi.sizeof(ctype)}"
    is_text = ctype.item.cname == "char"
    return f"S{ctype.length}" if is_text else (_format(ctype.item), ctype.length)


CALL = _dtype("struct tape_call")
TAPE_HEADER = _dtype("struct tape_header")
TAPE_MAGIC: int = lib.TAPE_MAGIC


@dataclass(frozen=True)
class Tunable:
    """One parameter of a scheduler."""

    name: str
    help: str
    initial: int
    min: int
    max: int


@dataclass(frozen=True)
class Counter:
    """One figure that a scheduler keeps."""

    name: str
    help: str


@dataclass(frozen=True)
class Scheduler:
    """What a scheduler says of itself."""

    name: str
    summary: str
    tunables: tuple[Tunable, ...]
    counters: tuple[Counter, ...]


@dataclass(frozen=True)
class Arrivals:
    """Rows in order of time.

    A row with the id of an earlier one changes that request: it was merged with
    another or, if the row has no sectors, went into another.
    """

    time_ns: npt.ArrayLike
    id: npt.ArrayLike
    sector: npt.ArrayLike
    sectors: npt.ArrayLike
    owner: npt.ArrayLike
    op: npt.ArrayLike


@dataclass(frozen=True)
class Picks:
    """What a scheduler did at each instant: an id or NONE_PICKED."""

    id: I64
    reason: U8
    wake_ns: U64
    counters: dict[str, int]


@cache
def schedulers() -> dict[str, Scheduler]:
    """Every scheduler in core/schedulers/, by name."""
    found = (_describe(lib.registry_get(i)) for i in range(lib.registry_count()))
    return {scheduler.name: scheduler for scheduler in sorted(found, key=lambda s: s.name)}


def play(
    scheduler: str,
    tape: Tape,
    *,
    tunables: Mapping[str, int] | None = None,
    capacity_sectors: int = POSITION_MAX,
    max_requests: int = 1024,
) -> tuple[Tape, dict[str, int]]:
    """Play a tape (sim/replay.h): the same with the scheduler's answers in it, its counters."""
    described = schedulers()[scheduler]
    values = tunable_values(described, tunables or {})
    counters = np.zeros(len(described.counters), np.uint64)
    played = tape.copy()
    run = ffi.new("struct replay *")
    run.scheduler = find_scheduler(scheduler)
    run.tunables = buffer(values)
    run.counters = buffer(counters)
    run.capacity_sectors = capacity_sectors
    run.max_requests = _pending_limit(max_requests)
    run.places = int(played["place"].max(initial=0)) + 1
    run.nr_calls = len(played)
    run.calls = ffi.cast("struct tape_call *", ffi.from_buffer(played))
    error = -lib.replay_run(run)
    if error == errno.EINVAL:
        raise ValueError(f"{scheduler} can't be played this tape: a call does not fit")
    if error:
        why = f"{os.strerror(error)}; is max_requests enough?"
        raise ValueError(f"{scheduler} can't be played this tape: {why}")
    names = (counter.name for counter in described.counters)
    return played, dict(zip(names, counters.tolist(), strict=True))


def replay(
    scheduler: str,
    arrivals: Arrivals,
    pick_ns: npt.ArrayLike,
    completion_ns: npt.ArrayLike | None = None,
    *,
    tunables: Mapping[str, int] | None = None,
    capacity_sectors: int = POSITION_MAX,
    max_requests: int = 1024,
) -> Picks:
    """Ask a scheduler for a request at each instant, and say what it answered.

    What was picked is complete at `completion_ns`, which is not before its pick nor after
    the next, or by default when the next pick is made.  At one instant completions come
    first, then arrivals, then the pick.
    """
    tape, ids = _made_up_tape(arrivals, pick_ns, completion_ns)
    played, counters = play(
        scheduler,
        tape,
        tunables=tunables,
        capacity_sectors=capacity_sectors,
        max_requests=max_requests,
    )
    picks = played[played["kind"] == NEXT]
    picked = picks["id"] > 0
    picked_id = np.full(len(picks), NONE_PICKED, np.int64)
    picked_id[picked] = ids[picks["place"][picked]]
    return Picks(
        id=picked_id,
        reason=picks["reason"].copy(),
        wake_ns=picks["wake_ns"].copy(),
        counters=counters,
    )


def optimal_order(head: int, positions: Sequence[int]) -> list[int]:
    """The statically optimal order of ascending positions, as indices into them."""
    if len(positions) > TABLE_MAX or list(positions) != sorted(positions):
        raise ValueError(f"positions have to ascend, {TABLE_MAX} of them at most")
    if not all(0 <= position <= POSITION_MAX for position in [head, *positions]):
        raise ValueError(f"positions are from 0 to {POSITION_MAX}")
    table = ffi.new("struct optimal_order *")
    if lib.optimal_order_init(table, max(len(positions), 1), POSITION_MAX):
        raise MemoryError
    try:
        for i, position in enumerate(positions):
            table.position[i] = position
        lib.optimal_order_find(table, len(positions), head)
        return [table.order[i] for i in range(len(positions))]
    finally:
        lib.optimal_order_exit(table)


class Drive:
    """A drive in motion (core/drive.h): curves, cache, head and phase."""

    def __init__(
        self,
        seek: Sequence[tuple[int, int]],
        intercept_ns: int,
        *,
        transfer: Sequence[tuple[int, int]] = (),
        zones: Sequence[tuple[int, int]] = (),
        rotation_ns: int = 0,
        random_phase: bool = False,
        seed: int = 0,
        cache: tuple[int, int, int] = (0, 0, 0),
        hit_ns: int = 0,
    ) -> None:
        """`seek`: (distance, ns); `transfer`: (sector, ps for a sector there), a line
        between two samples, or `zones`: (first sector, ps), the same up to the next;
        `cache`: segments, sectors in each, prefetch."""
        if transfer and zones:
            raise ValueError("either a transfer curve or zones")
        if not 0 <= cache[0] <= CACHE_SEGMENTS_MAX:
            raise ValueError(f"a cache has up to {CACHE_SEGMENTS_MAX} segments")
        self._drive = ffi.new("struct drive *")
        disk = self._drive.disk
        disk.capacity_sectors = seek[-1][0] if seek else 0
        disk.intercept_ns = intercept_ns
        disk.rotation_ns = rotation_ns
        _fill_curve("seek", disk.seek, seek)
        _fill_curve(
            "transfer", disk.transfer, steps(zones, disk.capacity_sectors) if zones else transfer
        )
        segments, segment_sectors, prefetch_sectors = cache
        self._drive.cache.segments = segments
        self._drive.cache.segment_sectors = segment_sectors
        self._drive.cache.prefetch_sectors = prefetch_sectors
        self._drive.hit_ns = hit_ns
        self._drive.random_phase = random_phase
        self._drive.seed = seed
        if lib.disk_check(ffi.addressof(disk)):
            raise ValueError("a curve or a time is not as core/disk.h wants it")
        self.reset()

    @classmethod
    def from_timing(cls, timing: Timing, seed: int = 0) -> Self:
        """The drive that a profile describes; `seed` is for a random phase."""
        return cls(
            timing.seek,
            timing.intercept_ns,
            transfer=timing.transfer,
            rotation_ns=timing.rotation_ns,
            random_phase=timing.random_phase,
            seed=seed,
            cache=timing.cache,
            hit_ns=timing.hit_ns,
        )

    @classmethod
    def linear(
        cls,
        capacity_sectors: int,
        intercept_ns: int,
        full_seek_ns: int,
        *,
        cache: tuple[int, int, int] = (0, 0, 0),
        hit_ns: int = 0,
    ) -> Self:
        """The papers' line."""
        line = [(0, 0), (capacity_sectors, full_seek_ns)]
        return cls(line, intercept_ns, cache=cache, hit_ns=hit_ns)

    @property
    def pointer(self) -> Any:
        """The C structure, which lives as long as this."""
        return self._drive

    @property
    def head(self) -> int:
        """End of the last request that the medium served."""
        return int(self._drive.head)

    def reset(self) -> None:
        """Head to sector 0, cache empty, the phase's draws from their beginning."""
        lib.drive_reset(self._drive)

    def serve(
        self, op: npt.ArrayLike, sector: npt.ArrayLike, sectors: npt.ArrayLike
    ) -> tuple[U64, npt.NDArray[np.bool_]]:
        """Serve requests one after another: service times, and which were hits."""
        ops = np.ascontiguousarray(op, np.uint8)
        first = _u64(sector)
        length = np.ascontiguousarray(sectors, np.uint32)
        n = _same_length({"op": ops, "sector": first, "sectors": length})
        if n and int((first + length).max()) > self._drive.disk.capacity_sectors:
            raise ValueError("a request ends past the end of the disk")
        service_ns = np.empty(n, np.uint64)
        hit = np.empty(n, np.uint8)
        buffers = (buffer(array) for array in (ops, first, length, service_ns, hit))
        lib.drive_serve_all(self._drive, n, *buffers)
        return service_ns, hit.astype(np.bool_)


class Draw:
    """One stream of draws (core/draw.h)."""

    def __init__(self, seed: int, stream: int = 0) -> None:
        self._draw = ffi.new("struct draw *")
        lib.draw_seed(self._draw, seed, stream)

    def u64(self) -> int:
        """Uniform over all 64-bit values."""
        return int(lib.draw_u64(self._draw))

    def below(self, n: int) -> int:
        """Uniform over 0 to n - 1."""
        return int(lib.draw_below(self._draw, _at_least_one("n", n)))

    def pareto(self, alpha_milli: int, scale: int) -> int:
        """Pareto with alpha in thousandths, at least `scale`."""
        return int(lib.draw_pareto(self._draw, _at_least_one("alpha_milli", alpha_milli), scale))

    def exponential(self, mean: int) -> int:
        """Exponential with that mean."""
        return int(lib.draw_exponential(self._draw, mean))

    def zipf(self, n: int) -> int:
        """Zipf over 0 to n - 1, the papers' approximation."""
        return int(lib.draw_zipf(self._draw, _at_least_one("n", n)))


def _fill_curve(name: str, curve: Any, points: Sequence[tuple[int, int]]) -> None:
    if len(points) > CURVE_POINTS_MAX:
        raise ValueError(f"{name}: {len(points)} samples, more than {CURVE_POINTS_MAX}")
    curve.nr_points = len(points)
    for i, (at, value) in enumerate(points):
        if at < 0 or value < 0:
            raise ValueError(f"{name}: {at}, {value} is negative or out of order")
        curve.point[i].at = at
        curve.point[i].value = value


def _at_least_one(name: str, value: int) -> int:
    if value < 1:
        raise ValueError(f"{name} is {value}, not at least 1")
    return value


def text(pointer: Any) -> str:
    """A C string."""
    return str(ffi.string(pointer).decode())


def _describe(scheduler: Any) -> Scheduler:
    counters = (scheduler.counters[i] for i in range(scheduler.nr_counters))
    return Scheduler(
        name=text(scheduler.name),
        summary=text(scheduler.summary),
        tunables=fields(scheduler.tunables, scheduler.nr_tunables),
        counters=tuple(Counter(text(field.name), text(field.help)) for field in counters),
    )


def fields(first: Any, count: int) -> tuple[Tunable, ...]:
    """A C array of struct sched_field."""
    return tuple(
        Tunable(text(field.name), text(field.help), field.initial, field.min, field.max)
        for field in (first[i] for i in range(count))
    )


def find_scheduler(name: str) -> Any:
    """The C structure of a scheduler that there is."""
    found = (lib.registry_get(i) for i in range(lib.registry_count()))
    return next(scheduler for scheduler in found if text(scheduler.name) == name)


def tunable_values(scheduler: Scheduler, chosen: Mapping[str, int]) -> U64:
    """A value for each tunable, chosen or initial."""
    return field_values(scheduler.name, scheduler.tunables, chosen)


def field_values(owner: str, known: Sequence[Tunable], chosen: Mapping[str, int]) -> U64:
    """A value for each field, chosen or initial; ValueError for one that can't be."""
    by_name = {field.name: field for field in known}
    for name, value in chosen.items():
        if name not in by_name:
            raise ValueError(f"{owner} has no tunable {name}; it has: {', '.join(by_name)}")
        if not by_name[name].min <= value <= by_name[name].max:
            field = by_name[name]
            raise ValueError(f"{name} is {value}, not from {field.min} to {field.max}")
    return _u64([chosen.get(field.name, field.initial) for field in known])


def _made_up_tape(
    arrivals: Arrivals, pick_ns: npt.ArrayLike, completion_ns: npt.ArrayLike | None
) -> tuple[Tape, I64]:
    """The tape of a replay, and the id that each place of it stands for."""
    picks = _u64(pick_ns)
    ended = np.append(picks[1:], picks[-1:]) if completion_ns is None else _u64(completion_ns)
    _same_length({"pick_ns": picks, "completion_ns": ended})
    changes, ids = _changes(arrivals)
    _check_times(changes["now_ns"], picks)
    calls = np.zeros((2, len(picks)), CALL)
    calls["now_ns"] = picks, ended
    calls["kind"] = [[NEXT], [COMPLETED]]
    # A pick and all that happens after the pick before it are one round.
    round_ = np.arange(len(picks))
    rounds = np.concatenate([np.searchsorted(picks, changes["now_ns"]), round_, round_ + 1])
    tape = np.concatenate([changes, *calls])
    is_pick, is_change = tape["kind"] == NEXT, tape["kind"] < NEXT
    order = np.lexsort((is_change, tape["now_ns"], is_pick, rounds))
    return tape[order[rounds[order] < len(picks)]], ids


def _changes(arrivals: Arrivals) -> tuple[Tape, I64]:
    """The tape of the arrivals alone: the first row of an id adds it, another takes it
    back and, if it has sectors, adds it again."""
    rows = _rows(arrivals)
    nr_rows = _same_length(rows)
    ids, first, place = np.unique(rows["id"], return_index=True, return_inverse=True)
    calls = np.zeros((nr_rows, 2), CALL)
    calls["kind"] = [REMOVE, ADD]
    calls["now_ns"] = rows["time_ns"][:, None]
    calls["place"] = place[:, None]
    calls["id"] = calls["place"] + 1
    for name in ("sector", "sectors"):
        calls[name] = rows[name][:, None]
    for name in ("owner", "op"):
        calls[name] = rows[name][first][place][:, None]
    calls["arrival_ns"] = rows["time_ns"][first][place][:, None]
    calls["weight"] = lib.IO_WEIGHT_DEFAULT
    calls["io_class"] = lib.IO_CLASS_BEST_EFFORT
    calls["level"] = lib.IO_LEVEL_DEFAULT
    again = first[place] != np.arange(nr_rows)
    made = np.stack([again, ~again | (rows["sectors"] > 0)], axis=1)
    return calls[made], ids.astype(np.int64)


def _rows(arrivals: Arrivals) -> Columns:
    op = np.ascontiguousarray(arrivals.op, np.uint8)
    if (op > WRITE).any():
        raise ValueError("op is 0 for a read and 1 for a write")
    return {
        "time_ns": _u64(arrivals.time_ns),
        "id": _u64(arrivals.id),
        "sector": _u64(arrivals.sector),
        "sectors": np.ascontiguousarray(arrivals.sectors, np.uint32),
        "owner": np.ascontiguousarray(arrivals.owner, np.uint32),
        "op": op,
    }


def _pending_limit(max_requests: int) -> int:
    if not 1 <= max_requests <= TABLE_MAX:
        raise ValueError(f"max_requests is {max_requests}, not from 1 to {TABLE_MAX}")
    return max_requests


def _check_times(arrival_ns: U64, pick_ns: U64) -> None:
    for name, times in (("arrivals", arrival_ns), ("picks", pick_ns)):
        if (times[1:] < times[:-1]).any():
            raise ValueError(f"{name} are not in order of time")


def _u64(values: npt.ArrayLike) -> U64:
    return np.ascontiguousarray(values, np.uint64)


def _same_length(columns: Columns) -> int:
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"columns differ in length: {lengths}")
    return next(iter(lengths.values()))


def buffer(array: npt.NDArray[Any]) -> Any:
    """A C pointer to the array's data; the array has to outlive it."""
    pointer = {"u1": "u8 *", "u4": "u32 *", "u8": "u64 *", "i8": "s64 *"}[array.dtype.str[1:]]
    return ffi.cast(pointer, ffi.from_buffer(array))
