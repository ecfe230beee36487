# SPDX-License-Identifier: MIT
"""The requests of VMs that will share one simulated disk, each VM in its own part of the disk.

A part is as large as the place that the VM's traces reach, in whole MiB; the parts are in the order
of the VMs.  Requests arrive at their recorded times, whatever the disk does (open loop).

Replication 0 has all VMs begin together.  In each further one, every VM but the first begins with a
random request of its run, and goes on with the first request after the last.  A VM that has several
runs uses a random one in each replication.  A replication ends at the end of the shortest run.
If VMs are laid at their own times (alignment.py), each replication has all of their requests.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from understudy_devices.consolidation import alignment
from understudy_devices.consolidation.directions import Times, of_directions, times
from understudy_devices.consolidation.vm import Arrival, runs_of
from understudy_devices.traces.form import Form
from understudy_devices.traces.read import recorded, usable
from understudy_devices.traces.trace import Trace

Ints = npt.NDArray[np.int64]

PART_SECTORS = 2048  # 1 MiB
LONGEST_RESAMPLE = 4  # times the requests of the run


@dataclass(frozen=True)
class Guest:
    """A VM with its runs, and its weight for SFQ(D).

    aligned: whether the runs of all VMs are of the same time (alignment.py).
    """

    name: str
    runs: tuple[Trace, ...]
    weight: int = 1
    aligned: bool = False

    @property
    def requests(self) -> int:
        """Return the number of requests of all runs."""
        return sum(len(run) for run in self.runs)

    @cached_property
    def sectors(self) -> int:
        """Return the size of the VM's part of the disk."""
        return -(-max(run.end_sector for run in self.runs) // PART_SECTORS) * PART_SECTORS

    @cached_property
    def rate_per_s(self) -> float:
        """Return the mean number of requests in a second."""
        last_ns = sum(int(run.arrival_ns[-1]) for run in self.runs)
        return self.requests / (last_ns / 1e9) if last_ns else 0.0

    @cached_property
    def measured(self) -> Times | None:
        """Return the recorded response times; None if a run has none."""
        known = self._responses()
        return None if known is None else times(known)

    @cached_property
    def measured_directions(self) -> dict[str, Times]:
        """Return the recorded response times of reads and writes."""
        known = self._responses()
        if known is None:
            return {}
        return of_directions(known, np.concatenate([run.op for run in self.runs]))

    def _responses(self) -> Ints | None:
        if any(run.completion_ns is None for run in self.runs):
            return None
        return np.concatenate([run.response_ns() for run in self.runs])


def read(
    name: str,
    path: Path,
    form: Form,
    by: Arrival,
    weight: int = 1,
    window: alignment.Window | None = None,
) -> Guest:
    """Read all runs of a VM, or their requests in the window.

    Raise a UserError, with the trace's name, if a run is unusable.
    """
    runs = [alignment.cut(usable(recorded(file, form)), window) for file in runs_of(path)]
    aligned = window is not None
    return Guest(name, tuple(_sorted(run, by, aligned) for run in runs), weight, aligned)


def unplaced(guests: Sequence[Guest]) -> list[str]:
    """Return the names of the traces that do not say where on the disk requests were."""
    return [run.name for guest in guests for run in guest.runs if not run.placed]


def begins(guests: Sequence[Guest]) -> list[int]:
    """Return the first sector of each VM's part."""
    ends = np.cumsum([guest.sectors for guest in guests])
    return [int(end) - guest.sectors for end, guest in zip(ends, guests, strict=True)]


@dataclass(frozen=True)
class Requests:
    """Some requests of a VM: places in its trace (N,), and their arrivals (N,), in order."""

    trace: Trace
    place: Ints
    arrival_ns: Ints


def replicated(guests: Sequence[Guest], seed: int, number: int) -> list[Requests]:
    """Return each VM's requests in a replication."""
    random, runs = _drawn(guests, seed, number)
    if guests[0].aligned:
        return [whole(run) for run in runs]
    until_ns = _until(runs)
    return [
        _turned(run, until_ns, random) if number and k else _begun(run, until_ns)
        for k, run in enumerate(runs)
    ]


def resampled(
    guests: Sequence[Guest], blocks: Sequence[int], seed: int, number: int, part: float
) -> list[Requests]:
    """Return each VM's requests in a resample: a circular block bootstrap (sampling.py).

    blocks: the number of requests in a block, of each VM. part: the simulated part of the length of
    the shortest run.
    """
    random, runs = _drawn(guests, seed, number)
    until_ns = _until(runs)
    return [
        _blocks(run, block, until_ns, max(1, int(part * until_ns)), random)
        for run, block in zip(runs, blocks, strict=True)
    ]


def whole(run: Trace) -> Requests:
    """Return all requests of a run."""
    return Requests(run, np.arange(len(run)), run.arrival_ns)


def merged(each: Sequence[Requests], begin: Sequence[int]) -> Trace:
    """Return the requests of all VMs as one trace, in which the VMs are the owners.

    Requests that arrive at the same time are in the order of the VMs.
    """
    arrival_ns = np.concatenate([one.arrival_ns for one in each])
    order = np.argsort(arrival_ns, kind="stable")
    begun = zip(each, begin, strict=True)
    sector = np.concatenate([one.trace.sector[one.place] + first for one, first in begun])
    owner = np.concatenate([np.full(len(one.place), k) for k, one in enumerate(each)])
    return Trace(
        name="the VMs together",
        arrival_ns=arrival_ns[order],
        sector=sector[order],
        sectors=np.concatenate([one.trace.sectors[one.place] for one in each])[order],
        op=np.concatenate([one.trace.op[one.place] for one in each])[order],
        owner=owner[order],
        completion_ns=None,
    )


def _sorted(trace: Trace, by: Arrival, aligned: bool) -> Trace:
    """Return the trace with arrivals as its arrival times, in their order, the first at 0 unless
    aligned."""
    if by == "queue" or trace.dispatch_ns is None:
        return trace
    order = np.argsort(trace.dispatch_ns, kind="stable")
    origin_ns = 0 if aligned else trace.dispatch_ns[order[0]]
    ends = trace.completion_ns
    return replace(
        trace,
        arrival_ns=trace.dispatch_ns[order] - origin_ns,
        completion_ns=None if ends is None else ends[order] - origin_ns,
        dispatch_ns=None,
        request_id=None,
        **{name: getattr(trace, name)[order] for name in ("sector", "sectors", "op", "owner")},
    )


def _drawn(
    guests: Sequence[Guest], seed: int, number: int
) -> tuple[np.random.Generator, list[Trace]]:
    random = np.random.default_rng([seed, number])
    return random, [guest.runs[int(random.integers(len(guest.runs)))] for guest in guests]


def _until(runs: Sequence[Trace]) -> int:
    """Return the time just after the last arrival of the shortest run."""
    return min(int(run.arrival_ns[-1]) for run in runs) + 1


def _before(run: Trace, until_ns: int) -> int:
    return int(np.searchsorted(run.arrival_ns, until_ns))


def _begun(run: Trace, until_ns: int) -> Requests:
    place = np.arange(_before(run, until_ns))
    return Requests(run, place, run.arrival_ns[place])


def _turned(run: Trace, until_ns: int, random: np.random.Generator) -> Requests:
    """Return the run from a random request on, then from the first request on."""
    count = _before(run, until_ns)
    first = int(random.integers(count))
    return _laid(run, count, np.roll(np.arange(count), -first), until_ns)


def _blocks(
    run: Trace, block: int, until_ns: int, end_ns: int, random: np.random.Generator
) -> Requests:
    """Return blocks of consecutive requests from random places, until `end_ns`."""
    count = _before(run, until_ns)
    many = -(-LONGEST_RESAMPLE * max(1, round(count * end_ns / until_ns)) // block)
    starts = random.integers(count, size=many)
    place = (starts[:, None] + np.arange(block)).ravel() % count
    return _laid(run, count, place, end_ns)


def _laid(run: Trace, count: int, place: Ints, until_ns: int) -> Requests:
    """Return the requests at these places of the first `count`, the first of them at 0, each as
    long after the previous one as recorded.

    The first recorded request follows the last one after a mean interarrival time.
    """
    wrap_ns = int(run.arrival_ns[count - 1]) // max(1, count - 1) + 1
    gaps_ns = np.diff(run.arrival_ns[:count], prepend=-wrap_ns)[place]
    arrival_ns = np.cumsum(gaps_ns) - gaps_ns[0]
    kept = int(np.searchsorted(arrival_ns, until_ns))
    return Requests(run, place[:kept], arrival_ns[:kept])
