# SPDX-License-Identifier: MIT
"""Records the requests of a real disk from the kernel's own events of the block layer.

The events define the points in time of docs/method.md: a request arrives with block_bio_queue, is
dispatched with its first block_rq_issue, and completes with block_rq_complete. The events are read
from our own instance of the kernel's trace, on CLOCK_MONOTONIC, which the processes use too. The
reader of block traces (host/traces/match.h) turns them into requests. A request that was merged
into another has no row.
"""

import io
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import polars as pl

from understudy_devices.base import scratch
from understudy_devices.base.errors import RunFailed
from understudy_devices.measure import records
from understudy_devices.native.blktrace import MAGIC, Blktrace, LeftOut
from understudy_devices.platforms import ring_buffer
from understudy_devices.platforms.real.disk import Disk

LOST = re.compile(r"^(?:overrun|dropped events): (\d+)$", re.MULTILINE)
NAME = "the kernel's events of the block layer"
UNSEEN = frozenset({"due_ns", "model_service_ns", "hit", "late", "stale", "reason"})
TRACING = Path("/sys/kernel/tracing")
REQUEST_BYTES = 400  # of a request's events in the buffer
REQUESTS_AFTER = 20_000  # that may arrive before the end of the measurement is noticed
BUFFERS_BYTES_MAX = 512 * 2**20  # for all processors together
PAGE_BYTES = 4096
VERSION = 7
WRITE, PASSTHROUGH, DISCARD = 1 << 17, 1 << 25, 1 << 29  # as host/traces/record.h
SPLIT = "block_split"
ACTIONS = {  # by event; the order is that of events with equal time stamps
    "block_bio_queue": 1,
    "block_bio_backmerge": 2,
    "block_bio_frontmerge": 3,
    "block_rq_requeue": 6,
    "block_rq_issue": 7,
    "block_rq_complete": 8,
    SPLIT: 13,
}
NUMBERS = ("nr_sector", "new_sector", "error")  # each is missing in some events
MERGES = ("block_bio_backmerge", "block_bio_frontmerge")
PLAIN = ("block_bio_queue", "block_rq_issue", "block_rq_complete")
APART = 2**44  # sectors: more than any disk has
PLACES_MAX = 2**18
MERGED_NS = 1_000_000  # merges happen sooner than this after the arrival
RECORD = np.dtype(
    [
        *[("magic", "<u4"), ("sequence", "<u4"), ("time_ns", "<u8"), ("sector", "<u8")],
        *[("bytes", "<u4"), ("action", "<u4"), ("pid", "<u4"), ("device", "<u4")],
        *[("cpu", "<u4"), ("error", "<u2"), ("payload", "<u2")],
    ]
)


class Unavailable(Exception):  # noqa: N818 - there is another instrument
    """The reason why this kernel's events can't be used."""


