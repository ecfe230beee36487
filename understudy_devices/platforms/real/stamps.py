# SPDX-License-Identifier: MIT
"""Records the requests of a real disk from the processes' own log (guest/reads.h).

This is done if the kernel's events can't be used. Here a response time is the duration of the
process's call. The time of dispatch to the disk is not recorded.
"""

import numpy as np
import polars as pl

from understudy_devices.base.errors import RunFailed
from understudy_devices.measure import records
from understudy_devices.platforms.reads import Entries
from understudy_devices.platforms.real import tracepoints

NAME = "the processes' own clock"
UNSEEN = tracepoints.UNSEEN | {"pick_ns", "dispatch_ns", "idle_ns"}
SECTOR_BYTES = 512
WRITE = 1  # bit of an offset that marks a write


def requests(entries: Entries, *, raw: bool) -> pl.DataFrame:
    """Return the requests in order of arrival, with times of the processes' clock. If `raw`, the
    log's offsets are addresses on the disk.
    """
    rows = np.sort(entries, order="start_ns")
    place = rows["offset"].astype(np.int64)
    known = pl.DataFrame(
        {
            "arrival_ns": rows["start_ns"].astype(np.int64),
            "completion_ns": rows["end_ns"].astype(np.int64),
            "sector": place // SECTOR_BYTES if raw else np.zeros_like(place),
            "sectors": rows["result"].astype(np.int64) // SECTOR_BYTES,
            "op": records.named(place & WRITE if raw else place * 0, records.OPS),
            "owner": rows["owner"].astype(np.int64),
            "request_id": np.arange(1, len(rows) + 1),
        }
    )
    rest = {"meta": False, "error": 0} | dict.fromkeys(UNSEEN)
    full = known.with_columns(pl.lit(value).alias(name) for name, value in rest.items())
    return full.select(*records.SCHEMA).cast(pl.Schema(records.SCHEMA))


def check_drained(entries: Entries, last_arrival_ns: int, processes: int) -> None:
    """Raise RunFailed if a measured request may still have been pending at the end.

    Each process has one pending request at most.  So a request pending at the end arrived after the
    process's last completion.
    """
    later = entries[entries["end_ns"].astype(np.int64) >= last_arrival_ns]
    waiting = processes - len(np.unique(later["owner"]))
    if waiting:
        raise RunFailed(
            f"{waiting} of {processes} processes may still have waited for an answer when the "
            "measurement ended, and only the kernel's events would tell; take more --requests"
        )
