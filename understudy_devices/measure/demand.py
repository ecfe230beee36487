# SPDX-License-Identifier: MIT
"""Count a run's demands on its device, from its records (understudy_devices/native/demand.py)."""

import numpy as np
import polars as pl

from understudy_devices.native import demand


def counts(frame: pl.DataFrame) -> dict[str, int]:
    """Return the number of requests with each demand; merged bios count as one request."""
    requests = (
        frame.group_by("request_id")
        .agg(
            pl.col("sector", "arrival_ns").min(),
            pl.col("sectors").sum(),
            pl.col("completion_ns", "op", "idle_ns").first(),
        )
        .sort("completion_ns", "request_id")
    )
    completion_ns = requests["completion_ns"].to_numpy()
    busy_until_ns = np.concatenate([completion_ns[:1] * 0, completion_ns[:-1]])
    demands = demand.asking(
        (requests["op"] == "write").to_numpy(),
        requests["sector"].to_numpy(),
        requests["sectors"].to_numpy(),
        requests["idle_ns"].to_numpy(),
        requests["arrival_ns"].to_numpy() < busy_until_ns,
    )
    return demand.counts(demands)
