# SPDX-License-Identifier: MIT
"""Text by a description of its columns (--columns), and formats by name (--format)."""

import io
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st
from readings import joined

import understudy_devices as us
from understudy_devices.base.errors import UserError
from understudy_devices.cli.main import main
from understudy_devices.traces import text
from understudy_devices.traces.described import Columns, read
from understudy_devices.traces.form import Form
from understudy_devices.traces.read import load, recorded
from understudy_devices.traces.trace import Trace

NAMES = "time_s,op,lba,bytes,latency_us"
LINES = """\
time op lba bytes latency
10.001 R 100 4096 250
10.002000001 write 200 1025 1000.5
# a comment
10.0005 r 8 512 3
10.004 Trim 8 512 3
"""


def written(folder: Path, lines: str) -> str:
    (folder / "t").write_text(lines)
    return str(folder / "t")


def traced(folder: Path, lines: str, columns: str) -> Trace:
    return recorded(written(folder, lines), Form(columns=columns))


def understudy(*words: str) -> Result:
    return CliRunner().invoke(main, words, catch_exceptions=False)


@pytest.mark.parametrize("separator", [" ", "   ", ",", ", ", "\t", ";", " | "])
def test_rows(separator: str, tmp_path: Path) -> None:
    trace = traced(tmp_path, LINES.replace(" ", separator), NAMES)
    assert trace.arrival_ns.tolist() == [0, 500_000, 1_500_001]
    assert trace.completion_ns is not None
    assert trace.response_ns().tolist() == [3_000, 250_000, 1_000_500]
    assert trace.sector.tolist() == [8, 100, 200]
    assert trace.sectors.tolist() == [1, 8, 3]
    assert trace.op.tolist() == [0, 0, 1]
    assert (trace.left_out, trace.out_of_order) == ({"neither read nor write": 1}, 1)


def test_other_columns(tmp_path: Path) -> None:
    names = "owner,-,time_ms,dispatch_ms,completion_ms,volume,offset,kib"
    lines = "a,x,5,5.5,7,sda,4096,4\nb,y,6,6,6.25,sdb,0,8\n"
    trace = load(f"{written(tmp_path, lines)}:sda", Form(columns=names))
    assert trace.dispatch_ns is not None
    assert (trace.dispatch_ns.tolist(), trace.response_ns().tolist()) == ([500_000], [2_000_000])
    assert (trace.sector.tolist(), trace.sectors.tolist()) == ([8], [8])
    with pytest.raises(UserError, match="holds 2 volumes"):
        load(str(tmp_path / "t"), Form(columns=names))


def test_a_1_that_is_a_read(tmp_path: Path) -> None:
    lines = "1 1 8 8\n2 0 8 8\n3 read 8 8\n4 w 8 8\n"
    for op, ops in (("op", [1, 0, 0, 1]), ("op_1read", [0, 1, 0, 1])):
        assert traced(tmp_path, lines, f"time_s,{op},lba,bytes").op.tolist() == ops


def test_windows_clock(tmp_path: Path) -> None:
    """Its ticks of 100 ns since 1601 do not fit into 64 bits as ns."""
    lines = "128166372003061629,8,8,413\n128166372003061639,8,8,1\n"
    trace = traced(tmp_path, lines, "time_100ns,lba,blocks_4k,latency_100ns")
    assert trace.arrival_ns.tolist() == [0, 1000]
    assert trace.response_ns().tolist() == [41_300, 100]
    assert trace.sectors.tolist() == [64, 64]


