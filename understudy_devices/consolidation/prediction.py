# SPDX-License-Identifier: MIT
"""Predict each VM's response times in a scenario (ICPE 2011, sections 4 and 5.3).

If `Effort.merge` asks for a search, the merge value is found first, with a few replications of the
simulation.  Then the simulation is replicated until each VM's mean is known precisely enough.
Batches of replications have a fixed size, so the answer does not depend on the number of
processors.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from understudy_devices.base.errors import Unstable
from understudy_devices.base.progress import Report, silent
from understudy_devices.consolidation import merge_value
from understudy_devices.consolidation.directions import Times, averaged
from understudy_devices.consolidation.intervals import Spread, limits_of, spreads
from understudy_devices.consolidation.replications import Merge, Replications
from understudy_devices.consolidation.scenario import Scenario
from understudy_devices.consolidation.vm import NS_PER_MS, Floats
from understudy_devices.measure.comparison import Estimate, estimate
from understudy_devices.native.open_queue import DirectionFigures, QueueFigures

BATCH = 10
MOST = 200
PRECISION = 0.05  # half the width of each mean's interval, as a fraction of the mean
SEARCH_REQUESTS = 500_000  # enough to make a queue's length steady for a search
SEARCH_FEWEST, SEARCH_MOST = 2, 10
COMMON, PER_VM = "common", "per-vm"
UNMERGED = 1.0  # the default: few devices merge, and merging shortens response times


@dataclass(frozen=True)
class Effort:
    """How a prediction is made.

    merge: the merge value, or how to search for it.  `common` finds one value for all VMs, as in
    the paper; `per-vm` finds a value for each VM. replications: the number of replications.  If it
    is None, replications continue until the half width of each mean's 95 % interval is at most
    `precision` times the mean, or until there are MOST.
    """

    merge: str | float = UNMERGED
    replications: int | None = None
    precision: float = PRECISION


@dataclass(frozen=True)
class Together:
    """The figures of one VM that runs together with the others; times in ms.

    mean: the mean, over all replications, of a replication's mean response time; its interval is
    for the random draws of the replications alone. limits_ms: the 95 % interval for the mean of the
    process that the traces are samples of; None with a single replication and no resamples, and
    infinite if a resample is unstable. percentiles: the mean of each percentile over replications.
    distribution: (1000,), the mean of each permille over replications, beginning with the first
    permille. requests: the mean number of requests in a replication.
    """

    mean: Estimate
    limits_ms: tuple[float, float] | None
    percentiles: dict[float, float]
    distribution: Floats
    requests: float
    in_system: float
    merge: float
    directions: dict[str, Times]


@dataclass(frozen=True)
class Prediction:
    """The answer for a scenario.

    searches: how the merge value, or each VM's merge value, was found; empty if it was given.
    spread: how far each VM's mean may be off because traces are samples; empty if unknown.
    other_end: the prediction for the largest D that makes sense, if D is unknown.  Then the
    scenario has the smallest one, and each mean's interval covers both predictions' intervals.
    overloaded: the smallest D that makes sense, if D is unknown and the queue of so few servers
    grows without limit.  Then the scenario has the largest one, and intervals have no upper limit.
    """

    scenario: Scenario
    effort: Effort
    merge: Merge
    searches: tuple[merge_value.Search, ...]
    replications: tuple[QueueFigures, ...]
    expected: float  # requests in the system, Eq. 7
    spread: tuple[Spread, ...] = ()
    other_end: "Prediction | None" = None
    overloaded: int | None = None

    @cached_property
    def together(self) -> list[Together]:
        """Return the figures of each VM."""
        return [self._of(k) for k in range(len(self.scenario.tenants))]

    @property
    def converged(self) -> bool:
        """Return whether each mean's interval is as narrow as `precision` requires."""
        return is_narrow([one.mean for one in self.together], self.effort.precision)

    @property
    def load(self) -> float:
        """Return the utilisation with merging.

        If the utilisation is 1 or more, response times grow with the length of the runs.
        """
        tenants = zip(self.scenario.tenants, self.merge, strict=True)
        return sum(tenant.erlangs / omega for tenant, omega in tenants) / self.scenario.servers

    def _of(self, k: int) -> Together:
        each = [run.each[k] for run in self.replications]
        percents = each[0].response_percentiles
        mean = estimate([one.response.mean / NS_PER_MS for one in each])
        return Together(
            mean=mean,
            limits_ms=self._limits(k, mean),
            percentiles={
                percent: _mean([one.response_percentiles[percent] for one in each]) / NS_PER_MS
                for percent in percents
            },
            distribution=np.mean([one.distribution_ns for one in each], axis=0) / NS_PER_MS,
            requests=_mean([one.requests for one in each]),
            in_system=_mean([one.in_system for one in each]),
            merge=self.merge[k],
            directions={
                name: averaged([_times(one.directions[name]) for one in each])
                for name in each[0].directions
                if all(name in one.directions for one in each)
            },
        )

    def _limits(self, k: int, mean: Estimate) -> tuple[float, float] | None:
        own = self.spread[k].limits(mean) if self.spread else limits_of(mean)
        other = self.other_end and self.other_end.together[k].limits_ms
        if own and self.overloaded:
            return own[0], math.inf
        if not own or not other:
            return own
        return min(own[0], other[0]), max(own[1], other[1])


