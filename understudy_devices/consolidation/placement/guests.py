# SPDX-License-Identifier: MIT
"""The VMs to be placed: for each trace one VM, or several VMs that behave alike.

VMs with the same trace are of the same kind.  The first VM of a kind plays the trace from its
start.  Each other VM starts at a different point of the trace, like copies in `what_if`, so that
their requests do not arrive at the same times.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from understudy_devices.base.errors import UserError
from understudy_devices.consolidation import what_if
from understudy_devices.consolidation.placement.problem import Demand
from understudy_devices.consolidation.scenario import Tenant
from understudy_devices.consolidation.vm import NS_PER_MS
from understudy_devices.native.open_queue import CLASSES_MAX

PARTS = 64  # of the time, in a profile
SERVICES = 50  # mean service times in a window in which arrivals are counted
WINDOWS_LEAST, WINDOWS_MOST = 10, 100_000


@dataclass(frozen=True)
class Guest:
    """A VM to be placed.  kind: the trace or folder with its requests."""

    name: str
    kind: Path
    target_ms: float


def guests(
    named: Mapping[str, Path], copies: Mapping[str, int], target_ms: Mapping[str, float]
) -> list[Guest]:
    """Return one guest for each name, or as many as `copies` requires (web, web#2, web#3 ...).

    Raise a UserError if there are too many guests. target_ms: a key is the name of a single VM, the
    name of a VM and all its copies, or "" for all other VMs.
    """
    guest_list: list[Guest] = []
    for base, path in named.items():
        for number in range(1, copies.get(base, 1) + 1):
            name = base if number == 1 else f"{base}#{number}"
            guest_list.append(Guest(name, path.resolve(), _target(name, base, target_ms)))
    if len(guest_list) > CLASSES_MAX:
        raise UserError(f"{len(guest_list):,} VMs: at most {CLASSES_MAX:,} can be placed")
    return guest_list


def _target(name: str, base: str, target_ms: Mapping[str, float]) -> float:
    for known in (name, base, ""):
        if known in target_ms:
            return target_ms[known]
    raise UserError(f"{name} has no target: give --p95-ms MS for all, or --targets-ms {name}=MS")


def multiplied(
    guest_list: Sequence[Guest], read: Mapping[Path, Tenant], folder: Path
) -> list[Tenant]:
    """Return the guests as tenants, each made from the tenant of its kind.

    The files of copies are written to `folder`.
    """
    of_kind = {
        kind: iter(
            what_if.copied(
                tenant, sum(guest.kind == kind for guest in guest_list), folder / str(rank)
            )
        )
        for rank, (kind, tenant) in enumerate(read.items())
    }
    return [_called(next(of_kind[guest.kind]), guest.name) for guest in guest_list]


def demands(
    guest_list: Sequence[Guest], read: Mapping[Path, Tenant], merge: float
) -> tuple[Demand, ...]:
    """Return the demand of each guest if a server merges `merge` requests into one."""
    alone_ms = {kind: tenant.vm.percentiles_ms[95] for kind, tenant in read.items()}
    until_ns = min(tenant.vm.runs[0].arrivals.last_ns for tenant in read.values()) + 1
    shapes = {kind: shape(tenant, until_ns) for kind, tenant in read.items()}
    return tuple(
        Demand(
            name=guest.name,
            kind=str(guest.kind),
            erlangs=read[guest.kind].erlangs / merge,
            target_ms=guest.target_ms,
            alone_ms=float(alone_ms[guest.kind]),
            residual_ms=shapes[guest.kind][0],
            profile=shapes[guest.kind][1],
        )
        for guest in guest_list
    )


def shape(tenant: Tenant, until_ns: int) -> tuple[float, tuple[float, ...]]:
    """Return `residual_ms` and `profile` of a VM's Demand, from its first run.

    The profile ends at until_ns, and repeats a shorter run.  residual_ms is the mean service time
    times half the sum of two ratios: the variance of the number of arrivals in a time to its mean,
    and the squared coefficient of variation of service times.
    """
    process, arrivals = tenant.fitted.process, tenant.vm.runs[0].arrivals
    length_ns = max(1.0, process.mean * SERVICES)
    windows = int(min(WINDOWS_MOST, arrivals.last_ns / length_ns))
    dispersion = 1.0
    if windows >= WINDOWS_LEAST:
        counts, _ = np.histogram(arrivals.arrival_ns, windows, (0, windows * length_ns))
        dispersion = float(counts.var() / max(counts.mean(), 1e-9))
    residual_ms = process.mean / NS_PER_MS * (dispersion + process.cv**2) / 2
    at_ns = np.asarray(arrivals.arrival_ns) % until_ns
    counts, _ = np.histogram(at_ns, PARTS, (0, until_ns))
    return residual_ms, tuple((counts / counts.mean()).tolist())


def _called(tenant: Tenant, name: str) -> Tenant:
    return replace(tenant, vm=replace(tenant.vm, name=name))
