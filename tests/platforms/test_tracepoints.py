# SPDX-License-Identifier: MIT
"""The kernel's events of the block layer become requests, as on a real disk.

A folder of files stands in for an instance of the kernel's trace.
"""

import struct
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

import kernel_trace
import numpy as np
import pytest
from block_events import FLUSH, FS, PC, WRITE, Event, Requests
from hypothesis import given
from hypothesis import strategies as st

from understudy_devices.base.errors import RunFailed
from understudy_devices.measure import records
from understudy_devices.platforms.reads import ENTRY
from understudy_devices.platforms.real.tracepoints import Tracepoints
from understudy_devices.platforms.witness import compare_requests

# Tracepoints by blktrace's letter; for a split, the count's field holds the sector of the split.
NAMES = {
    "Q": "block_bio_queue",
    "M": "block_bio_backmerge",
    "F": "block_bio_frontmerge",
    "X": "block_split",
    "R": "block_rq_requeue",
    "D": "block_rq_issue",
    "C": "block_rq_complete",
}
NUMBER = {letter: 900 + at for at, letter in enumerate(NAMES)}
FORMAT = """\
name: {name}
ID: {number}
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:sector_t sector;\toffset:8;\tsize:8;\tsigned:0;
\tfield:{count};\toffset:16;\tsize:8;\tsigned:0;
\tfield:int {error};\toffset:24;\tsize:4;\tsigned:1;
\tfield:char rwbs[8];\toffset:28;\tsize:8;\tsigned:0;

print fmt: "%d", REC->sector
"""


def held(event: Event, error: int = 0) -> bytes:
    """Return an event as the kernel stores it.

    A text shorter than its field is followed by old bytes.
    """
    letters = b"W" if WRITE in event.also else b"R"
    letters = b"N" if PC in event.also else letters
    count = struct.unpack(">Q", event.payload)[0] if event.action == "X" else event.sectors
    number = NUMBER[event.action]
    text = (letters + b"S\0").ljust(8, b"W")
    return struct.pack("<HHiQQi8s", number, 0, event.pid, event.sector, count, error, text)


def instance(folder: Path, events: Iterable[Event], error: int = 0, stats: str = "") -> Tracepoints:
    """Return a trace of these events, after it has been read from its files."""
    for letter, name in NAMES.items():
        place = folder / "events" / "block" / name
        place.mkdir(parents=True)
        count = "sector_t new_sector" if letter == "X" else "unsigned long nr_sector"
        fields = {"count": count, "error": "error" if letter == "C" else "other"}
        (place / "format").write_text(FORMAT.format(name=name, number=NUMBER[letter], **fields))
    (folder / "buffer_size_kb").write_text("4\n")
    in_order = sorted(events, key=lambda event: event.time_ns)
    for cpu in range(4):
        place = folder / "per_cpu" / f"cpu{cpu}"
        place.mkdir(parents=True)
        own = [(event.time_ns, held(event, error)) for event in in_order if event.cpu == cpu]
        (place / "trace_pipe_raw").write_bytes(kernel_trace.trace(own))
        (place / "stats").write_text(f"entries: 3\noverrun: 0\n{stats}")
    trace = Tracepoints(folder)
    trace.take()
    return trace


@given(st.integers(0, 2**32))
def test_requests_of_all_kinds(seed: int) -> None:
    """Requests are merged, split, requeued and completed in parts, on four processors."""
    requests = Requests(seed)
    with TemporaryDirectory() as folder:
        rows, left_out = instance(Path(folder), requests.events).requests()
    columns = ("arrival_ns", "dispatch_ns", "completion_ns", "sector", "sectors", "op", "owner")
    assert sorted(rows.select(columns).rows()) == sorted(requests.rows)
    assert rows["arrival_ns"].is_sorted()
    assert rows.columns == [*records.SCHEMA, "sure"]
    assert left_out == {}


def life(begin_ns: int, sector: int, end_ns: int) -> list[Event]:
    """Return the events of a request for one page, which is dispatched 10 ns before it
    completes.
    """
    times = {"Q": begin_ns, "D": end_ns - 10, "C": end_ns}
    return [Event(at, 0, what, sector, 8, also=(FS,)) for what, at in times.items()]


