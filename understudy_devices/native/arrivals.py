# SPDX-License-Identifier: MIT
"""Arrivals of one class of requests, in a file that the simulator maps.

In a folder, the file `arrivals` has a header, and columns of arrival times, service times, waits
before the arrival, numbers of pieces and directions (sim/worker/arrivals_file.h), 19 bytes per
request, or 27 with waits. Since the simulator maps the file, all simulations on a machine share the
file's pages in the page cache. The simulator checks every value itself; if a value is wrong,
`refuse` finds and reports it.
"""

import hashlib
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from understudy_devices._core import ffi, lib
from understudy_devices.base import scratch
from understudy_devices.base.errors import RunFailed

TIME_MAX_NS = 2**62
PIECES_MAX = 2**16 - 1
SERVICE_MAX_NS = int(lib.RECORDED_SERVICE_MAX)
BLOCK = 1 << 20  # requests checked at once
FILE = "arrivals"
HEADER_BYTES = ffi.sizeof("struct arrivals_header")
ROW_BYTES = 19
WAIT_BYTES = 8

Whole = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Arrivals:
    """A file that `write_arrivals` wrote.

    path: the file. requests: number of requests, at least 1. last_ns: the last arrival time.
    """

    path: Path
    requests: int
    last_ns: int
    waited: bool = False  # whether there is a column of waits

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> "Arrivals":
        """Open the arrivals in a folder after a check of the file's header and size. Raises
        ValueError if the file is missing or cut off.
        """
        path = Path(folder).absolute() / FILE
        requests, waited = _header(path)
        return cls(path, requests, int(_instants(path, requests)[-1]), waited)

    @cached_property
    def arrival_ns(self) -> npt.NDArray[np.int64]:
        """Return the arrival times as a mapped array of shape (requests,)."""
        return _instants(self.path, self.requests)

    @cached_property
    def service_ns(self) -> npt.NDArray[np.int64]:
        """Return the service times of pieces as a mapped array of shape (requests,)."""
        return np.memmap(
            self.path, np.int64, "r", HEADER_BYTES + 8 * self.requests, (self.requests,)
        )

    @cached_property
    def waited_ns(self) -> npt.NDArray[np.int64]:
        """Return how long each request had waited before it arrived, of shape (requests,)."""
        if not self.waited:
            return np.broadcast_to(np.int64(0), (self.requests,))
        begin = HEADER_BYTES + 16 * self.requests
        return np.memmap(self.path, np.int64, "r", begin, (self.requests,))

    @cached_property
    def pieces(self) -> npt.NDArray[np.uint16]:
        """Return the numbers of pieces as a mapped array of shape (requests,)."""
        return _pieces(self.path, self.requests, self.waited)

    @cached_property
    def write(self) -> npt.NDArray[np.uint8]:
        """Return which requests are writes, 0 or 1, as a mapped array of shape (requests,)."""
        begin = _pieces_begin(self.requests, self.waited) + 2 * self.requests
        return np.memmap(self.path, np.uint8, "r", begin, (self.requests,))

    @cached_property
    def content(self) -> str:
        """Return a digest of the file."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    @property
    def file_bytes(self) -> int:
        """Return the file's length."""
        return _file_bytes(self.requests, self.waited)


