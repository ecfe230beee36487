# SPDX-License-Identifier: MIT
"""Guesses of a VM's highest utilisation, from verdicts whose line through u / (1 - u) is known."""

from math import inf

import pytest

from understudy_devices.consolidation.placement.limits import Limits
from understudy_devices.consolidation.placement.problem import P95, Demand, Device, Problem

DEVICE = Device("a", 100)


def learnt(*verdicts: tuple[float, float], target_ms: float = 30.0) -> Limits:
    """Return what is learnt of VMs of one kind that have 10 ms alone, from the utilisation by each
    of them and its 95th percentile.  The last VM is of another kind."""
    of_kind = [
        Demand("vm", "kind", 100 * load, target_ms, alone_ms=10.0)
        for load, _ in verdicts or [(0.5, 0.0)]
    ]
    limits = Limits(Problem((*of_kind, Demand("other", "other", 1, target_ms)), (DEVICE,)))
    for vm, (_, most_ms) in enumerate(verdicts):
        limits.learn(DEVICE, 1 << vm, {vm: P95(most_ms / 2, most_ms)})
    return limits


@pytest.mark.parametrize(
    ("verdicts", "guess"),
    [
        ([], 1),
        ([(0.5, 20)], 2 / 3),  # one u / (1 - u) adds 10 ms, so two add 20
        ([(0.5, 5)], 1),  # faster than alone
        ([(0.5, 10)], 1),
        ([(0.5, 10.5)], 40 / 41),
        ([(0.9999, 19.95)], 400 / 401),  # a utilisation of 0.995 or more counts as 0.995
        ([(0.75, 40)], 2 / 3),
        ([(0.75, inf)], 0.95 * 0.75),
        ([(1.5, inf)], 0.95),
        ([(0.75, 30.5)], 0.9 * 0.75),  # not too near to where it failed
        ([(0.5, 12), (0.6, 31)], 0.59),
        ([(0.5, 29.5), (0.8, 300)], 0.53),  # nor to where it met its target
        ([(0.5, 20), (0.25, 15), (0.75, 40)], 2 / 3),  # the nearest of each count
        ([(0.5, 20), (0.75, 40), (0.9, 1000)], 2 / 3),
        ([(0.6, 20), (0.6, 40)], 0.95 * 0.6),  # contradictory
        ([(0.6, 20), (0.5, 40)], 0.95 * 0.5),
        ([(0.5, 30)], 0.5),  # just at its target
    ],
)
def test_a_guess_is_on_the_line(verdicts: list[tuple[float, float]], guess: float) -> None:
    *alike, other = learnt(*verdicts).likely()
    assert alike == pytest.approx([guess] * max(1, len(verdicts)))
    assert other == 1


def test_a_target_below_what_a_vm_has_alone_is_as_low_as_can_be() -> None:
    assert learnt((0.5, 20), target_ms=5).likely() == pytest.approx([0.05, 1])


@pytest.mark.parametrize(
    ("verdicts", "possible"),
    [([], 1), ([(0.5, 20)], 1), ([(0.8, 40), (0.6, 35), (0.7, 50)], 0.995 * 0.6)],
)
def test_what_is_possible_is_below_what_failed(
    verdicts: list[tuple[float, float]], possible: float
) -> None:
    *alike, other = learnt(*verdicts).possible()
    assert alike == pytest.approx([possible] * max(1, len(verdicts)))
    assert other == 1
