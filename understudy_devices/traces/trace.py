# SPDX-License-Identifier: MIT
"""A recorded trace: each request's owner, address, arrival time and, if recorded, completion
time."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy_devices.base import file_arrays
from understudy_devices.base.cache import digest
from understudy_devices.base.errors import UserError

Ints = npt.NDArray[np.int64]

TIMES = ("arrival_ns", "completion_ns", "dispatch_ns")
PROPERTIES = ("sector", "sectors", "op", "owner", "request_id", "volume")


@dataclass(frozen=True, eq=False)
class Trace:
    """Requests in order of arrival; times in ns from the first arrival, addresses in sectors.

    The columns of a long trace are mapped from files (base/file_arrays.py).
    """

    name: str
    arrival_ns: Ints
    sector: Ints
    sectors: Ints
    op: Ints  # 0 read, 1 write
    owner: Ints
    completion_ns: Ints | None
    dispatch_ns: Ints | None = None  # when the request was sent to the disk
    request_id: Ints | None = None  # equal for requests that were sent to the disk as one request
    left_out: Mapping[str, int] = field(default_factory=dict)  # records not in the trace, by reason
    broken: str | None = None  # where the file breaks off, if it does
    out_of_order: int = 0  # requests that arrived before an earlier one in the file
    backward: int = 0  # requests that arrived before the previous one in the file, and completed so
    assumed: str | None = None  # what the file does not say, and the reader assumes
    placed: bool = True  # whether `sector` is known; if not, it is 0 for each request
    volume: Ints | None = None  # the place in `volumes` of each request's volume
    volumes: tuple[str, ...] = ()  # disks with their own sectors; empty if the format names none
    began_ns: int = 0  # the first arrival, on the clock of the file

    def __len__(self) -> int:
        return len(self.arrival_ns)

    def completed_ns(self) -> Ints:
        """Return completion times in ns; UserError if the trace has none."""
        if self.completion_ns is None:
            raise UserError(
                f"{self.name}: has arrivals only, so it does not say how long requests took; take "
                "a trace with response times (docs/traces.md)"
            )
        return self.completion_ns

    def response_ns(self) -> Ints:
        """Return response times, from arrival to completion, in ns; UserError if there are no
        completions.
        """
        return file_arrays.each(np.subtract, self.completed_ns(), self.arrival_ns)

    def between(self, begin_ns: int, end_ns: int) -> "Trace":
        """Return the requests that arrive from begin_ns to before end_ns on the file's clock.

        Their times count from begin_ns.
        """
        since_ns = begin_ns - self.began_ns
        first, last = np.searchsorted(self.arrival_ns, [since_ns, end_ns - self.began_ns])
        columns: dict[str, Any] = {}
        for name in (*TIMES, *PROPERTIES):
            values = getattr(self, name)
            if values is not None:
                columns[name] = values[first:last]
        for name in TIMES:
            if name in columns:
                columns[name] = file_arrays.each(lambda at: at - since_ns, columns[name])
        return replace(self, began_ns=begin_ns, **columns)

    @property
    def losses(self) -> str | None:
        """Return a sentence about the file's records that are not in the trace; None if all are."""
        if not self.left_out:
            return None
        return "left out: " + ", ".join(f"{n:,} {why}" for why, n in self.left_out.items())

    @property
    def owners(self) -> int:
        """Return the number of owners."""
        return int(self.owner.max()) + 1

    @property
    def digest(self) -> str:
        """Return a digest of the trace's content."""
        columns = (self.arrival_ns, self.sector, self.sectors, self.op, self.owner)
        ends = () if self.completion_ns is None else (self.completion_ns,)
        return digest(column.tobytes() for column in (*columns, *ends))

    @property
    def end_sector(self) -> int:
        """Return the size, in sectors, of the smallest disk that contains every request."""
        return int((self.sector + self.sectors).max())
