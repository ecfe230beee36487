# SPDX-License-Identifier: MIT
"""Lines of the kernel's tracepoints, as ftrace, `trace-cmd report` and `perf script` print them.

A line has a process and its number, the CPU in brackets, flags (not perf), seconds with 6 or 9
decimals, the event's name, perhaps behind its subsystem's (block:), and its values.
"""

import re

LINE = re.compile(
    rb"^\s*\S.*?[- ]+(?P<pid>\d+)(?:/\d+)?\s+(?:\([^)]*\)\s+)?\[\d+\]\s+(?:\S+\s+)?"
    rb"(?P<s>\d+)\.(?P<fraction>\d+):\s+(?:\w+:)?(?P<event>\w+):\s+(?P<values>.*)"
)
LOST = re.compile(rb"^CPU:\d+ \[LOST (?P<events>\d+) EVENTS\]")
EVENTS_LOST = "events lost, by the tracer's own count"
HEAD_LINES = 40


def time_ns(line: "re.Match[bytes]") -> int:
    """Return the time of a line."""
    return int(line["s"]) * 10**9 + int(line["fraction"][:9].ljust(9, b"0"))


def events_in(head: bytes) -> set[bytes]:
    """Return the names of the events in the first lines."""
    lines = map(LINE.match, head.split(b"\n")[:HEAD_LINES])
    return {line["event"] for line in lines if line}


def lost(line: bytes) -> int:
    """Return how many events the tracer says it lost here."""
    match = LOST.match(line)
    return int(match["events"]) if match else 0
