# SPDX-License-Identifier: MIT
"""A trace's requests with their service times.

The service of a request begins when the request is sent, or when the previous request completes, if
that is later.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
WRITE = 1


@dataclass(frozen=True)
class Served:
    """Requests in order of completion."""

    op: Ints
    sector: Ints
    sectors: Ints
    begin_ns: Ints
    completion_ns: Ints

    @classmethod
    def of(
        cls, op: Ints, sector: Ints, sectors: Ints, sent_ns: Ints, completion_ns: Ints
    ) -> "Served":
        """Convert requests with sending and completion times; join the parts of split requests."""
        order = np.lexsort((sector, sent_ns, completion_ns))
        op, sector, sectors, sent_ns, completion_ns = (
            each[order] for each in (op, sector, sectors, sent_ns, completion_ns)
        )
        same = (np.diff(sent_ns) == 0) & (np.diff(completion_ns) == 0) & (np.diff(op) == 0)
        first = np.flatnonzero(np.concatenate([[True], ~same]))
        ends = np.maximum.reduceat(sector + sectors, first)
        sent_ns, completion_ns = sent_ns[first], completion_ns[first]
        before_ns = np.concatenate([[sent_ns[0]], completion_ns[:-1]])
        begin_ns = np.maximum(sent_ns, before_ns)
        return cls(op[first], sector[first], ends - sector[first], begin_ns, completion_ns)

    def __len__(self) -> int:
        return len(self.op)

    def where(self, part: slice) -> "Served":
        """Return the requests of a slice."""
        parts = (self.op, self.sector, self.sectors, self.begin_ns, self.completion_ns)
        return Served(*(each[part] for each in parts))

    @property
    def service_ns(self) -> Ints:
        """Return the service time of each request, ns."""
        return self.completion_ns - self.begin_ns

    @property
    def idle_ns(self) -> Ints:
        """Return the disk's idle time before each request, ns."""
        idle_ns: Ints = self.begin_ns - np.concatenate([self.begin_ns[:1], self.completion_ns[:-1]])
        return idle_ns

    @property
    def reads(self) -> Bools:
        """Return which requests are reads."""
        reads: Bools = self.op != WRITE
        return reads

    @property
    def capacity_sectors(self) -> int:
        """Return the first sector after the last sector seen."""
        return int((self.sector + self.sectors).max())
