# SPDX-License-Identifier: MIT
"""Binary block traces: requests with known times, Debian's blkparse, and arbitrary bytes."""

import gzip
import io
import struct
import subprocess
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from block_events import (
    DISCARD,
    FLUSH,
    PC,
    READ,
    SDA,
    WRITE,
    WRITE_ZEROES,
    ZONE_RESET,
    Event,
    Requests,
    Row,
    files,
    note,
    one_file,
    record,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from readings import joined

from understudy_devices.base.errors import UserError
from understudy_devices.traces import formats
from understudy_devices.traces.formats import blkparse, blktrace
from understudy_devices.traces.per_cpu import files_of
from understudy_devices.traces.read import load
from understudy_devices.traces.reading import Reading

COLUMNS = ["arrival_ns", "dispatch_ns", "completion_ns", "sector", "sectors", "op", "owner"]
LAYOUTS = [(7, "<"), (7, ">"), (8, "<"), (8, ">")]
READ_8 = [
    Event(1000, 0, "Q", 64, 8, pid=5),
    Event(3000, 0, "D", 64, 8, pid=6),
    Event(9000, 1, "C", 64, 8, pid=0),
]
ROW_8 = (1000, 3000, 9000, 64, 8, "read", 5)


def read(data: bytes) -> Reading:
    return joined(blktrace.read(io.BytesIO(data)))


def rows(reading: Reading) -> list[Row]:
    return sorted(reading.frame.select(COLUMNS).rows())


def read_events(*events: Event, version: int = 7) -> Reading:
    return read(one_file([*READ_8, *events], version))


@pytest.mark.parametrize(("version", "order"), LAYOUTS)
def test_a_request(version: int, order: str) -> None:
    reading = joined(formats.read(io.BytesIO(one_file(READ_8, version, order))))
    assert rows(reading) == [ROW_8]
    assert reading.left_out == {}
    assert reading.broken is None


@given(st.integers(0, 2**32), st.sampled_from(LAYOUTS))
def test_requests_of_all_kinds(seed: int, layout: tuple[int, str]) -> None:
    """Requests are merged, split, requeued and completed in parts, on four CPUs in one file."""
    requests = Requests(seed)
    reading = read(one_file(requests.events, *layout))
    assert rows(reading) == sorted(requests.rows)
    assert (reading.left_out, reading.broken) == ({}, None)


def write_files(folder: Path, of_cpus: dict[int, bytes]) -> Path:
    for cpu, data in of_cpus.items():
        (folder / f"x.blktrace.{cpu}").write_bytes(data)
    return folder / "x"


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("seed", range(4))
def test_as_blkparse_reads_it(seed: int, order: str, tmp_path: Path) -> None:
    """The events as printed by Debian's blkparse contain the same requests."""
    requests = Requests(seed, plain=True)
    empty = dict.fromkeys(range(4), b"")  # blkparse ignores files after a gap
    path = write_files(tmp_path, empty | files(requests.events, 7, order))
    command = ["blkparse", "-i", path.name, "-D", str(tmp_path)]
    text = subprocess.run(command, check=True, capture_output=True).stdout
    printed = joined(blkparse.read(io.BytesIO(text))).frame.select(COLUMNS).rows()
    began_ns = min(event.time_ns for event in requests.events)
    relative = [(*(time - began_ns for time in row[:3]), *row[3:]) for row in requests.rows]
    assert sorted(printed) == sorted(relative)
    trace = load(str(path))
    first_ns = min(row[0] for row in printed)
    assert trace.arrival_ns.tolist() == sorted(row[0] - first_ns for row in printed)
    assert trace.completion_ns is not None
    assert sorted(trace.completion_ns.tolist()) == sorted(row[2] - first_ns for row in printed)


@pytest.mark.parametrize("named", ["x", "x.blktrace.0", "x.blktrace.10"])
def test_files_of_one_trace(named: str, tmp_path: Path) -> None:
    """The trace may be named by any of its files or by their prefix; an idle CPU's file
    is empty.
    """
    first, second, third = READ_8
    other = [replace(third, cpu=10), replace(second, cpu=2)]
    write_files(tmp_path, {**dict.fromkeys(range(11), b""), **files([first, *other])})
    (tmp_path / "y.blktrace.0").write_bytes(b"another trace")
    assert [file.name for file in files_of(tmp_path / named)] == [
        f"x.blktrace.{cpu}" for cpu in range(11)
    ]
    assert load(str(tmp_path / named)).sector.tolist() == [64]


@pytest.mark.parametrize("named", ["x", "x.blktrace.0.gz", "x.blktrace.1"])
def test_files_that_are_packed(named: str, tmp_path: Path) -> None:
    """Some files of the trace are compressed; a damaged one is refused."""
    events = files([replace(READ_8[0], cpu=1), *READ_8[1:]])
    (tmp_path / "x.blktrace.0.gz").write_bytes(gzip.compress(events[0]))
    (tmp_path / "x.blktrace.1").write_bytes(events[1])
    assert load(str(tmp_path / named)).arrival_ns.tolist() == [0]
    assert load(str(tmp_path / named)).sector.tolist() == [64]
    (tmp_path / "x.blktrace.0.gz").write_bytes(gzip.compress(events[0])[:-12])
    with pytest.raises(UserError, match=r"x\.blktrace\.0\.gz: the gzip file is cut off"):
        load(str(tmp_path / named))


def test_a_file_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"--trace: .*/x: No such file"):
        load(str(tmp_path / "x"))


