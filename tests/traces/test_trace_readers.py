# SPDX-License-Identifier: MIT
"""Formats of published traces: known rows, wrong lines, recognition of a format,
arbitrary bytes.
"""

import io
import struct
from pathlib import Path
from typing import Any

import block_events
import pytest
from hypothesis import given
from hypothesis import strategies as st
from readings import joined
from trace_samples import (
    BIOSNOOP,
    BIOSNOOP_BT,
    BIOSNOOP_IDS,
    BIOSNOOP_QUEUE,
    DISKSIM,
    ETW,
    FIU,
    FLASHNET,
    FLASHNET_OLD,
    FTRACE,
    IOSNOOP,
    IOSNOOP_ENDS,
    LIBCACHESIM,
    MQSIM,
    NVME,
    PERF,
    SPC,
    SRT,
    THESIOS,
    VALIDATE,
    WPA,
    WPA_ENGLISH,
)

from understudy_devices.base.errors import UserError
from understudy_devices.traces import formats, text
from understudy_devices.traces.formats import (
    alibaba,
    biosnoop,
    biosnoop_bt,
    blkparse,
    blktrace,
    csv,
    disksim,
    disksim_validate,
    etw,
    fio,
    fiu,
    flashnet,
    ftrace,
    iolog,
    iosnoop,
    libcachesim,
    mqsim,
    msr,
    nvme,
    oraclegeneral,
    parquet,
    spc,
    srt,
    systor,
    tencent,
    thesios,
    vscsi,
    wpa,
)
from understudy_devices.traces.read import load, recorded
from understudy_devices.traces.reading import Reading

MSR = b"""\
128166372003061629,hm,1,Read,383496192,32768,413
128166372013061629,hm,0,Write,100,512,10
128166372008061629,src1,1,Read,511,2,100000
"""
MSR_HEADER = b"Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n"
SYSTOR = b"""\
Timestamp,Response,IOType,LUN,Offset,Size
1455786000.123456789,0.000415,R,0,1024,4096
1455786000.12345679,0.5,W,3,0,512
1455786001,1.000000001,R,0,513,1
"""
ALIBABA = b"""\
419,W,8792731648,16384,1577808144360767
725,R,0,1,1577808144360768
419,R,513,511,1577808145360767
"""
TENCENT = b"""\
1538323200,12910952,128,0,1063
1538323200,12910952,8,1,1064
1538323203,0,1,0,1063
"""
IOLOG_2 = b"""\
fio version 2 iolog
/dev/sda add
/dev/sda open
/dev/sda read 4096 8192
/dev/sda wait 100 0
/dev/sda write 513 1
/dev/sda wait 50
/dev/sdb sync
/dev/sdb trim 0 4096
/dev/sdb read 0 512
/dev/sda close
"""
IOLOG_3 = b"""\
fio version 3 iolog
3 /dev/sda add
4 /dev/sda open
5 /dev/sda read 4096 8192
105 /dev/sda write 513 1
106 /dev/sdb datasync 0 0
155 /dev/sdb read 0 512
200 /dev/sda close
"""
OURS = b"arrival_ns,sector,sectors\n5,0,8\n9,64,8\n7,8,8\n"
FIO = b"5, 5100000, 0, 4096, 1048576, 0\n9, 4000000, 0, 4096, 0, 0\n"
BLKPARSE = b"  8,0    1        5     0.000010000   697  D   R 223490 + 8 [cat]\n"


def record_1(ts: int, cmd: int = 0x28, length: int = 4096, lbn: int = 8, ver: int = 0x100) -> bytes:
    """Return a record of vscsi's first version, as documented."""
    return struct.pack("<IIIHHQQ", 7, length, 1, cmd, ver, lbn, ts)


def record_2(
    ts: int, rt: int, cmd: int = 0x28, length: int = 4096, lbn: int = 8, ver: int = 0x200
) -> bytes:
    """Return a record of vscsi's second version, as documented."""
    return struct.pack("<HHIIIQQQ", cmd, ver, 7, length, 1, lbn, ts, rt)


