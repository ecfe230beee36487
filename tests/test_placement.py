# SPDX-License-Identifier: MIT
"""The search for an assignment, with made-up judges: against every assignment there is, and
against assignments that were planted."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import pytest

from understudy.consolidate.placement.problem import P95, Demand, Device, Problem, Verdict, each
from understudy.consolidate.placement.search import FOUND, IMPOSSIBLE, Outcome, place

PLENTY = 100_000


@dataclass
class Interference:
    """Each VM makes each other's response longer, by an amount for the pair, by the servers."""

    alone_ms: list[float]
    hurts_ms: list[list[float]]
    asked: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)

    def p95_ms(self, vm: int, others: Iterator[int] | tuple[int, ...], servers: int) -> float:
        hurt = sum(self.hurts_ms[vm][other] for other in others if other != vm)
        return self.alone_ms[vm] + hurt / servers

    def __call__(self, device: Device, vms: tuple[int, ...]) -> Verdict:
        self.asked.append((device.servers, vms))
        found = {vm: self.p95_ms(vm, vms, device.servers) for vm in vms}
        return {vm: P95(p95, p95) for vm, p95 in found.items()}


def small(seed: int) -> tuple[Problem, Interference]:
    """A few VMs, of which some are alike, on two or three devices."""
    random = np.random.default_rng(seed)
    kinds, devices = int(random.integers(2, 5)), int(random.integers(2, 4))
    servers = random.choice([4, 8], devices)
    kind_of = sorted(random.integers(kinds, size=int(random.integers(3, 7))).tolist())
    erlangs = random.uniform(0.2, 3.5, kinds)
    between = random.exponential(20, (kinds, kinds))
    vms = [Demand(f"vm{i}", f"kind{k}", float(erlangs[k]), 20.0) for i, k in enumerate(kind_of)]
    alone = random.uniform(2, 20.5, kinds)
    judge = Interference(
        [float(alone[k]) for k in kind_of],
        [[float(between[one][other]) for other in kind_of] for one in kind_of],
    )
    where = [Device(f"d{i}", int(servers[i])) for i in range(devices)]
    return Problem(tuple(vms), tuple(where)), judge


def is_right(problem: Problem, judge: Interference, sets: list[list[int]]) -> bool:
    """By the definition: no device busy all the time, nobody above the target."""
    for device, on in zip(problem.devices, sets, strict=True):
        if sum(problem.vms[vm].erlangs for vm in on) >= device.servers:
            return False
        for vm in on:
            if judge.p95_ms(vm, tuple(on), device.servers) > problem.vms[vm].target_ms:
                return False
    return True


def any_is_right(problem: Problem, judge: Interference, vms: list[int]) -> bool:
    """Every assignment tried."""
    count = len(problem.devices)
    return any(
        is_right(
            problem,
            judge,
            [
                [vm for vm, d in zip(vms, where, strict=True) if d == place]
                for place in range(count)
            ],
        )
        for where in product(range(count), repeat=len(vms))
    )


def sets(found: Outcome) -> list[list[int]]:
    assert found.assignment is not None
    return [list(each(on)) for on in found.assignment]


def check_conflict(problem: Problem, judge: Interference, found: Outcome) -> None:
    """They can't be placed, and without any one of them they can."""
    vms = list(each(found.conflict))
    assert vms
    assert not any_is_right(problem, judge, vms)
    for vm in vms:
        assert any_is_right(problem, judge, [other for other in vms if other != vm])


@pytest.mark.parametrize("seed", range(120))
def test_as_every_assignment_tried(seed: int) -> None:
    problem, judge = small(seed)
    found = place(problem, judge, PLENTY)
    possible = any_is_right(problem, judge, list(range(len(problem.vms))))
    assert found.kind == (FOUND if possible else IMPOSSIBLE)
    if possible:
        assert sorted(vm for on in sets(found) for vm in on) == list(range(len(problem.vms)))
        assert is_right(problem, judge, sets(found))
    elif found.conflict:
        check_conflict(problem, judge, found)
    else:
        assert "servers busy" in found.reason


def test_both_answers_and_each_reason_come_up_among_them() -> None:
    found = [place(*small(seed), PLENTY) for seed in range(120)]
    assert sum(one.kind == FOUND for one in found) > 30
    reasons = [one.reason for one in found]
    for words in ("servers busy", "even alone", "in every assignment"):
        assert sum(words in reason for reason in reasons) >= 3, words


def test_nothing_is_judged_twice_and_alike_ones_are_one() -> None:
    for seed in range(40):
        problem, judge = small(seed)
        found = place(problem, judge, PLENTY)
        named = [
            (servers, sorted(problem.vms[vm].kind for vm in vms)) for servers, vms in judge.asked
        ]
        assert all(named.count(one) == 1 for one in named)
        assert len(judge.asked) == found.judged


@dataclass
class ByLoad:
    """A response time that grows with the utilisation: as in a queue of one, or steeply."""

    problem: Problem
    alone_ms: list[float]
    steep: bool
    asked: int = 0

    def p95_ms(self, vm: int, load: float) -> float:
        growth = 8 * load**9 if self.steep else 0.2 * load**2 / (1 - load)
        return self.alone_ms[vm] * (1 + growth)

    def __call__(self, device: Device, vms: tuple[int, ...]) -> Verdict:
        self.asked += 1
        load = sum(self.problem.vms[vm].erlangs for vm in vms) / device.servers
        return {vm: P95(p95 := self.p95_ms(vm, load), p95) for vm in vms}


def planted(seed: int, vms: int, slack: float, steep: bool) -> tuple[Problem, ByLoad]:
    """VMs dealt to eight devices of utilisations from 0.4 to 0.95, with targets which that meets;
    slack: of the loads, by which the targets allow more."""
    random = np.random.default_rng(seed)
    servers = [64, 64, 32, 32, 32, 32, 16, 16]
    full = random.uniform(0.4, 0.95, len(servers))
    where = random.integers(len(servers), size=vms)
    share = random.lognormal(0, 0.6, vms)
    demands, alone = [], random.uniform(5, 50, vms)
    nobody = Problem((Demand("", "", 1, 1),), (Device("", 1),))
    judge = ByLoad(nobody, [float(one) for one in alone], steep)
    for vm, device in enumerate(where):
        total = share[where == device].sum()
        erlangs = full[device] * servers[device] * share[vm] / total
        target = judge.p95_ms(vm, min(0.99, full[device] * (1 + slack * random.uniform(1, 2))))
        demands.append(Demand(f"vm{vm}", f"vm{vm}", float(erlangs), float(target)))
    devices = tuple(Device(f"d{i}", count) for i, count in enumerate(servers))
    judge.problem = Problem(tuple(demands), devices)
    return judge.problem, judge


@pytest.mark.parametrize("slack", [0.05, 0.01])
@pytest.mark.parametrize("steep", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_two_hundred_vms_that_were_dealt_to_eight_devices(
    seed: int, steep: bool, slack: float
) -> None:
    problem, judge = planted(seed, 200, slack, steep)
    found = place(problem, judge, 500)
    assert found.kind == FOUND, found.reason
    for device, on in zip(problem.devices, sets(found), strict=True):
        load = sum(problem.vms[vm].erlangs for vm in on) / device.servers
        assert load < 1
        assert all(judge.p95_ms(vm, load) <= problem.vms[vm].target_ms for vm in on)
    assert found.judged == judge.asked <= 500
