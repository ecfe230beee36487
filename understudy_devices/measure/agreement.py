# SPDX-License-Identifier: MIT
"""Compute how well one set of runs predicts another: errors, and agreement of scheduler ranks.

The papers claim to predict ranks, that is, which of two schedulers is better on the real disk
(PERFORM 2010 section 6; Tables 2 and 3).  A pair of schedulers counts only if the real disk's runs
show a certain difference between the two.  Kendall's tau (tau-b) uses all pairs, and ranks the
schedulers by their means.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from typing import Any

from understudy_devices.measure.comparison import Comparison, Estimate, ranks
from understudy_devices.measure.metrics import Measure


@dataclass(frozen=True)
class Agreement:
    """The agreement in one measure, for schedulers that are in both sets of runs.

    `real` has the true figures.
    """

    measure: Measure
    real: dict[str, Estimate]
    virtual: dict[str, Estimate]
    differ: int  # pairs of schedulers that differ on the real disk
    alike: int  # those of the `differ` pairs that the prediction puts in the same order
    tau: float | None  # None: in one of the two sets all schedulers are equal

    def error(self, scheduler: str) -> float | None:
        """Return the prediction's error as a fraction of the real figure; None if the real figure
        is 0.
        """
        real = self.real[scheduler].mean
        return (self.virtual[scheduler].mean - real) / real if real else None

    def ranks(self) -> tuple[dict[str, int], dict[str, int]]:
        """Return the ranks by the real and by the predicted figures; rank 1 is the best."""
        real = {name: estimate.mean for name, estimate in self.real.items()}
        virtual = {name: estimate.mean for name, estimate in self.virtual.items()}
        return ranks(real, self.measure), ranks(virtual, self.measure)

    def as_json(self) -> dict[str, Any]:
        """Return the measure's entry in the output of --json."""
        real, virtual = self.ranks()
        return {
            "measure": self.measure.key,
            "schedulers": {
                name: {
                    "real": self.real[name].mean,
                    "real_half_width": self.real[name].half_width,
                    "virtual": self.virtual[name].mean,
                    "virtual_half_width": self.virtual[name].half_width,
                    "error": self.error(name),
                    "real_rank": real[name],
                    "virtual_rank": virtual[name],
                }
                for name in self.real
            },
            "pairs_that_differ": self.differ,
            "pairs_alike": self.alike,
            "kendall_tau": self.tau,
        }


def agreement(
    real: Comparison, virtual: Comparison, names: Sequence[str], measure: Measure
) -> Agreement:
    """Return the agreement for the schedulers `names`, which are in both sets of runs."""
    means = [
        {name: side.estimate(name, measure).mean for name in names} for side in (real, virtual)
    ]
    pairs = list(combinations(names, 2))
    open_pairs = {pair for pair in pairs if real.difference(*pair, measure).includes_zero}
    orders = [[_order(side[one], side[other]) for one, other in pairs] for side in means]
    alike = [
        mine == theirs
        for pair, mine, theirs in zip(pairs, *orders, strict=True)
        if pair not in open_pairs
    ]
    return Agreement(
        measure,
        _estimates(real, names, measure),
        _estimates(virtual, names, measure),
        differ=len(alike),
        alike=sum(alike),
        tau=_tau(*orders),
    )


def _estimates(side: Comparison, names: Sequence[str], measure: Measure) -> dict[str, Estimate]:
    return {name: side.estimate(name, measure) for name in names}


def _order(one: float, other: float) -> int:
    return (one > other) - (one < other)


def _tau(first: Sequence[int], second: Sequence[int]) -> float | None:
    """Return tau-b from the orders of all pairs of schedulers: -1, 0 or 1 for each pair in each
    set.
    """
    ordered = sqrt(sum(map(abs, first)) * sum(map(abs, second)))
    together = sum(one * other for one, other in zip(first, second, strict=True))
    return together / ordered if ordered else None