VSCSI_1 = record_1(5000) + record_1(5001, 0x8A, 513, 2**40) + record_1(4999, 0xA8, 1, 0)
VSCSI_2 = record_2(10**15, 80) + record_2(10**15 + 7, 1, 0x2A, 1024, 9) + record_2(10**15, 0, 0x08)


def oracle(time: int, place: int, size: int, again: int) -> bytes:
    """Return a record of libCacheSim's oracleGeneral, as its reader's source has it."""
    return struct.pack("<IQIq", time, place, size, again)


ORACLE = oracle(7, 8, 4096, 3) + oracle(7, 99, 513, -1) + oracle(9, 8, 4096, 2**63 - 1)

SAMPLES = {
    "msr": (MSR, msr),
    "systor": (SYSTOR, systor),
    "alibaba": (ALIBABA, alibaba),
    "alibaba with a header": (b"device_id,opcode,offset,length,timestamp\n" + ALIBABA, alibaba),
    "tencent": (TENCENT, tencent),
    "tencent with a header": (b"Timestamp,Offset,Size,IOType,VolumeID\n" + TENCENT, tencent),
    "iolog 2": (IOLOG_2, iolog),
    "iolog 3": (IOLOG_3, iolog),
    "vscsi 1": (VSCSI_1, vscsi),
    "vscsi 2": (VSCSI_2, vscsi),
    "msr with a header": (MSR_HEADER + MSR, msr),
    "spc": (SPC, spc),
    "mqsim": (MQSIM, mqsim),
    "disksim": (DISKSIM, disksim),
    "fiu": (FIU, fiu),
    "ftrace": (FTRACE, ftrace),
    "perf": (PERF, ftrace),
    "nvme": (NVME, nvme),
    "biosnoop": (BIOSNOOP, biosnoop),
    "biosnoop with queues": (BIOSNOOP_QUEUE, biosnoop),
    "biosnoop.bt": (BIOSNOOP_BT, biosnoop_bt),
    "biosnoop.bt with numbers": (BIOSNOOP_IDS, biosnoop_bt),
    "windows": (ETW, etw),
    "windows wpa": (WPA, wpa),
    "windows wpa in english": (WPA_ENGLISH, wpa),
    "flashnet": (FLASHNET, flashnet),
    "flashnet without times of sending": (FLASHNET_OLD, flashnet),
    "disksim's validation": (VALIDATE, disksim_validate),
    "thesios": (THESIOS, thesios),
    "iosnoop": (IOSNOOP, iosnoop),
    "iosnoop with ends": (IOSNOOP_ENDS, iosnoop),
    "libcachesim": (LIBCACHESIM, libcachesim),
    "oraclegeneral": (ORACLE, oraclegeneral),
    "srt": (SRT, srt),
    "ours": (OURS, csv),
    "fio": (FIO, fio),
    "blkparse": (BLKPARSE, blkparse),
    "blktrace": (block_events.one_file([block_events.Event(0, 0, "Q", 8, 8)]), blktrace),
    "parquet": (b"PAR1" + bytes(40), parquet),
}
OF_THIS_PAGE = [
    name for name in SAMPLES if name not in ("ours", "fio", "blkparse", "blktrace", "parquet")
]


def reading(data: bytes) -> Reading:
    """Read a trace and join its pieces."""
    return joined(formats.read(io.BytesIO(data)))


def made(module: Any, data: bytes) -> Reading | str:
    """Return what one format reads, or its error message."""
    try:
        result = joined(module.read(io.BytesIO(data)))
    except ValueError as error:
        return str(error)
    return result


def rows(reading: Reading, *names: str) -> list[tuple[object, ...]]:
    """Return some columns."""
    return reading.frame.select(names).rows()


