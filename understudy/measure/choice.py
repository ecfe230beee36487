# SPDX-License-Identifier: MIT
"""Which scheduler to pick for what: the goals, among them the tail, and the answer in words.

How sure an answer is, is for understudy.measure.comparison to find out.
"""

from dataclasses import dataclass
from typing import Any

from understudy.measure.metrics import Measure

# What a person picks a scheduler for.  A tail is short by all of its measures: one request
# in a thousand that starves does not show in the 99th percentile.
GOALS = {
    "mean response": (Measure("mean_response_ms", "mean response", "ms"),),
    "tail response": (
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
    """Who is best by one measure, and who cannot be told apart from it."""

    measure: Measure
    best: str
    tied: tuple[str, ...]
    means: dict[str, float]  # of every scheduler

    @property
    def names(self) -> tuple[str, ...]:
        """All of them."""
        return (self.best, *self.tied)

    def figure(self, name: str) -> str:
        """A scheduler's mean, four digits."""
        return f"{self.means[name]:.4g} {self.measure.unit}"

    def as_json(self) -> dict[str, Any]:
        """Its part of the choice's entry."""
        return {
            "measure": self.measure.key,
            "best": self.best,
            "cannot_be_told_apart": list(self.tied),
        }


@dataclass(frozen=True)
class Choice:
    """The answer to one goal: those who are among the best by each of its measures."""

    goal: str
    by: tuple[Best, ...]
    seeds: int

    @property
    def names(self) -> tuple[str, ...]:
        """In the order of the first measure; none, if nobody is best throughout."""
        return tuple(name for name in self.by[0].names if all(name in one.names for one in self.by))

    @property
    def best(self) -> str | None:
        """The one to pick."""
        return self.names[0] if self.names else None

    @property
    def tied(self) -> tuple[str, ...]:
        """Cannot be told apart from it."""
        return self.names[1:]

    def sentence(self) -> str:
        """One line for people."""
        if not self.names:
            return f"for {self.goal} nobody is best throughout: {self._each()} ({self._basis()})"
        apart = ": they cannot be told apart" if self.tied else ""
        return f"for {self.goal} pick {' or '.join(self.names)}{apart} ({self._figures()})"

    def _each(self) -> str:
        """Whom to pick by each measure."""
        picks = (
            f"{' or '.join(one.names)} by {one.measure.label} ({one.figure(one.best)})"
            for one in self.by
        )
        return ", ".join(picks)

    def _figures(self) -> str:
        """Of the best one."""
        name = self.names[0]
        several = len(self.by) > 1
        figures = (
            f"{one.measure.label} {one.figure(name)}" if several else one.figure(name)
            for one in self.by
        )
        return f"{', '.join(figures)}; {self._basis()}"

    def _basis(self) -> str:
        """How sure that is."""
        number = len(self.by[0].means)
        if self.seeds == 1:
            return "one seed: no interval"
        corrected = f", corrected for a choice among {number}" if number > 2 else ""
        return f"{self.seeds} seeds{corrected}"

    def as_json(self) -> dict[str, Any]:
        """The choice's entry in result.json."""
        return {
            "goal": self.goal,
            "best": self.best,
            "cannot_be_told_apart": list(self.tied),
            "by": [one.as_json() for one in self.by],
            "among": len(self.by[0].means),
            "seeds": self.seeds,
        }
