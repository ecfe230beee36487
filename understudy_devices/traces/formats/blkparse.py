# SPDX-License-Identifier: MIT
"""blkparse's text of a blktrace: a row for each request that was issued (D) and completed (C).

The events mean what they mean in blktrace's own records, and both readers use one matcher
(host/traces/match.h): a back merge (M) drops the queueing time of the merged request, a front merge
(F) that of the extended request, a part of a split request (X) arrived with the whole request, and
a requeued request (R) was issued once.  Each device is a volume.

Other lines (plugs, messages, blkparse's summary) are ignored.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

from understudy_devices.native.matching import Kind
from understudy_devices.traces.events import Events, direction, sectors_of
from understudy_devices.traces.reading import PASSTHROUGH, Reading
from understudy_devices.traces.text import lines, shown_line

NAME = "blkparse's text"
EVENT = re.compile(
    rb"^ *(?P<device>\d+,\d+) +\d+ +\d+ +(?P<s>\d+)\.(?P<ns>\d{9}) +(?P<pid>\d+) +(?P<action>\w+)"
    rb" +(?P<rwbs>\w+)(?: +(?P<sector>\d+) (?P<split>[+/]) (?P<sectors>\d+)\b)?",
)
KINDS: dict[bytes, int] = {
    b"Q": int(Kind.QUEUE),
    b"X": int(Kind.SPLIT),
    b"M": int(Kind.BACK_MERGE),
    b"F": int(Kind.FRONT_MERGE),
    b"R": int(Kind.REQUEUE),
    b"D": int(Kind.ISSUE),
    b"C": int(Kind.COMPLETE),
}
ISSUE = int(Kind.ISSUE)
MEND = ": blkparse -s"


def recognises(head: bytes) -> bool:
    """Return whether one of the first lines is an event."""
    return any(EVENT.match(line) for line in head.split(b"\n")[:20])


def read(file: BinaryIO) -> Iterator[Reading]:
    """Read the whole file."""
    events = Events(MEND)
    for number, line in enumerate(lines(file), start=1):
        event = EVENT.match(line)
        kind = KINDS.get(event["action"]) if event else None
        if event and kind is not None:
            if not line.endswith((b"]", b"\n")):
                yield Reading(broken=f"breaks off in line {number}: {shown_line(line)}")
                break
            _put(events, number, kind, event)
            yield from events.pieces()
    yield from events.end()


def _put(events: Events, line: int, kind: int, event: "re.Match[bytes]") -> None:
    device, rwbs = event["device"].decode(), event["rwbs"].decode()
    if not event["sector"]:
        if kind == ISSUE:
            why = direction(rwbs)
            events.leave_out(device, why if isinstance(why, str) else PASSTHROUGH)
        return
    time_ns = int(event["s"]) * 10**9 + int(event["ns"])
    sector = int(event["sector"])
    sectors = sectors_of(kind, sector, event["split"], int(event["sectors"]))
    events.put(line, device, kind, rwbs, (time_ns, sector, sectors, int(event["pid"])))
