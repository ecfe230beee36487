# SPDX-License-Identifier: MIT
"""[buffer] of a profile: a drive's buffer as people describe it (core/drive/buffer.h)."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from understudy.device.section import (
    CACHE_SPAN_MAX,
    MINUTE_MS,
    MegabytesPerSecond,
    Ms,
    Section,
    sector_ps,
    to_ns,
    wrong,
)
from understudy.device.timing import Buffer

SEGMENTS_MAX = 256  # core/drive/segments.h
WRITES_MAX = 256  # WRITE_CACHE_SPANS_MAX in core/drive/write_cache.h
WRITE_ORDERS = ("as they came", "nearest", "ascending", "shortest positioning")  # enum write_order


class DriveBuffer(Section):
    """A buffer that works in time: what is read ahead is there when the platter has brought
    it, and writes may be taken before they are on the medium (core/drive/buffer.h)."""

    bus_mb_per_s: MegabytesPerSecond
    bus_watermark_percent: Annotated[int, Field(ge=0, le=100)] = 0
    read_hit_us: Annotated[float, Field(ge=1e-3, le=MINUTE_MS * 1000)]
    write_us: Annotated[float, Field(ge=0, le=MINUTE_MS * 1000)] = 0.0
    write_same_track_saves_us: Annotated[float, Field(ge=0, le=MINUTE_MS * 1000)] = 0.0
    write_settle_ms: Ms = 0.0
    command_ms: Ms = 0.0
    segments: Annotated[int, Field(ge=0, le=SEGMENTS_MAX)] = 0
    segment_sectors: Annotated[int, Field(ge=1, le=CACHE_SPAN_MAX - 1)] = 1
    replace: Literal["least recently used", "first in first out"] = "least recently used"
    hits_interrupt: bool = True
    hits_return: bool = False
    read_ahead_sectors: Annotated[int, Field(ge=0, le=CACHE_SPAN_MAX - 1)] = 0
    read_reach_sectors: Annotated[int, Field(ge=0, le=CACHE_SPAN_MAX - 1)] = CACHE_SPAN_MAX - 1
    read_ahead_to_track_end: bool = False
    read_ahead_overwrites: bool = False
    read_ahead_finishes_sector: bool = False
    write_waits_for_read_ahead: bool = False
    read_discards: bool = False
    hits_resume: bool = True
    write_back: Annotated[int, Field(ge=0, le=WRITES_MAX)] = 0
    write_back_sectors: Annotated[int, Field(ge=0, le=CACHE_SPAN_MAX - 1)] = 0
    write_back_idle_ms: Ms = 0.0
    write_back_low_sectors: Annotated[int, Field(ge=0, le=CACHE_SPAN_MAX - 1)] = 0
    write_back_order: Literal["as they came", "nearest", "ascending", "shortest positioning"] = (
        "as they came"
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.read_ahead_sectors and not self.segments:
            raise wrong("read_ahead_sectors", "there are no segments to read ahead into")
        if self.read_ahead_sectors > self.segment_sectors:
            raise wrong(
                "read_ahead_sectors",
                f"{self.read_ahead_sectors} is more than a segment's {self.segment_sectors}",
            )
        if self.write_same_track_saves_us > self.write_us:
            raise wrong(
                "write_same_track_saves_us",
                f"{self.write_same_track_saves_us:g} is more than a write's {self.write_us:g}",
            )
        if self.write_back and not self.write_back_sectors:
            raise wrong("write_back", "takes writes, but write_back_sectors leaves no room")
        if self.write_back_low_sectors > self.write_back_sectors:
            raise wrong(
                "write_back_low_sectors",
                f"{self.write_back_low_sectors} is more than all, {self.write_back_sectors}",
            )
        return self

    def timing(self) -> Buffer:
        """In the units of core/."""
        return Buffer(
            bus_sector_ps=round(sector_ps(self.bus_mb_per_s)),
            bus_watermark_percent=self.bus_watermark_percent,
            write_ns=to_ns(self.write_us, 10**3),
            write_same_track_saves_ns=to_ns(self.write_same_track_saves_us, 10**3),
            write_settle_ns=to_ns(self.write_settle_ms, 10**6),
            command_ns=to_ns(self.command_ms, 10**6),
            buffer_segments=self.segments,
            buffer_segment_sectors=self.segment_sectors,
            buffer_first_in_first_out=self.replace == "first in first out",
            buffer_hits_interrupt=self.hits_interrupt,
            buffer_hits_return=self.hits_return,
            read_ahead_sectors=self.read_ahead_sectors,
            read_reach_sectors=self.read_reach_sectors,
            read_ahead_to_track_end=self.read_ahead_to_track_end,
            read_ahead_overwrites=self.read_ahead_overwrites,
            read_ahead_finishes_sector=self.read_ahead_finishes_sector,
            write_waits_for_read_ahead=self.write_waits_for_read_ahead,
            read_discards=self.read_discards,
            read_hits_resume=self.hits_resume,
            write_back_spans=self.write_back,
            write_back_sectors=self.write_back_sectors,
            write_back_idle_ns=to_ns(self.write_back_idle_ms, 10**6),
            write_back_low_sectors=self.write_back_low_sectors,
            write_back_order=WRITE_ORDERS.index(self.write_back_order),
        )
