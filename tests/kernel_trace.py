# SPDX-License-Identifier: MIT
"""A trace in the kernel's format, for tests: struct buffer_data_page and ring_buffer_event."""

import struct
from collections.abc import Iterable

ISSUE, COMPLETE = 1061, 1064
FORMATS = """\
name: block_rq_issue
ID: 1061
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;
\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;
\tfield:char rwbs[8];\toffset:32;\tsize:8;\tsigned:1;
\tfield:__data_loc char[] cmd;\toffset:40;\tsize:4;\tsigned:1;

print fmt: "%d", REC->sector
name: block_rq_complete
ID: 1064
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;

\tfield:sector_t sector;\toffset:8;\tsize:8;\tsigned:0;
\tfield:unsigned int nr_sector;\toffset:16;\tsize:4;\tsigned:0;

print fmt: "%d", REC->sector
"""


def data(kind: int, sector: int, sectors: int = 8) -> bytes:
    """Return the payload of an event of that kind."""
    if kind == ISSUE:
        return struct.pack("<HHi8xQI4x8sI", kind, 0, 93, sector, sectors, b"R", 0)
    return struct.pack("<H6xQI4x", kind, sector, sectors)


def event(delta_ns: int, held: bytes) -> bytes:
    """Return an event of whole words, delta_ns after the previous event."""
    before = b""
    if delta_ns >= 1 << 27:
        before = struct.pack("<II", 30 | (delta_ns & ((1 << 27) - 1)) << 5, delta_ns >> 27)
        delta_ns = 0
    words = len(held) // 4
    if words <= 28:
        return before + struct.pack("<I", words | delta_ns << 5) + held
    return before + struct.pack("<II", delta_ns << 5, len(held) + 4) + held


def page(time_ns: int, events: Iterable[bytes]) -> bytes:
    """Return a page with these events."""
    held = b"".join(events)
    return (struct.pack("<QQ", time_ns, len(held)) + held).ljust(4096, b"\0")


def trace(events: Iterable[tuple[int, bytes]], to_a_page: int = 3) -> bytes:
    """Return a trace of events (time, data) in order of time, `to_a_page` on each page."""
    waiting = list(events)
    pages = b""
    while waiting:
        now, waiting = waiting[:to_a_page], waiting[to_a_page:]
        before = [now[0][0], *(time_ns for time_ns, _ in now)]
        pages += page(
            before[0],
            (
                event(time_ns - last, held)
                for (time_ns, held), last in zip(now, before, strict=False)
            ),
        )
    return pages
