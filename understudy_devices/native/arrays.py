# SPDX-License-Identifier: MIT
"""NumPy arrays in C's layout."""

from typing import Any

import numpy as np
import numpy.typing as npt

from understudy_devices._core import ffi

U8 = npt.NDArray[np.uint8]
U32 = npt.NDArray[np.uint32]
U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]
Columns = dict[str, npt.NDArray[Any]]


def dtype_of(structure: str) -> np.dtype[Any]:
    """Return the NumPy type of a C structure; the compiler has checked the structure against its
    header.
    """
    fields = dict(ffi.typeof(structure).fields)
    return np.dtype(
        {
            "names": list(fields),
            "formats": [_format(field.type) for field in fields.values()],
            "offsets": [field.offset for field in fields.values()],
            "itemsize": ffi.sizeof(structure),
        }
    )


def _format(ctype: Any) -> Any:
    if ctype.kind != "array":
        return f"<u{ffi.sizeof(ctype)}"
    is_text = ctype.item.cname == "char"
    return f"S{ctype.length}" if is_text else (_format(ctype.item), ctype.length)


def u64(values: npt.ArrayLike) -> U64:
    """Return the values as a contiguous array of 64-bit integers, which C accepts."""
    return np.ascontiguousarray(values, np.uint64)


def same_length(columns: Columns) -> int:
    """Return the length that all columns have; ValueError if lengths differ."""
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"columns differ in length: {lengths}")
    return next(iter(lengths.values()))


def pointer_to(array: npt.NDArray[Any], structure: Any, member: str) -> Any:
    """Return a C pointer to the array's data, of the same type as a structure's member."""
    kind = next(field.type for name, field in _members(structure) if name == member)
    return ffi.cast(kind, array.ctypes.data)


def _members(structure: Any) -> Any:
    kind = ffi.typeof(structure)
    return (kind.item if kind.kind == "pointer" else kind).fields


def buffer(array: npt.NDArray[Any]) -> Any:
    """Return a C pointer to the array's data; the array must outlive the pointer."""
    pointer = {"u1": "u8 *", "u4": "u32 *", "u8": "u64 *", "i8": "s64 *"}[array.dtype.str[1:]]
    return ffi.cast(pointer, ffi.from_buffer(array))
