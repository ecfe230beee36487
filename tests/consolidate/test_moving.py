# SPDX-License-Identifier: MIT
"""Assignments with the fewest moves from today's, compared with trying all assignments."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from test_placement import PLENTY, Interference, is_right, planted, sets, small
from test_placement_constraints import constrained, meets

from understudy_devices.base.stopping import Stopped
from understudy_devices.consolidation.placement.moving import place
from understudy_devices.consolidation.placement.problem import Device, Problem, Verdict
from understudy_devices.consolidation.placement.search import FOUND, IMPOSSIBLE
from understudy_devices.consolidation.placement.today import NEW, Limits, Moves, Today


def today_of(seed: int, problem: Problem, *, sizes: bool, most: int | None = None) -> Today:
    random = np.random.default_rng([seed, 9])
    where = random.integers(len(problem.devices), size=len(problem.vms))
    where[random.random(len(where)) < 0.1] = NEW
    gb = tuple(random.uniform(10, 500, len(where)).tolist()) if sizes else ()
    return Today(tuple(where.tolist()), gb, most)


def cheapest(problem: Problem, judge: Interference, today: Today) -> float | None:
    """Return the lowest cost of an assignment that meets all targets, by trying all of them."""
    devices = range(len(problem.devices))
    costs = []
    for where in product(devices, repeat=len(problem.vms)):
        moved = [vm for vm, home in enumerate(today.where) if home not in (NEW, where[vm])]
        on = [[vm for vm, d in enumerate(where) if d == device] for device in devices]
        allowed = today.most is None or len(moved) <= today.most
        if problem.constraints and not meets(problem.constraints, on):
            continue
        if allowed and is_right(problem, judge, on):
            costs.append(sum(today.sizes_gb[vm] if today.sizes_gb else 1 for vm in moved))
    return min(costs, default=None)


def check(problem: Problem, judge: Interference, today: Today) -> Moves:
    outcome = place(problem, today, judge, PLENTY)
    best = cheapest(problem, judge, today)
    assert outcome.kind == (IMPOSSIBLE if best is None else FOUND), outcome.reason
    assert outcome.moves is not None
    if best is not None:
        assert outcome.assignment is not None
        assert is_right(problem, judge, sets(outcome))
        assert today.cost(outcome.assignment) == pytest.approx(best)
        assert outcome.moves.fewest
    return outcome.moves


@pytest.mark.parametrize("sizes", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_moves_cost_as_little_as_possible(seed: int, sizes: bool) -> None:
    problem, judge = small(seed)
    check(problem, judge, today_of(seed, problem, sizes=sizes))


@pytest.mark.parametrize("seed", range(12))
def test_no_more_moves_than_allowed(seed: int) -> None:
    problem, judge = small(seed)
    check(problem, judge, today_of(seed, problem, sizes=False, most=1 + seed % 2))


@pytest.mark.parametrize("seed", range(12))
def test_constraints_may_need_moves(seed: int) -> None:
    problem, judge = constrained(seed)
    moves = check(problem, judge, today_of(seed, problem, sizes=bool(seed % 2)))
    assert all(move.without is None or move.without > 1 for move in moves.each)


def test_what_a_move_gains() -> None:
    """Without its only move, both VMs would miss their targets."""
    problem, _ = planted(1, 4, 0.0, steep=False)
    two = problem.devices[:2]
    problem = replace(problem, vms=problem.vms[:2], devices=two)
    alone = Interference([1.0, 2.0], [[0.0, 640.0], [1280.0, 0.0]])
    vms = tuple(replace(vm, erlangs=1.0, target_ms=10.0) for vm in problem.vms)
    outcome = place(replace(problem, vms=vms), Today((0, 0), (30.0, 20.0)), alone)
    assert outcome.moves is not None
    [move] = outcome.moves.each
    assert (move.vm, move.home, move.device, move.gb) == (1, 0, 1, 20.0)
    assert move.without == pytest.approx(2.2)
    assert move.worst == 1
    assert outcome.moves.today == (move.without, 1)
    assert outcome.moves.gb == 20
    assert outcome.moves.fewest


@pytest.mark.parametrize("after", range(0, 20, 2))
def test_a_search_that_is_stopped_has_its_best_assignment(after: int) -> None:
    """The judge is interrupted after some calls; what a move gains is then perhaps unknown."""
    problem, judge = small(0)
    calls = 0

    def judged(device: Device, on: tuple[int, ...]) -> Verdict:
        nonlocal calls
        calls += 1
        if calls > after:
            raise Stopped
        return judge(device, on)

    outcome = place(problem, Today((0,) * len(problem.vms)), judged, PLENTY)
    assert outcome.moves is not None
    assert outcome.interrupted == (calls > after)
    if outcome.kind == FOUND:
        assert is_right(problem, judge, sets(outcome))


def test_how_many_assignments_are_within_the_limits() -> None:
    units = [0b0011, 0b0100, 0b1000]
    for today in (Today((0, 1, 2, NEW), most=1), Today((0, 0, 1, 1), (5.0, 1.0, 3.0, 2.0), most=2)):
        limits = Limits.of(today, units, 3)
        limits.most[1] = 4.0
        places = product(range(3), repeat=3)
        within = [bool(limits.allow(limits.spent(np.array(where)))) for where in places]
        count = sum(within)
        assert 0 < count < 27
        assert limits.allow_few(count)
        assert not limits.allow_few(count - 1)


def test_nothing_moves_if_all_targets_are_met_today() -> None:
    problem, judge = planted(3, 60, 0.3, steep=False)
    outcome = place(problem, Today(tuple(home_of(problem, 3))), judge, 400)
    assert (outcome.kind, outcome.judged) == (FOUND, len(problem.devices))
    assert outcome.moves is not None
    assert (outcome.moves.each, outcome.moves.fewest) == ((), True)


def home_of(problem: Problem, seed: int) -> list[int]:
    """Return the devices on which `planted` places the VMs."""
    random = np.random.default_rng(seed)
    count = len(problem.devices)
    random.uniform(0.4, 0.95, count)
    return [int(device) for device in random.integers(count, size=len(problem.vms))]


def test_a_few_vms_on_wrong_devices_are_moved() -> None:
    """Of 32 VMs on eight devices, three have left the devices on which all targets are met."""
    problem, judge = planted(3, 32, 0.15, steep=False)
    where = home_of(problem, 3)
    for vm in (5, 15, 25):
        where[vm] = (where[vm] + 3) % len(problem.devices)
    outcome = place(problem, Today(tuple(where)), judge, 600)
    assert outcome.kind == FOUND, outcome.reason
    assert outcome.moves is not None
    assert 0 < len(outcome.moves.each) <= 3
    assert outcome.judged <= 600