@pytest.mark.parametrize("name", SAMPLES)
def test_every_format_is_told_from_the_others(name: str) -> None:
    data, module = SAMPLES[name]
    assert [one for one in formats.FORMATS if one.recognises(data)] == [module]


def test_every_format_has_a_sample() -> None:
    assert {id(module) for _, module in SAMPLES.values()} >= {id(one) for one in formats.FORMATS}


def test_msr_cambridge() -> None:
    result = reading(MSR)
    assert rows(result, "arrival_ns", "completion_ns", "sector", "sectors", "op", "owner") == [
        (0, 41_300, 749_016, 64, "read", "hm.1"),
        (10**9, 10**9 + 1000, 0, 2, "write", "hm.0"),
        (5 * 10**8, 5 * 10**8 + 10**7, 0, 2, "read", "src1.1"),
    ]
    assert (result.left_out, result.broken) == ({}, None)


@pytest.mark.parametrize("before", [b"\xef\xbb\xbf", MSR_HEADER, b"\xef\xbb\xbf" + MSR_HEADER])
def test_msr_cambridge_behind_a_mark_or_a_header(before: bytes) -> None:
    assert reading(before + MSR).frame.equals(reading(MSR).frame)


def test_systor_to_the_nanosecond() -> None:
    assert rows(
        reading(SYSTOR), "arrival_ns", "completion_ns", "sector", "sectors", "op", "owner"
    ) == [
        (0, 415_000, 2, 8, "read", "0"),
        (1, 500_000_001, 0, 1, "write", "3"),
        (876_543_211, 1_876_543_212, 1, 1, "read", "0"),
    ]


def test_systor_whose_rows_are_not_complete() -> None:
    """A row without a type is counted, and so is a row without a response time if other rows have
    one.
    """
    more = b"1455786002,0.5,,0,0,512\n1455786002,,R,0,0,512\n1455786003,,,0,0,512\n"
    result = reading(SYSTOR + more)
    assert result.frame.height == 3
    assert result.left_out == {"without a type": 2, "without a response time": 1}
    arrivals = reading(SYSTOR.splitlines(True)[0] + b"1455786002,,R,0,0,512\n1455786003,,W,1,8,1\n")
    assert rows(arrivals, "arrival_ns", "op") == [(0, "read"), (10**9, "write")]
    assert "completion_ns" not in arrivals.frame.columns
    assert not arrivals.left_out


@pytest.mark.parametrize("name", ["alibaba", "alibaba with a header"])
def test_alibaba(name: str) -> None:
    result = reading(SAMPLES[name][0])
    assert rows(result, "arrival_ns", "sector", "sectors", "op", "owner") == [
        (0, 17_173_304, 32, "write", "419"),
        (1000, 0, 1, "read", "725"),
        (10**9, 1, 1, "read", "419"),
    ]
    assert "completion_ns" not in result.frame.columns


@pytest.mark.parametrize("name", ["tencent", "tencent with a header"])
def test_tencent(name: str) -> None:
    result = reading(SAMPLES[name][0])
    assert rows(result, "arrival_ns", "sector", "sectors", "op", "owner") == [
        (0, 12_910_952, 128, "read", "1063"),
        (0, 12_910_952, 8, "write", "1064"),
        (3 * 10**9, 0, 1, "read", "1063"),
    ]


@pytest.mark.parametrize(("data", "others"), [(IOLOG_2, 2), (IOLOG_3, 1)])
def test_fio_iolog(data: bytes, others: int) -> None:
    result = reading(data)
    assert rows(result, "arrival_ns", "sector", "sectors", "op", "owner") == [
        (0, 8, 16, "read", "/dev/sda"),
        (100_000, 1, 1, "write", "/dev/sda"),
        (150_000, 0, 1, "read", "/dev/sdb"),
    ]
    assert result.left_out == {"neither read nor write": others}


