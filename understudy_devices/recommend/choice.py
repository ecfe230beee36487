# SPDX-License-Identifier: MIT
"""The scheduler to pick for each goal (mean, tail, throughput), and the answer in words.

A choice among n schedulers compares the best with n - 1 others, so its confidence intervals are
wider than the interval of a single difference (docs/decisions/0029-choice-among-many.md).  With
one seed there is no interval, and the sentence about the choice says this.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from understudy_devices.measure.comparison import CONFIDENCE, Comparison
from understudy_devices.measure.metrics import Measure

TAIL = "tail response"

# The goals for which people choose a scheduler.  For a short tail, all measures of the tail must be
# good: the 99th percentile alone does not show that one request in a thousand starves.
GOALS = {
    "mean response": (Measure("mean_response_ms", "mean response", "ms"),),
    TAIL: (
        Measure("p99_response_ms", "p99", "ms"),
        Measure("p999_response_ms", "p99.9", "ms"),
        Measure("max_response_ms", "longest", "ms"),
    ),
    "throughput": (
        Measure("throughput_sectors_per_ms", "throughput", "sectors/ms", higher_is_better=True),
    ),
}


@dataclass(frozen=True)
class Best:
    """The best scheduler by one measure, and those that cannot be told apart from it."""

    measure: Measure
    best: str
    tied: tuple[str, ...]
    means: dict[str, float]  # the mean of every scheduler

    @property
    def names(self) -> tuple[str, ...]:
        """Return the best scheduler and the schedulers that are tied with it."""
        return (self.best, *self.tied)

    def beats(self, one: str, other: str) -> bool:
        """Return whether the mean of `one` is better than the mean of `other`."""
        sign = -1 if self.measure.higher_is_better else 1
        return sign * self.means[one] < sign * self.means[other]

    def figure(self, name: str) -> str:
        """Return a scheduler's mean as text with four significant digits."""
        return f"{self.means[name]:.4g} {self.measure.unit}"

    def as_json(self) -> dict[str, Any]:
        """Return the measure's part of the choice's entry in result.json."""
        return {
            "measure": self.measure.key,
            "best": self.best,
            "cannot_be_told_apart": list(self.tied),
        }


@dataclass(frozen=True)
class Choice:
    """The answer for one goal: the schedulers that are among the best by each of its measures.

    If a goal has several measures, a scheduler is not named if another scheduler has the better
    mean by all of them: it is tied with the best only because of noise.
    """

    goal: str
    by: tuple[Best, ...]
    seeds: int

    @property
    def names(self) -> tuple[str, ...]:
        """Return the schedulers in the order of the first measure.

        The result is empty if no scheduler is among the best by every measure.
        """
        return tuple(
            name
            for name in self._undominated(self.by[0])
            if all(name in one.names for one in self.by)
        )

    @property
    def best(self) -> str | None:
        """Return the scheduler to choose."""
        return self.names[0] if self.names else None

    @property
    def tied(self) -> tuple[str, ...]:
        """Return the schedulers that cannot be told apart from the best scheduler."""
        return self.names[1:]

    def sentence(self) -> str:
        """Return the choice as one line of text for people."""
        if not self.names:
            return f"for {self.goal} nobody is best throughout: {self._each()} ({self._basis()})"
        apart = ": they cannot be told apart" if self.tied else ""
        return f"for {self.goal} pick {' or '.join(self.names)}{apart} ({self._figures()})"

    def _each(self) -> str:
        """Return in words which schedulers to choose by each measure."""
        picks = (
            f"{' or '.join(self._undominated(one))} by {one.measure.label} ({one.figure(one.best)})"
            for one in self.by
        )
        return ", ".join(picks)

    def _undominated(self, group: Best) -> list[str]:
        """Return the best schedulers by a measure, without those that another beats by all
        measures."""
        return [
            name
            for name in group.names
            if len(self.by) == 1
            or not any(all(one.beats(other, name) for one in self.by) for other in group.means)
        ]

    def _figures(self) -> str:
        """Return the figures of the best scheduler, in words."""
        name = self.names[0]
        several = len(self.by) > 1
        figures = (
            f"{one.measure.label} {one.figure(name)}" if several else one.figure(name)
            for one in self.by
        )
        return f"{', '.join(figures)}; {self._basis()}"

    def _basis(self) -> str:
        """Return the confidence in the choice, in words."""
        number = len(self.by[0].means)
        if self.seeds == 1:
            return "one seed: no interval"
        corrected = f", corrected for a choice among {number}" if number > 2 else ""
        return f"{self.seeds} seeds{corrected}"

    def as_json(self) -> dict[str, Any]:
        """Return the choice's entry in result.json."""
        return {
            "goal": self.goal,
            "best": self.best,
            "cannot_be_told_apart": list(self.tied),
            "by": [one.as_json() for one in self.by],
            "among": len(self.by[0].means),
            "seeds": self.seeds,
        }


def choices(comparison: Comparison) -> tuple[Choice, ...]:
    """Return the choice for each goal."""
    return tuple(
        Choice(goal, tuple(best(comparison, measure) for measure in by), len(comparison.seeds))
        for goal, by in GOALS.items()
    )


def best(comparison: Comparison, measure: Measure) -> Best:
    """Return the best schedulers by a measure.

    With probability CONFIDENCE the truly best scheduler is among those named.
    """
    order = comparison.ranks(measure)
    first, *others = sorted(comparison.schedulers, key=lambda name: order[name])
    each = 1 - (1 - CONFIDENCE) / max(1, len(others))
    tied = tuple(
        name for name in others if comparison.difference(name, first, measure, each).includes_zero
    )
    means = {name: comparison.estimate(name, measure).mean for name in comparison.schedulers}
    return Best(measure, first, tied, means)


def as_json(comparison: Comparison, picks: Iterable[Choice]) -> dict[str, Any]:
    """Return the choices as JSON, with the differences between schedulers for each seed and
    measure."""
    measures = (measure for by in GOALS.values() for measure in by)
    return {
        "choices": [choice.as_json() for choice in picks],
        **comparison.as_json(measures),
    }
