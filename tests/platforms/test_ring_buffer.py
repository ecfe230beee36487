# SPDX-License-Identifier: MIT
"""The kernel's trace: its events are read as they were written, or refused in one line."""

import random
import struct
from contextlib import suppress

import polars as pl
import pytest
from kernel_trace import COMPLETE, FORMATS, ISSUE, data, event, page, trace

from understudy_devices.base.errors import RunFailed
from understudy_devices.platforms import ring_buffer

SECOND = 10**9


def rows(frame: pl.DataFrame) -> list[tuple[int, int, int]]:
    """Return time, sector and sectors of each row."""
    return frame.select("time_ns", "sector", "nr_sector").rows()


def test_each_event_has_its_time_and_its_numbers() -> None:
    """The events are on several pages, and fields of text are left out."""
    written = [
        (SECOND, data(ISSUE, 800)),
        (SECOND + 7, data(COMPLETE, 800, 16)),
        (SECOND + 9, data(ISSUE, 2**40)),
        (SECOND + 2**27, data(ISSUE, 24)),
        (SECOND + 2**27 + 2**30 + 5, data(COMPLETE, 24)),
    ]
    tables = ring_buffer.events(trace(written), FORMATS)
    assert tables["block_rq_issue"].columns == [
        *("time_ns", "common_type", "common_pid", "sector", "nr_sector", "rwbs")
    ]
    assert rows(tables["block_rq_issue"]) == [
        (SECOND, 800, 8),
        (SECOND + 9, 2**40, 8),
        (SECOND + 2**27, 24, 8),
    ]
    assert rows(tables["block_rq_complete"]) == [
        (SECOND + 7, 800, 16),
        (SECOND + 2**27 + 2**30 + 5, 24, 8),
    ]


def test_long_events_other_events_and_stamps_of_time() -> None:
    """Unknown events are skipped; a time stamp is absolute, not a difference."""
    stamp = struct.pack("<II", 31 | 5 << 5, 3)
    left_out = struct.pack("<II", 29 | 1 << 5, 12) + b"?" * 8
    end = struct.pack("<I", 29)
    pages = page(
        SECOND,
        [
            event(1, data(ISSUE, 8) + bytes(400)),
            event(1, struct.pack("<HH", 7, 0)),
            left_out,
            event(1, data(ISSUE, 16)),
            stamp,
            event(2, data(ISSUE, 24)),
            end,
            b"what was there before",
        ],
    )
    events = ring_buffer.events(pages, FORMATS)["block_rq_issue"]
    stamped = 3 * 2**27 + 5
    assert rows(events) == [(stamped + 2, 24, 8), (SECOND + 1, 8, 8), (SECOND + 4, 16, 8)]


def test_the_rings_of_several_processors_are_one_trace() -> None:
    """Each processor's ring is in order of time."""
    one = trace([(at, data(ISSUE, at)) for at in (10, 30, 50)])
    other = trace([(at, data(ISSUE, at)) for at in (20, 40)])
    events = ring_buffer.events(one + other, FORMATS)["block_rq_issue"]
    assert events["sector"].to_list() == [10, 20, 30, 40, 50]


def test_nothing_happened() -> None:
    """Empty tables are returned."""
    tables = ring_buffer.events(b"", FORMATS)
    assert {name: table.height for name, table in tables.items()} == {
        "block_rq_issue": 0,
        "block_rq_complete": 0,
    }


LOST = struct.pack("<QQ", SECOND, 1 << 31).ljust(4096, b"\0")
TOO_FULL = struct.pack("<QQ", SECOND, 4081).ljust(4096, b"\0")
WHOLE = trace([(SECOND, data(ISSUE, 800))])


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (LOST, "events are lost"),
        (TOO_FULL, "a page of 4096 bytes says that it holds 4081"),
        (WHOLE[:40], "a page of 40 bytes says that it holds 48"),
        (WHOLE[:7], "requires a buffer"),
        (page(0, [event(0, data(ISSUE, 8))[:-4]]), "an event ends at byte"),
        (page(0, [struct.pack("<II", 0, 2)]), "an event ends at byte"),
        (page(2**63, [event(0, data(ISSUE, 8))]), "an event at 9223372036854775808 ns"),
        (page(0, [event(0, data(ISSUE, 8)[:24])]), "shorter than its fields"),
    ],
)
def test_what_is_no_trace_is_refused(content: bytes, why: str) -> None:
    with pytest.raises(RunFailed, match="^the kernel's trace can't be read: .*" + why):
        ring_buffer.events(content, FORMATS)


def test_any_bytes_are_read_or_refused() -> None:
    """The bytes are a trace with changes in its first 200 bytes, cut at a random length."""
    draw = random.Random(1)
    whole = trace([(SECOND + i, data(draw.choice((ISSUE, COMPLETE)), i)) for i in range(9)])
    for _ in range(3000):
        spoilt = bytearray(whole)
        for _ in range(draw.randrange(1, 8)):
            spoilt[draw.randrange(200)] = draw.randrange(256)
        with suppress(RunFailed):
            ring_buffer.events(bytes(spoilt[: draw.randrange(len(spoilt) + 1)]), FORMATS)
