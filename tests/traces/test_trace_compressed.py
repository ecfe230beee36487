# SPDX-License-Identifier: MIT
"""Compressed traces: their rows; damaged files, cut files, and decompression bombs."""

import bz2
import gzip
import io
import lzma
import tarfile
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from readings import joined

from understudy_devices.traces import compression, formats, text
from understudy_devices.traces.reading import Reading


def xz(data: bytes) -> bytes:
    """Compress in little time."""
    return lzma.compress(data, check=lzma.CHECK_CRC64, preset=0)


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": xz,
    "Zstandard": zstandard.ZstdCompressor(write_checksum=True).compress,
}
# Numbers that compress badly, so that a cut file still contains whole lines.
LINES = b"".join(
    f"{10**15 + 977 * i},R,{(i * i * 7919 + i) % 10**9 * 512},4096,{10**15 + i * i}\n".encode()
    for i in range(6_000)
)


def reading(data: bytes) -> Reading:
    """Read a trace and join its pieces."""
    return joined(formats.read(io.BytesIO(data)))


WHOLE = reading(LINES).frame


@pytest.mark.parametrize("name", PACKERS)
def test_the_same_rows(name: str) -> None:
    result = reading(PACKERS[name](LINES))
    assert result.frame.equals(WHOLE)
    assert result.broken is None


@pytest.mark.parametrize("name", PACKERS)
def test_streams_that_follow_each_other(name: str) -> None:
    pack = PACKERS[name]
    result = reading(pack(LINES[:1234]) + pack(b"") + pack(LINES[1234:]))
    assert result.frame.equals(WHOLE)


@pytest.mark.parametrize("name", ["gzip", "xz"])
def test_zeros_behind_the_end(name: str) -> None:
    assert reading(PACKERS[name](LINES) + bytes(512)).frame.equals(WHOLE)


@pytest.mark.parametrize("name", ["gzip", "Zstandard"])
def test_what_precedes_a_cut_is_kept(name: str) -> None:
    """Only whole lines are kept, since the last number of a cut line may lack digits."""
    packed = PACKERS[name](LINES)
    result = reading(packed[: len(packed) * 3 // 4])
    assert 1000 < result.frame.height < WHOLE.height
    assert result.frame.equals(WHOLE.head(result.frame.height))
    assert result.broken is not None
    assert result.broken.startswith(f"the {name} file is cut off after ")


@pytest.mark.parametrize("name", ["gzip", "Zstandard"])
def test_what_precedes_damage_is_kept(name: str) -> None:
    packed = bytearray(PACKERS[name](LINES))
    packed[-1] ^= 1  # in the checksum or the length
    result = reading(bytes(packed))
    assert 1000 < result.frame.height < WHOLE.height
    assert result.frame.equals(WHOLE.head(result.frame.height))
    assert result.broken is not None
    assert f"the {name} file is damaged (" in result.broken


@pytest.mark.parametrize("name", PACKERS)
def test_a_packed_file_of_which_nothing_can_be_read(name: str) -> None:
    with pytest.raises(ValueError, match=f"the {name} file is cut off after 0 bytes"):
        reading(PACKERS[name](LINES)[:12])
    with pytest.raises(ValueError, match="is empty"):
        reading(PACKERS[name](b""))


def test_what_stands_behind_the_end_is_damage() -> None:
    result = reading(gzip.compress(LINES) + b"more")
    assert result.frame.equals(WHOLE)
    assert result.broken is not None
    assert "is damaged" in result.broken


@pytest.mark.parametrize("name", PACKERS)
def test_a_bomb_takes_little_memory(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file unpacks to 32 MiB without an end of line."""
    monkeypatch.setattr(text, "PIECE_BYTES", 2**20)
    bomb = PACKERS[name](LINES[:100] + bytes(2**25))
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"line \d+ is longer than 65,536 bytes"):
            reading(bomb)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2**24


def test_what_has_to_be_read_whole_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.BytesIO()
    pl.DataFrame({"arrival_ns": [1], "sector": [0], "sectors": [8]}).write_parquet(file)
    packed = gzip.compress(file.getvalue())
    assert reading(packed).frame.height == 1
    monkeypatch.setattr(compression, "WHOLE_MAX_BYTES", 99)
    with pytest.raises(ValueError, match="holds more than 99 bytes; unpack it first"):
        reading(packed)
    assert reading(file.getvalue()).frame.height == 1


def test_an_archive_is_named(tmp_path: Path) -> None:
    """Tencent publishes its traces as tar archives."""
    (tmp_path / "t.csv").write_bytes(LINES)
    with tarfile.open(tmp_path / "t.tgz", "w:gz") as archive:
        archive.add(tmp_path / "t.csv")
    with pytest.raises(ValueError, match="is a tar archive; unpack it with tar"):
        reading((tmp_path / "t.tgz").read_bytes())


@given(st.sampled_from(sorted(PACKERS)), st.integers(0, 400), st.binary(min_size=1, max_size=4))
def test_damage_anywhere(name: str, at: int, new: bytes) -> None:
    """No damage goes unnoticed."""
    packed = PACKERS[name](LINES[:600])
    at %= len(packed)
    damaged = packed[:at] + new + packed[at + len(new) :]
    stream = compression.unpacked(io.BytesIO(damaged))
    if isinstance(stream, io.BufferedReader):  # the magic number is intact
        assert stream.read() == LINES[:600] or compression.damage(stream)


def test_gzip_is_read_by_zlib_alone() -> None:
    """Python's gzip module packs the data; unpacking has to skip a file name in the header."""
    file = io.BytesIO()
    with gzip.GzipFile("a name.csv", "wb", fileobj=file, mtime=0) as packer:
        packer.write(LINES[:600])
    assert zlib.decompress(file.getvalue(), wbits=31) == LINES[:600]
    assert compression.unpacked(io.BytesIO(file.getvalue())).read() == LINES[:600]


@given(st.sampled_from(sorted(compression.KINDS)), st.binary(max_size=100))
def test_any_bytes_of_a_kind(magic: bytes, data: bytes) -> None:
    """So few bytes contain no trace, and each is refused by a one-line message."""
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        reading(magic + data)
