# SPDX-License-Identifier: MIT
"""The search for an assignment, with artificial judges.  Small problems are compared with every
possible assignment, large problems with a planted assignment."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import pytest

from understudy_devices.consolidation.placement.problem import (
    P95,
    Demand,
    Device,
    Problem,
    Verdict,
    each,
)
from understudy_devices.consolidation.placement.search import (
    FOUND,
    IMPOSSIBLE,
    UNKNOWN,
    Outcome,
    place,
)

PLENTY = 100_000


@dataclass
class Interference:
    """Each VM lengthens the responses of each other VM, by an amount for the pair divided by the
    servers."""

    alone_ms: list[float]
    hurts_ms: list[list[float]]
    asked: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)

    def p95_ms(self, vm: int, others: Iterator[int] | tuple[int, ...], servers: int) -> float:
        hurt = sum(self.hurts_ms[vm][other] for other in others if other != vm)
        return self.alone_ms[vm] + hurt / servers

    def __call__(self, device: Device, vms: tuple[int, ...]) -> Verdict:
        self.asked.append((device.servers, vms))
        times_ms = {vm: self.p95_ms(vm, vms, device.servers) for vm in vms}
        return {vm: P95(p95, p95) for vm, p95 in times_ms.items()}


def small(seed: int) -> tuple[Problem, Interference]:
    """Return a problem of a few VMs, some identical, on two or three devices."""
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
    """Return whether no device is overloaded and no VM exceeds its target."""
    for device, on in zip(problem.devices, sets, strict=True):
        if sum(problem.vms[vm].erlangs for vm in on) >= device.servers:
            return False
        for vm in on:
            if judge.p95_ms(vm, tuple(on), device.servers) > problem.vms[vm].target_ms:
                return False
    return True


def any_is_right(problem: Problem, judge: Interference, vms: list[int]) -> bool:
    """Return whether any assignment is right, by trying all of them."""
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


def sets(outcome: Outcome) -> list[list[int]]:
    assert outcome.assignment is not None
    return [list(each(on)) for on in outcome.assignment]


def check_conflict(problem: Problem, judge: Interference, outcome: Outcome) -> None:
    """Check that the conflicting VMs cannot be placed, but can be once any one of them is
    removed."""
    vms = list(each(outcome.conflict))
    assert vms
    assert not any_is_right(problem, judge, vms)
    for vm in vms:
        assert any_is_right(problem, judge, [other for other in vms if other != vm])


@pytest.mark.parametrize("seed", range(60))
def test_as_every_assignment_tried(seed: int) -> None:
    problem, judge = small(seed)
    outcome = place(problem, judge, PLENTY)
    possible = any_is_right(problem, judge, list(range(len(problem.vms))))
    assert outcome.kind == (FOUND if possible else IMPOSSIBLE)
    if possible:
        assert sorted(vm for on in sets(outcome) for vm in on) == list(range(len(problem.vms)))
        assert is_right(problem, judge, sets(outcome))
    elif outcome.conflict:
        check_conflict(problem, judge, outcome)
    else:
        assert "servers busy" in outcome.reason


def test_both_answers_and_each_reason_come_up_among_them() -> None:
    outcomes = [place(*small(seed), PLENTY) for seed in range(30)]
    assert sum(one.kind == FOUND for one in outcomes) > 7
    reasons = [one.reason for one in outcomes]
    for words in ("servers busy", "even alone", "in every assignment"):
        assert sum(words in reason for reason in reasons) >= 2, words


def test_nothing_is_judged_twice_and_alike_ones_are_one() -> None:
    for seed in range(10):
        problem, judge = small(seed)
        outcome = place(problem, judge, PLENTY)
        named = [
            (servers, sorted(problem.vms[vm].kind for vm in vms)) for servers, vms in judge.asked
        ]
        assert all(named.count(one) == 1 for one in named)
        assert len(judge.asked) == outcome.judged


@dataclass
class ByLoad:
    """A response time that grows with utilisation, either as in M/M/1 or steeply."""

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
    """Return VMs assigned to eight devices of utilisations from 0.4 to 0.95, with targets that
    this assignment meets. slack: the share of load by which the targets allow more."""
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
        demands.append(
            Demand(f"vm{vm}", f"vm{vm}", float(erlangs), float(target), judge.alone_ms[vm])
        )
    devices = tuple(Device(f"d{i}", count) for i, count in enumerate(servers))
    judge.problem = Problem(tuple(demands), devices)
    return judge.problem, judge


@pytest.mark.parametrize(
    ("seed", "steep"),
    [
        (0, False),
        *(
            pytest.param(seed, steep, marks=pytest.mark.slow)
            for seed in range(3)
            for steep in (False, True)
            if seed or steep
        ),
    ],
)
def test_vms_that_were_dealt_to_eight_devices(seed: int, steep: bool) -> None:
    """Each VM has a target of its own; an assignment within 5 % of all targets counts."""
    problem, judge = planted(seed, 60, 0.05, steep)
    outcome = place(problem, judge, 400)
    for device, on in zip(problem.devices, sets(outcome), strict=True):
        load = sum(problem.vms[vm].erlangs for vm in on) / device.servers
        assert load < 1
        assert all(judge.p95_ms(vm, load) <= 1.05 * problem.vms[vm].target_ms for vm in on)
    assert outcome.judged == judge.asked <= 400


def parted(seed: int, vms: int, devices: int, chance: float) -> tuple[Problem, Interference]:
    """Return VMs assigned to devices; some pairs on different devices must never share a device."""
    random = np.random.default_rng(seed)
    where = random.integers(devices, size=vms)
    erlangs = random.uniform(0.3, 1.0, vms) * 22 * devices / vms
    bad = (random.random((vms, vms)) < chance) & (where[:, None] != where)
    demands = [Demand(f"vm{i}", f"vm{i}", float(erlangs[i]), 40.0, 10.0) for i in range(vms)]
    problem = Problem(tuple(demands), tuple(Device(f"d{i}", 32) for i in range(devices)))
    return problem, Interference([10.0] * vms, np.where(bad, 2000.0, 0.2).tolist())


@pytest.mark.parametrize("seed", range(3))
def test_vms_that_can_not_stand_each_other_are_parted(seed: int) -> None:
    """Loads do not reveal which VMs conflict, so the search needs moves and swaps."""
    problem, judge = parted(seed, 30, 4, 0.01)
    outcome = place(problem, judge, 600)
    assert outcome.kind == FOUND, outcome.reason
    assert is_right(problem, judge, sets(outcome))


def test_a_small_budget_is_kept_and_the_nearest_is_told() -> None:
    problem, judge = planted(3, 60, -0.2, steep=False)
    outcome = place(problem, judge, 40)
    assert outcome.kind == UNKNOWN
    assert judge.asked == outcome.judged <= 40
    assert outcome.assignment is not None
    assert sorted(vm for on in sets(outcome) for vm in on) == list(range(60))
    missing = sum(
        one.most_ms > problem.vms[vm].target_ms
        for verdict in outcome.verdicts
        for vm, one in verdict.items()
    )
    assert missing > 0
    assert f"{missing} of 60 VMs miss their target" in outcome.reason
    assert "allow more tries" in outcome.reason


def test_no_assignment_is_told_when_none_could_be_judged() -> None:
    problem, judge = planted(3, 60, 0.05, steep=False)
    outcome = place(problem, judge, 3)
    assert (outcome.kind, outcome.assignment) == (UNKNOWN, None)


def test_the_same_problem_has_the_same_answer() -> None:
    first, again = (place(*small(7), 100) for _ in range(2))
    assert first == again


def alike(kinds: int, count: int) -> Problem:
    """Return `count` VMs of each kind, on two devices of ten servers."""
    vms = [
        Demand(f"{k}-{i}", f"kind{k}", 0.8 + 0.1 * k, 5.9)
        for k in range(kinds)
        for i in range(count)
    ]
    return Problem(tuple(vms), (Device("a", 10), Device("b", 10)))


def test_interchangeable_vms_are_few_sets() -> None:
    """Two kinds of eight VMs: a device has 81 possible sets, not 65,536; a utilisation above 0.6
    misses targets."""
    problem = alike(2, 8)
    judge = ByLoad(problem, [5.0] * 16, steep=False)
    outcome = place(problem, judge, 81)
    assert outcome.kind == IMPOSSIBLE
    assert "in every assignment" in outcome.reason

    def can_be_placed(small: int, large: int) -> bool:
        """Return whether these numbers of both kinds fit on two devices."""
        return any(
            max(0.8 * i + 0.9 * j, 0.8 * (small - i) + 0.9 * (large - j)) <= 6
            for i in range(small + 1)
            for j in range(large + 1)
        )

    conflict = [problem.vms[vm].kind for vm in each(outcome.conflict)]
    small, large = conflict.count("kind0"), conflict.count("kind1")
    assert not can_be_placed(small, large)
    assert small == 0 or can_be_placed(small - 1, large)
    assert large == 0 or can_be_placed(small, large - 1)


def test_what_is_unsure_counts_as_missed_and_is_told() -> None:
    """Each VM alone meets its target by the mean, but two together are not certain to."""
    vms = tuple(Demand(f"vm{i}", f"vm{i}", 1.0, 10.0) for i in range(3))
    problem = Problem(vms, (Device("a", 8), Device("b", 8)))
    outcome = place(problem, lambda _, on: {vm: P95(9.0, 8.5 + len(on)) for vm in on})
    assert outcome.kind == IMPOSSIBLE
    assert outcome.conflict == 0b111
    assert "sets of VMs failed by less than is certain" in outcome.reason


def test_a_vm_whose_requests_pile_up_is_named() -> None:
    problem = Problem((Demand("web", "web", 1.0, 10.0),), (Device("a", 8), Device("b", 4)))
    outcome = place(problem, lambda _, on: {vm: P95(float("inf"), float("inf")) for vm in on})
    assert outcome.kind == IMPOSSIBLE
    assert "even alone on a, which has the most servers: requests of web pile up" in outcome.reason


def test_noise_that_contradicts_itself_ends_the_search() -> None:
    """The judge answers at random; an assignment that is reported as found must have been judged
    acceptable."""
    for seed in range(10):
        problem, _ = small(seed)
        random = np.random.default_rng(seed)

        def judge(
            device: Device, on: tuple[int, ...], draw: np.random.Generator = random
        ) -> Verdict:
            return {vm: P95(time := float(draw.uniform(5, 21)), time) for vm in on}

        outcome = place(problem, judge, PLENTY)
        assert outcome.kind in (FOUND, IMPOSSIBLE)
        if outcome.kind == FOUND:
            assert all(
                one.most_ms <= 20 for verdict in outcome.verdicts for one in verdict.values()
            )


@pytest.mark.parametrize(
    ("vms", "devices", "message"),
    [
        ([], [("a", 1)], "0 VMs on 1 devices"),
        ([("x", 1.0, 1.0)], [], "1 VMs on 0 devices"),
        ([("x", 1.0, 1.0)], [("a", 0)], "a: 0 servers"),
        ([("x", 0.0, 1.0)], [("a", 1)], "x: 0.0 servers busy"),
        ([("x", float("nan"), 1.0)], [("a", 1)], "x: nan servers busy"),
        ([("x", 1.0, -1.0)], [("a", 1)], "a target of -1.0 ms"),
    ],
)
def test_what_is_no_problem(
    vms: list[tuple[str, float, float]], devices: list[tuple[str, int]], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Problem(
            tuple(Demand(name, name, erlangs, target) for name, erlangs, target in vms),
            tuple(Device(*one) for one in devices),
        )
