# SPDX-License-Identifier: MIT
"""The parameters of a workload that reads through a page cache."""

from dataclasses import dataclass

from understudy_devices.ask.parameters import Parameters, parameter
from understudy_devices.ask.policies import PREFETCH, REPLACEMENT, Policy
from understudy_devices.ask.workloads.workload import KIB
from understudy_devices.base import sizes

TIB = 2**40


@dataclass(frozen=True, kw_only=True)
class ThroughPageCache(Parameters):
    """The page cache's size, read-ahead and policies; if a size is None, the workload chooses it,
    and if a policy is None, it is the default.
    """

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
    prefetch: Policy | None = parameter(
        None,
        option="--prefetch",
        help="Prefetcher of the page cache, a name or ./mine.c (sim) [default: doubling].",
        kind=str,
        metavar="NAME",
        parse=PREFETCH.parse,
        told="prefetch {}",
        platforms=("sim",),
        column=None,
    )
    replacement: Policy | None = parameter(
        None,
        option="--replacement",
        help="Replacement policy of the page cache, a name or ./mine.c (sim) [default: lru].",
        kind=str,
        metavar="NAME",
        parse=REPLACEMENT.parse,
        told="replacement {}",
        platforms=("sim",),
        column=None,
    )

    def policies(self) -> dict[str, Policy]:
        """Return both policies, by the names of their fields."""
        return {
            "prefetch": self.prefetch or PREFETCH.of_ours(PREFETCH.default),
            "replacement": self.replacement or REPLACEMENT.of_ours(REPLACEMENT.default),
        }
