# SPDX-License-Identifier: MIT
"""The papers' measures, computed from one run's records.

docs/method.md defines the measures.  Each bio has a response time; each request, which may carry
several bios, has a service time.  Variances are population variances; percentiles are
nearest-rank.  In a run at scale k the disk is made k times slower, so every measured time is first
divided by k (PERFORM 2010 section 4).  Each result states k.  An array serves several requests at
once; there the service time is the time that one server needs.
"""

import math
from collections.abc import Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from understudy_devices.ask.experiment import Experiment, Outcome
from understudy_devices.measure import demand
from understudy_devices.measure.records import shares_a_request
from understudy_devices.native.figures import Figures

NS_PER_MS = 1e6
NS_PER_S = 1e9

# Times that only the platform can measure; these are keys of Outcome.facts.
FACTS_IN_SECONDS = (
    "virtual_seconds",
    "wall_seconds",
    "boot_wall_seconds",
    "measure_wall_seconds",
)

Times = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Measure:
    """A line of the papers' table: a field of Summary, and how to show that field."""

    key: str
    label: str
    unit: str
    higher_is_better: bool = False


# The measures of PERFORM 2010 Tables 2 and 3, in the same order; each answer begins with these.
# papers/tables.py assigns the papers' figures to these measures.
PAPER_MEASURES = (
    Measure("mean_service_ms", "mean service", "ms"),
    Measure("var_service_ms2", "variance service", "ms²"),
    Measure("mean_response_ms", "mean response", "ms"),
    Measure("var_response_ms2", "variance response", "ms²"),
    Measure("throughput_sectors_per_ms", "throughput", "sectors/ms", higher_is_better=True),
)

LATE_MAX_PERMILLE = 10
"""A run in the wall clock does not count if more of its requests per 1,000 are late (Jones 2010,
section 4.3.2)."""
# The measures that are printed below PAPER_MEASURES, if any run has them.
MORE_MEASURES = (
    Measure("p50_response_ms", "p50 response", "ms"),
    Measure("p95_response_ms", "p95 response", "ms"),
    Measure("p99_response_ms", "p99 response", "ms"),
    Measure("p999_response_ms", "p99.9 response", "ms"),
    Measure("max_response_ms", "longest response", "ms"),
    Measure("mean_device_ms", "mean device time", "ms"),
    Measure("mean_model_service_ms", "mean model service", "ms"),
    # What programs get from a page cache; the disk's throughput also counts what nobody reads.
    Measure("pages_per_ms", "pages read", "pages/ms", higher_is_better=True),
)


