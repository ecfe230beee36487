# SPDX-License-Identifier: MIT
"""Compare the runs of several schedulers, and compute how certain a difference is.

Runs with the same seed have the same random files and sleeps, so two schedulers are compared seed
by seed.  A difference counts only if the Student-t interval of its mean excludes zero.  A single
difference has a 95 % interval; a choice among many schedulers uses wider intervals
(understudy_devices.recommend.choice).  With one seed there is no interval.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy_devices.measure.metrics import Measure, Summary

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A mean over seeds, and half the width of its confidence interval (None for a single seed)."""

    mean: float
    half_width: float | None

    @property
    def limits(self) -> tuple[float, float] | tuple[None, None]:
        """Return the lower and upper limit of the interval; None for a single seed."""
        half = self.half_width
        return (None, None) if half is None else (self.mean - half, self.mean + half)

    @property
    def includes_zero(self) -> bool:
        """Return whether the interval includes zero: then the sign is uncertain."""
        return abs(self.mean) <= (self.half_width or 0.0)


def estimate(values: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """Return the mean and its Student-t interval."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return Estimate(mean, None)
    from scipy.special import stdtrit  # imported here, since the import takes half a second

    error = float(np.std(values, ddof=1)) / len(values) ** 0.5
    quantile = float(stdtrit(len(values) - 1, (1 + confidence) / 2))
    return Estimate(mean, quantile * error)


class Comparison:
    """The runs of several schedulers on the same seeds."""

    def __init__(self, summaries: Sequence[Summary]) -> None:
        """Group the runs by scheduler, in the given order; all schedulers need the same seeds."""
        self.schedulers = tuple(dict.fromkeys(run.scheduler for run in summaries))
        self.platform = summaries[0].platform
        self.seeds = tuple(dict.fromkeys(run.seed for run in summaries))
        self._runs = {(run.scheduler, run.seed): run for run in summaries}
        if len(self._runs) != len(self.schedulers) * len(self.seeds):
            raise ValueError("every scheduler needs one run for every seed")

    def runs(self, scheduler: str) -> list[Summary]:
        """Return the scheduler's runs, in the order of the seeds."""
        return [self._runs[scheduler, seed] for seed in self.seeds]

    def estimate(self, scheduler: str, measure: Measure) -> Estimate:
        """Return the scheduler's mean of the measure over the seeds, with its interval."""
        return estimate(self._values(scheduler, measure))

    def difference(
        self, first: str, second: str, measure: Measure, confidence: float = CONFIDENCE
    ) -> Estimate:
        """Return the mean of the differences first - second, computed seed by seed."""
        pairs = zip(self._values(first, measure), self._values(second, measure), strict=True)
        return estimate([one - other for one, other in pairs], confidence)

    def saw(self, measure: Measure) -> bool:
        """Return whether any run has this measure."""
        values = (value for name in self.schedulers for value in self._values(name, measure))
        return not all(map(math.isnan, values))

    def ranks(self, measure: Measure) -> dict[str, int]:
        """Return the ranks of the schedulers: 1 for the best mean; equal means share a rank."""
        return ranks({name: self.estimate(name, measure).mean for name in self.schedulers}, measure)

    def _values(self, scheduler: str, measure: Measure) -> list[float]:
        return [run.value(measure) for run in self.runs(scheduler)]

    def as_json(self, measures: Iterable[Measure]) -> dict[str, Any]:
        """Return, for result.json, the difference of each pair of schedulers in each measure."""
        return {
            "confidence": CONFIDENCE,
            "seeds": list(self.seeds),
            "differences": [entry for measure in measures for entry in self._differences(measure)],
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
    """Return the rank of each name by its value: 1 for the best; equal values share a rank."""
    sign = -1 if measure.higher_is_better else 1
    ordered = sorted(sign * value for value in values.values())
    return {name: ordered.index(sign * value) + 1 for name, value in values.items()}