def test_vscsi() -> None:
    assert rows(reading(VSCSI_1), "arrival_ns", "sector", "sectors", "op") == [
        (1000, 8, 8, "read"),
        (2000, 2**40, 2, "write"),
        (0, 0, 1, "read"),
    ]
    assert rows(reading(VSCSI_2), "arrival_ns", "completion_ns", "sector", "sectors", "op") == [
        (0, 80_000, 8, 8, "read"),
        (7000, 8000, 9, 2, "write"),
        (0, 0, 8, 8, "read"),
    ]


def test_vscsi_counts_what_it_leaves_out() -> None:
    result = reading(VSCSI_1 + record_1(1, 0x35, lbn=2**63) * 2 + record_1(2, length=0))
    assert result.frame.height == 3
    assert result.left_out == {"neither read nor write": 2, "of no length": 1}


def test_oraclegeneral() -> None:
    result = reading(ORACLE)
    assert rows(result, "arrival_ns", "sector", "sectors", "op") == [
        (0, 8, 8, "read"),
        (0, 99, 2, "read"),
        (2 * 10**9, 8, 8, "read"),
    ]
    last = list(formats.read(io.BytesIO(ORACLE)))[-1]
    assert last.assumed == oraclegeneral.ASSUMES


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (oracle(9, 2**60, 1, -1), "record 4: object 1,152,921,504,606,846,976 is no sector"),
        (oracle(9, 8, 1, 2), "record 4: next 2 is not after this record"),
    ],
)
def test_oraclegeneral_of_something_else(record: bytes, words: str) -> None:
    """Traces of web caches have hashes; another binary file is in no format."""
    with pytest.raises(ValueError, match=words):
        list(oraclegeneral.read(io.BytesIO(ORACLE + record)))


LAST = {
    "msr": b"128166372003061629,hm,1,Read,383496192,0,413\n",
    "systor": b"1455786000.1,0.5,R,0,1024,0\n",
    "alibaba": b"419,W,8792731648,0,1577808144360767\n",
    "tencent": b"1538323200,12910952,0,0,1063\n",
    "iolog 3": b"205 /dev/sda read 4096 0\n",
    "spc": b"0,303567,0,w,0.000000\n",
    "mqsim": b"48513000 0 1274296 0 1\n",
    "disksim": b"48.047912 0 1274296 0 1\n",
    "flashnet": b"5.000,114,1,0,7356416,5.0,0\n",
    "disksim's validation": b"R Hit 5 0 1.5 2.5\n",
    "libcachesim": b"1,5633898,2a,0,42932745\n",
}


@pytest.mark.parametrize("name", LAST)
def test_requests_of_no_length_are_counted(name: str) -> None:
    result = reading(SAMPLES[name][0] + 2 * LAST[name])
    assert result.frame.height == 3
    assert result.left_out["of no length"] == 2


@pytest.mark.parametrize("name", LAST)
def test_a_file_that_is_cut_in_a_line_keeps_what_precedes(name: str) -> None:
    data = SAMPLES[name][0]
    number = data.count(b"\n") + 1
    result = reading(data + LAST[name][:6])
    assert result.frame.equals(reading(data).frame)
    assert result.broken is not None
    assert result.broken.startswith(f"breaks off in line {number}: ")


@pytest.mark.parametrize("cut", [1, 31])
def test_records_that_are_cut(cut: int) -> None:
    result = reading(VSCSI_1 + record_1(9)[:cut])
    assert (result.frame.height, result.broken) == (3, "breaks off in record 4")


@pytest.mark.parametrize("name", LAST)
def test_blank_lines_and_other_ends_of_lines(name: str) -> None:
    data = SAMPLES[name][0]
    first, rest = data.split(b"\n", 1)
    loose = first + b"\r\n" + rest.replace(b"\n", b"\r\n \r\n\r\n")
    assert reading(loose).frame.equals(reading(data).frame)


def changed(name: str, line: int, old: bytes, new: bytes) -> bytes:
    """Return a sample with a change in one of its lines (counted from 1)."""
    lines = SAMPLES[name][0].split(b"\n")
    assert old in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(old, new)
    return b"\n".join(lines)


