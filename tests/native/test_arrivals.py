# SPDX-License-Identifier: MIT
"""Files of arrivals: reading returns what was written, and errors name their position."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from understudy_devices.native import arrivals as native
from understudy_devices.native.arrivals import Arrivals, refuse, write_arrivals


def test_what_is_written_is_read(tmp_path: Path) -> None:
    draw = np.random.default_rng(1)
    at = np.cumsum(draw.integers(0, 3, 5000) * 2**40)
    pieces = draw.integers(1, 2**16, 5000)
    written = write_arrivals(tmp_path, at, pieces)
    read = Arrivals.open(str(tmp_path))
    assert read == written
    assert (read.requests, read.last_ns) == (5000, at[-1])
    assert read.path.stat().st_size == read.file_bytes == 24 + 19 * 5000
    assert read.arrival_ns.dtype == np.int64
    assert read.arrival_ns.tolist() == at.tolist()
    assert read.pieces.tolist() == pieces.tolist()
    assert [file.name for file in tmp_path.iterdir()] == ["arrivals"]


def test_a_file_is_written_over_while_others_read_it(tmp_path: Path) -> None:
    before = write_arrivals(tmp_path, [1, 2, 3], [1, 1, 1]).arrival_ns
    write_arrivals(tmp_path, [5], [2])
    assert before.tolist() == [1, 2, 3]
    assert Arrivals.open(tmp_path).last_ns == 5


@pytest.mark.parametrize(
    ("at", "pieces", "message"),
    [
        ([], [], "no arrivals: give at least one request"),
        ([1], [1, 1], "1 arrivals, but 2 numbers of pieces"),
        ([[1]], [1], "arrival_ns has 2 dimensions"),
        ([0.5], [1], "arrival_ns is of type float64: give whole numbers"),
        ([0], [np.nan], "pieces is of type float64: give whole numbers"),
        ([-1, 0], [1, 1], "request 0 arrives at -1 ns: has to be from 0 to below 2"),
        ([2**62 - 1, 2**62], [1, 1], "request 1 arrives at 4611686018427387904 ns: has to be"),
        ([3, 3, 2], [1, 1, 1], "request 2 arrives at 2 ns, before the one before it, at 3 ns"),
        ([3, 3], [1, 0], "request 1 has 0 pieces: has to be from 1 to 65,535"),
        ([3, 3], [-1, 1], "request 0 has -1 pieces"),
        ([3, 3], [65535, 65536], "request 1 has 65536 pieces"),
    ],
)
def test_impossible_arrivals_are_not_written(
    tmp_path: Path, at: Any, pieces: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        write_arrivals(tmp_path, at, pieces)
    assert not list(tmp_path.iterdir())


def test_the_first_that_is_wrong_is_found_in_any_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error may also lie between two blocks."""
    monkeypatch.setattr(native, "BLOCK", 4)
    for place in range(1, 12):
        at = np.arange(10, 22)
        at[place] = 5
        with pytest.raises(ValueError, match=f"request {place} arrives at 5 ns, before .* at "):
            write_arrivals(tmp_path, at, np.ones(12, int))
    assert write_arrivals(tmp_path, np.arange(12), np.ones(12, int)).requests == 12


def spoil(file: Path, begin: int, value: int, size: int = 8) -> None:
    held = bytearray(file.read_bytes())
    held[begin : begin + size] = value.to_bytes(size, "little")
    file.write_bytes(held)


def test_other_files_are_not_opened(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"arrivals: No such file or directory; name a file"):
        Arrivals.open(tmp_path)
    file = write_arrivals(tmp_path, [1, 2, 3], [1, 1, 1]).path
    whole = file.read_bytes()
    for size in range(len(whole)):
        file.write_bytes(whole[:size])
        message = f"{size} bytes, n(o file of arrivals|ot the 81 of 3 requests: cut off)"
        with pytest.raises(ValueError, match=message):
            Arrivals.open(tmp_path)
    file.write_bytes(whole + b"\0")
    with pytest.raises(ValueError, match="82 bytes, not the 81 of 3 requests"):
        Arrivals.open(tmp_path)
    file.write_bytes(b"x" * len(whole))
    with pytest.raises(ValueError, match="no file of arrivals: begins with b'xxxxxxxx'"):
        Arrivals.open(tmp_path)
    file.write_bytes(whole[:8] + bytes(16))
    with pytest.raises(ValueError, match="no arrivals; give at least one request"):
        Arrivals.open(tmp_path)
    file.write_bytes(whole)
    spoil(file, 8, 2**63)
    with pytest.raises(ValueError, match="81 bytes, not the"):
        Arrivals.open(tmp_path)
    file.unlink()
    file.mkdir()
    with pytest.raises(ValueError, match="Is a directory"):
        Arrivals.open(tmp_path)


def test_what_a_simulation_refuses_is_named(tmp_path: Path) -> None:
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.mkdir()
    bad.mkdir()
    fine = write_arrivals(good, [1, 2], [1, 1])
    spoiled = write_arrivals(bad, [1, 2], [1, 1])
    spoil(spoiled.path, 24 + 2 * 16 + 2, 0, 2)
    with pytest.raises(ValueError, match=r"bad/arrivals: request 1 has 0 pieces.*; write it again"):
        refuse([fine, spoiled])