class Tracepoints:
    """A disk's events since the beginning of the recording."""

    def __init__(self, instance: Path) -> None:
        """Read the trace of a running instance."""
        self._instance = instance
        self._events = [instance / "events" / "block" / name for name in ACTIONS]
        self._formats = "".join((event / "format").read_text() for event in self._events)
        self._pages: list[bytes] = []
        self.room = int((instance / "buffer_size_kb").read_text()) * 1024 // REQUEST_BYTES
        """Requests for which one processor's buffer has room."""

    def take(self) -> None:
        """Move the events in the kernel's buffer to this process's memory.

        Raises RunFailed if the buffer was full and events were lost.
        """
        for pipe in self._instance.glob("per_cpu/cpu*/trace_pipe_raw"):
            descriptor = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
            try:
                with suppress(BlockingIOError):
                    while page := os.read(descriptor, PAGE_BYTES):
                        self._pages.append(page.ljust(PAGE_BYTES, b"\0"))
            finally:
                os.close(descriptor)
        stats = (file.read_text() for file in self._instance.glob("per_cpu/cpu*/stats"))
        lost = sum(int(number) for text in stats for number in LOST.findall(text))
        if lost:
            raise RunFailed(
                f"the kernel's trace had no room for {lost:,} events: the disk is faster than this "
                "machine can follow it; take fewer --requests or --processes"
            )

    def answered_first(self, requests: int) -> bool:
        """Return whether `requests` requests are complete, and with them all earlier requests.

        A merged request completes with the request it was merged into.
        """
        rows, _ = self.requests()
        if rows.height < requests:
            return False
        last_ns = int(rows["arrival_ns"][requests - 1])
        events = self._found().filter(pl.col("rwbs").str.contains("[RW]"), pl.col("nr_sector") > 0)
        arrived = events.filter(action=ACTIONS["block_bio_queue"]).filter(_until(last_ns)).height
        merges = events.filter(pl.col("action").is_in([ACTIONS[name] for name in MERGES]))
        return arrived - merges.filter(_until(last_ns + MERGED_NS)).height <= requests

    def requests(self) -> tuple[pl.DataFrame, dict[str, int]]:
        """Return the completed requests in order of arrival, with times of the kernel's clock, and
        the number of other requests by kind.

        The columns are those of measure.records, and `sure`: true if no other request
        had the same address while the request was pending.
        """
        events = _apart(self._found())
        failed = events.filter(pl.col("error") != 0, pl.col("rwbs").str.contains("[RW]"))
        if failed.height:
            bad = failed.row(0, named=True)
            why = os.strerror(-bad["error"])
            raise RunFailed(f"the disk failed: sector {bad['sector'] % APART}: {why}; see dmesg")
        trace = Blktrace()
        broken = trace.read(io.BytesIO(_as_block_trace(events)))
        if broken:
            raise RunFailed(f"the kernel's trace can't be read: {broken}")
        rows = [pl.DataFrame(columns) for columns in trace.rows()]
        if not rows:
            raise RunFailed("the kernel's trace has no completed request")
        left_out = {LeftOut(why).name.lower(): count for why, count in trace.left_out().items()}
        known = _as_records(pl.concat(rows).sort("arrival_ns", "sector"))
        unsure = events.filter("several")["sector"].unique() % APART
        return known.with_columns(sure=~known["sector"].is_in(unsure.to_list())), left_out

    def _found(self) -> pl.DataFrame:
        tables = ring_buffer.events(b"".join(self._pages), self._formats)
        columns = ("time_ns", "common_pid", "sector", "rwbs")
        events = (
            table.select(
                *columns,
                *(_number(table, number) for number in NUMBERS),
                pl.lit(ACTIONS[name]).alias("action"),
            )
            for name, table in tables.items()
        )
        return pl.concat(events).sort("time_ns", "action", maintain_order=True)


def _apart(events: pl.DataFrame) -> pl.DataFrame:
    """Add a column `several`: were several requests for the event's address pending at the same
    time?

    If several were pending, these requests get different addresses, beyond the disk's end. So their
    events are paired in order: the first to arrive is the first dispatched and the first to
    complete. Addresses that also have merges or similar events are not changed, since these events
    have two addresses.
    """
    action = pl.col("action")
    queued, issued, completed = (action == ACTIONS[name] for name in PLAIN)
    place = [pl.col("sector"), pl.col("rwbs").str.contains("W")]
    there = (queued.cast(pl.Int64) - completed.cast(pl.Int64)).cum_sum().over(place)
    plain = (queued | issued | completed).all().over(place)
    whole = queued.sum().over(place) == issued.sum().over(place)
    number = pl.int_range(1, pl.len() + 1).over([*place, action]) % PLACES_MAX
    with_several = events.with_columns(several=there.max().over(place) > 1)
    moved = pl.when(pl.col("several") & plain & whole).then(number * APART).otherwise(0)
    return with_several.with_columns(sector=pl.col("sector").cast(pl.Int64) + moved)


def _until(time_ns: int) -> pl.Expr:
    return pl.col("time_ns") <= time_ns


