# SPDX-License-Identifier: MIT
"""The section [buffer] of a profile: a drive's buffer in the terms of data sheets
(core/drive/parts.h)."""

from typing import Annotated, Any, Literal, Self, get_args

from pydantic import Field, PlainValidator, model_validator
from pydantic_core import PydanticCustomError

from understudy_devices.device.section import (
    CACHE_SPAN_MAX,
    MINUTE_MS,
    MegabytesPerSecond,
    Ms,
    Section,
    sector_ps,
    to_ns,
    wrong,
)

SEGMENTS_MAX = 256  # core/drive/segments.h
WRITES_MAX = 256  # WRITE_BACK_SPANS_MAX in core/drive/write_back.h
AFTER_HIT = ("stop", "go on", "return")  # enum after_hit
Order = Literal[  # enum write_order
    "shortest positioning", "ascending", "as they come", "ascending from last"
]
WRITE_ORDERS: tuple[Order, ...] = get_args(Order)
TO_TRACK_END = "to track end"
UNSEEN = 2**18  # the length, in sectors, of a segment whose real length is not known


def _write_back(value: Any) -> Any:
    many = [value] if type(value) is int else value
    if isinstance(many, list) and all(type(each) is int for each in many):
        writes, *sectors = many
        if (
            0 <= writes <= WRITES_MAX
            and (many is not value or len(sectors) in (1, 2))
            and all(0 <= each < CACHE_SPAN_MAX for each in sectors)
            and sectors == sorted(sectors, reverse=True)
            and sectors[:1] != [0]
        ):
            return value
    raise PydanticCustomError(
        "write_back",
        f"input should be a number of writes, at most {WRITES_MAX}, or [writes, sectors in all, "
        "sectors that a full drive keeps]",
    )


def _waits(value: Any) -> Any:
    both = value if isinstance(value, list) else [value, 0]
    if len(both) == 2 and all(type(ms) in (int, float) and 0 <= ms <= MINUTE_MS for ms in both):
        return value
    raise PydanticCustomError(
        "waits", f"input should be 0 to {MINUTE_MS} ms, or [ms, ms of a full drive]"
    )


def _ahead(value: Any) -> Any:
    if value == TO_TRACK_END or (type(value) is int and 0 <= value < CACHE_SPAN_MAX):
        return value
    raise PydanticCustomError("ahead", f'input should be a number of sectors or "{TO_TRACK_END}"')


Us = Annotated[float, Field(ge=0, le=MINUTE_MS * 1000)]
WriteBack = Annotated[int | list[int], PlainValidator(_write_back)]
Waits = Annotated[float | list[float], PlainValidator(_waits)]
Span = Annotated[int, Field(ge=0, le=CACHE_SPAN_MAX - 1)]
Ahead = Annotated[int | Literal["to track end"], PlainValidator(_ahead)]


class DriveBuffer(Section):
    """A buffer with timing.  A sector that is read ahead is available once it has passed under
    the head; a write may complete before its data is on the medium (core/drive/drive.h)."""

    bus_mb_per_s: MegabytesPerSecond
    """Rate of the bus."""
    bus_watermark_percent: Annotated[int, Field(ge=0, le=100)] = 0
    """Percentage of a read that must be in the buffer before its transfer over the bus begins."""
    read_hit_us: Annotated[float, Field(ge=1e-3, le=MINUTE_MS * 1000)]
    """Time of a hit, without its transfer over the bus."""
    write_us: Us = 0.0
    """Time of a write that the buffer accepts, without its transfer over the bus."""
    segments: Annotated[int, Field(ge=0, le=SEGMENTS_MAX)] = 0
    """Number of segments; the least recently used one is evicted."""
    segment_sectors: Annotated[int, Field(ge=1, le=CACHE_SPAN_MAX - 1)] = UNSEEN
    """Size of a segment."""
    segment_keeps: Literal["request", "ahead"] = "request"
    """"ahead": prefetched sectors may replace requested sectors that the bus has transferred."""
    read_ahead_sectors: Ahead = 0
    """How many sectors the drive reads ahead after a read from the medium."""
    read_reach_sectors: Span = CACHE_SPAN_MAX - 1
    """A read that begins at most this far ahead of the read-ahead waits for its sectors."""
    after_hit: Literal["stop", "go on", "return"] = "go on"
    """Effect of a hit on the read-ahead."""
    write_settle_ms: Ms = 0.0
    """How much more time a write needs than a read to reach the medium."""
    write_back: WriteBack = 0
    """How many segments can hold writes that wait for the medium; or [writes, sectors,
    low_sectors]."""
    write_back_idle_ms: Waits = 0.0
    """How long the drive is idle before it destages; or [ms, ms of a full drive]."""
    write_back_order: Order = "shortest positioning"
    """The order in which the drive destages writes."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.read_ahead_sectors and not self.segments:
            raise wrong("read_ahead_sectors", "there are no segments to read ahead into")
        if self.ahead > self.segment_sectors:
            raise wrong(
                "read_ahead_sectors",
                f"{self.ahead} is more than a segment's {self.segment_sectors}",
            )
        if self.write_room[1] >= CACHE_SPAN_MAX:
            raise wrong("write_back", f"{self.write_back} segments have too many sectors")
        return self

    @property
    def to_track_end(self) -> bool:
        """Return whether read-ahead stops at the end of a track."""
        return self.read_ahead_sectors == TO_TRACK_END

    @property
    def ahead(self) -> int:
        """Return the longest read-ahead, in sectors."""
        if isinstance(self.read_ahead_sectors, str):
            return self.segment_sectors
        return self.read_ahead_sectors

    @property
    def write_room(self) -> tuple[int, int, int]:
        """Return limits for pending writes: their number, the sum of their sectors, and the
        low-water mark.  A buffer that was full counts as full until at most that many sectors are
        pending."""
        if isinstance(self.write_back, int):
            sectors = self.write_back * self.segment_sectors
            return self.write_back, sectors, sectors
        writes, sectors, *low = self.write_back
        return writes, sectors, low[0] if low else sectors

    def timing(self) -> dict[str, int]:
        """Return the settings in the units of core/, by their names in core/drive/settings.c."""
        writes, sectors, low_sectors = self.write_room
        waits = self.write_back_idle_ms
        idle_ms, full_idle_ms = waits if isinstance(waits, list) else (waits, 0.0)
        return {
            "bus_sector_ps": round(sector_ps(self.bus_mb_per_s)),
            "bus_watermark_percent": self.bus_watermark_percent,
            "write_ns": to_ns(self.write_us, 10**3),
            "write_settle_ns": to_ns(self.write_settle_ms, 10**6),
            "buffer_segments": self.segments,
            "buffer_segment_sectors": self.segment_sectors,
            "read_ahead_sectors": self.ahead,
            "read_reach_sectors": self.read_reach_sectors,
            "read_ahead_to_track_end": self.to_track_end,
            "read_ahead_overwrites": self.segment_keeps == "ahead",
            "after_hit": AFTER_HIT.index(self.after_hit),
            "write_back_spans": writes,
            "write_back_sectors": sectors,
            "write_back_idle_ns": to_ns(idle_ms, 10**6),
            "write_back_full_idle_ns": to_ns(full_idle_ms, 10**6),
            "write_back_low_sectors": low_sectors,
            "write_back_order": WRITE_ORDERS.index(self.write_back_order),
        }