def write_arrivals(
    folder: str | os.PathLike[str],
    arrival_ns: npt.ArrayLike,
    pieces: npt.ArrayLike,
    service_ns: npt.ArrayLike | None = None,
    write: npt.ArrayLike | None = None,
    waited_ns: npt.ArrayLike | None = None,
) -> Arrivals:
    """Write requests, in order of arrival, into an existing folder.

    arrival_ns: times from 0 to below 2^62, in ascending order. pieces: the number of pieces that
    each request was split into, from 1 to 65,535 (ICPE 2011, Eq. 3). service_ns: the service time
    of each piece of the request, from 1 to 2^46 ns; if it is None, 1 ns. write: 1 for a write, 0
    for a read; if it is None, all are reads. waited_ns: how long each request had waited before it
    arrived, from 0 to below 2^62, which counts in its response time; None: not at all. The file
    appears when it is complete. Raises ValueError for the first impossible request.
    """
    instants, counts = _whole("arrival_ns", arrival_ns), _whole("pieces", pieces)
    if instants.shape != counts.shape:
        raise ValueError(
            f"{len(instants):,} arrivals, but {len(counts):,} numbers of pieces: give both for "
            "each request"
        )
    times = _service_times(service_ns, len(instants))
    waits = None if waited_ns is None else _waits(waited_ns, len(instants))
    if not len(instants):
        raise ValueError("no arrivals: give at least one request")
    wrong = _first_wrong(instants, counts)
    if wrong:
        raise ValueError(wrong)
    path = Path(folder).absolute() / FILE
    _write(path, instants, times, waits, counts, _directions(write, len(instants)))
    return Arrivals(path, len(instants), int(instants[-1]), waits is not None)


def refuse(files: list[Arrivals]) -> NoReturn:
    """Raise ValueError for the first file that a simulation cannot read."""
    for arrivals in files:
        requests, waited = _header(arrivals.path)
        pieces = _pieces(arrivals.path, requests, waited)
        wrong = _first_wrong(_instants(arrivals.path, requests), pieces)
        if wrong:
            raise ValueError(f"{arrivals.path}: {wrong}; write it again")
    raise RunFailed(
        f"{', '.join(str(one.path) for one in files[:3])}: arrivals changed while they were read"
    )


def check_unchanged(files: list[Arrivals], error: Exception) -> None:
    """Raise RunFailed, from the error, for the first file that has changed since it was opened."""
    for arrivals in files:
        try:
            now = Arrivals.open(arrivals.path.parent)
        except ValueError as change:
            raise RunFailed(f"changed while it was read: {change}") from error
        if now != arrivals:
            raise RunFailed(f"{arrivals.path}: changed while it was read; keep it") from error


def _write(
    path: Path, instants: Whole, times: Whole, waits: Whole | None, counts: Whole, write: Whole
) -> None:
    waited = waits is not None
    header = np.array([lib.ARRIVALS_MAGIC, len(instants), int(waited)], np.uint64)
    with scratch.replacing(path) as temporary, temporary.open("wb") as file:
        file.write(header.tobytes())
        columns = (
            (instants, np.uint64),
            (times, np.uint64),
            *([(waits, np.uint64)] if waits is not None else []),
            (counts, np.uint16),
            (write, np.uint8),
        )
        for column, kind in columns:
            for begin in range(0, len(column), BLOCK):
                file.write(column[begin : begin + BLOCK].astype(kind).tobytes())


def _directions(values: npt.ArrayLike | None, requests: int) -> Whole:
    """Return which requests are writes, checked; none if the values are None."""
    if values is None:
        return np.broadcast_to(np.int64(0), (requests,))
    write = _whole("write", values)
    if len(write) != requests:
        raise ValueError(
            f"{requests:,} arrivals, but {len(write):,} directions: give both for each"
        )
    for begin in range(0, requests, BLOCK):
        part = write[begin : begin + BLOCK]
        bad = np.flatnonzero((part < 0) | (part > 1))
        if len(bad):
            place = int(bad[0])
            raise ValueError(f"request {begin + place:,}: write is {part[place]}: has to be 0 or 1")
    return write


def _waits(values: npt.ArrayLike, requests: int) -> Whole:
    """Return the waits, checked."""
    waits = _whole("waited_ns", values)
    if len(waits) != requests:
        raise ValueError(f"{requests:,} arrivals, but {len(waits):,} waits: give both for each")
    for begin in range(0, requests, BLOCK):
        part = waits[begin : begin + BLOCK]
        bad = np.flatnonzero((part < 0) | (part >= TIME_MAX_NS))
        if len(bad):
            place = int(bad[0])
            raise ValueError(
                f"request {begin + place:,} waited {part[place]} ns: has to be from 0 to below 2^62"
            )
    return waits


