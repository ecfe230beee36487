# SPDX-License-Identifier: MIT
"""The workloads that a prediction can run.

`random` is the probe that the papers fitted the disk with (PERFORM 2010 section 5: page
reads at random places of the raw device); the two SURGE workloads are those of
Tables 2 and 3 and differ in O_DIRECT alone (PERFORM 2010 section 5).
"""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What the guest runs."""

    RANDOM = "random"
    SURGE_DIRECT = "surge-direct"
    SURGE_BUFFERED = "surge-buffered"


@dataclass(frozen=True)
class Workload:
    """One entry of the catalogue."""

    name: str
    kind: Kind
    summary: str
    default_processes: int
    may_write: bool


WORKLOADS = {
    entry.name: entry
    for entry in (
        Workload(
            name="random",
            kind=Kind.RANDOM,
            summary="4 KiB at random places of the raw disk, each process one at a time",
            default_processes=1,
            may_write=True,
        ),
        Workload(
            name="surge-direct",
            kind=Kind.SURGE_DIRECT,
            summary="web file server, 50 ON/OFF processes, O_DIRECT (the papers' Table 2)",
            default_processes=50,
            may_write=False,
        ),
        Workload(
            name="surge-buffered",
            kind=Kind.SURGE_BUFFERED,
            summary="the same through a bounded page cache (the papers' Table 3)",
            default_processes=50,
            may_write=False,
        ),
    )
}
