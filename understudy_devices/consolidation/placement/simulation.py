# SPDX-License-Identifier: MIT
"""A judge that simulates the VMs together on the device (`Replications`).

The simulation is replicated, at most MOST times, until each VM's 95th percentile is clearly below
its target, or until the 95th percentile of one VM is clearly above its target.  "Clearly" means
that the 95 % interval of the mean over replications does not include the target.  If a VM's 95th
percentile is not clearly below the target after MOST replications, it counts as above the target.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from understudy_devices.base.errors import Unstable
from understudy_devices.consolidation.placement.problem import P95, Device, Verdict
from understudy_devices.consolidation.replications import Replications, outcome, simulated
from understudy_devices.consolidation.scenario import Scenario, Tenant
from understudy_devices.consolidation.vm import NS_PER_MS
from understudy_devices.engine import Answer, Engine
from understudy_devices.measure.comparison import Estimate, estimate
from understudy_devices.native.open_queue import QueueFigures

BATCH = 4
MOST = 16
CELL = 1 / 256  # a true percentile may exceed the reported one by this fraction (ClassFigures)


@dataclass(frozen=True)
class Simulated:
    """The judge.

    tenants, targets_ms: a value for each VM.  merge: the number of requests that a server merges
    into one.  engine, at_once: as in `Replications`.  at_speed: the tenants on devices of other
    speeds (speeds.py).
    """

    tenants: Sequence[Tenant]
    targets_ms: Sequence[float]
    merge: float
    seed: int
    engine: Engine
    at_once: int = 1
    at_speed: Mapping[float, Sequence[Tenant]] = field(default_factory=dict)

    def scenario(self, device: Device, vms: Sequence[int]) -> Scenario:
        """Return the VMs on the device."""
        tenants = self.at_speed.get(device.speed, self.tenants)
        return Scenario(tuple(tenants[vm] for vm in vms), device.servers)

    def __call__(self, device: Device, vms: tuple[int, ...]) -> Verdict:
        """Simulate the VMs on the device; raises RunFailed like `simulate`."""
        scenario = self.scenario(device, vms)
        replications = Replications(scenario, self.seed, self.engine, self.at_once)
        figures: list[QueueFigures] = []
        estimates: list[Estimate] = []
        try:
            for batch in replications.batches(BATCH, MOST, (self.merge,) * len(vms)):
                figures += batch
                estimates = [_p95(figures, k) for k in range(len(vms))]
                if self._is_clear(vms, estimates):
                    break
        except Unstable:
            return dict.fromkeys(vms, P95(float("inf"), float("inf")))
        return {vm: _bounded(one) for vm, one in zip(vms, estimates, strict=True)}

    def sketch(self, pairs: Sequence[tuple[Device, tuple[int, ...]]]) -> list[Verdict]:
        """Simulate one replication of each set of VMs on its device, all side by side."""
        items, keys = {}, []
        for device, vms in pairs:
            scenario = self.scenario(device, vms)
            replications = Replications(scenario, self.seed, self.engine, self.at_once)
            key, item = replications.first((self.merge,) * len(vms))
            items[key] = item
            keys.append(key)
        answers = dict(self.engine.run(simulated, items))
        return [_sketched(vms, answers[key]) for (_, vms), key in zip(pairs, keys, strict=True)]

    def _is_clear(self, vms: tuple[int, ...], estimates: Sequence[Estimate]) -> bool:
        targets_ms = [self.targets_ms[vm] for vm in vms]
        pairs = list(zip(estimates, targets_ms, strict=True))
        one_is_above = any(one.mean - (one.half_width or 0) > target for one, target in pairs)
        return one_is_above or all(_bounded(one).most_ms <= target for one, target in pairs)


def _sketched(vms: tuple[int, ...], answer: Answer) -> Verdict:
    figures = outcome(answer)
    if isinstance(figures, Unstable):
        return dict.fromkeys(vms, P95(float("inf"), float("inf")))
    times_ms = [each.response_percentiles[95] / NS_PER_MS for each in figures.each]
    return {vm: P95(time, float("nan")) for vm, time in zip(vms, times_ms, strict=True)}


def _p95(figures: Sequence[QueueFigures], k: int) -> Estimate:
    return estimate([run.each[k].response_percentiles[95] / NS_PER_MS for run in figures])


def _bounded(interval: Estimate) -> P95:
    half = interval.half_width
    assert half is not None  # a batch has several replications
    return P95(interval.mean, (interval.mean + half) * (1 + CELL))
