# SPDX-License-Identifier: MIT
"""Memory that another process maps too: a file without a name."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy_devices._core import ffi, lib
from understudy_devices.base.errors import RunFailed
from understudy_devices.native.arrays import pointer_to

CACHE_LINE = 64


@dataclass(frozen=True)
class Room:
    """An array that the other process fills."""

    kind: npt.DTypeLike
    length: int


class Shared:
    """A C structure in shared memory, and the arrays to which it points. The structure's member
    `address` is set to its address in this process. The keys of `arrays` are the names of the
    pointers, such as "input.tunables".
    """

    def __init__(self, name: str, arrays: Mapping[str, npt.NDArray[Any] | Room]) -> None:
        """Copy the given arrays, and reserve space for each Room."""
        places = {name: np.dtype(_kind(array)) for name, array in arrays.items()}
        starts: dict[str, int] = {}
        size = ffi.sizeof(name)
        for each, array in arrays.items():
            starts[each] = size = -(-size // CACHE_LINE) * CACHE_LINE
            size += places[each].itemsize * _length(array)
        self.file = new_file(size)
        memory = mapped(self.file, size)
        self.structure = ffi.cast(f"{name} *", memory)
        self.structure.address = int(ffi.cast("uintptr_t", memory))
        buffer = ffi.buffer(memory, size)  # keeps the memory mapped
        self.arrays: dict[str, npt.NDArray[Any]] = {
            each: np.ndarray(_length(array), places[each], buffer, starts[each])
            for each, array in arrays.items()
        }
        for each, array in arrays.items():
            if not isinstance(array, Room):
                self.arrays[each][:] = array
            self.point(each)
        self._memory = memory

    def __del__(self) -> None:
        """Close the file. The file has no name, so it exists only as long as it is mapped."""
        if hasattr(self, "file"):
            os.close(self.file)

    def point(self, name: str) -> None:
        """Set the structure's member of that name to the address of the array of that name."""
        *path, member = name.split(".")
        structure = self.structure
        for part in path:
            structure = getattr(structure, part)
        setattr(structure, member, pointer_to(self.arrays[name], structure, member))


def _kind(array: npt.NDArray[Any] | Room) -> npt.DTypeLike:
    return array.kind if isinstance(array, Room) else array.dtype


def _length(array: npt.NDArray[Any] | Room) -> int:
    return array.length if isinstance(array, Room) else len(array)


def new_file(size: int) -> int:
    """Return a descriptor of a new file of `size` zero bytes."""
    file = os.memfd_create("understudy")
    try:
        os.ftruncate(file, size)
    except OSError as error:
        os.close(file)
        raise RunFailed(f"no memory for {size:,} bytes: {error.strerror}") from error
    return file


def mapped(file: int, size: int) -> Any:
    """Return the file's bytes; they stay mapped as long as the returned object lives."""
    memory = lib.map_shared(file, size)
    if memory == ffi.NULL:
        raise RunFailed(f"no memory for {size:,} bytes; take fewer requests")
    return ffi.gc(memory, lambda pointer: lib.munmap(pointer, size), size)
