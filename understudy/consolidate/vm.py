# SPDX-License-Identifier: MIT
"""A VM as measured alone: a repository of runs (ICPE 2011, sections 4.1 and 4.2.1).

A run is a trace, reduced to the data for a prediction, and kept in files so that memory does not
grow with the trace.  With `by="issue"` a request arrives when the VM's own scheduler issues it, if
the trace records this time separately; else it arrives when it is queued.  The response time lasts
from arrival to completion.  Service begins when one of the device's servers takes the request
(served.py) or, if requests arrive when queued, when the request is issued.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from understudy.base import file_arrays
from understudy.base.errors import UserError
from understudy.base.plain import plain
from understudy.consolidate.arrivals import LIMIT_BLOCKS, pieces, splitting_ratio
from understudy.consolidate.service_times import DISAGREE, Served, served
from understudy.native.arrays import I64
from understudy.native.arrivals import Arrivals, write_arrivals
from understudy.traces.characterise import bins, gaps_ms, percentiles
from understudy.traces.per_cpu import PER_CPU
from understudy.traces.read import REQUESTS, every_run, recorded
from understudy.traces.trace import Trace

Arrival = Literal["issue", "queue"]
Floats = npt.NDArray[np.float64]

NS_PER_MS = 10**6
SHORTEST_NS = 1
POINTS = 1000  # points of a distribution in a drawing
TIMES = ("arrival_ns", "dispatch_ns", "completion_ns")
COLUMNS = ("request_id", *TIMES, "sector", "sectors", "op", "owner")
MERGED = "merged into another of the VM's requests"


@dataclass(frozen=True)
class Run:
    """One recorded run.

    arrivals: on disk, the first at 0.  response_ns and service_ns: (N,), in the same order, mapped
    from files.
    sizes: requests by size, in the bins of `bins`.  interarrival_ms: at most POINTS quantiles.
    notes: what was left out or changed, in words.  contradiction: the note that the trace does not
    fit the servers that Reduction names; None if this is so for only a few requests.
    """

    name: str
    arrivals: Arrivals
    response_ns: I64
    service_ns: I64
    splitting_ratio: float
    sizes: Sequence[int]
    interarrival_ms: Floats
    notes: tuple[str, ...]
    contradiction: str | None

    @property
    def requests(self) -> int:
        """How many there are."""
        return len(self.response_ns)

    @cached_property
    def span_ns(self) -> int:
        """The time from the first arrival to the last completion, ns."""
        return _last_end_ns(self.arrivals.arrival_ns, self.response_ns)

    def in_system(self, until_ns: int | None = None) -> float:
        """N_iso (Eq. 7): requests outstanding on average, counting those that arrived before."""
        if until_ns is None or until_ns > self.arrivals.last_ns:
            return float(self.response_ns.sum(dtype=np.float64)) / self.span_ns
        count = int(np.searchsorted(self.arrivals.arrival_ns, until_ns))
        arrival_ns, response_ns = self.arrivals.arrival_ns[:count], self.response_ns[:count]
        return float(response_ns.sum(dtype=np.float64)) / _last_end_ns(arrival_ns, response_ns)


@dataclass(frozen=True)
class VirtualMachine:
    """All runs of one VM.  Figures are over all of them, times in ms."""

    name: str
    runs: tuple[Run, ...]

    @property
    def requests(self) -> int:
        """How many there are."""
        return sum(run.requests for run in self.runs)

    @property
    def response_ms(self) -> Floats:
        """(N,): run after run, in the order of arrival."""
        return file_arrays.joined(
            [file_arrays.each(lambda part: part / NS_PER_MS, run.response_ns) for run in self.runs]
        )

    @cached_property
    def mean_response_ms(self) -> float:
        """R: the mean response time alone."""
        return float(self.response_ms.mean())

    @cached_property
    def percentiles_ms(self) -> dict[int, float]:
        """Percentiles of response times alone (nearest rank)."""
        return percentiles(self.response_ms)

    @cached_property
    def rate_per_ms(self) -> float:
        """Lambda: requests per ms."""
        return self.requests / (sum(run.span_ns for run in self.runs) / NS_PER_MS)

    @cached_property
    def in_system(self) -> float:
        """N_iso: requests outstanding on average, alone (Eq. 7)."""
        return self.rate_per_ms * self.mean_response_ms

    @cached_property
    def splitting_ratio(self) -> float:
        """Psi (Eq. 12): pieces per request."""
        return sum(run.splitting_ratio * run.requests for run in self.runs) / self.requests

    @property
    def sizes(self) -> list[int]:
        """Requests by size (Figure 6)."""
        return [sum(counts) for counts in zip(*(run.sizes for run in self.runs), strict=True)]


def named(arguments: Sequence[str]) -> dict[str, Path]:
    """VMs by name, from NAME=PATH or PATH, which then gives the name."""
    found: dict[str, Path] = {}
    for argument in arguments:
        name, path = _parted(argument)
        if name in found:
            raise UserError(
                f"{argument}: there is a VM called {name} already ({found[name]}); rename one of "
                f"them, as in other={path}"
            )
        found[name] = path
    return found


def _parted(argument: str) -> tuple[str, Path]:
    name, equals, rest = argument.partition("=")
    if equals and not Path(argument).exists():
        if not name or not rest:
            raise UserError(f"{argument}: give a VM as NAME=PATH, such as web=vm1/")
        return name, Path(rest)
    path = Path(argument)
    words = path.resolve().name.split(".")
    return plain(words[0] or path.name), path


def runs_of(path: Path) -> list[str]:
    """The traces for `recorded` to read: one trace, all traces in a folder in order of their names,
    or all seeds of a run folder."""
    if not path.is_dir():
        return every_run(str(path))
    if (path / REQUESTS).is_file():
        return every_run(str(path / REQUESTS))
    found: dict[str, str] = {}
    for file in sorted(path.iterdir()):
        if file.is_file() and not file.name.startswith("."):
            of_cpu = PER_CPU.fullmatch(file.name)
            found.setdefault(of_cpu["name"] if of_cpu else file.name, str(file))
    if not found:
        raise UserError(f"{path}: no trace in this folder; name one that holds a VM's runs")
    return list(found.values())


@dataclass(frozen=True)
class Reduction:
    """How a trace becomes a run.

    limit_blocks: longer requests are split.  by: when a request arrives.  servers: the number of
    servers of the device that the VM ran on alone, from which service times are computed.  None:
    response times are used as service times.
    """

    limit_blocks: int = LIMIT_BLOCKS
    by: Arrival = "issue"
    servers: int | None = None


def read(name: str, path: Path, folder: Path, how: Reduction) -> VirtualMachine:
    """Read all runs of a VM and write them, reduced, to `folder`; a UserError names a bad one."""
    runs = tuple(
        _reduced(_whole(file), folder / f"{rank}", how) for rank, file in enumerate(runs_of(path))
    )
    return VirtualMachine(name, runs)


def _whole(file: str) -> Trace:
    trace = recorded(file)
    if trace.broken:
        raise UserError(
            f"{file}: {trace.broken}; understudy trace convert {file} OUT.parquet keeps what "
            "precedes"
        )
    return _as_sent(trace)


def _as_sent(trace: Trace) -> Trace:
    """Join rows that went to the disk as one request, if a run folder says so.

    The request arrives with its first row.
    """
    columns: dict[str, Any] = {name: getattr(trace, name) for name in COLUMNS}
    if columns["request_id"] is None:
        return trace
    sent = (
        pl.DataFrame({name: column for name, column in columns.items() if column is not None})
        .group_by("request_id", maintain_order=True)
        .agg(
            pl.col("sector").min(), pl.col("sectors").sum(), pl.exclude("sector", "sectors").first()
        )
    )
    merged = len(trace) - sent.height
    left_out = {**trace.left_out, MERGED: merged} if merged else trace.left_out
    columns |= {one.name: one.to_numpy() for one in sent}
    return replace(trace, left_out=left_out, **columns)


def _reduced(trace: Trace, folder: Path, how: Reduction) -> Run:
    begin_ns = trace.arrival_ns
    if how.by == "issue" and trace.dispatch_ns is not None:
        begin_ns = trace.dispatch_ns
    begin_ns, end_ns, sectors = file_arrays.ordered(
        begin_ns, begin_ns, trace.completed_ns(), trace.sectors
    )
    origin_ns = begin_ns[0]
    arrival_ns = file_arrays.each(lambda part: part - origin_ns, begin_ns)
    response_ns, instant = _lasted(begin_ns, end_ns)
    found = _served(trace, arrival_ns, response_ns, how)
    contradiction = None if found.agrees else _contradiction(found, how.servers)
    many = found.beyond > DISAGREE * len(response_ns)
    of_each = file_arrays.each(lambda part: pieces(part, how.limit_blocks), sectors)
    folder.mkdir(parents=True)
    return Run(
        name=trace.name,
        arrivals=write_arrivals(folder, arrival_ns, of_each),
        response_ns=_kept(folder / "response_ns.npy", response_ns),
        service_ns=_kept(folder / "service_ns.npy", found.service_ns),
        splitting_ratio=splitting_ratio(of_each),
        sizes=bins(trace.sectors),
        interarrival_ms=_quantiles(gaps_ms(arrival_ns)),
        notes=tuple(filter(None, [*_notes(trace, instant), contradiction])),
        contradiction=contradiction if many else None,
    )


def _last_end_ns(arrival_ns: I64, response_ns: I64) -> int:
    parts = file_arrays.blocks(len(arrival_ns))
    return max(int((arrival_ns[part] + response_ns[part]).max()) for part in parts)


def _lasted(begin_ns: I64, end_ns: I64) -> tuple[I64, int]:
    """The duration of each, at least SHORTEST_NS; and how many took less."""
    lasted_ns = file_arrays.each(np.subtract, end_ns, begin_ns)
    parts = file_arrays.blocks(len(lasted_ns))
    short = sum(int((lasted_ns[part] < SHORTEST_NS).sum()) for part in parts)
    return file_arrays.each(lambda part: np.maximum(part, SHORTEST_NS), lasted_ns), short


def _served(trace: Trace, arrival_ns: I64, response_ns: I64, how: Reduction) -> Served:
    if how.servers is None:
        return Served(response_ns, 0, 0)
    if how.by == "queue" and trace.dispatch_ns is not None:
        return Served(_lasted(trace.dispatch_ns, trace.completed_ns())[0], 0, 0)
    return served(arrival_ns, response_ns, how.servers)


def _kept(file: Path, values: I64) -> I64:
    np.save(file, values)
    mapped: I64 = np.load(file, mmap_mode="r")
    return mapped


def _quantiles(values: Floats) -> Floats:
    """At most POINTS quantiles (nearest rank), from the smallest to the largest."""
    ordered = file_arrays.each(np.copy, values)
    ordered.sort()
    ranks = np.unique(np.linspace(0, len(values) - 1, min(len(values), POINTS)).astype(int))
    return ordered[ranks] if len(values) else ordered


def _notes(trace: Trace, instant: int) -> Iterator[str]:
    if trace.losses:
        yield trace.losses
    if trace.out_of_order:
        yield f"{trace.out_of_order:,} came after a later one in the file; sorted"
    if instant:
        yield f"{instant:,} took no time by the trace's clock; counted as {SHORTEST_NS} ns"


def _contradiction(found: Served, servers: int | None) -> str:
    return (
        f"alone {found.beyond:,} completed before one of {servers} servers could have taken them: "
        "the device served more at once, or in another order; response times are used instead"
    )
