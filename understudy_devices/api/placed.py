# SPDX-License-Identifier: MIT
"""The result of `place`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl
from rich.console import Console

from understudy_devices.api.answered import Answered
from understudy_devices.consolidation.placement.search import FOUND

MEASURES = {
    "device": pl.String,
    "vm": pl.String,
    "load": pl.Float64,
    "alone_p95_response_ms": pl.Float64,
    "p95_response_ms": pl.Float64,
    "p95_at_most_ms": pl.Float64,
    "target_p95_ms": pl.Float64,
    "meets_target": pl.Boolean,
    "uncertain": pl.Boolean,
}


@dataclass(frozen=True, repr=False)
class Placement(Answered):
    """An assignment of VMs to devices, with the predicted times."""

    command: str
    document: Mapping[str, Any]
    show: Callable[[Console], None]
    text: str  # what `show` prints
    html: str
    page: str  # report.html
    notices: tuple[str, ...] = ()

    @property
    def found(self) -> bool:
        """Return whether every VM meets its target."""
        return bool(self.document["outcome"] == FOUND)

    @property
    def outcome(self) -> str:
        """Return what the search has shown, in words."""
        return str(self.document["outcome"])

    @property
    def reason(self) -> str:
        """Return why there is no assignment; empty if there is one."""
        return str(self.document["reason"])

    @property
    def interrupted(self) -> bool:
        """Return whether the search was interrupted; then the assignment is the best so far."""
        return bool(self.document["interrupted"])

    @cached_property
    def assignment(self) -> dict[str, str]:
        """Return the device of each VM; if none meets all targets, the best that was found."""
        return dict(self.measures.select("vm", "device").rows())

    @cached_property
    def measures(self) -> pl.DataFrame:
        """Return a row for each VM on its device.

        `p95_response_ms` is the predicted 95th percentile of its response times, and
        `p95_at_most_ms` the upper limit of the 95 % interval of its mean over replications; null if
        requests pile up.  `uncertain`: the VM meets its target, but another trace of it might not.
        """
        rows = [
            {"device": device["name"], "vm": each["name"], "load": each["load"]}
            | {"alone_p95_response_ms": each["alone"]["p95_response_ms"]}
            | {name: each[name] for name in list(MEASURES)[4:]}
            for device in self.document["devices"]
            for each in device["vms"]
        ]
        return pl.DataFrame(rows, schema=MEASURES)
