# SPDX-License-Identifier: MIT
"""Block tracepoints as ftrace, `trace-cmd report` and `perf script` print them.

block_rq_issue and block_rq_complete make requests; block_bio_queue, block_split, block_bio_*merge
and block_rq_requeue count too if they are there.  They mean what they mean in a blktrace
(host/traces/match.h).  Each device is a volume; the owner is the process that queued the request.
Other events are ignored.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

from understudy_devices.native.matching import Kind
from understudy_devices.traces.events import Events, sectors_of
from understudy_devices.traces.ftrace_lines import EVENTS_LOST, LINE, events_in, lost, time_ns
from understudy_devices.traces.reading import Reading
from understudy_devices.traces.text import lines, shown_line

NAME = "ftrace's or perf's block events"
VALUES = re.compile(
    rb"(?P<device>\d+,\d+) +(?P<rwbs>\w+) +(?:\d+ +)?(?:\([^)]*\) +)?(?P<sector>\d+) "
    rb"(?P<split>[+/]) (?P<sectors>\d+)(?= |$)"
)
KINDS: dict[bytes, int] = {
    b"block_bio_queue": int(Kind.QUEUE),
    b"block_split": int(Kind.SPLIT),
    b"block_bio_backmerge": int(Kind.BACK_MERGE),
    b"block_bio_frontmerge": int(Kind.FRONT_MERGE),
    b"block_rq_requeue": int(Kind.REQUEUE),
    b"block_rq_issue": int(Kind.ISSUE),
    b"block_rq_complete": int(Kind.COMPLETE),
}
MEND = " (perf script and trace-cmd report do so)"


def recognises(head: bytes) -> bool:
    """Return whether one of the first lines is an event of the block layer."""
    return not events_in(head).isdisjoint(KINDS)


def read(file: BinaryIO) -> Iterator[Reading]:
    """Read the whole file."""
    events = Events(MEND)
    gaps = 0
    for number, line in enumerate(lines(file), start=1):
        match = LINE.match(line)
        kind = KINDS.get(match["event"]) if match else None
        if not match or kind is None:
            gaps += lost(line)
            continue
        if not line.endswith((b"]", b"\n")):
            yield Reading(broken=f"breaks off in line {number}: {shown_line(line)}")
            break
        _put(events, number, kind, match)
        yield from events.pieces()
    yield from events.end()
    if gaps:
        yield Reading(left_out={EVENTS_LOST: gaps})


def _put(events: Events, number: int, kind: int, line: "re.Match[bytes]") -> None:
    values = VALUES.match(line["values"])
    if not values:
        raise ValueError(f"line {number}: no {line['event'].decode()}: {shown_line(line[0])}")
    sector = int(values["sector"])
    sectors = sectors_of(kind, sector, values["split"], int(values["sectors"]))
    place = (time_ns(line), sector, sectors, int(line["pid"]))
    events.put(number, values["device"].decode(), kind, values["rwbs"].decode(), place)
