# SPDX-License-Identifier: MIT
"""The simulator's input: a workload, a scheduler, a device.

simulator.py runs it.  Times are integer nanoseconds, addresses and lengths are in sectors.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from understudy_devices._core import lib
from understudy_devices.device.target import Target
from understudy_devices.native import descriptions, registry
from understudy_devices.native.arrays import U64
from understudy_devices.native.descriptions import Tunable
from understudy_devices.native.drive import Drive

MAX_PENDING = 4096


@dataclass(frozen=True)
class WorkloadKind:
    """The declarations of a workload in sim/workloads/."""

    name: str
    summary: str
    open: bool
    parameters: tuple[Tunable, ...]


@dataclass(frozen=True)
class Array:
    """Equal servers. The service time of a request without a cost is the mean, or exponential with
    that mean.
    """

    servers: int
    mean_service_ns: int = 0
    exponential: bool = False


@dataclass(frozen=True)
class Layout:
    """Files and their extents. Files' sizes are in bytes, extents in sectors. File i has the
    extents first[i] to first[i + 1] - 1.
    """

    bytes: U64
    first: U64
    start: U64
    length: U64


@dataclass(frozen=True)
class Rows:
    """A table of requests, for the workloads "rows-open" and "rows-closed".

    Process i issues the rows first[i] to first[i + 1] - 1. `think_ns` is counted from the process's
    last completion (closed) or from the process's previous row (open).
    """

    first: Any
    think_ns: Any
    sector: Any
    sectors: Any
    op: Any
    owner: Any
    cost_ns: Any = None


@dataclass(frozen=True)
class Policy:
    """A prefetcher or a replacement policy, and its tunables that are not at their default."""

    file: registry.Source
    tunables: Mapping[str, int] = field(default_factory=dict)

    @property
    def described(self) -> descriptions.Scheduler:
        """Return its declarations."""
        return descriptions.describe(self.file)


def doubling() -> Policy:
    """Return the default prefetcher."""
    return Policy(registry.our_file(registry.PREFETCH, "doubling"))


def lru() -> Policy:
    """Return the default replacement policy."""
    return Policy(registry.our_file(registry.REPLACEMENT, "lru"))


@dataclass(frozen=True)
class PageCache:
    """The host's page cache, sim/page_cache.h; `read_ahead_pages` is the longest prefetch."""

    bytes: int
    page_sectors: int = 8
    read_ahead_pages: int = 32
    prefetch: Policy = field(default_factory=doubling)
    replacement: Policy = field(default_factory=lru)

    @property
    def policies(self) -> dict[str, Policy]:
        """Return both policies, each by the name of its structure in the core."""
        return {"prefetcher": self.prefetch, "replacer": self.replacement}


@dataclass(frozen=True)
class Simulation:
    """Everything that the engine needs: a workload, a scheduler, a device."""

    workload: str
    scheduler: str
    device: Drive | Array | Target
    capacity_sectors: int
    requests: int
    processes: int = 1
    seed: int = 1
    parameters: Mapping[str, int] = field(default_factory=dict)
    tunables: Mapping[str, int] = field(default_factory=dict)
    layout: Layout | None = None
    rows: Rows | None = None
    cache: PageCache | None = None
    depth: int | None = None  # default: 1 on a disk, the number of servers on an array
    max_pending: int = MAX_PENDING
    merge_sectors: int = 0  # longest request after merging; 0: no merging
    gap_ns: int = 0
    ask_ns: int = 0
    weights: Any = None
    io_classes: Any = None
    levels: Any = None


@cache
def workloads() -> dict[str, WorkloadKind]:
    """Return the declarations of every workload in sim/workloads/, by name."""
    kinds = (_describe(lib.workload_get(i)) for i in range(lib.workload_count()))
    return {workload.name: workload for workload in sorted(kinds, key=lambda w: w.name)}


def struct_workload(name: str) -> Any:
    """Return the workload of that name as a C structure."""
    structures = (lib.workload_get(i) for i in range(lib.workload_count()))
    return next(workload for workload in structures if descriptions.text(workload.name) == name)


def _describe(workload: Any) -> WorkloadKind:
    return WorkloadKind(
        name=descriptions.text(workload.name),
        summary=descriptions.text(workload.summary),
        open=bool(workload.open),
        parameters=descriptions.fields(workload.parameters, workload.nr_parameters),
    )