@pytest.mark.parametrize(
    ("name", "line", "old", "new", "message"),
    [
        ("msr", 2, b"Write", b"Trim", '2: Type "Trim" is neither Read nor Write'),
        ("msr", 2, b",100,", b",-100,", '2: Offset "-100" is negative'),
        ("msr", 2, b",100,", b",x,", '2: Offset "x" is no whole number below 2.63'),
        ("msr", 2, b",100,", b",,", "2: Offset is missing"),
        ("msr", 2, b",10", b"", "2: ResponseTime is missing"),
        ("msr", 3, b"100000", b"1,2,3", '3: more "2" is behind the last column, ResponseTime'),
        ("msr", 3, b"12816637200806162", b"9" * 19, "3: Timestamp .* is no whole number below"),
        ("msr", 3, b"128166372008061629", b"-1", '3: Timestamp "-1" is negative'),
        ("msr", 3, b"511", str(2**55).encode(), "3: Offset .* is more than 36,028,797,018,963,967"),
        ("msr", 2, b"hm", b"", "2: Hostname is missing"),
        ("systor", 3, b"W", b"r", '3: IOType "r" is neither R nor W'),
        ("systor", 3, b"1455786000.12345679", b"1e9", '3: Timestamp "1e9" is no time in seconds'),
        ("systor", 3, b"1455786000", b"-1", '3: Timestamp "-1.12345679" is no time'),
        ("systor", 3, b"1455786000", b"9999999999", "3: Timestamp .* is more than 9,000,000,000"),
        ("systor", 3, b",512", b"", "3: Size is missing"),
        ("alibaba", 2, b"R", b"T", '2: opcode "T" is neither R nor W'),
        ("alibaba", 2, b",1,", b",-1,", '2: length "-1" is negative'),
        ("alibaba", 3, b"1577808145360767", b"9" * 18, "its times are more than 146 years apart"),
        ("alibaba with a header", 3, b"R", b"T", '3: opcode "T" is neither R nor W'),
        ("tencent", 2, b",1,", b",2,", '2: IOType "2" is neither 0 nor 1'),
        ("tencent", 2, b"12910952", str(2**63).encode(), "2: Offset .* is no whole number below"),
        ("iolog 2", 4, b"read", b"reed", '4: action "reed" is unknown'),
        ("iolog 2", 4, b" 8192", b"", "4: length is missing"),
        ("iolog 2", 5, b"100", b"-1", '5: offset "-1" is negative'),
        ("iolog 3", 5, b"105", b"soon", '5: timestamp "soon" is no whole number'),
    ],
)
def test_a_line_that_is_wrong(name: str, line: int, old: bytes, new: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        reading(changed(name, line, old, new))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (VSCSI_1 + record_1(1, ver=0x200), "record 4: version is not 1"),
        (VSCSI_1 + record_1(1, lbn=2**63), r"record 4: lbn is too large \(9,223,372,036,854,775"),
        (VSCSI_2 + record_2(2**63, 1), "record 4: ts is too large"),
        (VSCSI_2 + record_2(1, 2**63), "record 4: rt is too large"),
    ],
)
def test_a_record_that_is_wrong(data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        reading(data)


def test_an_iolog_without_waits_has_no_times() -> None:
    with pytest.raises(ValueError, match="has no waits, so the times of requests are unknown"):
        reading(b"\n".join(line for line in IOLOG_2.split(b"\n") if b"wait" not in line))


def test_waits_that_are_too_long_together() -> None:
    line = b"/dev/sda wait 9007199254740992 0\n"
    with pytest.raises(ValueError, match="its waits add up to more than a century"):
        reading(IOLOG_2 + line)


def test_a_line_without_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "PIECE_BYTES", 2**10)
    with pytest.raises(ValueError, match="line 4 is longer than 65,536 bytes"):
        reading(TENCENT + b"1" * 2**17)


