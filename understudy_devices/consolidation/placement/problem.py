# SPDX-License-Identifier: MIT
"""The problem: VMs with targets, devices, and verdicts on them.

A VM is identified by its index in `Problem.vms`.  A set of VMs is a whole number with a bit for
each VM, so the set `one` is a subset of `other` if `one & other == one`.

Conclusions without a judgement need two assumptions: an additional VM on a device lowers no other
VM's 95th percentile, and an additional server, or faster servers, raise no VM's 95th percentile.
Both assumptions are true for a queue; a simulation's noise may violate them slightly.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from understudy_devices.consolidation.placement.constraints import Constraints
from understudy_devices.consolidation.placement.constraints import Members as Members


@dataclass(frozen=True)
class Device:
    """A device that serves `servers` requests at once.

    speed: how many times as fast as the traced device it serves a request.
    """

    name: str
    servers: int
    speed: float = 1.0

    @property
    def kind(self) -> tuple[int, float]:
        """Return what distinguishes devices, besides their capacities and VMs of today."""
        return self.servers, self.speed

    @property
    def capacity(self) -> float:
        """Return how many servers of the traced device do as much."""
        return self.servers * self.speed

    def is_at_most(self, other: "Device") -> bool:
        """Return whether the other device has at least as many servers, each at least as fast."""
        return self.servers <= other.servers and self.speed <= other.speed


@dataclass(frozen=True)
class Demand:
    """The demand of a VM.

    erlangs: the number of servers of the traced device that the VM keeps busy on average.
    target_ms: the limit for the VM's 95th percentile.  kind: VMs of the same kind with the same
    target are interchangeable.

    Used only for forecasts: alone_ms, roughly the VM's 95th percentile when it is alone on a
    device; residual_ms, the mean time that a request in service still needs, longer if arrivals
    are bursty; profile, the VM's load in equal parts of the time, relative to its mean.
    """

    name: str
    kind: str
    erlangs: float
    target_ms: float
    alone_ms: float = 0.0
    residual_ms: float = 0.0
    profile: tuple[float, ...] = ()


@dataclass(frozen=True)
class P95:
    """A VM's 95th percentile of response time on a device, in ms.

    mean_ms: the mean over replications. most_ms: the upper end of the mean's interval.  Both are
    infinite if the queue grows without limit.
    """

    mean_ms: float
    most_ms: float


Verdict = Mapping[int, P95]
"""The 95th percentile of each VM on a device."""

Judge = Callable[[Device, tuple[int, ...]], Verdict]
"""A function that predicts the 95th percentiles of VMs that share a device; a call is expensive."""


Sketch = Callable[[Sequence[tuple[Device, tuple[int, ...]]]], Sequence[Verdict]]
"""A function that predicts 95th percentiles of several sets of VMs, each on a device, roughly: the
upper ends of the intervals (most_ms) are unknown (NaN)."""


@dataclass(frozen=True)
class Problem:
    """The VMs and the devices; the constructor raises a ValueError for impossible values."""

    vms: tuple[Demand, ...]
    devices: tuple[Device, ...]
    constraints: Constraints = field(default_factory=Constraints)

    def __post_init__(self) -> None:
        """Check the problem."""
        if not self.vms or not self.devices:
            raise ValueError(f"{len(self.vms)} VMs on {len(self.devices)} devices: give some")
        for device in self.devices:
            if device.servers < 1:
                raise ValueError(f"{device.name}: {device.servers} servers: must be 1 or more")
            if not device.speed > 0:
                raise ValueError(f"{device.name}: a speed of {device.speed}: must be above 0")
        for vm in self.vms:
            if not vm.erlangs > 0 or not vm.target_ms > 0:
                raise ValueError(
                    f"{vm.name}: {vm.erlangs} servers busy and a target of {vm.target_ms} ms: both "
                    "must be above 0"
                )

    @property
    def everyone(self) -> Members:
        """Return the set of all VMs."""
        return (1 << len(self.vms)) - 1

    @property
    def largest(self) -> Device:
        """Return the device with the highest capacity."""
        return max(self.devices, key=lambda device: device.capacity)

    @cached_property
    def best(self) -> tuple[Device, ...]:
        """Return one device of each kind that no other kind surpasses, in servers and in speed.

        A VM that misses its target on all of these misses it on every device.
        """
        first = {device.kind: device for device in reversed(self.devices)}
        return tuple(
            device
            for device in self.devices
            if first[device.kind] is device
            and not any(device.is_at_most(other) for other in first.values() if other is not device)
        )

    @property
    def capacity(self) -> float:
        """Return the capacity of all devices together."""
        return sum(device.capacity for device in self.devices)

    def erlangs(self, members: Members) -> float:
        """Return the number of servers that these VMs keep busy on average."""
        return sum(self.vms[vm].erlangs for vm in each(members))

    def load(self, device: Device, members: Members) -> float:
        """Return the utilisation of the device with these VMs."""
        return self.erlangs(members) / device.capacity

    def canonical(self, members: Members) -> Members:
        """Return the set with the same 95th percentiles in which the VMs of each kind are the first
        VMs of that kind."""
        return _first(self._several, members)

    def interchanged(self, members: Members) -> Members:
        """Return the canonical set if only VMs with the same constraints are interchanged."""
        return _first(self._interchangeable, members)

    @cached_property
    def units(self) -> list[Members]:
        """Return the sets of VMs that must share a device; most are a single VM."""
        return self.constraints.units(len(self.vms))

    def transferred(self, verdict: Verdict, members: Members) -> Verdict:
        """Return the verdict on `members`, given the verdict on `canonical(members)`."""
        first = self.canonical(members)
        by_vm = {vm: verdict[vm] for vm in each(members & first)}
        for kind in self._several:
            alike = kind[-1]
            pairs = zip(each(members & alike), each(first & alike), strict=True)
            by_vm |= {vm: verdict[other] for vm, other in pairs}
        return dict(sorted(by_vm.items()))

    @cached_property
    def _several(self) -> list[list[Members]]:
        """Return, for each kind with several VMs, the sets of its first 0, 1, 2 ... VMs."""
        return _firsts([(vm.kind, vm.target_ms) for vm in self.vms])

    @cached_property
    def _interchangeable(self) -> list[list[Members]]:
        return _firsts(self.kinds)

    @cached_property
    def kinds(self) -> list[Hashable]:
        """Return a key for each VM; VMs with the same key are interchangeable."""
        return [
            (vm.kind, vm.target_ms, *self.constraints.distinguish(rank))
            for rank, vm in enumerate(self.vms)
        ]


def _first(several: list[list[Members]], members: Members) -> Members:
    for firsts in several:
        count = (members & firsts[-1]).bit_count()
        members = members & ~firsts[-1] | firsts[count]
    return members


def _firsts(keys: Sequence[Hashable]) -> list[list[Members]]:
    """Return, for each key of several VMs, the sets of its first 0, 1, 2 ... VMs."""
    groups: dict[Hashable, list[Members]] = {}
    for vm, key in enumerate(keys):
        firsts = groups.setdefault(key, [0])
        firsts.append(firsts[-1] | 1 << vm)
    return [firsts for firsts in groups.values() if len(firsts) > 2]


Assignment = tuple[Members, ...]
"""The VMs on each device."""


def each(members: Members) -> Iterator[int]:
    """Yield the VMs in a set, in ascending order."""
    while members:
        lowest = members & -members
        yield lowest.bit_length() - 1
        members ^= lowest


def together(vms: Iterable[int]) -> Members:
    """Return the set of these VMs."""
    members = 0
    for vm in vms:
        members |= 1 << vm
    return members


def bound(problem: Problem, verdict: Verdict) -> float:
    """Return the highest ratio of the upper end of a 95th percentile to its target; 0 without
    VMs."""
    return max((1 + over(problem, vm, one) for vm, one in verdict.items()), default=0.0)


def over(problem: Problem, vm: int, p95: P95) -> float:
    """Return how far a VM's 95th percentile may be above its target, as a fraction of the target.

    The result is negative if the 95th percentile is below the target.
    """
    return p95.most_ms / problem.vms[vm].target_ms - 1


def ratio(problem: Problem, verdict: Verdict) -> float:
    """Return the highest ratio of a VM's mean 95th percentile to its target; 0 without VMs."""
    return max(
        (p95.mean_ms / problem.vms[vm].target_ms for vm, p95 in verdict.items()), default=0.0
    )


def listed(names: Sequence[str], most: int = 10) -> str:
    """Return the names as text; of a long list, return `most` names and the number of the
    others."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
