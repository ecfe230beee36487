# SPDX-License-Identifier: MIT
"""blkparse's text and fio's logs as traces: the rows that are read, and arbitrary bytes."""

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from readings import joined

from understudy_devices.base.errors import UserError
from understudy_devices.traces import formats
from understudy_devices.traces.formats import blkparse, fio
from understudy_devices.traces.read import load, recorded

BLKPARSE = """\
  8,0    1        1     0.000000000   697  Q   R 223490 + 8 [cat]
  8,0    1        2     0.000001829   697  G   R 223490 + 8 [cat]
  8,0    1        3     0.000002500   697  P   N [cat]
  8,0    0        0     0.000002600     0  m   N cfq697A / alloced
  8,0    1        4     0.000003000   697  I   R 223490 + 8 [cat]
  8,0    1        5     0.000010000   697  D   R 223490 + 8 [cat]
  8,0    3        6     0.000011000   700  Q  WS 1000 + 16 [kworker]
  8,0    3        7     0.000012000   700  M  WS 1016 + 16 [kworker]
  8,0    0        8     0.004000000     0  C   R 223490 + 8 [0]
  8,0    3        9     0.004100000   701  D  WS 1000 + 32 [kworker]
  8,0    0       10     0.005000000     0  D  FN [kworker]
  8,0    0       11     0.006100000     0  C  WS 1000 + 32 [0]
  8,0    0       12     1.000000000   702  D  RA 64 + 8 [cat]
  8,0    0       13     1.000500000   702  Q   D 4096 + 2048 [fstrim]
  8,0    0       14     1.000500001   702  D   D 4096 + 2048 [fstrim]
  8,0    0       15     1.002000000     0  C  RA 64 + 8 [0]
  8,0    0       16     1.003000000     0  C   D 4096 + 2048 [0]
  8,0    0       17     1.004000000   702  D   R 9999 + 8 [cat]
CPU0 (8,0):
 Reads Queued:           2,        8KiB\t Writes Queued:           1,        8KiB
Total (8,0):
"""
FIO = """\
5, 5100000, 0, 4096, 1048576, 0
9, 4000000, 0, 4096, 0, 0
9, 200000, 1, 1024, 4096, 0
12, 2900000, 2, 4096, 8192, 0
"""


def written(folder: Path, text: str) -> str:
    file = folder / "trace"
    file.write_text(text)
    return str(file)


def test_requests_of_blkparse(tmp_path: Path) -> None:
    trace = load(written(tmp_path, BLKPARSE))
    assert trace.arrival_ns.tolist() == [0, 11_000, 1_000_000_000]
    assert trace.dispatch_ns is not None
    assert trace.completion_ns is not None
    assert trace.dispatch_ns.tolist() == [10_000, 4_100_000, 1_000_000_000]
    assert trace.completion_ns.tolist() == [4_000_000, 6_100_000, 1_002_000_000]
    assert trace.sector.tolist() == [223490, 1000, 64]
    assert trace.sectors.tolist() == [8, 32, 8]
    assert trace.op.tolist() == [0, 1, 0]
    assert trace.owner.tolist() == [0, 1, 2]
    assert trace.left_out == {
        "discards": 1,
        "flushes without data": 1,
        "issued, but not seen to complete": 1,
    }


def test_blkparse_of_which_a_part_was_not_seen(tmp_path: Path) -> None:
    """One completion has no issue, since the trace began later. One line is there twice."""
    lines = BLKPARSE.splitlines(keepends=True)
    early = lines[0].replace("Q ", "C ").replace("223490", "5000")
    trace = load(written(tmp_path, early + "".join([*lines[:6], lines[5], *lines[6:]])))
    assert len(trace) == 3
    assert trace.left_out == {
        "discards": 1,
        "flushes without data": 1,
        "issued, but not seen to complete": 1,
        "events that are there twice in a row": 1,
        "completed, but not seen to be issued": 1,
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ("8,0    3        9", "8,16   3        9"),
            "of 4 requests some events are missing, and of only 2 none is; trace again",
        ),
        (
            ("0.004000000", "0.000000005"),
            "line 9: time goes back, .* by time: blkparse -s",
        ),
        (("D  ", "X  "), "no request in it was both issued"),
        (("0.000010000", f"{10**12}.000010000"), "line 6: its time, 10*10000, is too large"),
    ],
)
def test_blkparse_that_can_not_be_read(
    change: tuple[str, str], message: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=rf"--trace: .*trace: .*{message}"):
        load(written(tmp_path, BLKPARSE.replace(*change)))