def test_without_places(tmp_path: Path) -> None:
    """Response times are enough for consolidate; a replay is refused."""
    file = written(tmp_path, LINES)
    form = Form(columns="time_s,op,-,bytes,latency_us")
    assert not recorded(file, form).placed
    with pytest.raises(UserError, match="does not say where on the disk requests were"):
        load(file, form)
    out = str(tmp_path / "o.parquet")
    assert understudy("trace", "convert", file, out, "--columns", str(form.columns)).exit_code == 0
    assert not recorded(out).placed
    assert "it can't be replayed" in understudy("trace", "info", out).stdout


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("time_s,op,lba,byte", "--columns: byte is no column; known are time_UNIT, latency"),
        ("time,lba,bytes", "--columns: time is no column"),
        ("time_h,lba,bytes", "time_h is no column"),
        ("time_s,,lba,bytes", "--columns: nothing is no column"),
        ("lba,bytes", "--columns: a time, as time_s, is needed; there are lba,bytes"),
        ("time_s,lba", "--columns: a size, as bytes, is needed"),
        ("time_s,bytes", "--columns: a place, as lba, or a response time, as latency_us, is need"),
        ("time_s,time_ms,lba,bytes", "--columns: time_UNIT is there twice; write - for one"),
        ("time_s,lba,offset,bytes", "--columns: lba or lba_4k or offset is there twice"),
        ("time_s,op,op_1read,lba,bytes", "--columns: op or op_1read is there twice"),
        ("time_s,lba,bytes,latency_s,completion_s", "latency and completion are there"),
    ],
)
def test_a_wrong_description(columns: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        Form(columns=columns)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("10.002000001", "-1", 'line 3: time_s "-1" is no number from 0'),
        ("10.002000001", "1e5", 'line 3: time_s "1e5" is no number from 0'),
        ("10.002000001", "9" * 18, "line 3: time_s .* is too large; is the unit right"),
        ("write", "x", 'line 3: op "x" is neither a read nor a write'),
        (" 200", " -", 'line 3: lba "-" is negative|lba "-" is no whole number'),
        ("1000.5", "", "line 3: latency_us is missing"),
        ("1000.5", "1 2", 'line 3: more "2" is behind the last column, latency_us'),
        ("1025", str(2**50), "line 3: bytes .* is more than"),
    ],
)
def test_a_wrong_line(old: str, new: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=message):
        load(written(tmp_path, LINES.replace(old, new)), Form(columns=NAMES))


def test_a_completion_before_the_arrival(tmp_path: Path) -> None:
    with pytest.raises(UserError, match='line 2: completion_s "1" is before time'):
        traced(tmp_path, "1 0 8 2\n2 0 8 1\n", "time_s,lba,sectors,completion_s")


def test_a_line_that_is_cut(tmp_path: Path) -> None:
    trace = traced(tmp_path, LINES + "10.005 R", NAMES)
    assert (len(trace), trace.broken) == (3, "breaks off in line 7: bytes is missing")


def test_formats_by_name(tmp_path: Path) -> None:
    file = written(tmp_path, "128166372003061629,hm,1,Read,383496192,32768,413\n")
    assert len(load(file, Form("msr"))) == 1
    with pytest.raises(UserError, match="t: "):
        load(file, Form("tencent"))
    with pytest.raises(UserError, match="--format: mrs is no format; known are alibaba, "):
        Form("mrs")
    with pytest.raises(UserError, match="--format: not with --columns"):
        Form("msr", NAMES)


def test_commands_take_both(tmp_path: Path) -> None:
    file = written(tmp_path, LINES)
    described = us.trace(file, columns=NAMES.split(","))
    assert described.command.endswith(f"--columns {NAMES}")
    words = ("--trace", file, "--schedulers", "fcfs", "--columns", NAMES)
    done = understudy("predict", "--workload", "trace", *words, "--out", str(tmp_path / "run"))
    assert done.exit_code == 0
    wrong = understudy("trace", "info", file, "--columns", "x")
    assert (wrong.exit_code, wrong.stderr.count("\n")) == (2, 1)
    refused = understudy("consolidate", file, "--queue-depth", "1", "--columns", "time_s,lba,bytes")
    assert refused.exit_code == 2


@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    for begin in (b"", LINES.encode()):
        try:
            frame = joined(read(io.BytesIO(begin + data), Columns.of(NAMES))).frame
        except ValueError:
            continue
        assert not frame.height or (frame["sectors"] > 0).all()


@pytest.mark.parametrize("size", [1, 7, 64])
def test_pieces_make_no_difference(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = joined(read(io.BytesIO(LINES.encode()), Columns.of(NAMES)))
    monkeypatch.setattr(text, "PIECE_BYTES", size)
    pieces = joined(read(io.BytesIO(LINES.encode()), Columns.of(NAMES)))
    assert pieces.frame.equals(whole.frame)
