# SPDX-License-Identifier: MIT
"""A run in figures, which the simulator sums up while the requests go by.

Times are nanoseconds.  sim/moments.h says how exact each is.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from understudy._core import ffi, lib
from understudy.native.request import REASONS

PERCENTILES = (50, 95, 99, 99.9)


@dataclass(frozen=True)
class Moments:
    """Mean and population variance, ns and ns²."""

    mean: float
    variance: float


@dataclass(frozen=True)
class ProcessFigures:
    """The measured requests of one process, a class of the queue."""

    completed: int
    response: Moments
    response_percentiles: dict[float, int]  # the lower end of a cell 1/256 wide
    longest_response_ns: int
    in_system: float  # as Figures.in_system, of this process's


@dataclass(frozen=True)
class Figures:
    """The measured requests, summed up while they went by."""

    completed: int
    dispatched: int  # fewer, if some were merged, also several into one bundle
    first_arrival_ns: int
    last_arrival_ns: int
    last_completion_ns: int
    sectors: int
    hits: int
    predicted: int
    predicted_hits: int
    page_hits: int
    page_misses: int
    reasons: dict[str, int]
    service: Moments
    device: Moments
    response: Moments
    model: Moments
    response_percentiles: dict[float, int]  # the lower end of a cell 1/256 wide
    longest_response_ns: int
    counters: dict[str, int]
    each: tuple[ProcessFigures, ...] = ()  # by process, if that was asked for

    @property
    def span_ns(self) -> int:
        """From the first arrival to the last completion."""
        return self.last_completion_ns - self.first_arrival_ns

    @property
    def in_system(self) -> float:
        """Mean number of measured requests that wait or are served (N_sim, ICPE 2011).

        A time average over the span, exact by Little's law; 0 if there is no span.
        """
        return _in_system(self.completed, self.response, self.span_ns)


def figures_of(summary: Any, counters: Mapping[str, int], processes: Iterable[Any]) -> Figures:
    """What a struct sim_summary says, and each struct sim_process, if there are any."""
    names = {entry.name for entry in fields(Figures)}
    plain: dict[str, Any] = {
        name: int(getattr(summary, name))
        for name in names & set(dir(summary))
        if isinstance(getattr(summary, name), int)
    }
    moments: dict[str, Any] = {
        name: _moments(ffi.addressof(summary, name))
        for name in ("service", "device", "response", "model")
    }
    responses = ffi.addressof(summary, "responses")
    plain["dispatched"] = int(summary.model.count)
    reasons = zip(REASONS, summary.reason, strict=True)
    figures = Figures(
        **plain,
        **moments,
        reasons={name: int(count) for name, count in reasons if count},
        response_percentiles=_percentiles(responses),
        longest_response_ns=int(responses.max),
        counters=dict(counters),
    )
    each = tuple(_of_process(process, figures.span_ns) for process in processes)
    return replace(figures, each=each)


def _of_process(process: Any, span_ns: int) -> ProcessFigures:
    response = _moments(ffi.addressof(process, "response"))
    completed = int(process.response.count)
    return ProcessFigures(
        completed=completed,
        response=response,
        response_percentiles=_percentiles(ffi.addressof(process, "responses")),
        longest_response_ns=int(process.responses.max),
        in_system=_in_system(completed, response, span_ns),
    )


def _in_system(completed: int, response: Moments, span_ns: int) -> float:
    return completed * response.mean / span_ns if span_ns else 0.0


def _percentiles(responses: Any) -> dict[float, int]:
    return {
        percent: int(lib.histogram_permille(responses, round(10 * percent)))
        for percent in PERCENTILES
    }


def _moments(moments: Any) -> Moments:
    return Moments(lib.moments_mean(moments), lib.moments_variance(moments))