def test_how_a_complaint_quotes_what_is_wrong() -> None:
    """A quotation in an error has at most 60 characters, on one line, without control
    characters.
    """
    assert text.shown(" 1\x1b[31m\n" + "9" * 90) == " 1?[31m?" + "9" * 52
    assert text.shown_line(b" 8,0 \t 3\x1b\xff  C\r\n") == "8,0 3?\N{REPLACEMENT CHARACTER} C"


@pytest.mark.parametrize("size", [1, 7, 64])
@pytest.mark.parametrize("name", LAST)
def test_pieces_make_no_difference(name: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    data = SAMPLES[name][0]
    whole = reading(data).frame
    wrong = data + b"x\n" + data
    monkeypatch.setattr(text, "PIECE_BYTES", size)
    assert reading(data).frame.equals(whole)
    with pytest.raises(ValueError, match=f"^line {data.count(10) + 1}: "):
        reading(wrong)


def test_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(b"")
    with pytest.raises(UserError, match="t: is empty"):
        load(str(tmp_path / "t"))


def test_a_file_without_a_request_says_what_was_in_it(tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(LAST["tencent"] * 3)
    with pytest.raises(UserError, match="t: no request in it; 3 of no length"):
        load(str(tmp_path / "t"))


def test_requests_out_of_order_are_sorted_and_counted(tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(MSR)
    trace = recorded(str(tmp_path / "t"))
    assert trace.arrival_ns.tolist() == [0, 5 * 10**8, 10**9]
    assert trace.owner.tolist() == [0, 1, 2]
    assert trace.out_of_order == 1


def test_a_trace_that_breaks_off_is_not_replayed(tmp_path: Path) -> None:
    file = tmp_path / "t"
    file.write_bytes(MSR + b"128,")
    with pytest.raises(
        UserError, match=r"--trace: .*line 4: .*; understudy trace convert .*t:hm.1 OUT"
    ):
        load(f"{file}:hm.1")
    assert len(recorded(str(file))) == 3


def test_arrivals_have_no_response_times(tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(TENCENT)
    with pytest.raises(UserError, match="t: has arrivals only, so it does not say how long"):
        recorded(str(tmp_path / "t")).response_ns()
    (tmp_path / "t").write_bytes(MSR)
    assert recorded(str(tmp_path / "t")).response_ns().tolist() == [41_300, 10**7, 1000]


BYTES = st.binary(max_size=8) | st.sampled_from([b",", b"\n", b"-", b"9" * 30, b"\0", b" ", b'"'])


def mutated(data: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    """Replace parts of the data."""
    for at, size, new in edits:
        at %= len(data) + 1
        data = data[:at] + new + data[at + size :]
    return data


EDITS = st.lists(st.tuples(st.integers(0, 400), st.integers(0, 12), BYTES), min_size=1, max_size=4)


@given(st.sampled_from(OF_THIS_PAGE), EDITS)
def test_a_table_or_a_reason(name: str, edits: list[tuple[int, int, bytes]]) -> None:
    """A changed sample is refused by a one-line message, or all its rows are possible."""
    data, module = SAMPLES[name]
    result = made(module, mutated(data, edits))
    if isinstance(result, str):
        assert "\n" not in result
        return
    frame = result.frame
    assert (frame["arrival_ns"] >= 0).all()
    assert (frame["sectors"] > 0).all()
    if "sector" in frame.columns:
        assert (frame["sector"] >= 0).all()
    if "op" in frame.columns:
        assert frame["op"].is_in(["read", "write"]).all()
    if "completion_ns" in frame.columns:
        assert (frame["completion_ns"] >= frame["arrival_ns"]).all()


@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    """Each format reads the bytes or refuses them, whether or not it recognises them."""
    for name in OF_THIS_PAGE:
        module = SAMPLES[name][1]
        module.recognises(data)
        assert made(module, data) is not None