def _times(figures: DirectionFigures) -> Times:
    percentiles = {percent: ns / NS_PER_MS for percent, ns in figures.percentiles.items()}
    return Times(figures.requests, figures.mean / NS_PER_MS, percentiles)


def predict(
    replications: Replications, effort: Effort | None = None, report: Report = silent
) -> Prediction:
    """Predict response times from replications of a scenario.

    Raises RunFailed if no merge value is found, and Unstable if the queue grows without limit even
    with merging.
    """
    effort = effort or Effort()
    finder = _Finder(replications, report)
    searches = finder.searches(effort.merge)
    merge = finder.merge(effort.merge, searches)
    figures = _replicated(replications, merge, effort, report)
    spread: tuple[Spread, ...] = ()
    if not replications.scenario.aligned:
        report("resamples of the traces", 0)
        spread = spreads(replications, merge)
    return Prediction(
        replications.scenario,
        effort,
        merge,
        searches,
        tuple(figures),
        sum(finder.expected),
        spread,
    )


def of_ends(ends: Sequence[Scenario], predict: Callable[[Scenario], Prediction]) -> Prediction:
    """Return the prediction for D, or, if D is unknown, for its smallest and its largest value."""
    if len(ends) == 1:
        return predict(ends[0])
    try:
        smallest = predict(ends[0])
    except Unstable:
        return replace(predict(ends[1]), overloaded=ends[0].servers)
    return replace(smallest, other_end=predict(ends[1]))


class _Finder:
    """Searches for merge values."""

    def __init__(self, replications: Replications, report: Report) -> None:
        self._replications = replications
        self._report = report
        self._numbers = range(_enough(replications.scenario))
        lengths = [replications.drawn(number).expected for number in self._numbers]
        self.expected = [_mean(values) for values in zip(*lengths, strict=True)]

    def searches(self, how: str | float) -> tuple[merge_value.Search, ...]:
        """Return the search for the common merge value, or a search for each VM."""
        if how == COMMON:
            return (merge_value.search(self._length, sum(self.expected)),)
        if how == PER_VM:
            return merge_value.search_each(self._lengths, self.expected)
        return ()

    def merge(self, how: str | float, searches: Sequence[merge_value.Search]) -> Merge:
        """Return the merge value of each VM."""
        values = tuple(search.merge for search in searches) or (float(how),)
        return values if how == PER_VM else values * len(self.expected)

    def _length(self, merge: float) -> float:
        return sum(self._lengths((merge,) * len(self.expected)))

    def _lengths(self, merge: Merge) -> list[float]:
        self._report(f"merge value {', '.join(f'{one:.3g}' for one in sorted(set(merge)))}", 0)
        try:
            figures = self._replications.run(self._numbers, merge)
        except Unstable:
            return [math.inf] * len(merge)
        return [_mean(values) for values in zip(*map(_in_system, figures), strict=True)]


def _in_system(figures: QueueFigures) -> list[float]:
    return [one.in_system for one in figures.each]


def _enough(scenario: Scenario) -> int:
    """Return the number of replications that a search simulates for each merge value."""
    each = sum(tenant.vm.requests / len(tenant.vm.runs) for tenant in scenario.tenants)
    return min(SEARCH_MOST, max(SEARCH_FEWEST, math.ceil(SEARCH_REQUESTS / each)))


def _replicated(
    replications: Replications, merge: Merge, effort: Effort, report: Report
) -> list[QueueFigures]:
    figures: list[QueueFigures] = []
    most = effort.replications or MOST
    for batch in replications.batches(BATCH, most, merge, partial(_teller, report, most)):
        figures += batch
        means = [
            estimate([run.each[k].response.mean for run in figures]) for k in range(len(merge))
        ]
        if not effort.replications and is_narrow(means, effort.precision):
            break
    return figures


def _teller(report: Report, most: int, numbers: range) -> Callable[[], None]:
    """Return a function that reports each finished replication."""
    phase = f"replications {numbers[0] + 1} to {numbers[-1] + 1} of at most {most}"
    done = iter(numbers)
    return lambda: report(phase, (next(done) + 1) / most)


def is_narrow(means: Sequence[Estimate], precision: float) -> bool:
    """Return whether half the width of each interval is at most `precision` times its mean."""
    return all(
        one.half_width is not None and one.half_width <= precision * one.mean for one in means
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
