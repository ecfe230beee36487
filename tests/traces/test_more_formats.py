# SPDX-License-Identifier: MIT
"""Formats with response times that few tools write: known rows, wrong and cut lines."""

import io

import polars as pl
import pytest
from readings import joined
from trace_samples import (
    FLASHNET,
    FLASHNET_OLD,
    IOSNOOP,
    IOSNOOP_ENDS,
    LIBCACHESIM,
    SRT,
    SRT_TEXT,
    THESIOS,
    VALIDATE,
    WPA,
    WPA_ENGLISH,
    srt_record,
)

from understudy_devices.traces import formats
from understudy_devices.traces.reading import Reading

TIMES = ("arrival_ns", "completion_ns")
PLACE = ("sector", "sectors", "op")
MS = 10**6


def reading(data: bytes) -> Reading:
    return joined(formats.read(io.BytesIO(data)))


def rows(data: bytes, *names: str) -> list[tuple[object, ...]]:
    """Return columns, with times from the first arrival."""
    pieces = formats.read(io.BytesIO(data))
    frame = pl.concat([piece.frame for piece in pieces if piece.frame.height])
    first = frame["arrival_ns"].min()
    times = [name for name in names if name.endswith("_ns")]
    return frame.with_columns(pl.col(times) - first).select(names).rows()


def test_flashnet() -> None:
    assert rows(FLASHNET, *TIMES, *PLACE) == [
        (66_500, 180_500, 14_368, 8, "read"),
        (0, 193_000, 1, 2, "write"),
        (4_144_500, 4_153_500, 0, 8, "read"),
    ]
    assert rows(FLASHNET_OLD, *TIMES) == [(0, 114_000), (2_500_000, 2_507_000)]


def test_flashnet_counts_calls_that_failed() -> None:
    result = reading(FLASHNET + b"5.0,1,1,4096,0,5.0,-1\n")
    assert (result.frame.height, result.left_out["that failed"]) == (3, 1)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"5.0,1,1,4096,0\n", "line 4: time is missing"),
        (b"5.0,1,2,4096,0,5.0,1\n", 'line 4: is read "2" is neither 1 nor 0'),
        (b"5.0,1.5,1,4096,0,5.0,1\n", 'line 4: latency "1.5" is no whole number'),
    ],
)
def test_a_wrong_line_of_flashnet(line: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        reading(FLASHNET + line)
    with pytest.raises(ValueError, match=r'line 3: time "5\.0" is not in the first line'):
        reading(FLASHNET_OLD + b"5.0,1,1,4096,0,5.0\n")


def test_the_gaps_of_disksims_validation_are_added_up() -> None:
    assert rows(VALIDATE, *TIMES, *PLACE) == [
        (0, 14_095_370, 564_347, 2, "read"),
        (13_876_270, 14_539_270, 564_349, 4, "write"),
        (59_298_270, 60_712_540, 0, 1, "read"),
    ]


@pytest.mark.parametrize("gap", ["1e9", "9" * 19, "100000000000000.1"])
def test_a_wrong_gap(gap: str) -> None:
    with pytest.raises(ValueError, match="line 4: gap "):
        reading(VALIDATE + f"R Hit 0 1 1.0 {gap}\n".encode())


def test_gaps_that_are_too_long_together() -> None:
    with pytest.raises(ValueError, match=r"are more than 146 years apart|gaps are too large"):
        reading(VALIDATE + b"R Hit 0 1 1.0 90000000000000.0\n" * 60)


def test_thesios_has_no_places() -> None:
    result = reading(THESIOS)
    assert rows(THESIOS, *TIMES, "sectors", "op", "owner") == [
        (1, 124_653, 7, "write", "bigtable"),
        (3_607_275, 7_853_677, 2052, "read", "4aed"),
        (0, 10**9, 1, "read", "bigtable"),
    ]
    assert "sector" not in result.frame.columns


def test_iosnoop() -> None:
    assert rows(IOSNOOP, *TIMES, *PLACE, "owner", "volume") == [
        (1_079_000, 13_330_000, 4_840_587_442, 8, "write", 17185, "8,160"),
        (0, 16_046_000, 16, 1, "read", 17197, "202,1"),
    ]
    assert reading(IOSNOOP).left_out == {"flushes without data": 1}
    assert rows(IOSNOOP_ENDS, *TIMES) == [(0, 12_250_000)]


def test_iosnoop_without_times() -> None:
    without = IOSNOOP_ENDS.replace(b"ENDs            ", b"").replace(b"100.344366      ", b"")
    with pytest.raises(ValueError, match="has no times, only latencies; trace with iosnoop -ts"):
        reading(without)


def test_iosnoop_cut_and_wrong() -> None:
    cut = reading(IOSNOOP[:-1])
    assert cut.broken is not None
    assert cut.broken.startswith("breaks off in line 5: 14545946.356584")
    for line in (b"1.5 dd 7 R 8,0 8 4096 12.25\n", b"x\n"):
        with pytest.raises(ValueError, match="line 6: no line of iosnoop's"):
            reading(IOSNOOP + line)
    with pytest.raises(ValueError, match="line 6: it ends before it starts"):
        reading(IOSNOOP + b"2.5 1.5 dd 7 R 8,0 8 4096 12.25\n")


def test_libcachesim() -> None:
    assert rows(LIBCACHESIM, "arrival_ns", *PLACE) == [
        (0, 42_932_745, 1, "write"),
        (10**9, 8, 2, "read"),
        (0, 0, 8, "write"),
    ]
    other = reading(LIBCACHESIM + b"1,5633898,35,0,0\n")
    assert (other.frame.height, other.left_out["neither read nor write"]) == (3, 1)
    with pytest.raises(ValueError, match='line 5: op "xy" is no hexadecimal number'):
        reading(LIBCACHESIM + b"1,5633898,xy,1,0\n")


def test_wpa_in_german() -> None:
    assert rows(WPA, "arrival_ns", "dispatch_ns", "completion_ns", *PLACE, "owner", "volume") == [
        (0, 0, 87_200, 1, 1, "read", "System", "0"),
        (
            1_000_000_172_601,
            1_000_001_013_400,
            1_000_001_172_601,
            0,
            33,
            "write",
            "a",
            "1",
        ),
    ]
    assert reading(WPA).left_out == {"flushes without data": 1}
    assert reading(b"\xef\xbb\xbf" + WPA.replace(b"\n", b"\r\n")).frame.equals(reading(WPA).frame)


def test_wpa_in_english() -> None:
    assert rows(WPA_ENGLISH, *TIMES, *PLACE, "owner", "volume") == [
        (0, 87_200, 2, 32, "read", "System", "0")
    ]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (b"16.384;", b"1x;", "line 3: Size is no number"),
        (b"Write", b"Schreiben", "line 3: IO Type is neither Read, Write nor Flush"),
        (b";1;1\n", b";1;7\n", "line 3: a sum of several requests"),
        (b";1;1\n", b"\n", "line 3: 10 columns; the header has 12"),
        (b"1.001,080116401", b"1001", "line 3: Init Time has no decimals"),
        (b"1.001,081116401", b"1,081116401", "line 3: Complete Time is before Init Time"),
        (b"0x1F", b"0xFFFFFFFFFFFFFFFF", "line 3: Min Offset is too large"),
        (b"Init Time (s)", b"Init Time (min)", "Init Time is in min, not in s, ms or"),
        (b"Size (B)", b"Size (KB)", "Size is in KB; show it in bytes"),
    ],
)
def test_a_wrong_line_of_wpa(old: bytes, new: bytes, reason: str) -> None:
    assert old in WPA
    with pytest.raises(ValueError, match=reason):
        reading(WPA.replace(old, new))


