# SPDX-License-Identifier: MIT
"""Arrays in files compared with NumPy's, and a temporary folder that is full."""

import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy_devices.base import file_arrays
from understudy_devices.base.errors import RunFailed

pytestmark = pytest.mark.thorough

Ints = npt.NDArray[np.int64]
KEYS = st.lists(st.integers(0, 30), max_size=120)
BLOCKS = (1, 2, 7, 50)


@pytest.fixture(params=BLOCKS, autouse=True)
def block(request: pytest.FixtureRequest) -> Iterator[int]:
    """Shrink the block size so that even a short array spans several blocks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(file_arrays, "BLOCK", request.param)
        yield request.param


def nearly_sorted(length: int) -> Ints:
    draw = np.random.default_rng(length)
    return np.arange(length) * 3 + draw.integers(0, 20, length)


@given(keys=KEYS)
def test_order_of_any(keys: list[int]) -> None:
    column = np.array(keys, np.int64)
    assert file_arrays.order(column).tolist() == np.argsort(column, kind="stable").tolist()


@pytest.mark.parametrize("turned", [False, True])
def test_order_of_much(turned: bool) -> None:
    """Sort blocks that hardly overlap, in ascending or in descending order."""
    keys = nearly_sorted(1000)[:: -1 if turned else 1]
    order = np.argsort(keys, kind="stable")
    places, again = file_arrays.ordered(keys, np.arange(1000), keys)
    assert places.tolist() == order.tolist()
    assert again.tolist() == sorted(keys.tolist())


def test_in_order_already() -> None:
    """The sorted column is not copied, even if keys repeat."""
    keys = np.repeat(np.arange(40), 3)
    column = np.arange(len(keys))
    assert file_arrays.ordered(keys, column)[0] is column


@given(values=KEYS)
def test_each_and_joined(values: list[int]) -> None:
    column = np.array(values, np.int64)
    halves = file_arrays.each(lambda part: part / 2, column)
    assert halves.dtype == np.float64
    assert halves.tolist() == [value / 2 for value in values]
    assert file_arrays.joined([column, column[:5], column[:0]]).tolist() == values + values[:5]
    parts = list(file_arrays.blocks(len(column)))
    assert [value for part in parts for value in column[part].tolist()] == values


def test_an_array_may_be_changed() -> None:
    column = file_arrays.Column(np.int64)
    for value in range(9):
        column.put([value])
    array = column.array()
    array[::3] = -1
    array.sort()
    assert array.tolist() == [-1, -1, -1, 1, 2, 4, 5, 7, 8]


def test_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files have no names, and their descriptors are closed."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = len(list(Path("/proc/self/fd").iterdir()))
    array = file_arrays.joined([np.arange(200)])
    assert not list(tmp_path.iterdir())
    assert array.sum() == 19900
    del array
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_no_folder_for_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    with pytest.raises(
        RunFailed, match=r"^cannot write to .*/gone: No such file or directory; set TMPDIR"
    ):
        file_arrays.joined([np.arange(200)])


FULL = """
import numpy as np, tempfile
from understudy_devices.base import file_arrays
tempfile.tempdir = {folder!r}
try:
    file_arrays.joined([np.arange(2 * file_arrays.BLOCK)])
except file_arrays.scratch.RunFailed as error:
    print(error)
"""


def test_no_room_for_them(tmp_path: Path) -> None:
    """A file hits a size limit: the error is the only output."""
    limit = 100_000
    ended = subprocess.run(
        [sys.executable, "-c", FULL.format(folder=str(tmp_path))],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stderr == ""
    assert ended.stdout == (
        f"cannot write to {tmp_path}: File too large; set TMPDIR to another folder for temporary "
        "files\n"
    )