@pytest.mark.parametrize(
    ("events", "why", "version"),
    [
        ([Event(50, 0, "C", 8, 8)], "completed, but not seen to be issued", 7),
        (
            [Event(50, 0, "D", 8, 8), Event(51, 0, "C", 8, 4)],
            "issued, but not seen to complete",
            7,
        ),
        ([Event(50, 0, "D", also=(WRITE, FLUSH)), Event(51, 0, "C")], "flushes without data", 7),
        (
            [Event(50, 0, "D", 8, 8, also=(WRITE, DISCARD)), Event(51, 0, "C", also=(DISCARD,))],
            "discards",
            7,
        ),
        ([Event(50, 0, "D", 0, 1, also=(READ, PC))], "passthrough commands", 7),
        ([Event(50, 0, "D", 8, 0)], "of no length", 7),
        ([Event(50, 0, "D", 8, length=511)], "of no length", 7),
        ([Event(50, 0, "D", 8, 8, also=(WRITE, ZONE_RESET))], "neither read nor write", 8),
        ([Event(50, 0, "D", 8, 8, also=(WRITE, WRITE_ZEROES))], "neither read nor write", 8),
    ],
)
def test_what_is_no_row_is_counted(events: list[Event], why: str, version: int) -> None:
    reading = read_events(*events, version=version)
    assert rows(reading) == [ROW_8]
    assert reading.left_out == {why: 1}
    with pytest.raises(ValueError, match=rf"issued \(D\) and completed \(C\); 1 {why}"):
        read(one_file(events, version))


@pytest.mark.parametrize("more", [[], [Event(51, 0, "R", 8, 8)]])
def test_what_does_not_complete(more: list[Event]) -> None:
    """It is counted if another request completes; otherwise arrivals are all that is known."""
    events = [Event(50, 0, "D", 8, 8), *more]
    assert read_events(*events).left_out == {"issued, but not seen to complete": 1}
    alone = read(one_file(events))
    assert alone.frame.select("arrival_ns", "sector").rows() == [(50, 8)]
    assert "completion_ns" not in alone.frame.columns


def test_what_says_nothing_of_requests() -> None:
    """Plugs, remaps, allocations of requests, and splits without a valid sector are ignored."""
    events = [
        Event(50, 0, "P"),
        Event(51, 0, "G", 64, 8),
        Event(52, 0, "A", 64, 8, payload=bytes(16)),
        Event(53, 0, "X", 64, 8, payload=bytes(7)),
        Event(1001, 0, "X", 64, 8, payload=struct.pack(">Q", 64)),
        Event(1002, 0, "X", 64, 8, payload=struct.pack(">Q", 2**60)),
    ]
    reading = read_events(*events)
    assert (rows(reading), reading.left_out) == ([ROW_8], {})


def of_cpu_0(*numbers_and_times: tuple[int, int]) -> Reading:
    """Read plugs of CPU 0 with these sequence numbers and times, followed by a read of CPU 1."""
    plugs = b"".join(
        record(Event(time_ns, 0, "P"), number) for number, time_ns in numbers_and_times
    )
    return read(plugs + one_file([replace(event, cpu=1) for event in READ_8]))


@pytest.mark.parametrize(
    ("plugs", "counted"),
    [
        ([(1, 10), (2, 10)], {}),
        ([(2**32 - 1, 10), (0, 20)], {}),
        ([(1, 10), (5, 20), (6, 30)], {"records lost: gaps in a CPU's sequence numbers": 3}),
        (
            [(1, 10), (2, 20), (1, 10), (2, 20), (3, 30)],
            {"records with a sequence number seen before on their CPU": 2},
        ),
        (
            [(1, 10), (1, 20), (2, 30)],
            {"records with a sequence number seen before on their CPU": 1},
        ),
        ([(1, 10), (2, 9), (3, 30)], {"records earlier than the one before on their CPU": 1}),
    ],
)
def test_numbers_and_times_of_a_cpu(plugs: list[tuple[int, int]], counted: dict[str, int]) -> None:
    reading = of_cpu_0(*plugs)
    assert (rows(reading), reading.left_out) == ([ROW_8], counted)