def _number(table: pl.DataFrame, name: str) -> pl.Expr:
    """Return a field's value as a column, or zeroes if the table has no such field."""
    there = pl.col(name) if name in table.columns else pl.lit(0)
    return there.cast(pl.Int64).alias(name)


def _as_block_trace(events: pl.DataFrame) -> bytes:
    """Return the events in blktrace's format. A split event is followed by the sector of the part
    that was split off.
    """
    out = np.zeros(events.height, RECORD)
    kinds = events["rwbs"]
    action = events["action"].to_numpy().astype(np.uint32)
    for letter, bit in (("W", WRITE), ("D", DISCARD), ("N", PASSTHROUGH)):
        action[kinds.str.contains(letter).to_numpy()] |= bit
    out["magic"] = MAGIC + VERSION
    out["sequence"] = np.arange(1, events.height + 1)
    out["time_ns"] = events["time_ns"].to_numpy()
    out["sector"] = events["sector"].to_numpy()
    out["bytes"] = events["nr_sector"].to_numpy() * 512
    out["action"] = action
    out["pid"] = events["common_pid"].to_numpy()
    splits = np.flatnonzero(events["action"].to_numpy() == ACTIONS[SPLIT])
    out["payload"][splits] = 8
    places = events["new_sector"].to_numpy()[splits].tolist()
    behind = [*(place.to_bytes(8, "big") for place in places), b""]
    pieces = zip(np.split(out, splits + 1), behind, strict=True)
    return b"".join(piece.tobytes() + place for piece, place in pieces)


def _as_records(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with the columns of the other platforms; unknown values are null."""
    known = rows.with_columns(
        sector=pl.col("sector") % APART,
        pick_ns=pl.col("dispatch_ns"),
        op=records.named(rows["op"].to_numpy(), records.OPS),
        request_id=pl.int_range(1, rows.height + 1),
        meta=pl.lit(False),
        error=pl.lit(0),
    )
    unseen = [pl.lit(None).alias(name) for name in UNSEEN]
    columns = pl.Schema({n: kind for n, kind in records.SCHEMA.items() if n != "idle_ns"})
    return records.with_idle_time(known.with_columns(*unseen).select(*columns).cast(columns))


@contextmanager
def recording(disk: Disk, requests: int) -> Iterator[Tracepoints]:
    """Record the disk's events from now on, with space for so many requests, if memory permits.

    Raises Unavailable if the kernel does not let us record events.
    """
    _mount()
    clear(disk.name)
    instance = _instance(disk.name)
    with scratch.unless_filled() as folders:
        try:
            if not folders.new(instance):
                raise Unavailable(f"{instance} is in use")
            _begin(instance, disk, requests)
            begun = Tracepoints(instance)
        except OSError as error:
            raise Unavailable(f"{error.filename or instance}: {error.strerror}") from error
        yield begun


def clear(name: str) -> None:
    """Remove the trace that a killed command has left for a disk."""
    with suppress(OSError):
        _instance(name).rmdir()


def _instance(name: str) -> Path:
    return TRACING / "instances" / f"understudy-{name}"


def _mount() -> None:
    """Mount tracefs in its usual folder, as every tracing program does."""
    if not (TRACING / "instances").is_dir():
        done = subprocess.run(
            ["mount", "-t", "tracefs", "tracefs", str(TRACING)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise Unavailable(f"no tracefs: {done.stderr.strip()}")


def _begin(instance: Path, disk: Disk, requests: int) -> None:
    need = (requests + REQUESTS_AFTER) * REQUEST_BYTES
    room = min(need, BUFFERS_BYTES_MAX // (os.cpu_count() or 1))
    _put(instance / "trace_clock", "mono")
    _put(instance / "options" / "overwrite", 0)
    _put(instance / "buffer_size_kb", room // 1024)
    for name in ACTIONS:
        event = instance / "events" / "block" / name
        _put(event / "filter", f"dev == {disk.kernels_number}")
        _put(event / "enable", 1)


def _put(file: Path, value: str | int) -> None:
    file.write_text(str(value))