@dataclass(frozen=True)
class Summary:
    """The figures of one run.  Field names are the keys in result.json and end in their units.

    A figure that the platform can't observe is NaN here and null in result.json.
    """

    scheduler: str
    platform: str
    seed: int
    clock: str
    scale: float
    requests: int  # bios of processes and of the file system
    dispatched: int  # requests that went to the disk
    merged: int  # bios merged into another bio's request
    metadata: int  # bios for the file system's own metadata
    mean_service_ms: float
    var_service_ms2: float
    mean_response_ms: float
    var_response_ms2: float
    p50_response_ms: float
    p95_response_ms: float
    p99_response_ms: float
    p999_response_ms: float
    max_response_ms: float
    throughput_sectors_per_ms: float
    mean_device_ms: float  # dispatch to completion, including waiting on the device
    mean_model_service_ms: float
    mean_lateness_ms: float
    device_seconds: float  # first arrival to last completion, by the disk's clock
    virtual_seconds: float  # length of the measurement by the guest's clock
    wall_seconds: float
    boot_wall_seconds: float
    measure_wall_seconds: float
    capacity_sectors: int
    late: int  # requests that the virtual disk completed after their due time
    stale: int  # requests chosen while the disk was busy
    hits: int  # requests whose data were in the device's cache
    predicted: int  # requests chosen because their data were in the shadow cache
    predicted_hits: int  # requests that are counted in both `hits` and `predicted`
    predicted_hit_share: float | None  # predicted_hits as a fraction of hits; None without a hit
    reasons: dict[str, int]  # number of requests by the scheduler's reason for choosing them
    var_device_ms2: float = math.nan  # results up to 2026-11 lack this and later fields
    written: int = 0  # from here on: counts of requests to the disk (measure/demand.py)
    sized: int = 0
    long_ones: int = 0
    sequential: int = 0
    streamed: int = 0
    again: int = 0
    near: int = 0
    beside: int = 0
    paused: int = 0
    rested: int = 0
    met_busy: int = 0
    pages_per_ms: float = math.nan  # that processes read through a page cache

    @property
    def late_permille(self) -> float:
        """Return the number of late requests per 1,000 requests that went to the disk."""
        return 1000 * self.late / max(1, self.dispatched)

    @property
    def is_too_late(self) -> bool:
        """Return whether this is a run in the wall clock with too many late requests to be
        valid.
        """
        return self.clock == "wall" and self.late_permille > LATE_MAX_PERMILLE

    def value(self, measure: Measure) -> float:
        """Return the figure of one measure."""
        return float(getattr(self, measure.key))

    def as_json(self) -> dict[str, Any]:
        """Return the run's entry in result.json, without the platform's facts."""
        return {
            key: None if isinstance(value, float) and math.isnan(value) else value
            for key, value in asdict(self).items()
        }

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> "Summary":
        """Return the run of an entry in result.json; a KeyError names a missing key."""
        values = {
            field.name: entry[field.name]
            for field in fields(cls)
            if field.name in entry or field.default is MISSING
        }
        kinds = {field.name: field.type for field in fields(cls)}
        unseen = {key for key, value in values.items() if value is None and kinds[key] is float}
        return cls(**values | dict.fromkeys(unseen, math.nan))


def summarise(outcome: Outcome) -> Summary:
    """Compute all measures of one run; its records must have passed records.check."""
    frame, run, facts = outcome.requests, outcome.experiment, outcome.facts
    carried = Carried(frame)
    service_ms = _service_times_ns(outcome, carried) / (NS_PER_MS * run.platform.scale)
    response_ms = response_times_ms(outcome)
    busy_ns = span_ns(frame) / run.platform.scale
    device_ns = (carried["completion_ns"] - carried["dispatch_ns"]).to_numpy()
    device_ms = device_ns / (NS_PER_MS * run.platform.scale)
    return Summary(
        scheduler=run.scheduler.name,
        platform=run.platform.name,
        seed=run.seed,
        clock=run.platform.clock,
        scale=run.platform.scale,
        requests=frame.height,
        dispatched=len(carried),
        merged=frame.height - len(carried),
        metadata=int(frame["meta"].sum()),
        mean_service_ms=float(service_ms.mean()),
        var_service_ms2=float(service_ms.var()),
        mean_response_ms=float(response_ms.mean()),
        var_response_ms2=float(response_ms.var()),
        p50_response_ms=percentile(response_ms, 50),
        p95_response_ms=percentile(response_ms, 95),
        p99_response_ms=percentile(response_ms, 99),
        p999_response_ms=percentile(response_ms, 99.9),
        max_response_ms=float(response_ms.max()),
        throughput_sectors_per_ms=int(frame["sectors"].sum()) / (busy_ns / NS_PER_MS),
        mean_device_ms=float(device_ms.mean()),
        var_device_ms2=float(device_ms.var()),
        mean_model_service_ms=float(carried["model_service_ns"].to_numpy().mean()) / NS_PER_MS,
        mean_lateness_ms=mean_lateness_ms(carried) / run.platform.scale,
        device_seconds=busy_ns / NS_PER_S,
        capacity_sectors=int(facts["capacity_sectors"]),
        pages_per_ms=_pages_per_ms(
            facts.get("page_hits", 0), facts.get("page_misses", 0), busy_ns / NS_PER_MS
        ),
        **_seconds(facts),
        **(_counts(carried) | (facts.get("demand") or demand.counts(frame))),
    )


