# SPDX-License-Identifier: MIT
"""VMs with targets, devices, and what is found out about them.

VMs are called by their place among `Problem.vms`.  Sets of them are whole numbers with a bit for
each, so that one is within another if `one & other == one`.

Two things are taken for granted wherever something is concluded without being judged: a VM more
on a device makes no other VM's 95th percentile lower, and a server more makes none higher.  Both
hold for a queue, and a simulation's noise may break them by a little.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

Members = int  # a bit for each VM


@dataclass(frozen=True)
class Device:
    """One that serves so many requests at once."""

    name: str
    servers: int


@dataclass(frozen=True)
class Demand:
    """What a VM asks for.

    erlangs: how many servers it keeps busy on average.  target_ms: what its 95th percentile must
    not exceed.  kind: VMs of one kind with one target are interchangeable.  alone_ms: about what
    its 95th percentile is on a device of its own, which only helps to guess.
    """

    name: str
    kind: str
    erlangs: float
    target_ms: float
    alone_ms: float = 0.0


@dataclass(frozen=True)
class P95:
    """A VM's 95th percentile of response time on a device, ms: the mean over replications, and
    what it is at most, with its uncertainty; both infinite if requests pile up for ever."""

    mean_ms: float
    most_ms: float


Verdict = Mapping[int, P95]
"""Of each VM on a device."""

Judge = Callable[[Device, tuple[int, ...]], Verdict]
"""Says what becomes of VMs that share a device, expensively."""


@dataclass(frozen=True)
class Problem:
    """Who is to be placed where; ValueError if it can't be a problem."""

    vms: tuple[Demand, ...]
    devices: tuple[Device, ...]

    def __post_init__(self) -> None:
        """Check it."""
        if not self.vms or not self.devices:
            raise ValueError(f"{len(self.vms)} VMs on {len(self.devices)} devices: give some")
        for device in self.devices:
            if device.servers < 1:
                raise ValueError(f"{device.name}: {device.servers} servers: has to be 1 or more")
        for vm in self.vms:
            if not vm.erlangs > 0 or not vm.target_ms > 0:
                raise ValueError(
                    f"{vm.name}: {vm.erlangs} servers busy and a target of {vm.target_ms} ms: both "
                    "have to be above 0"
                )

    @property
    def everyone(self) -> Members:
        """All VMs."""
        return (1 << len(self.vms)) - 1

    @property
    def largest(self) -> Device:
        """The device with the most servers."""
        return max(self.devices, key=lambda device: device.servers)

    def erlangs(self, members: Members) -> float:
        """Servers that they keep busy on average."""
        return sum(self.vms[vm].erlangs for vm in each(members))

    def load(self, device: Device, members: Members) -> float:
        """Utilisation of the device."""
        return self.erlangs(members) / device.servers

    def canonical(self, members: Members) -> Members:
        """The same set with the first VMs of each kind."""
        for kind in self._several:
            count = (members & kind[-1]).bit_count()
            members = members & ~kind[-1] | kind[count]
        return members

    def transferred(self, verdict: Verdict, members: Members) -> Verdict:
        """What is known of `canonical(members)`, as of `members`, in their order."""
        first = self.canonical(members)
        found = {vm: verdict[vm] for vm in each(members & first)}
        for kind in self._several:
            alike = kind[-1]
            pairs = zip(each(members & alike), each(first & alike), strict=True)
            found |= {vm: verdict[other] for vm, other in pairs}
        return dict(sorted(found.items()))

    @cached_property
    def _several(self) -> list[list[Members]]:
        """For each kind of more than one VM its first 0, 1, 2 ... VMs."""

        def kind(vm: int) -> tuple[str, float]:
            return (self.vms[vm].kind, self.vms[vm].target_ms)

        ordered = sorted(range(len(self.vms)), key=lambda vm: (kind(vm), vm))
        found = []
        for _, alike in groupby(ordered, key=kind):
            firsts = [0]
            for vm in alike:
                firsts.append(firsts[-1] | 1 << vm)
            if len(firsts) > 2:
                found.append(firsts)
        return found


Assignment = tuple[Members, ...]
"""The VMs on each device."""


def each(members: Members) -> Iterator[int]:
    """The VMs in a set, in ascending order."""
    while members:
        lowest = members & -members
        yield lowest.bit_length() - 1
        members ^= lowest


def together(vms: Iterable[int]) -> Members:
    """The set of these VMs."""
    members = 0
    for vm in vms:
        members |= 1 << vm
    return members


def excess(problem: Problem, verdict: Verdict) -> float:
    """By how much of its target the worst VM is above it; 0 if all are under theirs."""
    return max((max(0.0, over(problem, vm, one)) for vm, one in verdict.items()), default=0.0)


def over(problem: Problem, vm: int, found: P95) -> float:
    """How far a VM's 95th percentile may be above its target, as a part of that; below 0: under."""
    return found.most_ms / problem.vms[vm].target_ms - 1


def listed(names: Sequence[str], most: int = 10) -> str:
    """In words, cut short."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
