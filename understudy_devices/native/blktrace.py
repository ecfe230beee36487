# SPDX-License-Identifier: MIT
"""The parser of the kernel's binary block traces (host/traces/blktrace.h), for Python."""

from collections.abc import Iterator
from enum import IntEnum
from typing import BinaryIO

import numpy as np

from understudy_devices._core import ffi, lib
from understudy_devices.native.arrays import Columns, dtype_of

CHUNK_BYTES = 1 << 20
CHUNK_ROWS = 1 << 16
ROW = dtype_of("struct blktrace_row")
MAGIC: int = lib.RECORD_MAGIC
MINOR_BITS = 20  # the kernel's number of bits for the minor device number

BROKEN = {
    lib.BLKTRACE_BAD_CPU: "its CPU, {value}, is impossible",
    lib.BLKTRACE_BAD_TIME: "its time, {value} ns, is impossible",
    lib.BLKTRACE_BAD_SECTOR: "its sector, {value}, is impossible",
}


class LeftOut(IntEnum):
    """The reason why a record is in no row."""

    UNISSUED = lib.LEFT_OUT_UNISSUED
    UNCOMPLETED = lib.LEFT_OUT_UNCOMPLETED
    REISSUED = lib.LEFT_OUT_REISSUED
    UNISSUED_QUEUES = lib.LEFT_OUT_UNISSUED_QUEUES
    FLUSHES = lib.LEFT_OUT_FLUSHES
    DISCARDS = lib.LEFT_OUT_DISCARDS
    PASSTHROUGH = lib.LEFT_OUT_PASSTHROUGH
    WITHOUT_TRANSFER = lib.LEFT_OUT_WITHOUT_TRANSFER
    EMPTY = lib.LEFT_OUT_EMPTY
    REPEATED = lib.LEFT_OUT_REPEATED
    BACKWARDS = lib.LEFT_OUT_BACKWARDS
    LOST = lib.LEFT_OUT_LOST


class Blktrace:
    """One trace. Call `read` once for each of its files, in any order, and then `rows`."""

    def __init__(self) -> None:
        trace = lib.blktrace_new()
        if trace == ffi.NULL:
            raise MemoryError("no memory for a blktrace")
        self._trace = ffi.gc(trace, lib.blktrace_free)

    def read(self, file: BinaryIO) -> str | None:
        """Read a whole file. Return a message if the file breaks off or is damaged, else None.

        Raises ValueError if its records have an unknown version, or are of another device than the
        records read before.
        """
        lib.blktrace_begin(self._trace)
        rest = b""
        while chunk := file.read(CHUNK_BYTES):
            rest += chunk
            length = lib.blktrace_feed(self._trace, ffi.from_buffer(rest), len(rest))
            rest = rest[length:]
            if self._trace.fault:
                return self._why()
        return f"{self._place()} is cut short" if rest else None

    def rows(self) -> Iterator[Columns]:
        """Yield the requests in order of completion, in blocks of rows: times in ns, addresses in
        sectors, op 0 or 1.
        """
        names = [name for name in ROW.names or () if name != "event"]
        count = CHUNK_ROWS
        while count == CHUNK_ROWS:
            rows = np.empty(CHUNK_ROWS, ROW)
            room = ffi.cast("struct blktrace_row *", rows.ctypes.data)
            count = lib.blktrace_rows(self._trace, room, CHUNK_ROWS)
            self._check_memory()
            if count:
                yield {name: rows[name][:count].astype(np.int64) for name in names}

    @property
    def completed(self) -> bool:
        """Return whether any request completed; if none did, rows() yields issued requests, whose
        arrivals alone are known.
        """
        return bool(self._trace.completed)

    def left_out(self) -> dict[LeftOut, int]:
        """Return the number of records that are in no row, by reason; call this after rows()."""
        counts = self._trace.left_out
        return {why: int(counts[why]) for why in LeftOut if counts[why]}

    def _check_memory(self) -> None:
        if self._trace.fault == lib.BLKTRACE_NO_MEMORY:
            raise MemoryError("no memory for all events of the trace")

    def _place(self) -> str:
        return f"record {self._trace.records + 1} at byte {self._trace.offset}"

    def _why(self) -> str:
        self._check_memory()
        fault, value = self._trace.fault, int(self._trace.value)
        if fault == lib.BLKTRACE_OTHER_DEVICE:
            first, other = _device(self._trace.device), _device(value)
            raise ValueError(f"holds two devices, {first} and {other}; trace one of them")
        if fault == lib.BLKTRACE_BAD_MAGIC:
            if not self._trace.records and value & ~0xFF == MAGIC:
                raise ValueError(f"is of version {value & 0xFF}; versions 7 and 8 can be read")
            return (
                f"{self._place()} begins with {value:#010x}, which is no magic number of blktrace"
            )
        return f"{self._place()}: {BROKEN[fault].format(value=value)}"


def _device(number: int) -> str:
    return f"{number >> MINOR_BITS},{number & (1 << MINOR_BITS) - 1}"