def from_figures(run: Experiment, figures: Figures, facts: dict[str, Any]) -> Summary:
    """Return all measures of a simulation that computed its figures without recording requests.

    Percentiles have a relative error of at most 1/256.
    """
    response = figures.response
    service = figures.model if run.device.disk.array else figures.service
    busy_ns = figures.last_completion_ns - figures.first_arrival_ns
    percentiles: dict[str, Any] = {
        f"p{percent:g}_response_ms".replace(".", ""): value / NS_PER_MS
        for percent, value in figures.response_percentiles.items()
    } | figures.demand
    share = figures.predicted_hits / figures.hits if figures.hits else None
    return Summary(
        scheduler=run.scheduler.name,
        platform=run.platform.name,
        seed=run.seed,
        clock=run.platform.clock,
        scale=run.platform.scale,
        requests=figures.completed,
        dispatched=figures.dispatched,
        merged=figures.completed - figures.dispatched,
        metadata=0,
        mean_service_ms=service.mean / NS_PER_MS,
        var_service_ms2=service.variance / NS_PER_MS**2,
        mean_response_ms=response.mean / NS_PER_MS,
        var_response_ms2=response.variance / NS_PER_MS**2,
        max_response_ms=figures.longest_response_ns / NS_PER_MS,
        throughput_sectors_per_ms=figures.sectors / (busy_ns / NS_PER_MS),
        mean_device_ms=figures.device.mean / NS_PER_MS,
        var_device_ms2=figures.device.variance / NS_PER_MS**2,
        mean_model_service_ms=figures.model.mean / NS_PER_MS,
        mean_lateness_ms=0.0,
        device_seconds=busy_ns / NS_PER_S,
        capacity_sectors=int(facts["capacity_sectors"]),
        late=0,
        stale=0,
        hits=figures.hits,
        predicted=figures.predicted,
        predicted_hits=figures.predicted_hits,
        predicted_hit_share=share,
        reasons=figures.reasons,
        pages_per_ms=_pages_per_ms(figures.page_hits, figures.page_misses, busy_ns / NS_PER_MS),
        **percentiles,
        **_seconds(facts),
    )


OF_REQUESTS = (
    "request_id",
    "dispatch_ns",
    "due_ns",
    "completion_ns",
    "model_service_ns",
    "hit",
    "late",
    "stale",
    "reason",
)