def test_notes_have_no_number_and_no_device_is_another_one() -> None:
    data = note(5000, 0, b"cat\0") + one_file(READ_8) + note(1, 1, b"dd\0")
    assert read(data).left_out == {}
    with pytest.raises(ValueError, match="holds two devices, 8,0 and 8,16; trace one of them"):
        read_events(Event(9999, 0, "Q", 8, 8, device=SDA + 16))


BIG = 2**63


@pytest.mark.parametrize(
    ("spoilt", "message"),
    [
        (b"\0" * 60, "begins with 0x00000000, which is no magic number of blktrace"),
        (b"\x08tae" + bytes(60), "begins with 0x65617408, which is no magic number of blktrace"),
        (b"\x07ta", "is cut short"),
        (record(Event(BIG, 0, "Q", 8, 8), 9), f"its time, {BIG} ns, is impossible"),
        (record(Event(9999, 0, "Q", BIG, 8), 3), f"its sector, {BIG}, is impossible"),
        (record(Event(50, 8192, "Q", 8, 8), 9), "its CPU, 8192, is impossible"),
        (record(Event(9999, 0, "X", payload=bytes(9)), 3)[:-1], "is cut short"),
    ],
)
def test_a_file_that_breaks_off(spoilt: bytes, message: str) -> None:
    """Requests before the damage are kept."""
    reading = read(one_file(READ_8) + spoilt + one_file(READ_8))
    if "cut short" in message:
        reading = read(one_file(READ_8) + spoilt)
    assert rows(reading) == [ROW_8]
    assert reading.broken is not None
    assert reading.broken.startswith("record 4 at byte 144")
    assert message in reading.broken


def test_one_of_several_files_breaks_off(tmp_path: Path) -> None:
    data = files(READ_8)
    path = write_files(tmp_path, {**data, 0: data[0] + b"x", 3: b"whatever this is"})
    with (path.with_name("x.blktrace.0")).open("rb") as file:
        reading = joined(formats.read(file))
    assert rows(reading) == [ROW_8]
    assert reading.broken == (
        "x.blktrace.0: record 3 at byte 96 is cut short; x.blktrace.3: record 1 at byte 0 begins"
        " with 0x74616877, which is no magic number of blktrace; files of other CPUs are missing"
        " (make an empty file for a CPU that was idle): x.blktrace.2"
    )


def test_of_another_version() -> None:
    with pytest.raises(ValueError, match="is of version 6; versions 7 and 8 can be read"):
        read(record(READ_8[0], 1, version=7).replace(b"\x07tae", b"\x06tae"))


@pytest.mark.parametrize("version", [7, 8])
def test_cut_anywhere(version: int) -> None:
    data = one_file(READ_8, version)
    length = len(data) // 3
    for end in range(1, len(data)):
        try:
            message = read(data[:end]).broken or ""
        except ValueError as error:
            message = str(error)
        assert ("no request in it" in message) == (end < 2 * length)  # then the issue is there
        cut = f"record {end // length + 1} at byte {end // length * length} is cut short"
        assert (cut in message) == bool(end % length)


@pytest.mark.parametrize(("version", "order"), LAYOUTS)
def test_it_is_told_from_the_others(version: int, order: str) -> None:
    head = one_file(READ_8, version, order)
    assert [one for one in formats.FORMATS if one.recognises(head)] == [blktrace]
    for text in (b"eaten,sector,sectors", b"stay,sector", b"eat", b""):
        assert not blktrace.recognises(text)


@given(st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    blktrace.recognises(data)
    for begin in (b"", b"\x07tae", b"eat\x08"):
        with pytest.raises(ValueError, match=r"no request in it|is of version|two devices"):
            read(begin + data)


@settings(max_examples=150)
@given(
    st.integers(0, 2**32),
    st.sampled_from(LAYOUTS),
    st.lists(st.tuples(st.floats(0, 0.999), st.integers(0, 255)), min_size=1, max_size=20),
)
def test_spoilt_bytes(seed: int, layout: tuple[int, str], spoilt: list[tuple[float, int]]) -> None:
    """The result is a consistent table or ValueError; it has only arrivals if no completion is
    left."""
    data = bytearray(one_file(Requests(seed).events, *layout))
    for at, value in spoilt:
        data[int(at * len(data))] = value
    try:
        frame = read(bytes(data)).frame
    except ValueError:
        return
    times = [name for name in ("dispatch_ns", "completion_ns") if name in frame.columns]
    assert len(times) != 1
    for earlier, later in pairwise(["arrival_ns", *times]):
        assert (frame[earlier] <= frame[later]).all()
    assert (frame["sectors"] > 0).all()
    assert frame["op"].is_in(["read", "write"]).all()
