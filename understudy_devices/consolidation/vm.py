# SPDX-License-Identifier: MIT
"""A VM that was measured alone: a repository of runs (ICPE 2011, sections 4.1 and 4.2.1).

A run is a trace, reduced to the data that a prediction needs.  Its columns are in files, so that
the memory used does not grow with the length of the trace.  With `by="issue"` a request's arrival
is the time when the VM's own scheduler issues it, if the trace records this time separately.
Otherwise a request's arrival is the time when it is queued.  The response time lasts from arrival
to completion.  Service begins when one of the device's servers takes the request (service_times.py)
or, if the arrival is the time of queuing, when the request is issued.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from understudy_devices.base import file_arrays
from understudy_devices.base.errors import UserError
from understudy_devices.base.plain import plain
from understudy_devices.consolidation.alignment import Window, cut
from understudy_devices.consolidation.arrivals import UNSPLIT, pieces, splitting_ratio
from understudy_devices.consolidation.directions import Times, of_directions
from understudy_devices.consolidation.sampling import Sample, drift, judge
from understudy_devices.consolidation.service_times import Served, served
from understudy_devices.native.arrays import I64
from understudy_devices.native.arrivals import SERVICE_MAX_NS, Arrivals, write_arrivals
from understudy_devices.traces.characterise import bins, gaps_ms, percentiles
from understudy_devices.traces.faults import pauses_note
from understudy_devices.traces.form import Form
from understudy_devices.traces.per_cpu import PER_CPU
from understudy_devices.traces.read import REQUESTS, every_run, recorded, usable
from understudy_devices.traces.trace import Trace

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

    arrivals: arrival times from the begin of the run, and service times, in a file. response_ns:
    (N,), in the same order, mapped from a file. sectors: (N,), likewise, the requests' lengths.
    sizes: the number of requests in each size bin of
    `bins`. interarrival_ms: at most POINTS quantiles. notes: sentences on what was left out or
    changed. contradiction: a note if many requests of the trace contradict the number of servers in
    Reduction; otherwise None.
    """

    name: str
    arrivals: Arrivals
    response_ns: I64
    sectors: I64
    splitting_ratio: float
    sizes: Sequence[int]
    interarrival_ms: Floats
    notes: tuple[str, ...]
    contradiction: str | None

    @property
    def requests(self) -> int:
        """Return the number of requests."""
        return len(self.response_ns)

    @property
    def service_ns(self) -> I64:
        """Return the service times (N,), in order of arrival."""
        return self.arrivals.service_ns

    @cached_property
    def span_ns(self) -> int:
        """Return the time from the first arrival to the last completion, in ns."""
        return _last_end_ns(self.arrivals.arrival_ns, self.response_ns)

    @cached_property
    def sample(self) -> Sample:
        """Return what the run says about the process that it is a sample of."""
        return judge(self.arrivals.arrival_ns, self.service_ns, self.response_ns)

    def in_system(self, until_ns: int | None = None) -> float:
        """Return N_iso (Eq. 7), the mean number of outstanding requests.

        If `until_ns` is given, only requests that arrived before this time count.
        """
        if until_ns is None or until_ns > self.arrivals.last_ns:
            return float(self.response_ns.sum(dtype=np.float64)) / self.span_ns
        count = int(np.searchsorted(self.arrivals.arrival_ns, until_ns))
        arrival_ns, response_ns = self.arrivals.arrival_ns[:count], self.response_ns[:count]
        return float(response_ns.sum(dtype=np.float64)) / _last_end_ns(arrival_ns, response_ns)


