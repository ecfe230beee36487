# SPDX-License-Identifier: MIT
"""Traces that lack events: which events belong together, in text and in binary records."""

import io
from collections.abc import Iterable
from pathlib import Path
from random import Random

import pytest
from block_events import READ, WRITE, Event, files, one_file
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from readings import joined

from understudy_devices.base.errors import UserError
from understudy_devices.cli.main import main
from understudy_devices.traces.formats import blkparse, blktrace
from understudy_devices.traces.read import load, recorded
from understudy_devices.traces.reading import Reading

S = 10**9
COLUMNS = ["arrival_ns", "dispatch_ns", "completion_ns", "sector", "sectors", "op", "owner"]
AGAIN = "issued again before it was completed"
UNISSUED = "completed, but not seen to be issued"
UNCOMPLETED = "issued, but not seen to complete"
UNISSUED_QUEUES = "queued, but not seen to be issued or merged"


def event(time_ns: int, action: str, sector: int, sectors: int = 8, op: int = READ) -> Event:
    return Event(time_ns, 0, action, sector, sectors, also=(op,))


def printed(events: Iterable[Event]) -> bytes:
    """Return the events as blkparse prints them."""
    return b"".join(
        b"  8,0  0 %d %d.%09d %d  %s  %s %d + %d [x]\n"
        % (
            rank,
            *divmod(one.time_ns, S),
            one.pid,
            one.action.encode(),
            b"WS" if WRITE in one.also else b"R",
            one.sector,
            one.sectors,
        )
        for rank, one in enumerate(events)
    )


def both(events: list[Event]) -> Reading:
    """Return what both readers make of the events, which is the same."""
    binary = joined(blktrace.read(io.BytesIO(one_file(events))))
    text = joined(blkparse.read(io.BytesIO(printed(events))))
    assert sorted(text.frame.select(COLUMNS).rows()) == sorted(binary.frame.select(COLUMNS).rows())
    assert text.left_out == binary.left_out
    return text


def times(reading: Reading) -> list[tuple[int, ...]]:
    return sorted(reading.frame.select(COLUMNS[:3]).rows())


def test_a_queue_event_whose_issue_is_lost() -> None:
    """A later request at the same sector keeps its own arrival."""
    events = [
        *(event(at, what, 64) for at, what in ((0, "Q"), (10, "D"), (5000, "C"))),
        event(S, "Q", 96),
        *(event(61 * S + at, what, 96) for at, what in ((0, "Q"), (10, "D"), (5000, "C"))),
    ]
    reading = both(events)
    assert times(reading) == [(0, 10, 5000), (61 * S, 61 * S + 10, 61 * S + 5000)]
    assert reading.left_out == {UNISSUED_QUEUES: 1}


def test_a_queue_event_at_the_end() -> None:
    reading = both([event(1, "D", 0), event(2, "Q", 64), event(3, "C", 0)])
    assert reading.left_out == {UNISSUED_QUEUES: 1}


def test_an_issue_whose_completion_is_lost() -> None:
    """A later request at the same sector has its own service time."""
    events = [event(0, "Q", 64), event(10, "D", 64)]
    events += [event(61 * S + at, what, 64) for at, what in ((0, "Q"), (10, "D"), (5000, "C"))]
    reading = both(events)
    assert times(reading) == [(61 * S, 61 * S + 10, 61 * S + 5000)]
    assert reading.left_out == {AGAIN: 1}


def test_a_write_is_no_read() -> None:
    """The write's completion and the read's issue are lost."""
    events = [event(0, "D", 64, op=WRITE), event(90 * S, "C", 64)]
    events += [event(91 * S, "D", 8), event(92 * S, "C", 8)]
    reading = both(events)
    assert times(reading) == [(91 * S, 91 * S, 92 * S)]
    assert reading.left_out == {UNISSUED: 1, UNCOMPLETED: 1}


def test_a_completion_of_more_than_was_issued() -> None:
    reading = both([event(0, "D", 64), event(5, "C", 64, 16), event(9, "C", 64)])
    assert (times(reading), reading.left_out) == ([(0, 0, 9)], {UNISSUED: 1})


def test_parts_and_requeues_in_text() -> None:
    events = [event(0, "D", 64), event(1, "R", 64), event(2, "D", 64), event(3, "C", 64, 3)]
    assert times(both([*events, event(9, "C", 67, 5)])) == [(0, 0, 9)]


