# SPDX-License-Identifier: MIT
"""Which scheduler to pick, and how sure that is.

Runs with the same seed draw the same files and sleeps, so schedulers are
compared in pairs, seed by seed: a difference counts only if the 95 % Student-t
interval of its mean leaves zero out.  Intervals are per pair, not corrected
for looking at several pairs.  One seed gives values without an interval, and
the choice says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from understudy.measure.metrics import Measure, Summary

CONFIDENCE = 0.95

# What a person picks a scheduler for.
GOALS = {
    "mean response": Measure("mean_response_ms", "mean response", "ms"),
    "tail response": Measure("p99_response_ms", "p99 response", "ms"),
    "throughput": Measure(
        "throughput_sectors_per_ms", "throughput", "sectors/ms", higher_is_better=True
    ),
}


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds; half the width of its interval, or None for one seed."""

    mean: float
    half_width: float | None

    @property
    def includes_zero(self) -> bool:
        """True if the interval leaves the sign open."""
        return abs(self.mean) <= (self.half_width or 0.0)


def estimate(values: Sequence[float]) -> Estimate:
    """Mean and 95 % Student-t interval."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return Estimate(mean, None)
    error = float(np.std(values, ddof=1)) / len(values) ** 0.5
    quantile = float(stdtrit(len(values) - 1, (1 + CONFIDENCE) / 2))
    return Estimate(mean, quantile * error)


@dataclass(frozen=True)
class Choice:
    """The answer to one goal."""

    goal: str
    measure: Measure
    best: str
    tied: tuple[str, ...]  # cannot be told apart from the best
    value: float
    seeds: int

    def sentence(self) -> str:
        """One line for people."""
        basis = "one seed: no interval" if self.seeds == 1 else f"{self.seeds} seeds"
        value = f"{self.value:.4g} {self.measure.unit}; {basis}"
        if not self.tied:
            return f"for {self.goal} pick {self.best} ({value})"
        names = " or ".join((self.best, *self.tied))
        return f"for {self.goal} pick {names}: they cannot be told apart ({value})"

    def as_json(self) -> dict[str, Any]:
        """The choice's entry in result.json."""
        return {
            "goal": self.goal,
            "measure": self.measure.key,
            "best": self.best,
            "cannot_be_told_apart": list(self.tied),
            "seeds": self.seeds,
        }


class Comparison:
    """The runs of several schedulers on the same seeds."""

    def __init__(self, summaries: Sequence[Summary]) -> None:
        """Group by scheduler, in the order given; each must have the same seeds."""
        self.schedulers = tuple(dict.fromkeys(run.scheduler for run in summaries))
        self.platform = summaries[0].platform
        self.seeds = tuple(dict.fromkeys(run.seed for run in summaries))
        self._runs = {(run.scheduler, run.seed): run for run in summaries}
        if len(self._runs) != len(self.schedulers) * len(self.seeds):
            raise ValueError("every scheduler needs one run for every seed")

    def runs(self, scheduler: str) -> list[Summary]:
        """The scheduler's runs, in the order of the seeds."""
        return [self._runs[scheduler, seed] for seed in self.seeds]

    def estimate(self, scheduler: str, measure: Measure) -> Estimate:
        """The measure over the seeds."""
        return estimate(self._values(scheduler, measure))

    def difference(self, first: str, second: str, measure: Measure) -> Estimate:
        """first - second, seed by seed."""
        pairs = zip(self._values(first, measure), self._values(second, measure), strict=True)
        return estimate([one - other for one, other in pairs])

    def ranks(self, measure: Measure) -> dict[str, int]:
        """1 for the best mean, equal means sharing a rank."""
        return ranks({name: self.estimate(name, measure).mean for name in self.schedulers}, measure)

    def choices(self) -> tuple[Choice, ...]:
        """The best scheduler for each goal."""
        return tuple(self._choose(goal, measure) for goal, measure in GOALS.items())

    def _choose(self, goal: str, measure: Measure) -> Choice:
        order = self.ranks(measure)
        best = min(self.schedulers, key=lambda name: order[name])
        others = [name for name in self.schedulers if name != best]
        tied = tuple(name for name in others if self.difference(name, best, measure).includes_zero)
        value = self.estimate(best, measure).mean
        return Choice(goal, measure, best, tied, value, len(self.seeds))

    def _values(self, scheduler: str, measure: Measure) -> list[float]:
        return [run.value(measure) for run in self.runs(scheduler)]

    def as_json(self) -> dict[str, Any]:
        """Means, intervals, paired differences and choices for result.json."""
        return {
            "confidence": CONFIDENCE,
            "seeds": list(self.seeds),
            "choices": [choice.as_json() for choice in self.choices()],
            "differences": [
                entry for measure in GOALS.values() for entry in self._differences(measure)
            ],
        }

    def _differences(self, measure: Measure) -> list[dict[str, Any]]:
        pairs = [
            (first, second)
            for index, first in enumerate(self.schedulers)
            for second in self.schedulers[index + 1 :]
        ]
        return [self._difference_json(first, second, measure) for first, second in pairs]

    def _difference_json(self, first: str, second: str, measure: Measure) -> dict[str, Any]:
        paired = self.difference(first, second, measure)
        return {
            "measure": measure.key,
            "first": first,
            "second": second,
            "mean": paired.mean,
            "half_width": paired.half_width,
            "told_apart": None if paired.half_width is None else not paired.includes_zero,
        }


def ranks(values: dict[str, float], measure: Measure) -> dict[str, int]:
    """1 for the best value, equal values sharing a rank."""
    sign = -1 if measure.higher_is_better else 1
    ordered = sorted(sign * value for value in values.values())
    return {name: ordered.index(sign * value) + 1 for name, value in values.items()}