@dataclass(frozen=True)
class VirtualMachine:
    """All runs of one VM.  Figures are computed over all runs; times are in ms."""

    name: str
    runs: tuple[Run, ...]

    @property
    def requests(self) -> int:
        """Return the number of requests."""
        return sum(run.requests for run in self.runs)

    @property
    def response_ms(self) -> Floats:
        """Return all response times (N,) in ms: run after run, each in the order of arrival."""
        return file_arrays.joined(
            [file_arrays.each(lambda part: part / NS_PER_MS, run.response_ns) for run in self.runs]
        )

    @cached_property
    def mean_response_ms(self) -> float:
        """Return R, the mean response time of the VM alone, in ms."""
        return float(self.response_ms.mean())

    @cached_property
    def directions(self) -> dict[str, Times]:
        """Return the figures of reads and of writes of the VM alone."""
        response_ns = file_arrays.joined([run.response_ns for run in self.runs])
        write = file_arrays.joined([run.arrivals.write for run in self.runs])
        return of_directions(response_ns, write)

    @cached_property
    def percentiles_ms(self) -> dict[int, float]:
        """Return percentiles (nearest rank) of the response times of the VM alone, in ms."""
        return percentiles(self.response_ms)

    @cached_property
    def rate_per_ms(self) -> float:
        """Return lambda, the arrival rate in requests per ms."""
        return self.requests / (sum(run.span_ns for run in self.runs) / NS_PER_MS)

    @cached_property
    def in_system(self) -> float:
        """Return N_iso (Eq. 7), the mean number of outstanding requests of the VM alone."""
        return self.rate_per_ms * self.mean_response_ms

    @cached_property
    def splitting_ratio(self) -> float:
        """Return psi (Eq. 12), the mean number of pieces per request."""
        return sum(run.splitting_ratio * run.requests for run in self.runs) / self.requests

    @cached_property
    def waited_ms(self) -> float:
        """Return how long a request waits before it arrives at the device, on average, in ms."""
        waited_ns = sum(float(run.arrivals.waited_ns.sum(dtype=np.float64)) for run in self.runs)
        return waited_ns / self.requests / NS_PER_MS

    @property
    def sizes(self) -> list[int]:
        """Return the number of requests in each size bin (Figure 6)."""
        return [sum(counts) for counts in zip(*(run.sizes for run in self.runs), strict=True)]


def named(arguments: Sequence[str]) -> dict[str, Path]:
    """Return a path for each VM name.  An argument is NAME=PATH, or a PATH from which the name is
    derived."""
    paths: dict[str, Path] = {}
    for argument in arguments:
        name, path = _parted(argument)
        if name in paths:
            raise UserError(
                f"{argument}: there is a VM called {name} already ({paths[name]}); rename one of "
                f"them, as in other={path}"
            )
        paths[name] = path
    return paths


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
    """Return the traces that `recorded` will read: one trace, all traces in a folder in order of
    their names, or the traces of all seeds of a run folder."""
    if not path.is_dir():
        return every_run(str(path))
    if (path / REQUESTS).is_file():
        return every_run(str(path / REQUESTS))
    files: dict[str, str] = {}
    for file in sorted(path.iterdir()):
        if file.is_file() and not file.name.startswith("."):
            of_cpu = PER_CPU.fullmatch(file.name)
            files.setdefault(of_cpu["name"] if of_cpu else file.name, str(file))
    if not files:
        raise UserError(f"{path}: no trace in this folder; name one that holds a VM's runs")
    return list(files.values())


@dataclass(frozen=True)
class Reduction:
    """Options for the reduction of a trace to a run.

    limit_blocks: longer requests are split. by: whether a request arrives when it is issued or when
    it is queued. servers: the number of servers of the device on which the VM ran alone, from which
    service times are computed.  If it is None, response times are used as service times.  waits:
    whether requests of a VM alone may have waited; otherwise response times are used, too.  form:
    how the traces' files are read. window: only requests that arrive in this time, which is then
    the time 0 of the run.
    """

    limit_blocks: int = UNSPLIT
    by: Arrival = "issue"
    servers: int | None = None
    form: Form = field(default_factory=Form)
    waits: bool = True
    window: Window | None = None


def read(name: str, path: Path, folder: Path, how: Reduction) -> VirtualMachine:
    """Read all runs of a VM and write the reduced runs to `folder`.

    Raise a UserError, with the trace's name, if a trace is unusable.
    """
    runs = tuple(
        _reduced(cut(_whole(file, how.form), how.window), folder / f"{rank}", how)
        for rank, file in enumerate(runs_of(path))
    )
    return VirtualMachine(name, runs)


def timings(path: Path, form: Form) -> list[tuple[I64, I64]]:
    """Return, for each run of a VM, when requests were issued and how long they took, in ns.

    If a trace does not record when a request was issued, that is when the request was queued.
    """
    columns = []
    for file in runs_of(path):
        trace = _whole(file, form)
        begin_ns = trace.arrival_ns if trace.dispatch_ns is None else trace.dispatch_ns
        begin_ns, end_ns = file_arrays.ordered(begin_ns, begin_ns, trace.completed_ns())
        columns.append((begin_ns, _lasted(begin_ns, end_ns)[0]))
    return columns


def _whole(file: str, form: Form) -> Trace:
    return _as_sent(usable(recorded(file, form)))