@given(st.integers(0, 2**32))
def test_any_events_of_a_few_places(seed: int) -> None:
    """Both readers agree, and each issue is in a row or counted."""
    draw = Random(seed)
    events = [
        event(at, draw.choice("QQMFRDDCC"), 8 * draw.randrange(3), 8, draw.choice((READ, WRITE)))
        for at in range(draw.randrange(5, 80))
    ]
    begun = [event(100, "D", 800), event(101, "C", 800)]
    reading = both([*events, *begun])
    assert (reading.frame["arrival_ns"] <= reading.frame["dispatch_ns"]).all()
    issues = sum(one.action == "D" for one in [*events, *begun])
    lost = reading.left_out.get(AGAIN, 0) + reading.left_out.get(UNCOMPLETED, 0)
    requeues = sum(one.action == "R" for one in events)
    assert issues - requeues <= reading.frame.height + lost <= issues


def test_issues_only(tmp_path: Path) -> None:
    """Without any completion, arrivals can be replayed, and response times are not to be had."""
    events = [event(5, "Q", 8), event(7, "D", 8), event(9, "D", 16), event(11, "D", 8)]
    for content in (printed(events), one_file(events)):
        (tmp_path / "t").write_bytes(content)
        trace = load(str(tmp_path / "t"))
        assert trace.arrival_ns.tolist() == [0, 4, 6]
        assert trace.left_out == {}
        with pytest.raises(UserError, match="has arrivals only"):
            trace.response_ns()


def of_three_cpus() -> dict[int, bytes]:
    """Return the files of requests that one of three CPUs issues and the next one completes."""
    issued = [Event(1000 * n, n % 3, "D", 8 * n, 8) for n in range(300)]
    completed = [Event(1000 * n + 90, (n + 1) % 3, "C", 8 * n, 8) for n in range(300)]
    return files([*issued, *completed])


def test_the_file_of_a_cpu_is_missing(tmp_path: Path) -> None:
    for cpu, data in of_three_cpus().items():
        if cpu != 1:
            (tmp_path / f"x.blktrace.{cpu}").write_bytes(data)
    with pytest.raises(UserError, match=r"x: files of other CPUs are missing .*: x\.blktrace\.1; "):
        load(str(tmp_path / "x"))
    done = CliRunner().invoke(main, ["trace", "info", str(tmp_path / "x")])
    assert done.exit_code == 1
    assert "x.blktrace.1" in done.stdout
    assert f"100 {UNISSUED}, 100 {UNCOMPLETED}" in done.stdout
    (tmp_path / "x.blktrace.1").touch()
    with pytest.raises(UserError, match="of 200 requests some events are missing, and of only 100"):
        load(str(tmp_path / "x"))


def test_the_last_line_is_cut(tmp_path: Path) -> None:
    lines = printed([event(0, "D", 8), event(1, "C", 8), event(2, "D", 8), event(3, "C", 8)])
    (tmp_path / "t").write_bytes(lines[:-5])
    trace = recorded(str(tmp_path / "t"))
    assert (len(trace), trace.left_out) == (1, {UNCOMPLETED: 1})
    assert trace.broken == "breaks off in line 4: 8,0 0 3 0.000000003 100 C R 8 + 8"


def of(device: str, lines: bytes) -> bytes:
    """Return the lines for another device."""
    return lines.replace(b"  8,0 ", f"  {device} ".encode())


PASSED_ON = "passed on by a device that issued nothing (LVM, RAID, encryption)"


@pytest.mark.parametrize("completed", ["", "C"])
def test_a_device_that_passes_requests_on(completed: str, tmp_path: Path) -> None:
    """A logical volume queues, and perhaps completes, what its disk issues; nothing is lost."""
    disk = [event(at * S + rank, what, 64) for at in range(5) for rank, what in enumerate("QDC")]
    wanted = ("Q", *completed)
    volume = of("253,0", printed(one for one in disk if one.action in wanted))
    file = tmp_path / "t"
    file.write_bytes(of("253,1", volume) + volume + printed(disk))
    trace = load(str(file))
    assert (len(trace), trace.volumes) == (5, ("8,0",))
    assert set(trace.left_out) == {PASSED_ON}


def test_what_is_lost_of_another_volume_does_not_count(tmp_path: Path) -> None:
    whole = printed([event(1, "D", 0), event(2, "C", 0)])
    lossy = of("8,16", printed([*(event(at, "D", 8 * at) for at in range(9)), event(9, "C", 8)]))
    file = tmp_path / "t"
    file.write_bytes(lossy + whole)
    assert not load(f"{file}:8,0").left_out
    assert recorded(f"{file}:8,16").left_out == {UNCOMPLETED: 8}
    assert recorded(str(file)).left_out == {UNCOMPLETED: 8}
    with pytest.raises(UserError, match="of 8 requests some events are missing, and of only 1"):
        load(f"{file}:8,16")
