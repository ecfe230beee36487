# SPDX-License-Identifier: MIT
"""The workloads that a prediction can run.

`random` is the probe that the papers fitted the disk with (PERFORM 2010 section 5: page
reads at random places of the raw device); the two SURGE workloads are those of
Tables 2 and 3 and differ in O_DIRECT alone (PERFORM 2010 section 5).  `concurrent-read`
is the program of the Vesper assignments (SIGCSE 2006 section 3.1).
"""

from dataclasses import dataclass
from enum import StrEnum

BOTH = ("sim", "vm")
SIM = ("sim",)


class Kind(StrEnum):
    """What the processes do."""

    RANDOM = "random"
    SEQUENTIAL = "sequential"
    SURGE_DIRECT = "surge-direct"
    SURGE_BUFFERED = "surge-buffered"
    CONCURRENT_READ = "concurrent-read"
    POISSON = "poisson"
    TRACE = "trace"


@dataclass(frozen=True)
class Workload:
    """One entry of the catalogue.

    `engine` is the file in sim/workloads/ that plays it; `options` are the fields of
    Experiment that mean something to it beyond those that every workload has.
    """

    name: str
    kind: Kind
    summary: str
    engine: str
    default_processes: int
    platforms: tuple[str, ...] = BOTH
    options: tuple[str, ...] = ()

    @property
    def may_write(self) -> bool:
        """Does it take a share of writes?"""
        return "writes_percent" in self.options


WORKLOADS = {
    entry.name: entry
    for entry in (
        Workload(
            name="random",
            kind=Kind.RANDOM,
            summary="4 KiB at random places of the raw disk, each process one at a time",
            engine="random",
            default_processes=1,
            options=("writes_percent", "think_ms"),
        ),
        Workload(
            name="sequential",
            kind=Kind.SEQUENTIAL,
            summary="4 KiB upwards on the raw disk, each process from a place of its own",
            engine="sequential",
            default_processes=1,
            platforms=SIM,
            options=("writes_percent", "think_ms"),
        ),
        Workload(
            name="surge-direct",
            kind=Kind.SURGE_DIRECT,
            summary="web file server, 50 ON/OFF processes, O_DIRECT (the papers' Table 2)",
            engine="surge",
            default_processes=50,
        ),
        Workload(
            name="surge-buffered",
            kind=Kind.SURGE_BUFFERED,
            summary="the same through a bounded page cache (the papers' Table 3)",
            engine="surge",
            default_processes=50,
            options=("page_cache_bytes", "read_ahead_kib"),
        ),
        Workload(
            name="concurrent-read",
            kind=Kind.CONCURRENT_READ,
            summary="threads read files of 10 KB, 10 bytes at a time (Vesper assignments)",
            engine="concurrent-read",
            default_processes=10,
            platforms=SIM,
            options=("page_cache_bytes", "read_ahead_kib", "think_ms"),
        ),
        Workload(
            name="poisson",
            kind=Kind.POISSON,
            summary="open: 4 KiB arrivals at random places, independent of the disk",
            engine="poisson",
            default_processes=1,
            platforms=SIM,
            options=("writes_percent", "rate"),
        ),
        Workload(
            name="trace",
            kind=Kind.TRACE,
            summary="a recorded trace on another device (--trace FILE, --replay open or closed)",
            engine="rows-open",
            default_processes=1,
            platforms=SIM,
            options=("trace",),
        ),
    )
}