def test_requests_of_fio(tmp_path: Path) -> None:
    """Requests that overlap only because of a coarse clock become sequential; a trim is skipped."""
    trace = load(written(tmp_path, FIO))
    assert trace.arrival_ns.tolist() == [0, 5_100_000, 9_100_000]
    assert trace.completion_ns is not None
    assert trace.completion_ns.tolist() == [5_100_000, 9_100_000, 9_300_000]
    assert trace.sector.tolist() == [2048, 0, 8]
    assert trace.sectors.tolist() == [8, 8, 2]
    assert trace.op.tolist() == [0, 0, 1]


def test_requests_of_fio_that_do_overlap(tmp_path: Path) -> None:
    trace = load(written(tmp_path, "20, 9000000, 0, 512, 0, 0\n22, 10000000, 0, 512, 512, 0\n"))
    assert trace.arrival_ns.tolist() == [0, 1_000_000]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("5, 5100000, 0, 4096\n", r"does not say where .* \(fio: log_offset=1"),
        ("5, 51, 0, 4096, 0\n6, 51, 0, 4096, 0\n9, 51, 0, 4096, 1\n", "does not say where"),
        ("5, 51, 0, 4096, 0x2001\n", "does not say where"),
        ("1000, 9, 0, 512, 0, 0\n2000, 9, 1, 512, 9, 0\n3000, 9, 0, 512, 8, 0\n", "averages; give"),
        ("500, 9, 0, 0, 0, 0\n", "line 1: no size, so this is an average; give the log of"),
        (FIO + f"14, {10**11}, 0, 512, 0, 0\n", "line 5: a latency of 100,.* whole run took 14 ms"),
        (FIO + "end\n", "line 5: no line of fio's log: end"),
        (FIO.replace(" 1, 1024", " 7, 1024"), "line 3: direction 7 is none of fio's"),
        (FIO.replace("1024", "0"), "line 3: no size, so this is an average"),
        (FIO.replace("1048576", "9" * 20), "line 1: a number is too large"),
    ],
)
def test_fio_that_can_not_be_read(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=rf"--trace: .*trace: .*{message}"):
        load(written(tmp_path, text))


def test_a_log_that_is_cut_in_a_line(tmp_path: Path) -> None:
    trace = recorded(written(tmp_path, FIO + "13, 29"))
    assert (len(trace), trace.broken) == (3, "breaks off in line 5: no line of fio's log: 13, 29")


def test_fio_with_priorities_in_hexadecimal(tmp_path: Path) -> None:
    assert len(load(written(tmp_path, FIO.replace(", 0\n", ", 0x2001\n")))) == 3


@pytest.mark.parametrize(
    ("text", "format_of"),
    [(BLKPARSE, blkparse), (FIO, fio), ("Input file x\n" + BLKPARSE, blkparse)],
    ids=["blkparse", "fio", "blkparse with a heading"],
)
def test_a_format_is_told_from_the_others(text: str, format_of: object) -> None:
    assert [one for one in formats.FORMATS if one.recognises(text.encode())] == [format_of]


NUMBERS = st.sampled_from(
    ["0", "1", "8", "4096", "9" * 25, "-1", "x", "", "0x1f", "8,0", "1.000000000"]
)
ACTIONS = st.sampled_from(["Q", "D", "C", "R", "W", "RA", "FWS", "+", "[x]", "m", "N"])
LINES = st.lists(st.lists(NUMBERS | ACTIONS, max_size=12).map(" ".join) | st.text(), max_size=8)


@given(LINES, st.sampled_from([BLKPARSE, FIO]), st.sampled_from([" ", ", "]))
def test_any_lines(lines: list[str], begins: str, between: str) -> None:
    """The result is a table or ValueError."""
    text = begins + "\n".join(line.replace(" ", between) for line in lines)
    try:
        frame = joined(formats.read(io.BytesIO(text.encode(errors="replace")))).frame
    except ValueError:
        return
    assert frame.height >= 3
    assert {"arrival_ns", "completion_ns", "sector", "sectors", "op"} <= set(frame.columns)
    assert (frame["completion_ns"] >= frame["arrival_ns"]).all()


@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    for module in (blkparse, fio):
        module.recognises(data)
        try:
            joined(module.read(io.BytesIO(data)))
        except ValueError:
            continue


def test_fio_without_offsets_is_enough_for_response_times(tmp_path: Path) -> None:
    trace = recorded(
        written(tmp_path, "1, 5100000, 0, 4096\n5, 4100000, 1, 4096\n9, 3100000, 0, 1\n")
    )
    assert not trace.placed
    assert trace.response_ns().tolist() == [5_100_000, 4_100_000, 3_100_000]
    assert trace.sectors.tolist() == [8, 8, 1]


def test_fio_log_of_bandwidth_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "x_bw.1.log").write_text(FIO)
    with pytest.raises(UserError, match="is by its name fio's log of bandwidth or IOPS; give the"):
        load(str(tmp_path / "x_bw.1.log"))
