# SPDX-License-Identifier: MIT
"""How near `place` comes to the best of all assignments."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bench.part import Column, Rows
from understudy_devices.consolidation.branches import Branches
from understudy_devices.consolidation.fit import Fitted
from understudy_devices.consolidation.fit_report import compare
from understudy_devices.consolidation.map import MarkovianArrivalProcess
from understudy_devices.consolidation.placement.guests import Guest, demands
from understudy_devices.consolidation.placement.problem import (
    P95,
    Device,
    Members,
    Problem,
    Verdict,
    each,
    ratio,
)
from understudy_devices.consolidation.placement.search import place
from understudy_devices.consolidation.placement.simulation import Simulated
from understudy_devices.consolidation.scenario import Tenant
from understudy_devices.consolidation.vm import Reduction, read
from understudy_devices.engine.local import Local

Floats = NDArray[np.float64]

TITLE = "How near a placement comes to the best one"
TEXT = """
Random VMs are to be placed on three devices of 12, 8 and 8 servers, at a load of 0.7. Some VMs send
their requests in bursts, which coincide with those of some others, and the VMs have different
targets. Every set of VMs on every device is simulated once, and these figures are taken for exact.
So the best of all assignments is known: the one with the lowest *worst ratio* of a VM's 95th
percentile to its target. (Dynamic programming over sets of VMs finds it.) The search of `place` may
ask for the same figures, 1,000 times. *Above the best* is how much its worst ratio is higher.

With *tight* targets, the best worst ratio is 0.95, so that only assignments within 5.3 % of the
best meet all targets. With *loose* targets the best worst ratio is 0.67, so that the search may end
with one of the first assignments that it finds.

