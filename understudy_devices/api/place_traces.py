# SPDX-License-Identifier: MIT
"""The traces of `place`: each is read once, even if several VMs use it, and a bad one ends the
command or is left out."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from understudy_devices.api import depth
from understudy_devices.api import vms as of_vms
from understudy_devices.api.place_devices import TRACED_ON
from understudy_devices.base.errors import UserError
from understudy_devices.base.progress import Report
from understudy_devices.consolidation import alone, vm
from understudy_devices.consolidation.replications import Replications
from understudy_devices.consolidation.scenario import Scenario, Tenant
from understudy_devices.engine.local import Local
from understudy_devices.traces.form import Form

BAD_TRACES = ("refuse", "leave-out")
NONE_USABLE = "--bad-traces: no VM has a usable trace; name other traces"
LENGTHS = 2.0  # warn if the longest trace is more than this many times as long as the shortest


def traced_depth(
    servers: int | None, named: Mapping[str, Path], form: Form, bad_traces: str
) -> depth.Depth:
    """Return D of the device on which the traces were recorded; bad_traces is one of BAD_TRACES."""
    once = {name: named[name] for name in _first(named).values()}
    if bad_traces != BAD_TRACES[0] and not servers:
        once = {name: path for name, path in once.items() if _is_readable(path, form)}
        if not once:
            raise UserError(NONE_USABLE)
    return depth.find(servers, None, once, form, TRACED_ON)


def tenants_of(
    reading: of_vms.Reading,
    named: Mapping[str, Path],
    bad_traces: str,
    folder: Path,
    report: Report,
) -> dict[Path, Tenant]:
    """Read each trace, by its resolved path; bad_traces is one of BAD_TRACES."""
    first = _first(named)
    once = {name: named[name] for name in first.values()}
    tenants = _usable(reading, once, bad_traces, folder, report)
    for line in _warnings_of_lengths(list(tenants.values())):
        reading.say(line)
    return {path: tenants[name] for path, name in first.items() if name in tenants}


def settled(
    read: Mapping[Path, Tenant],
    device: depth.Depth,
    seed: int,
    reading: of_vms.Reading,
) -> dict[Path, Tenant]:
    """Compare each VM with its model alone on the traced device, as `consolidate` does."""
    engine = Local(reading.jobs or os.cpu_count() or 1)
    scenario = Scenario(tuple(read.values()), device.most or device.servers)
    alike = Replications(scenario, seed, engine)
    return {
        path: alone.settled(tenant, alike, reading.accept_poor_fit, reading.say)
        for path, tenant in read.items()
    }


def _first(named: Mapping[str, Path]) -> dict[Path, str]:
    """Return the first VM that uses each trace."""
    first: dict[Path, str] = {}
    for name, path in named.items():
        first.setdefault(path.resolve(), name)
    return first


def _is_readable(path: Path, form: Form) -> bool:
    try:
        vm.timings(path, form)
    except UserError:
        return False
    return True


def _usable(
    reading: of_vms.Reading,
    named: Mapping[str, Path],
    bad_traces: str,
    folder: Path,
    report: Report,
) -> dict[str, Tenant]:
    if bad_traces == BAD_TRACES[0]:
        tenants = reading.tenants(named, {}, folder, report)
        return dict(zip(named, tenants, strict=True))
    notes: list[str] = []
    try:
        together = replace(reading, say=notes.append)
        tenants = together.tenants(named, {}, folder / "all", report)
    except UserError:
        return _each_usable(reading, named, folder, report)
    for line in notes:
        reading.say(line)
    return dict(zip(named, tenants, strict=True))


def _each_usable(
    reading: of_vms.Reading, named: Mapping[str, Path], folder: Path, report: Report
) -> dict[str, Tenant]:
    """Read one VM after the other, and say why a VM is left out."""
    usable: dict[str, Tenant] = {}
    for rank, (name, path) in enumerate(named.items()):
        try:
            [usable[name]] = reading.tenants({name: path}, {}, folder / str(rank), report)
        except UserError as error:
            reading.say(f"{name}, and every VM with its trace, is left out: {error}")
    if not usable:
        raise UserError(NONE_USABLE)
    return usable


def _warnings_of_lengths(tenants: Sequence[Tenant]) -> Iterator[str]:
    runs = [run for tenant in tenants for run in tenant.vm.runs]
    short, long = (choose(runs, key=lambda run: run.arrivals.last_ns) for choose in (min, max))
    if long.arrivals.last_ns > LENGTHS * short.arrivals.last_ns:
        yield (
            f"{short.name} lasts {short.arrivals.last_ns / 1e9:.4g} s and {long.name} "
            f"{long.arrivals.last_ns / 1e9:.4g} s: on each device, every trace is used only up to "
            "the length of the shortest one there"
        )
