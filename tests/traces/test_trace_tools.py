# SPDX-License-Identifier: MIT
"""Traces of Linux tools (ftrace, perf, biosnoop) and of other simulators: their rows and faults."""

import io
from pathlib import Path

import pytest
from readings import joined
from trace_samples import (
    BIOSNOOP,
    BIOSNOOP_BT,
    BIOSNOOP_IDS,
    BIOSNOOP_QUEUE,
    DISKSIM,
    ETW,
    FIU,
    FTRACE,
    MQSIM,
    NVME,
    PERF,
    SPC,
)

from understudy_devices.base.errors import UserError
from understudy_devices.traces import formats
from understudy_devices.traces.read import load, recorded
from understudy_devices.traces.reading import Reading

MS, S = 10**6, 10**9
UNISSUED = "completed, but not seen to be issued"


def reading(data: bytes) -> Reading:
    return joined(formats.read(io.BytesIO(data)))


def rows(data: bytes, *names: str) -> list[tuple[object, ...]]:
    return reading(data).frame.select(names).rows()


ALL = ("arrival_ns", "dispatch_ns", "completion_ns", "sector", "sectors", "op", "owner", "volume")


def test_ftrace() -> None:
    assert rows(FTRACE, *ALL) == [
        (100 * S, 100 * S, 100 * S + 4 * MS, 2048, 8, "read", 4120, "8,0"),
        (100_005_001_000, 100_005_100_000, 100_009_500_000, 2056, 8, "write", 99, "8,16"),
    ]
    assert reading(FTRACE).left_out == {
        "flushes without data": 1,
        "events lost, by the tracer's own count": 7,
    }


def test_perf() -> None:
    assert rows(PERF, *ALL) == [
        (5000_100_000_000, 5000_100_000_000, 5000_100_090_000, 81920, 8, "read", 12001, "259,0"),
        (5000_100_100_123, 5000_100_100_123, 5000_100_130_123, 81928, 8, "write", 7, "259,0"),
    ]


def test_nvme() -> None:
    """Commands are matched by controller, queue and id; the admin queue moves no data."""
    result = reading(NVME)
    names = ("arrival_ns", "completion_ns", "sector", "sectors", "op", "owner", "volume")
    assert result.frame.select(names).rows() == [
        (400 * S, 400 * S + 85_000, 2048, 8, "read", 901, "nvme0n1"),
        (400 * S + 10_000, 400 * S + 86_000, 8, 1, "write", 901, "nvme0n1"),
    ]
    assert result.left_out == {"neither read nor write": 1, UNISSUED: 1}


def test_nvme_id_that_is_used_again() -> None:
    again = NVME.split(b"\n")[0].replace(b"400.000000", b"399.000000") + b"\n"
    result = reading(again + NVME)
    assert result.frame.height == 2
    assert result.left_out["issued again before it was completed"] == 1


def test_biosnoop() -> None:
    """TIME is that of the completion; COMM may have spaces, and a flush has no length."""
    result = reading(BIOSNOOP)
    first = (4_000 - 740_000, 4_000 - 740_000, 4_000)
    began = 178_000 - 610_000
    shift = min(first[0], began)
    assert result.frame.select(*ALL[:1], *ALL[2:]).rows() == [
        (first[0] - shift, first[2] - shift, 13092560, 8, "write", 1950, "xvda1"),
        (began - shift, 178_000 - shift, 13092432, 1, "read", 0, "xvda1"),
    ]
    assert result.left_out == {
        "of no length": 1,
        "events lost, by the tracer's own count": 3,
    }