def test_the_first_are_answered_once_none_of_them_waits(tmp_path: Path) -> None:
    """Request 2 starves. Request 3 completes earlier, but counts only after request 2."""
    starved = life(200, 16, 900)
    events = [*life(100, 8, 500), *life(300, 24, 600), starved[0]]
    trace = instance(tmp_path / "before", events)
    assert trace.answered_first(1)
    assert not trace.answered_first(2)
    assert not trace.answered_first(3)
    trace = instance(tmp_path / "after", [*events, *starved[1:]])
    assert trace.answered_first(3)
    assert not trace.answered_first(4)


def test_a_merge_is_not_waited_for(tmp_path: Path) -> None:
    merged = Event(150, 0, "Q", 16, 8, also=(FS,))
    merge = Event(151, 0, "M", 16, 8, also=(FS,))
    issue, complete = (
        Event(at, 0, what, 8, 16, also=(FS,)) for at, what in ((160, "D"), (300, "C"))
    )
    queue = Event(100, 0, "Q", 8, 8, also=(FS,))
    trace = instance(tmp_path, [queue, merged, merge, issue, complete, *life(200, 64, 400)])
    assert trace.answered_first(2)
    assert trace.requests()[0]["sectors"].to_list() == [16, 8]


def test_several_may_ask_for_one_page_at_once(tmp_path: Path) -> None:
    """Each read is a request of its own, and they are served in order of arrival."""
    times = {"Q": (100, 110, 400), "D": (120, 210, 410), "C": (200, 300, 500)}
    events = [
        Event(at, number, what, 8, 8, pid=50 + number if what == "Q" else 9, also=(FS,))
        for what, ats in times.items()
        for number, at in enumerate(ats)
    ]
    rows, left_out = instance(tmp_path, [*events, *life(600, 64, 700)]).requests()
    columns = ("arrival_ns", "dispatch_ns", "completion_ns", "sector", "owner", "sure")
    assert rows.select(columns).rows() == [
        (100, 120, 200, 8, 50, False),
        (110, 210, 300, 8, 51, False),
        (400, 410, 500, 8, 52, False),
        (600, 690, 700, 64, 100, True),
    ]
    assert left_out == {}


@pytest.mark.parametrize(
    ("reads", "agree"),
    [
        ([(90, 510), (590, 720)], True),
        (
            [(90, 510), (520, 580), (590, 720)],
            True,
        ),  # merged into another process's read
        ([(90, 510)], True),  # the log was cut off before the last read
        ([(101, 510), (590, 720)], False),
        ([(90, 499), (590, 720)], False),
        ([(90, 510), (610, 720)], False),
        ([(90, 95), (590, 720)], False),
    ],
)
def test_each_request_lies_within_a_read_of_its_process(
    reads: list[tuple[int, int]], agree: bool, tmp_path: Path
) -> None:
    """Check that matching reads are accepted and others are refused."""
    rows, _ = instance(tmp_path, [*life(100, 8, 500), *life(600, 64, 700)]).requests()
    entries = np.zeros(len(reads), ENTRY)
    entries["owner"] = 100
    entries["start_ns"], entries["end_ns"] = zip(*reads, strict=True)
    if agree:
        assert compare_requests(rows, entries)["reads"] == min(2, len(reads))
        return
    with pytest.raises(RunFailed, match="process 100 was not reading from"):
        compare_requests(rows, entries)


def test_others_business_is_counted_and_no_request(tmp_path: Path) -> None:
    """The other requests are a passthrough command and a flush."""
    others = [
        Event(20, 1, "D", 0, 1, also=(PC,)),
        Event(30, 1, "C", 0, 1, also=(PC,)),
        Event(40, 1, "D", 0, 0, also=(FS, FLUSH)),
    ]
    rows, left_out = instance(tmp_path, [*life(100, 8, 500), *others]).requests()
    assert rows.height == 1
    assert left_out == {"passthrough": 1, "empty": 1}


def test_a_failed_request_fails_the_run(tmp_path: Path) -> None:
    trace = instance(tmp_path, life(100, 8, 500), error=-5)
    with pytest.raises(RunFailed, match="the disk failed: sector 8: Input/output error; see dmesg"):
        trace.requests()


def test_nothing_and_too_much(tmp_path: Path) -> None:
    with pytest.raises(RunFailed, match="no completed request"):
        instance(tmp_path / "nothing", []).requests()
    with pytest.raises(RunFailed, match="no room for 12 events"):
        instance(tmp_path / "much", life(1, 8, 50), stats="dropped events: 3\n")