def _as_sent(trace: Trace) -> Trace:
    """Combine rows that were dispatched as one request into a row, if the trace is from a run
    folder.

    The arrival of the request is that of its first row.
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
    begin_ns, end_ns, sectors, op = file_arrays.ordered(
        begin_ns, begin_ns, trace.completed_ns(), trace.sectors, trace.op
    )
    origin_ns = 0 if how.window else begin_ns[0]
    arrival_ns = file_arrays.each(lambda part: part - origin_ns, begin_ns)
    response_ns, instant = _lasted(begin_ns, end_ns)
    service = _served(trace, arrival_ns, response_ns, how)
    contradiction = None if service.agrees else _contradiction(service, how.servers)
    instead = f"{contradiction}; response times are used instead" if contradiction else None
    of_each = file_arrays.each(lambda part: pieces(part, how.limit_blocks), sectors)
    folder.mkdir(parents=True)
    return Run(
        name=trace.name,
        arrivals=write_arrivals(folder, arrival_ns, of_each, _bounded(service.service_ns), op),
        response_ns=_kept(folder / "response_ns.npy", response_ns),
        sectors=_kept(folder / "sectors.npy", sectors),
        splitting_ratio=splitting_ratio(of_each),
        sizes=bins(trace.sectors),
        interarrival_ms=_quantiles(gaps_ms(arrival_ns)),
        notes=tuple(filter(None, [*_notes(trace, instant), instead, _drift_note(response_ns)])),
        contradiction=contradiction if service.contradicts else None,
    )


def _last_end_ns(arrival_ns: I64, response_ns: I64) -> int:
    parts = file_arrays.blocks(len(arrival_ns))
    return max(int((arrival_ns[part] + response_ns[part]).max()) for part in parts)


def _lasted(begin_ns: I64, end_ns: I64) -> tuple[I64, int]:
    """Return each request's duration, raised to SHORTEST_NS if shorter, and how many were
    raised."""
    lasted_ns = file_arrays.each(np.subtract, end_ns, begin_ns)
    parts = file_arrays.blocks(len(lasted_ns))
    short = sum(int((lasted_ns[part] < SHORTEST_NS).sum()) for part in parts)
    return file_arrays.each(lambda part: np.maximum(part, SHORTEST_NS), lasted_ns), short


def _bounded(service_ns: I64) -> I64:
    """Return the service times, lowered to the longest that is simulated: 19.5 hours."""
    return file_arrays.each(lambda part: np.minimum(part, SERVICE_MAX_NS), service_ns)


def _served(trace: Trace, arrival_ns: I64, response_ns: I64, how: Reduction) -> Served:
    if how.servers is None:
        return Served(response_ns, 0, 0)
    if how.by == "queue" and trace.dispatch_ns is not None:
        return Served(_lasted(trace.dispatch_ns, trace.completed_ns())[0], 0, 0)
    service = served(arrival_ns, response_ns, how.servers)
    return service if how.waits else replace(service, service_ns=response_ns)


def _kept(file: Path, values: I64) -> I64:
    np.save(file, values)
    mapped: I64 = np.load(file, mmap_mode="r")
    return mapped


def _quantiles(values: Floats) -> Floats:
    """Return at most POINTS quantiles (nearest rank), from the smallest to the largest value."""
    ordered = file_arrays.each(np.copy, values)
    ordered.sort()
    ranks = np.unique(np.linspace(0, len(values) - 1, min(len(values), POINTS)).astype(int))
    return ordered[ranks] if len(values) else ordered


def _notes(trace: Trace, instant: int) -> Iterator[str]:
    if trace.assumed:
        yield f"assumed: {trace.assumed}"
    if trace.losses:
        yield trace.losses
    if trace.out_of_order:
        yield f"{trace.out_of_order:,} came after a later one in the file; sorted"
    yield from pauses_note(trace)
    if instant:
        yield f"{instant:,} took no time by the trace's clock; counted as {SHORTEST_NS} ns"


def _drift_note(response_ns: I64) -> str | None:
    if not (means := drift(response_ns)):
        return None
    before, after = (mean / NS_PER_MS for mean in means)
    return (
        f"the mean response time changes, from {before:.4g} ms in the first half to {after:.4g} ms "
        "in the second; the 95 % interval assumes that the VM does not change"
    )


def _contradiction(service: Served, servers: int | None) -> str:
    return (
        f"alone {service.beyond:,} completed before one of {servers} servers could have taken "
        "them: the device served more at once, or in another order"
    )
