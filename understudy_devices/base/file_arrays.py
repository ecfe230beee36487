# SPDX-License-Identifier: MIT
"""Arrays that may be larger than memory: each is a mapped file without a name.

The kernel keeps in memory as much of such a file as fits, and writes the other pages to the disk.
Code that makes or reads a long array works in blocks.  An array of at most BLOCK values is an
ordinary array in memory.  The files are in the folder for temporary files.  A file disappears with
its array, however the command ends.  TMPDIR can name another folder; a folder that is itself in
memory would save no memory.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy_devices.base import scratch

Array = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]

BLOCK = 2**18  # values


class Column:
    """An array that grows at its end."""

    def __init__(self, kind: npt.DTypeLike) -> None:
        """Make an empty array of values of this type."""
        self._kind = np.dtype(kind)
        self._file = scratch.nameless()

    def put(self, values: npt.ArrayLike) -> None:
        """Append values; RunFailed if there is no disk space for them."""
        scratch.write(self._file, np.ascontiguousarray(values, self._kind).view(np.uint8).data)

    def __del__(self) -> None:
        with suppress(AttributeError):  # __init__ failed: no disk space for the file
            self._file.close()

    def array(self) -> Array:
        """Return all values as an array that may be changed; nothing can be appended afterwards."""
        with self._file as file:
            if file.tell() <= BLOCK * self._kind.itemsize:
                file.seek(0)
                return np.frombuffer(bytearray(file.read()), self._kind)
            return np.asarray(np.memmap(file, self._kind, "r+"))


def blocks(length: int) -> Iterator[slice]:
    """Yield the blocks of an array of that length, in order; one empty block if the length is 0."""
    for begin in range(0, max(length, 1), BLOCK):
        yield slice(begin, min(begin + BLOCK, length))


def each(function: Callable[..., Array], *columns: Array) -> Array:
    """Apply the function to the blocks of columns of equal length; return the joined results.

    For each block, the function must return as many values as the block has; all blocks must have
    the same type.
    """
    first, *rest = blocks(len(columns[0]))
    values = function(*(column[first] for column in columns))
    if not rest:
        return values
    whole = Column(values.dtype)
    whole.put(values)
    for part in rest:
        whole.put(function(*(column[part] for column in columns)))
    return whole.array()


def joined(columns: list[Array]) -> Array:
    """Return the concatenation of the columns."""
    whole = Column(columns[0].dtype)
    for column in columns:
        for part in blocks(len(column)):
            whole.put(column[part])
    return whole.array()


def ordered(keys: Ints, *columns: Array) -> tuple[Array, ...]:
    """Return the columns in ascending order of the keys; equal keys keep their order."""
    if all((np.diff(keys[part.start : part.stop + 1]) >= 0).all() for part in blocks(len(keys))):
        return columns
    at = order(keys)
    return tuple(each(column.__getitem__, at) for column in columns)


def order(keys: Ints) -> Ints:
    """Return the same as np.argsort(keys, kind="stable"), by sorting blocks and merging them."""
    if len(keys) <= BLOCK:
        return np.argsort(keys, kind="stable")
    ranked, places = Column(np.int64), Column(np.int64)
    for part in blocks(len(keys)):
        at = np.argsort(keys[part], kind="stable")
        ranked.put(keys[part][at])
        places.put(at + part.start)
    ranks = Column(np.int64)
    for at in _merged(ranked.array()):
        ranks.put(at)
    return each(places.array().__getitem__, ranks.array())


def _merged(ranked: Ints) -> Iterator[Ints]:
    """Merge an array of sorted blocks: yield its indices in ascending order of the values.

    Each step chooses a pivot such that no block has many values below the pivot.  It yields the
    indices of the values below the pivot, then those of the values equal to the pivot, in the order
    of the blocks.
    """
    heads = {part.stop: part.start for part in blocks(len(ranked))}
    while heads:
        least = min(ranked[end - 1] for end in heads)
        near = {end: head for end, head in heads.items() if ranked[head] <= least}
        step = BLOCK // len(near) + 1
        pivot = min(ranked[min(head + step, end) - 1] for end, head in near.items())
        below = {end: _first(ranked, head, end, pivot, "left") for end, head in near.items()}
        at = np.concatenate([np.arange(head, below[end]) for end, head in near.items()])
        yield at[np.argsort(ranked[at], kind="stable")]
        beyond = {end: _first(ranked, head, end, pivot, "right") for end, head in below.items()}
        for end, head in below.items():
            for part in blocks(beyond[end] - head):
                yield np.arange(head + part.start, head + part.stop)
        heads = {end: head for end, head in (heads | beyond).items() if head < end}


def _first(ranked: Ints, head: int, end: int, pivot: int, side: Any) -> int:
    """Return the first index from `head` to `end` with a value of at least the pivot (side
    "left"), or above the pivot (side "right")."""
    return head + int(np.searchsorted(ranked[head:end], pivot, side))