def test_biosnoop_with_queueing_time(tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(BIOSNOOP_QUEUE)
    trace = load(str(tmp_path / "t"))
    assert trace.dispatch_ns is not None
    assert trace.dispatch_ns.tolist() == [250_000]
    assert trace.response_ns().tolist() == [1_750_000]


@pytest.mark.parametrize(("data", "disk"), [(BIOSNOOP_BT, "nvme0n1"), (BIOSNOOP_IDS, "259,0")])
def test_biosnoop_of_bpftrace(data: bytes, disk: str, tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(data)
    trace = recorded(str(tmp_path / "t"))
    assert trace.volumes == (disk,)
    assert sorted(trace.response_ns().tolist())[-1] == 10 * MS
    with pytest.raises(UserError, match="does not say where on the disk"):
        load(str(tmp_path / "t"))


def test_windows(tmp_path: Path) -> None:
    """TimeStamp is that of the completion; a disk never begins before the arrival."""
    (tmp_path / "t").write_bytes(ETW)
    for volume, dispatch_ns in (("0", 100_000), ("1", 0)):
        trace = load(f"{tmp_path}/t:{volume}")
        assert trace.dispatch_ns is not None
        assert trace.dispatch_ns.tolist() == [dispatch_ns]
    result = reading(ETW)
    assert result.frame.select(*ALL[:1], *ALL[2:]).rows() == [
        (0, 283_000, 0x18F0B8000 // 512, 8, "read", "xperf.exe (3984)", "0"),
        (371_000, 671_000, 1, 3, "write", "System (   4)", "1"),
    ]
    assert result.left_out == {"flushes without data": 1}


ARRIVALS = ("arrival_ns", "sector", "sectors", "op", "volume")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (
            SPC,
            [
                (0, 303567, 7, "write", "0"),
                (26_214_000, 55590, 6, "write", "1"),
                (500 * MS, 0, 1, "read", "0"),
            ],
        ),
        (
            MQSIM,
            [(0, 1274296, 8, "read", "0"), (900, 8, 1, "write", "1"), (1000, 0, 2, "read", "0")],
        ),
        (
            DISKSIM,
            [
                (0, 1274296, 8, "read", "0"),
                (452_088, 8, 1, "write", "1"),
                (1_202_088, 0, 2, "read", "0"),
            ],
        ),
        (FIU, [(0, 904265560, 8, "write", "6,0"), (1_076_916, 904265568, 8, "read", "6,0")]),
    ],
)
def test_arrivals(data: bytes, expected: list[tuple[object, ...]]) -> None:
    assert rows(data, *ARRIVALS) == expected


@pytest.mark.parametrize(
    ("data", "old", "new", "message"),
    [
        (FTRACE, b"4096 () 2048 + 8", b"4096", "line 4: no block_rq_issue: dd-4120 .001."),
        (FTRACE, b"100.004000", b"99.004000", "line 5: time goes back, .* sort the lines by time"),
        (FTRACE, b"2048 + 8", b"999999999999999 + 8", "line 4: its sector, 9+, is too large"),
        (PERF, b"complete", b"other", "has arrivals only, so it does not say how long"),
        (NVME, b"qid=4", b"q=4", "line 1: no nvme_setup_cmd: fio-901"),
        (NVME, b"400.000085", b"3.000085", "line 4: time goes back"),
        (NVME, b"len=7,", b"len=70000,", "line 1: a number in it is too large"),
        (NVME, b"complete", b"other", r"no request in it was both issued .*; 2 issued, but"),
        (BIOSNOOP, b"4096", b"4k", "line 3: no line of biosnoop's: 0.000004 supervise"),
        (BIOSNOOP, b"0.61\n", b"0.61 1.5\n", "line 4: no line of biosnoop's"),
        (BIOSNOOP, b"13092560", b"9" * 20, "line 3: a number in it is too large"),
        (BIOSNOOP_BT, b"10\n", b"0.5\n", "line 3: no line of biosnoop.bt's: 611 nvme0n1"),
        (ETW, b"0x00001000", b"4k", "line 7: IOSize is no number: DiskRead, 8612, xperf.exe"),
        (ETW, b"IOSize", b"Size", "line 2: DiskRead has no IOSize"),
        (ETW, b" 512,", b" 0xffffffffffffffff,", "line 9: ByteOffset is too large"),
        (SPC, b"0.026214", b"soon", 'line 2: Timestamp "soon" is no time in seconds'),
        (SPC, b",W,", b",X,", 'line 2: Opcode "X" is neither r nor w'),
        (MQSIM, b"8 1 0", b"8 1 2", 'line 2: type "2" is neither 1 nor 0'),
        (MQSIM, b"8 1 0", b"8 1", "line 2: type is missing"),
        (DISKSIM, b"8 1 4", b"8 1 g", 'line 2: flags "g" is no hexadecimal number'),
        (DISKSIM, b"1.25", b"9" * 18 + b".", 'line 3: time "9+." is too large; is the unit'),
        (FIU, b" R ", b" T ", 'line 2: type "T" is neither R nor W'),
    ],
)
def test_a_line_that_is_wrong(
    data: bytes, old: bytes, new: bytes, message: str, tmp_path: Path
) -> None:
    (tmp_path / "t").write_bytes(data.replace(old, new))
    with pytest.raises(UserError, match=rf"t: .*({message})"):
        load(str(tmp_path / "t")).response_ns()


@pytest.mark.parametrize(
    ("data", "cut", "left"),
    [
        (FTRACE, 60, 1),
        (PERF, 20, 1),
        (BIOSNOOP, 40, 2),
        (BIOSNOOP_BT, 1, 1),
        (ETW, 60, 1),
        (NVME, 150, 1),
    ],
)
def test_a_file_that_is_cut(data: bytes, cut: int, left: int) -> None:
    """The cut line is named, or the request whose end is cut off is counted."""
    result = reading(data[:-cut])
    assert result.frame.height == left
    assert result.broken or "issued, but not seen to complete" in result.left_out
