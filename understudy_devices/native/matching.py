# SPDX-License-Identifier: MIT
"""The matcher of a block layer's events (host/traces/match.h), for Python."""

from collections.abc import Sequence
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from understudy_devices._core import ffi, lib
from understudy_devices.native.arrays import Columns, dtype_of

EVENT = dtype_of("struct trace_event")
ROW = dtype_of("struct blktrace_row")


class Kind(IntEnum):
    """What happens to a request."""

    QUEUE = lib.TRACE_QUEUE
    SPLIT = lib.TRACE_SPLIT
    BACK_MERGE = lib.TRACE_BACK_MERGE
    FRONT_MERGE = lib.TRACE_FRONT_MERGE
    REQUEUE = lib.TRACE_REQUEUE
    ISSUE = lib.TRACE_ISSUE
    COMPLETE = lib.TRACE_COMPLETE


Event = tuple[int, int, int, int, int, int]
"""Time in ns, first sector, number of sectors, process, Kind, and 0 for a read or 1 for a write."""


class Matcher:
    """The requests of one device."""

    def __init__(self) -> None:
        """Begin without requests."""
        match = lib.match_new()
        if match == ffi.NULL:
            raise MemoryError("no memory for a trace")
        self._match = ffi.gc(match, lib.match_free)

    def rows(self, events: Sequence[Event] | npt.NDArray[np.void]) -> Columns:
        """Process the next events; return the requests that they complete: times in ns, addresses
        in sectors, op 0 or 1; `event` is the place of the completion in `events`.
        """
        given = np.ascontiguousarray(events, EVENT)
        made = np.empty(len(given), ROW)
        count = lib.match_events(
            self._match,
            ffi.cast("struct trace_event *", given.ctypes.data),
            len(given),
            ffi.cast("struct blktrace_row *", made.ctypes.data),
        )
        if count < 0:
            raise MemoryError("no memory for all requests of the trace")
        return {name: made[name][:count].astype(np.int64) for name in ROW.names or ()}

    @property
    def unissued(self) -> int:
        """Return the number of completions without an issue."""
        return int(self._match.unissued)

    @property
    def reissued(self) -> int:
        """Return the number of requests that were issued again before they completed."""
        return int(self._match.reissued)

    @property
    def uncompleted(self) -> int:
        """Return the number of requests that were issued and have not completed."""
        return int(lib.match_uncompleted(self._match))

    @property
    def unissued_queues(self) -> int:
        """Return the number of requests that were queued, and neither issued nor merged."""
        return int(lib.match_unissued_queues(self._match))