def _service_times(values: npt.ArrayLike | None, requests: int) -> Whole:
    """Return the service times, checked; 1 ns each if they are None."""
    if values is None:
        return np.broadcast_to(np.int64(1), (requests,))
    times = _whole("service_ns", values)
    if len(times) != requests:
        raise ValueError(
            f"{requests:,} arrivals, but {len(times):,} service times: give both for each request"
        )
    for begin in range(0, requests, BLOCK):
        part = times[begin : begin + BLOCK]
        bad = np.flatnonzero((part < 1) | (part > SERVICE_MAX_NS))
        if len(bad):
            place = int(bad[0])
            raise ValueError(
                f"request {begin + place:,} has a service time of {part[place]} ns: has to be from "
                "1 to 2^46"
            )
    return times


def _header(path: Path) -> tuple[int, bool]:
    """Return the number of requests in the header, and whether there are waits; ValueError if the
    file's length does not match it.
    """
    try:
        with path.open("rb") as file:
            header = file.read(HEADER_BYTES)
            size = os.fstat(file.fileno()).st_size
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}; name a file of arrivals") from error
    if len(header) < HEADER_BYTES:
        raise ValueError(f"{path}: {size:,} bytes, no file of arrivals; write it again")
    magic, requests, waited = (int(value) for value in np.frombuffer(header, np.uint64))
    if magic != lib.ARRIVALS_MAGIC:
        raise ValueError(f"{path}: no file of arrivals: begins with {header[:8]!r}; take another")
    if size != (whole := _file_bytes(requests, bool(waited))):
        raise ValueError(
            f"{path}: {size:,} bytes, not the {whole:,} of {requests:,} requests: "
            "cut off, or something else; write it again"
        )
    if not requests:
        raise ValueError(f"{path}: no arrivals; give at least one request")
    return requests, bool(waited)


def _file_bytes(requests: int, waited: bool) -> int:
    return int(HEADER_BYTES) + requests * (ROW_BYTES + waited * WAIT_BYTES)


def _pieces_begin(requests: int, waited: bool) -> int:
    return int(HEADER_BYTES) + requests * (16 + waited * WAIT_BYTES)


def _instants(path: Path, requests: int) -> npt.NDArray[np.int64]:
    return np.memmap(path, np.int64, "r", HEADER_BYTES, (requests,))


def _pieces(path: Path, requests: int, waited: bool) -> npt.NDArray[np.uint16]:
    return np.memmap(path, np.uint16, "r", _pieces_begin(requests, waited), (requests,))


def _whole(name: str, values: npt.ArrayLike) -> Whole:
    array = np.asanyarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} dimensions: give a list, one for each request")
    if array.size and array.dtype.kind not in "iu":
        raise ValueError(f"{name} is of type {array.dtype}: give whole numbers")
    return array


def _first_wrong(instants: Whole, counts: Whole) -> str:
    """Return the message for the first impossible request; empty if there is none."""
    before = 0
    for begin in range(0, len(instants), BLOCK):
        part = slice(begin, begin + BLOCK)
        at, pieces = instants[part], counts[part]
        late = (at < 0) | (at >= TIME_MAX_NS)
        early = np.concatenate([[at[0] < before], at[1:] < at[:-1]])
        bad = np.flatnonzero(late | early | (pieces < 1) | (pieces > PIECES_MAX))
        if len(bad):
            place = int(bad[0])
            previous = int(at[place - 1]) if place else before
            return _words(begin + place, int(at[place]), previous, int(pieces[place]))
        before = int(at[-1])
    return ""


def _words(request: int, at_ns: int, previous_ns: int, pieces: int) -> str:
    if not 0 <= at_ns < TIME_MAX_NS:
        return f"request {request:,} arrives at {at_ns} ns: has to be from 0 to below 2^62"
    if at_ns < previous_ns:
        return (
            f"request {request:,} arrives at {at_ns} ns, before the one before it, at "
            f"{previous_ns} ns: has to be in order of arrival"
        )
    return f"request {request:,} has {pieces} pieces: has to be from 1 to {PIECES_MAX:,}"
