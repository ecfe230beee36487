# SPDX-License-Identifier: MIT
"""A simulation as numbers and arrays, by their names in struct job (sim/worker/job.h).

The arrays of a Drive are in its `placed`.  Times are ns, addresses and lengths are in sectors.
"""

from typing import Any

import numpy as np

from understudy_devices.native import descriptions
from understudy_devices.native.simulation import Array, Simulation, workloads


def numbers(simulation: Simulation) -> dict[str, int]:
    """Return the values that are single numbers."""
    device = simulation.device
    array = device if isinstance(device, Array) else Array(1)
    depth = array.servers if simulation.depth is None else simulation.depth
    values = {
        "requests": simulation.requests,
        "max_pending": simulation.max_pending,
        "merge_sectors": simulation.merge_sectors,
        "gap_ns": simulation.gap_ns,
        "ask_ns": simulation.ask_ns,
        "depth": depth,
        "array.servers": array.servers,
        "array.mean_service_ns": array.mean_service_ns,
        "array.exponential": array.exponential,
        "world.capacity_sectors": simulation.capacity_sectors,
        "world.seed": simulation.seed,
        "world.processes": simulation.processes,
    }
    if simulation.layout:
        values["world.layout.files"] = len(simulation.layout.bytes)
    if simulation.cache:
        values |= {
            "cache.bytes": simulation.cache.bytes,
            "cache.page_sectors": simulation.cache.page_sectors,
            "cache.read_ahead_pages": simulation.cache.read_ahead_pages,
        }
    return {f"input.{name}": int(value) for name, value in values.items()}


def arrays(simulation: Simulation) -> dict[str, Any]:
    """Return the arrays; ValueError if one has a wrong length or an impossible value."""
    return _choice(simulation) | _classes(simulation) | _files(simulation) | _table(simulation)


def _choice(simulation: Simulation) -> dict[str, Any]:
    scheduler = descriptions.scheduler(simulation.scheduler)
    parameters = workloads()[simulation.workload].parameters
    return {
        "input.tunables": descriptions.tunable_values(scheduler, simulation.tunables),
        "input.parameters": descriptions.field_values(
            simulation.workload, "parameter", parameters, simulation.parameters
        ),
    } | {
        f"input.cache.policies.{name}_tunables": descriptions.tunable_values(
            policy.described, policy.tunables
        )
        for name, policy in (simulation.cache.policies if simulation.cache else {}).items()
    }


def _classes(simulation: Simulation) -> dict[str, Any]:
    return {
        f"input.{name}": _column(name, values, kind, simulation.processes)
        for name, values, kind in (
            ("weight", simulation.weights, np.uint32),
            ("io_class", simulation.io_classes, np.uint8),
            ("level", simulation.levels, np.uint8),
        )
        if values is not None
    }


def _files(simulation: Simulation) -> dict[str, Any]:
    layout = simulation.layout
    if layout is None:
        return {}
    files = len(layout.bytes)
    extents = len(layout.start)
    return {
        f"input.world.layout.{name}": _column(name, values, np.uint64, length)
        for name, values, length in (
            ("bytes", layout.bytes, files),
            ("first", layout.first, files + 1),
            ("start", layout.start, extents),
            ("length", layout.length, extents),
        )
    }


def _table(simulation: Simulation) -> dict[str, Any]:
    rows = simulation.rows
    if rows is None:
        return {}
    count = len(rows.think_ns)
    cost_ns = np.zeros(count, np.uint64) if rows.cost_ns is None else rows.cost_ns
    return {
        f"input.world.rows.{name}": _column(name, values, kind, length)
        for name, values, kind, length in (
            ("first", rows.first, np.uint64, simulation.processes + 1),
            ("think_ns", rows.think_ns, np.uint64, count),
            ("sector", rows.sector, np.uint64, count),
            ("cost_ns", cost_ns, np.uint64, count),
            ("sectors", rows.sectors, np.uint32, count),
            ("owner", rows.owner, np.uint32, count),
            ("op", rows.op, np.uint8, count),
        )
    }


def _column(name: str, values: Any, kind: type[np.generic], length: int) -> Any:
    array = np.asarray(values)
    if array.shape != (length,):
        raise ValueError(f"{name} has {array.size} entries, not {length}")
    limit = 256 ** np.dtype(kind).itemsize
    if not (array.min(initial=0) >= 0 and array.max(initial=0) < limit):
        raise ValueError(f"{name}: not every entry is from 0 to {limit - 1}")
    return np.ascontiguousarray(array, kind)