def test_wpa_that_is_cut() -> None:
    cut = reading(WPA[: WPA.index(b"Flush") - 6])
    assert cut.frame.height == 1
    assert cut.broken == "breaks off in line 3: 10 columns; the header has 12"


def test_srt() -> None:
    assert rows(SRT, "arrival_ns", "dispatch_ns", "completion_ns", *PLACE, "volume") == [
        (0, 174_000, 19_687_000, 528, 8, "read", "0"),
        (999_900_000, 999_900_000, 999_907_000, 3, 1, "write", "1"),
    ]
    assert reading(SRT).left_out == {"that the tracer suspects": 1}


@pytest.mark.parametrize("cut", [1, 51, 55])
def test_srt_that_is_cut(cut: int) -> None:
    result = reading(SRT + srt_record((2, 0), (0, 1))[:cut])
    assert (result.frame.height, result.broken) == (2, "breaks off in record 4")


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (srt_record((2, 0), (0, 1), disk=2), "record 4: disk 2 is not in the text"),
        (srt_record((2, 0), (2, 1)), "record 4: its times are impossible"),
        (srt_record((2, 10**6), (0, 1)), "record 4: its times are impossible"),
        (srt_record((2, 0), (0, 1), version=5), "record 4: version 5, type 1 is unknown"),
        (b"\0\0\0\x01" + srt_record((2, 0), (0, 1))[4:], "record 4: 1 bytes is no length"),
    ],
)
def test_a_wrong_record_of_srt(record: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        reading(SRT + record)


def test_srt_without_its_text() -> None:
    with pytest.raises(ValueError, match="has no form feed"):
        reading(SRT_TEXT[:-1])
    with pytest.raises(ValueError, match="disk 0 has sectors of 7 bytes"):
        reading(SRT.replace(b"= 256", b"= 7"))