{{ instances }}
"""
TABLES = {
    "instances": (
        Column("instance", "{seed}"),
        Column("VMs", "{vms}"),
        Column("tight: above the best", "{tight_above:.1%}"),
        Column("simulations", "{tight_judged:,}"),
        Column("loose: above the best", "{loose_above:.1%}"),
        Column("simulations", "{loose_judged:,}"),
        Column("all sets", "{sets:,}"),
    ),
}
SIZES = {
    "full": {"instances": 5, "vms": 14},
    "quick": {"instances": 4, "vms": 10},
    "tiny": {"instances": 1, "vms": 6},
}
IN_VM = False

SERVERS = (12, 8, 8)
LOAD = 0.7
SPAN_NS = 10**10
REQUESTS = 4000  # of each VM
KINDS = (
    ([4.0], [4.0], [[1.0]]),
    ([1.0], [1.0], [[1.0]]),
    ([1.0, 1.0], [1.0, 0.25], [[0.9, 0.1], [0.9, 0.1]]),
)
TIGHT, LOOSE = 0.95, 2 / 3
AT_ONCE = 256


@dataclass(frozen=True)
class Instance:
    """A problem, and the figures of every set of VMs on a device of so many servers."""

    problem: Problem
    figures: Mapping[int, Mapping[Members, Verdict]]

    @property
    def sets(self) -> int:
        """Return the number of sets that were simulated."""
        return sum(len(verdicts) - 1 for verdicts in self.figures.values())

    def best(self) -> float:
        """Return the lowest worst ratio of all assignments."""
        ratios = {}
        for servers, verdicts in self.figures.items():
            ratios[servers] = np.full(self.problem.everyone + 1, np.inf)
            for on, verdict in verdicts.items():
                ratios[servers][on] = ratio(self.problem, verdict)
        return _best([ratios[device.servers] for device in self.problem.devices])

    def eased(self, factor: float) -> "Instance":
        """Return the instance with all targets multiplied by the factor."""
        vms = (replace(vm, target_ms=vm.target_ms * factor) for vm in self.problem.vms)
        return replace(self, problem=replace(self.problem, vms=tuple(vms)))

    def placed(self) -> tuple[float, int]:
        """Return the worst ratio of the assignment of `place`, and the number of figures that it
        asked for."""

        def judged(device: Device, on: tuple[int, ...]) -> Verdict:
            return self.figures[device.servers][sum(1 << vm for vm in on)]

        def sketched(pairs: Sequence[tuple[Device, tuple[int, ...]]]) -> list[Verdict]:
            return [
                {vm: P95(one.mean_ms, float("nan")) for vm, one in judged(*pair).items()}
                for pair in pairs
            ]

        outcome = place(self.problem, judged, sketch=sketched)
        if outcome.assignment is None:
            return float("inf"), outcome.judged
        return max(ratio(self.problem, one) for one in outcome.verdicts), outcome.judged


def measure(instances: int, vms: int) -> Rows:
    """Measure instances with random VMs."""
    for seed in range(instances):
        instance = drawn(seed, vms)
        best = instance.best()
        row: dict[str, Any] = {"seed": seed, "vms": vms, "sets": instance.sets}
        for name, wanted in (("tight", TIGHT), ("loose", LOOSE)):
            ours, judged = instance.eased(best / wanted).placed()
            row |= {f"{name}_above": ours / wanted - 1, f"{name}_judged": judged}
        yield "instances", row


def drawn(seed: int, vms: int) -> Instance:
    """Return random VMs, simulated in every set that does not overload a device."""
    devices = tuple(Device(f"d{rank}", servers) for rank, servers in enumerate(SERVERS))
    with tempfile.TemporaryDirectory() as folder:
        tenants = _tenants(seed, vms, Path(folder))
        guests = [
            Guest(tenant.vm.name, Path(tenant.vm.name), target)
            for tenant, target in zip(tenants, _targets(seed, tenants), strict=True)
        ]
        read_ = {guest.kind: tenant for guest, tenant in zip(guests, tenants, strict=True)}
        problem = Problem(demands(guests, read_, 1.0), devices)
        judge = Simulated(tenants, (), 1.0, 1, Local(len(os.sched_getaffinity(0))))
        return Instance(
            problem, {servers: _all(problem, servers, judge) for servers in dict.fromkeys(SERVERS)}
        )


def _best(ratios: Sequence[Floats]) -> float:
    """Return the lowest worst ratio of all assignments, by dynamic programming over sets of VMs.

    ratios: for each device, (2 ** VMs,), of each set of VMs.
    """
    *others, last = ratios
    lowest = last
    for here in others[::-1]:
        lowest = np.array(
            [
                np.maximum(here[parts := _subsets(on)], lowest[on ^ parts]).min()
                for on in range(len(here))
            ]
        )
    return float(lowest[-1])


def _subsets(members: Members) -> NDArray[np.int64]:
    subsets = np.zeros(1, np.int64)
    for vm in each(members):
        subsets = np.concatenate([subsets, subsets | 1 << vm])
    return subsets


def _all(problem: Problem, servers: int, judge: Simulated) -> dict[Members, Verdict]:
    """Simulate every set of VMs that does not overload a device of so many servers."""
    device = Device("any", servers)
    sets = [on for on in range(1, problem.everyone + 1) if problem.load(device, on) < 1]
    verdicts: dict[Members, Verdict] = {0: {}}
    for first in range(0, len(sets), AT_ONCE):
        some = sets[first : first + AT_ONCE]
        sketches = judge.sketch([(device, tuple(each(on))) for on in some])
        for on, sketch in zip(some, sketches, strict=True):
            verdicts[on] = {vm: P95(one.mean_ms, one.mean_ms) for vm, one in sketch.items()}
    return verdicts


def _tenants(seed: int, vms: int, folder: Path) -> list[Tenant]:
    """Return VMs that keep LOAD of all servers busy, alone in their traces."""
    random = np.random.default_rng(seed)
    shares = random.lognormal(0, 0.6, vms)
    erlangs = LOAD * sum(SERVERS) * shares / shares.sum()
    tenants = []
    for vm in range(vms):
        name = f"vm{vm}"
        process = _process(random, erlangs[vm] * SPAN_NS / REQUESTS)
        arrival_ns = np.sort(_arrivals(random))
        trace = pl.DataFrame(
            {
                "arrival_ns": arrival_ns,
                "sector": np.arange(REQUESTS) * 8,
                "sectors": np.full(REQUESTS, 8),
                "completion_ns": arrival_ns + process.sample(REQUESTS, seed).astype(np.int64),
            }
        )
        file = folder / f"{name}.parquet"
        trace.write_parquet(file)
        machine = read(name, file, folder / name, Reduction())
        report = compare(machine.runs[0].service_ns.astype(np.float64), process, {})
        tenants.append(Tenant(machine, Fitted(process, report)))
    return tenants


def _process(random: np.random.Generator, mean_ns: float) -> MarkovianArrivalProcess:
    """Return independent service times with a coefficient of variation of 0.5, 1 or about 2."""
    shapes, rates, change = KINDS[int(random.integers(len(KINDS)))]
    branches = Branches(np.array(shapes), np.array(rates), np.array(change))
    return branches.process(mean_ns / branches.mean())


def _arrivals(random: np.random.Generator) -> NDArray[np.int64]:
    """Return Poisson arrivals, or of which a third come in one quarter of each period."""
    at = random.uniform(0, SPAN_NS, REQUESTS)
    if random.random() < 0.5:
        period, quarter = SPAN_NS / 5, random.integers(4)
        burst = (at % period + quarter * period) / 4
        at = np.where(random.random(REQUESTS) < 1 / 3, at // period * period + burst, at)
    return at.astype(np.int64)


def _targets(seed: int, tenants: Sequence[Tenant]) -> list[float]:
    """Return targets of 1.2 to 4 times the 95th percentile alone."""
    random = np.random.default_rng([seed, 1])
    return [float(random.uniform(1.2, 4) * tenant.vm.percentiles_ms[95]) for tenant in tenants]
