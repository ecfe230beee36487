# SPDX-License-Identifier: MIT
"""Replay a recorded trace on another device: at recorded times, or with inferred think times."""

from dataclasses import dataclass
from typing import Any, ClassVar

from understudy_devices.ask.parameters import parameter
from understudy_devices.ask.workloads.workload import (
    SECTOR_BYTES,
    Simulated,
    Surroundings,
    Workload,
    processes,
)
from understudy_devices.base.errors import UserError
from understudy_devices.base.progress import Report
from understudy_devices.traces.form import COLUMNS_HELP, FORMAT_HELP
from understudy_devices.traces.steps import closed_rows, open_rows, open_rows_by_owner
from understudy_devices.traces.trace import Trace

MB = 10**6


def _load(text: str) -> Trace:
    from understudy_devices.traces.read import load  # imports Polars

    return load(text)


@dataclass(frozen=True, kw_only=True)
class TraceReplay(Workload):
    """In an open replay every request arrives at its recorded time.

    In a closed replay requests are separated by think times, inferred from the trace.
    """

    name: ClassVar[str] = "trace"
    summary: ClassVar[str] = (
        "a recorded trace on another device (--trace FILE, --replay open or closed)"
    )
    order: ClassVar[int] = 7
    processes: int = processes(1)
    trace: Trace = parameter(
        option="--trace",
        help="The trace to replay, in any format of docs/traces.md.",
        metavar="FILE[:VOLUME|:SCHEDULER[:SEED]]",
        kind=str,
        parse=_load,
    )
    trace_columns: str | None = parameter(
        None,
        option="--columns",
        help=COLUMNS_HELP,
        metavar="NAME,...",
        kind=str,
        column=None,
    )
    trace_format: str | None = parameter(
        None,
        option="--format",
        help=FORMAT_HELP,
        metavar="NAME",
        kind=str,
        column=None,
    )
    replay: str = parameter(
        "open",
        option="--replay",
        help="Replay as recorded, or with the think times inferred from it [default: open].",
        kind=str,
        choices=("open", "closed"),
    )

    @property
    def is_open(self) -> bool:  # type: ignore[override]
        """Return whether every request arrives at its recorded time."""
        return self.replay == "open"

    @property
    def sharers(self) -> int:
        """Return the number of owners of requests in the trace."""
        return self.trace.owners

    @property
    def shared_among(self) -> str:
        """Return the number of owners in words, for messages."""
        return f"{self.trace.owners} owners in the trace"

    def measured(self, requests: int) -> int:
        """Return the number of requests in the whole trace, whatever --requests says."""
        return len(self.trace)

    def check_fits(self, virtual_bytes: int) -> None:
        """Refuse a disk that is smaller than the disk of the trace."""
        if self.trace.end_sector * SECTOR_BYTES > virtual_bytes:
            raise UserError(
                f"--virtual-size: the trace reaches past it; take {self.trace.end_sector}s, or "
                "the size of the trace's disk"
            )

    def simulated(self, around: Surroundings, report: Report) -> Simulated:
        """Return the parameters of sim/workloads/rows.c, which plays the trace."""
        if self.replay == "closed":
            rows = closed_rows(self.trace)
            return Simulated("rows-closed", self.trace.owners, rows=rows)
        if self.weights:  # weights belong to processes
            rows = open_rows_by_owner(self.trace)
            return Simulated("rows-open", self.trace.owners, rows=rows)
        return Simulated("rows-open", 1, rows=open_rows(self.trace))

    def columns(self) -> dict[str, Any]:
        """Return the trace's name and digest, as columns of a result."""
        trace = {"trace": self.trace.name, "trace_digest": self.trace.digest}
        return super().columns() | trace