def carried_requests(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table with a row for each request that went to the disk, in order of dispatch."""
    carried = Carried(frame)
    columns = {name: carried[name] for name in OF_REQUESTS}
    return pl.DataFrame(columns).sort("dispatch_ns", "request_id")


class Carried:
    """The columns of the requests that went to the disk.

    A column is computed only when it is used, since all columns together would copy a long table.
    """

    def __init__(self, frame: pl.DataFrame) -> None:
        """Find the first row of each request; its values are those of the request."""
        self._frame = frame
        merged = shares_a_request(frame)
        self._first = ~merged if merged.any() else None
        if self._first is not None:
            rows = frame.select("request_id").with_row_index("row").filter(merged)
            firsts = rows.filter(pl.col("request_id").is_first_distinct())["row"]
            self._first = self._first.scatter(firsts, True)

    def __getitem__(self, name: str) -> pl.Series:
        """Return one of the columns OF_REQUESTS, in the order of arrival."""
        column = self._frame[name]
        return column if self._first is None else column.filter(self._first)

    def __len__(self) -> int:
        """Return the number of requests."""
        return self._frame.height if self._first is None else int(self._first.sum())


def _service_times_ns(outcome: Outcome, carried: Carried) -> Times:
    """Return the service time of each request, in ns.

    Usually a service begins at the dispatch or at the previous completion.  But if the drive
    chooses among several requests, or begins services before kernel and throttle dispatch them, a
    service begins at the request's due time minus its model service time.
    """
    run = outcome.experiment
    if "dispatch_ns" in outcome.unseen:
        return np.full(len(carried), math.nan)
    if "due_ns" in outcome.unseen:
        return _times_between_ns(carried)
    if run.device.disk.array:
        return np.asarray(carried["model_service_ns"], np.float64) * run.platform.scale
    if run.device.at_once == 1 and not outcome.facts.get("subtracted_mean_ns"):
        return service_times_ns(carried)
    late_ns = (carried["completion_ns"] - carried["due_ns"]).fill_null(0)
    model_ns = carried["model_service_ns"].to_numpy() * run.platform.scale
    return np.asarray(late_ns.to_numpy() + model_ns, np.float64)


def service_times_ns(carried: Carried | pl.DataFrame) -> Times:
    """Return the service time of each request, in ns, in the order of dispatch.

    It is completion - max(dispatch, previous completion).
    """
    order = np.lexsort((carried["request_id"].to_numpy(), carried["dispatch_ns"].to_numpy()))
    start = carried["dispatch_ns"].to_numpy()[order]
    completion = carried["completion_ns"].to_numpy()[order]
    np.maximum(start[1:], completion[:-1], out=start[1:])
    return np.asarray(completion - start, dtype=np.float64)


def _times_between_ns(carried: Carried) -> Times:
    """Return the service times in ns of a real drive with several requests at once, in the order of
    completion.

    Each is the time since the previous completion, or since dispatch if that is later: it is
    unknown when such a drive begins a request.
    """
    order = np.argsort(carried["completion_ns"].to_numpy(), kind="stable")
    start = carried["dispatch_ns"].to_numpy()[order]
    completion = carried["completion_ns"].to_numpy()[order]
    np.maximum(start[1:], completion[:-1], out=start[1:])
    return np.asarray(completion - start, dtype=np.float64)


def response_times_ms(outcome: Outcome) -> Times:
    """Return each bio's response time in ms of the modelled disk: (completion - arrival) / k."""
    response = outcome.requests["completion_ns"] - outcome.requests["arrival_ns"]
    return response.to_numpy().astype(np.float64) / (NS_PER_MS * outcome.experiment.platform.scale)


def span_ns(frame: pl.DataFrame) -> int:
    """Return the length of the measurement in ns: last completion - first arrival."""
    return int(frame.select(pl.col("completion_ns").max() - pl.col("arrival_ns").min()).item())


def percentile(values: Times, percent: float) -> float:
    """Return the nearest-rank percentile.

    This is the smallest value such that at least `percent` % of the values are not larger.
    """
    rank = max(1, math.ceil(Fraction(str(percent)) * len(values) / 100))
    return float(np.partition(values, rank - 1)[rank - 1])


def mean_lateness_ms(carried: Carried) -> float:
    """Return the mean of completion - due, in ms, over the requests that had a due time.

    Return 0 if no request had a due time.
    """
    lateness = (carried["completion_ns"] - carried["due_ns"]).drop_nulls().to_numpy()
    return float(lateness.mean()) / NS_PER_MS if len(lateness) else 0.0


def _pages_per_ms(hits: int, misses: int, busy_ms: float) -> float:
    """Return how often processes read a page per ms; NaN without a page cache, which always misses
    at first.
    """
    return (hits + misses) / busy_ms if misses else math.nan


def _seconds(facts: dict[str, Any]) -> dict[str, Any]:
    return {key: float(facts[key]) for key in FACTS_IN_SECONDS}


def _counts(carried: Carried) -> dict[str, Any]:
    hits, predicted = carried["hit"], carried["reason"] == "hit"
    both = int((hits & predicted).sum())
    reasons = carried["reason"].drop_nulls().value_counts().sort("reason")
    return {
        "late": int(carried["late"].sum()),
        "stale": int(carried["stale"].sum()),
        "hits": int(hits.sum()),
        "predicted": int(predicted.sum()),
        "predicted_hits": both,
        "predicted_hit_share": both / int(hits.sum()) if hits.any() else None,
        "reasons": {str(reason): int(count) for reason, count in reasons.iter_rows()},
    }
