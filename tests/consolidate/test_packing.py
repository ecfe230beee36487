# SPDX-License-Identifier: MIT
"""Guesses by load: each step of a packing, and the cut of a sorted list, compared with every
possibility."""

from collections.abc import Iterator
from itertools import combinations_with_replacement, permutations

import numpy as np
import pytest

from understudy_devices.consolidation.placement import packing, segments
from understudy_devices.consolidation.placement.packing import pack
from understudy_devices.consolidation.placement.problem import (
    Assignment,
    Demand,
    Device,
    Problem,
    together,
)
from understudy_devices.consolidation.placement.segments import cut


def given(erlangs: list[float], servers: list[int]) -> Problem:
    """Return VMs of these loads and devices of these servers."""
    vms = tuple(Demand(f"vm{i}", f"vm{i}", one, 10.0) for i, one in enumerate(erlangs))
    return Problem(vms, tuple(Device(f"d{i}", count) for i, count in enumerate(servers)))


def random_problem(seed: int, vms: int = 7) -> tuple[Problem, list[float], list[int]]:
    """Return a problem, limits, and a device for each VM; every third problem has all VMs on one
    device, and every third an empty device."""
    random = np.random.default_rng(seed)
    servers = random.choice([4, 8, 16], 3).tolist()
    used = random.integers([1, 2, 3][seed % 3], size=vms)
    where = ((used + seed // 3) % 3).tolist()
    limits = random.uniform(0.1, 0.9, vms).tolist()
    return given(random.uniform(0.5, 4, vms).tolist(), servers), limits, where


def fullness(problem: Problem, limits: list[float], on: list[int], device: int) -> float:
    """Return the utilisation of the device divided by the lowest limit of its VMs."""
    erlangs = sum(problem.vms[vm].erlangs for vm in on)
    return erlangs / (problem.devices[device].servers * min(limits[vm] for vm in on)) if on else 0


def full(problem: Problem, limits: list[float], where: list[int]) -> list[float]:
    devices = range(len(problem.devices))
    sets = [[vm for vm, d in enumerate(where) if d == device] for device in devices]
    return [fullness(problem, limits, sets[device], device) for device in devices]


def assigned(where: list[int]) -> Assignment:
    return tuple(together(vm for vm, d in enumerate(where) if d == device) for device in range(3))


def one_change(where: list[int], device: int) -> Iterator[list[int]]:
    """Yield where all VMs are after each move or swap of a VM out of the device."""
    for vm in [vm for vm, d in enumerate(where) if d == device]:
        for other in set(range(3)) - {device}:
            yield [other if i == vm else d for i, d in enumerate(where)]
        for partner in [i for i, d in enumerate(where) if d != device]:
            swap = {vm: where[partner], partner: device}
            yield [swap.get(i, d) for i, d in enumerate(where)]


@pytest.mark.parametrize("seed", range(60))
def test_a_step_is_the_best_of_all_moves_and_swaps(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The step relieves the fullest device, and the fuller of both changed devices is as little
    full as possible."""
    problem, limits, where = random_problem(seed)
    monkeypatch.setattr(packing, "STEPS", 1)
    before = full(problem, limits, where)
    device = before.index(max(before))

    def fuller(after: list[int]) -> float:
        changed = {d for pair in zip(where, after, strict=True) for d in pair if pair[0] != pair[1]}
        now = full(problem, limits, after)
        return max(now[d] for d in changed)

    best = min(one_change(where, device), key=fuller)
    want = best if max(before) > 1 and fuller(best) < max(before) else where
    start = packing._Packing(problem, np.array(limits), where)
    assert start.fullest == pytest.approx(max(before))
    assert start.improved().assignment == assigned(want)


@pytest.mark.parametrize(
    ("servers", "limits", "before", "packed"),
    [
        ([4, 4], [1, 1, 1], (0b111, 0), (0b111, 0)),  # just within the limit: nothing changes
        ([4, 4], [0.5, 1, 1], (0b111, 0), (0b110, 0b001)),
        ([4, 4], [1, 1, 0.25], (0b111, 0), (0b011, 0b100)),
        ([4, 4], [1, 1, 1], None, (0b010, 0b101)),  # the largest VM first, each where most is free
        (
            [4, 4],
            [0.01, 1, 1],
            (0b010, 0b101),
            (0b110, 0b001),
        ),  # beyond its limit anywhere: the nearest
        ([4, 8], [1, 1, 1], None, (0b001, 0b110)),
    ],
)
def test_what_is_within_its_limits_stays(
    servers: list[int], limits: list[float], before: Assignment | None, packed: Assignment
) -> None:
    """There are VMs of 1, 2 and 1 erlangs."""
    assert pack(given([1, 2, 1], servers), limits, before) == packed


def cuts(problem: Problem, limits: list[float], orders: set[tuple[int, ...]]) -> Iterator[float]:
    """Yield the fullness of the fullest device for each cut of the sorted list, with the pieces on
    devices in each of these orders."""
    ordered = sorted(range(len(limits)), key=limits.__getitem__)
    for order in orders:
        for ends in combinations_with_replacement(range(len(limits) + 1), len(order) - 1):
            parts = zip((0, *ends), (*ends, len(limits)), order, strict=True)
            yield max(fullness(problem, limits, ordered[a:b], device) for a, b, device in parts)


@pytest.mark.parametrize("states", [10_000, 0])
@pytest.mark.parametrize("seed", range(12))
def test_a_cut_is_the_best_of_all(seed: int, states: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """If there are too many sizes of devices to try each order, larger devices come first."""
    problem, limits, _ = random_problem(seed)
    monkeypatch.setattr(segments, "STATES", states)
    sizes = [device.servers for device in problem.devices]
    largest_first = tuple(sorted(range(3), key=lambda d: -sizes[d]))
    orders = set(permutations(range(3))) if states else {largest_first}
    fullest = max(full(problem, limits, cut(problem, limits)))
    best = min(cuts(problem, limits, orders))
    assert best - 1e-6 <= fullest <= best + 64 / 2**14
