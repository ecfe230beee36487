# SPDX-License-Identifier: MIT
"""The parameters of a workload that reads through a page cache."""

from dataclasses import dataclass

from understudy_devices.ask.parameters import Parameters, parameter
from understudy_devices.ask.workloads.workload import KIB
from understudy_devices.base import sizes

TIB = 2**40


@dataclass(frozen=True, kw_only=True)
class ThroughPageCache(Parameters):
    """The page cache's size and read-ahead; if a value is None, the workload chooses it."""

    page_cache_bytes: int | None = parameter(
        None,
        option="--page-cache",
        help="Size of the page cache [default: the workload's own].",
        metavar="SIZE",
        unit="bytes",
        parse=lambda text: sizes.parse("--page-cache", text, 4 * KIB, TIB),
    )
    read_ahead_kib: int | None = parameter(
        None,
        option="--read-ahead",
        help="Longest read-ahead of the page cache in KiB; 0: none (sim).",
        unit="KiB",
        low=0,
        high=16 * KIB,
        platforms=("sim",),
    )
