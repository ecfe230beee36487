# SPDX-License-Identifier: MIT
"""The [[checks]] of a profile: each compares the drive's times with the model's, for one workload.

A check uses requests that no fit has seen, at sectors that no probe has used.  The key "asks"
lists the demands of the requests on the drive, such as writes or long requests.  The demands of a
run's requests are counted too (measure/demand.py).  A check judges only runs that have
all of its demands (understudy_devices/recommend/verdict.py).
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from understudy_devices.device.section import MINUTE_MS, Section, Text

Ask = Literal[
    "random",
    "near",
    "sequences",
    "streams",
    "re-reads",
    "beside",
    "writes",
    "sizes",
    "long",
    "pauses",
    "rests",
    "sweeps",
    "queue",
]
ASKS: tuple[Ask, ...] = get_args(Ask)
IN_WORDS: Mapping[Ask, str] = {
    "random": "random places",
    "near": "places near the last one",
    "sequences": "sequential requests",
    "streams": "interleaved streams",
    "re-reads": "re-reads",
    "beside": "streams beside one another",
    "writes": "writes",
    "sizes": "sizes other than a page",
    "long": "requests above 128 KiB",
    "pauses": "pauses",
    "rests": "long pauses",
    "sweeps": "sweeps",
    "queue": "a queue in the drive",
}
PLACES: tuple[Ask, ...] = ("random", "near", "sequences", "streams", "re-reads")
"""Demands that concern a request's location on the disk."""
PLACES_COUNTED = ("near", "sequential", "streamed", "again")
LIMIT_PERCENT = 3.0
DEMERIT_LIMIT_PERCENT = 8.0
CHECKS_MAX = 100
LIMITS = ("limit_percent", "demerit_limit_percent")
LEAST_MS = 1e-6  # 1 ns
LEAST_SHARE = 0.01
"""A demand is left out if less than this share of the requests has it."""

Time = Annotated[float, Field(ge=0, le=MINUTE_MS)]
Limit = Annotated[float, Field(gt=0, le=1000)]


class Check(Section):
    """A check with one workload; `asks` has each demand with the share of requests that have it."""

    workload: Annotated[Text, Field(min_length=1, max_length=80)]
    """The workload in words."""
    asks: Annotated[dict[Ask, Annotated[float, Field(gt=0, le=1)]], Field(min_length=1)]
    """The demands of its requests, each with the share of requests that have it."""
    target_ms: Time
    """Mean service time of the drive."""
    model_ms: Time
    """Mean service time by the profile."""
    demerit_ms: Time
    """How far the two distributions of service times are apart."""
    limit_percent: Limit = LIMIT_PERCENT
    """The largest error of the mean."""
    demerit_limit_percent: Limit = DEMERIT_LIMIT_PERCENT
    """The largest demerit."""

    @property
    def off_ms(self) -> float:
        """Return the model's mean minus the target's mean, in ms."""
        return self.model_ms - self.target_ms

    @property
    def difference_percent(self) -> float:
        """Return the difference of the means as a percentage of the target's mean."""
        return 100 * self.off_ms / max(self.target_ms, LEAST_MS)

    @property
    def demerit_percent(self) -> float:
        """Return the demerit as a percentage of the target's mean."""
        return 100 * self.demerit_ms / max(self.target_ms, LEAST_MS)

    @property
    def within(self) -> bool:
        """Return whether the error of the mean and the demerit are within their limits."""
        return (
            abs(self.difference_percent) <= self.limit_percent
            and self.demerit_percent <= self.demerit_limit_percent
        )

    def said(self) -> str:
        """Return the size of the error, in words."""
        if abs(self.difference_percent) > self.limit_percent:
            return f"{abs(self.difference_percent):.3g} % off"
        return f"off by a demerit of {self.demerit_percent:.3g} %"

    def toml_lines(self) -> list[str]:
        """Return the check's entry in a profile; derived values are in comments."""
        shares = ", ".join(f"{ask} = {share:g}" for ask, share in self.asks.items())
        within = "within" if self.within else f"{self.said()}, not within"
        keys = self.model_fields_set
        return [
            "",
            f"# {self.difference_percent:+.1f} %, {within} the limits",
            "[[checks]]",
            f'workload = "{self.workload}"',
            f"asks = {{ {shares} }}",
            f"target_ms = {self.target_ms!r}",
            f"model_ms = {self.model_ms!r}",
            f"demerit_ms = {self.demerit_ms!r}",
            *(f"{limit} = {getattr(self, limit)!r}" for limit in LIMITS if limit in keys),
        ]

    def as_json(self) -> dict[str, Any]:
        """Return the check's entry in the output of --json."""
        return {
            "workload": self.workload,
            "asks": dict(self.asks),
            "target_ms": self.target_ms,
            "model_ms": self.model_ms,
            "difference_percent": self.difference_percent,
            "demerit_ms": self.demerit_ms,
            "demerit_percent": self.demerit_percent,
            "limit_percent": self.limit_percent,
            "demerit_limit_percent": self.demerit_limit_percent,
            "within": self.within,
        }


def standing(checks: Sequence[Check]) -> str:
    """Return in words how many checks are within their limits."""
    if not checks:
        return "never checked"
    return f"within the limits in {sum(check.within for check in checks)} of {len(checks)} checks"


def in_words(demands: Iterable[Ask]) -> str:
    """Return the demands in words, in the order of ASKS."""
    *others, last = [IN_WORDS[ask] for ask in ASKS if ask in {*demands}]
    return f"{', '.join(others)} and {last}" if others else last


def asked(counts: Mapping[str, int], requests: int) -> dict[Ask, float]:
    """Return each demand's share of the requests, from counts by native/demand.py."""
    totals: dict[Ask, int] = {
        "random": requests - sum(counts[place] for place in PLACES_COUNTED),
        "near": counts["near"],
        "sequences": counts["sequential"],
        "streams": counts["streamed"],
        "re-reads": counts["again"],
        "beside": counts["beside"],
        "writes": counts["written"],
        "sizes": counts["sized"],
        "long": counts["long_ones"],
        "pauses": counts["paused"],
        "rests": counts["rested"],
        "sweeps": counts["met_busy"],
    }
    shares = {ask: count / max(1, requests) for ask, count in totals.items()}
    return {ask: share for ask, share in shares.items() if share >= LEAST_SHARE}


def untried(checks: Sequence[Check], demands: Iterable[Ask]) -> list[str]:
    """Return the demands that no check has, and the pairs of demands that no single check has."""
    distinct = set(demands)
    alone = [ask for ask in ASKS if ask in distinct and not _tried(checks, {ask})]
    pairs = [
        pair
        for pair in combinations([ask for ask in ASKS if ask in distinct - {*alone}], 2)
        if not _tried(checks, set(pair))
    ]
    together = (f"{IN_WORDS[one]} with {IN_WORDS[other]}" for one, other in pairs)
    return [*(IN_WORDS[ask] for ask in alone), *together]


def _tried(checks: Sequence[Check], demands: set[Ask]) -> bool:
    return any(demands <= check.asks.keys() for check in checks)
