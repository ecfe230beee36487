# SPDX-License-Identifier: MIT
"""Scenarios that differ from a given scenario in one value: the number of the device's servers, a
VM's weight, or the number of VMs of one kind.

A copy of a VM plays each run from a starting point to the end, then from the beginning to the
starting point.  Each replication chooses one of PLACES starting points at random.  With the same
starting point, all copies would send their requests at the same times.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from understudy_devices.base import file_arrays
from understudy_devices.base.errors import UserError
from understudy_devices.consolidation.scenario import SERVERS_MOST, WEIGHT_MOST, Scenario, Tenant
from understudy_devices.consolidation.vm import Run, VirtualMachine
from understudy_devices.native.arrivals import write_arrivals

LIMITS = {"depth": SERVERS_MOST, "weight": WEIGHT_MOST, "copies": 100}
PLACES = 5  # possible starting points for each run of a copy
HINT = "write depth=16,64, or NAME.weight=2,4, or NAME.copies=2,3"


@dataclass(frozen=True)
class Change:
    """A change of a VM's `weight` or `copies`, or of the device's `depth` (then `vm` is None)."""

    vm: str | None
    what: str
    value: int

    def __str__(self) -> str:
        """Return the change as it is typed on the command line."""
        return f"{self.vm}.{self.what}={self.value}" if self.vm else f"{self.what}={self.value}"


def parse(texts: Sequence[str], names: Sequence[str]) -> list[Change]:
    """Parse changes from texts such as "depth=16,64"; keep the order of the texts."""
    return [change for text in texts for change in _parse(text, names)]


def _parse(text: str, names: Sequence[str]) -> Iterator[Change]:
    left, equals, values = text.partition("=")
    vm, dot, what = left.rpartition(".")
    if not equals or what not in (("weight", "copies") if dot else ("depth",)):
        raise UserError(f"--what-if: {text}: {HINT}")
    if dot and vm not in names:
        raise UserError(f"--what-if: {text}: no VM is called {vm}; there are {', '.join(names)}")
    for value in values.split(","):
        if not (value.isascii() and value.isdigit() and 1 <= int(value[:9]) <= LIMITS[what]):
            raise UserError(
                f"--what-if: {text}: {value} is not a whole number from 1 to {LIMITS[what]:,}"
            )
        yield Change(vm if dot else None, what, int(value))


def changed(scenario: Scenario, change: Change, folder: Path) -> Scenario:
    """Return the changed scenario; its additional files are written to `folder`."""
    if change.vm is None:
        return replace(scenario, servers=change.value)
    tenants = [
        other
        for tenant in scenario.tenants
        for other in (
            _changed(tenant, change, folder) if tenant.vm.name == change.vm else (tenant,)
        )
    ]
    return replace(scenario, tenants=tuple(tenants))


def _changed(tenant: Tenant, change: Change, folder: Path) -> tuple[Tenant, ...]:
    if change.what == "weight":
        return (replace(tenant, weight=change.value),)
    return copied(tenant, change.value, folder)


def copied(tenant: Tenant, count: int, folder: Path) -> tuple[Tenant, ...]:
    """Return `count` VMs that behave like this VM; the first of them is the VM itself."""
    return (tenant, *(_copy(tenant, number, folder) for number in range(2, count + 1)))


def _copy(tenant: Tenant, number: int, folder: Path) -> Tenant:
    """Return a copy of a VM; the copy's starting points depend only on its number."""
    name = f"{tenant.vm.name}#{number}"
    random = np.random.default_rng(number)
    runs = tuple(
        _rotated(run, float(random.random()), folder / f"{name}-{rank}-{place}")
        for rank, run in enumerate(tenant.vm.runs)
        for place in range(PLACES)
    )
    return replace(tenant, vm=VirtualMachine(name, runs))


def _rotated(run: Run, turn: float, folder: Path) -> Run:
    """Return the run, started at the fraction `turn` of its length.

    The first recorded request follows the last recorded request after the mean interarrival time.
    """
    if folder.exists():
        raise ValueError(f"{folder} already exists")
    arrival_ns = run.arrivals.arrival_ns
    period_ns = run.arrivals.last_ns + -(-run.arrivals.last_ns // max(1, run.requests - 1))
    from_ns = int(turn * period_ns)
    first = int(np.searchsorted(arrival_ns, from_ns))
    begun_ns = [
        file_arrays.each(lambda part: part - from_ns, arrival_ns[first:]),
        file_arrays.each(lambda part: part + (period_ns - from_ns), arrival_ns[:first]),
    ]
    folder.mkdir(parents=True)
    return replace(
        run,
        arrivals=write_arrivals(
            folder,
            file_arrays.joined(begun_ns),
            _rolled(run.arrivals.pieces, first),
            _rolled(run.service_ns, first),
            _rolled(run.arrivals.write, first),
            _rolled(run.arrivals.waited_ns, first) if run.arrivals.waited else None,
        ),
        response_ns=_rolled(run.response_ns, first),
        sectors=_rolled(run.sectors, first),
    )


def _rolled(values: file_arrays.Array, first: int) -> file_arrays.Array:
    """Return the values from index `first` to the end, followed by those before `first`."""
    return file_arrays.joined([values[first:], values[:first]])
