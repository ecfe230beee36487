# SPDX-License-Identifier: MIT
"""A simulation as JSON for the simulator's WebAssembly module (web/src/simulator/module.ts).

Numbers have up to 64 bits, so they are strings of decimal digits.
"""

from typing import Any

from understudy_devices.native import members
from understudy_devices.native.drive import Drive
from understudy_devices.native.simulation import Simulation


def page_job(simulation: Simulation) -> dict[str, Any]:
    """Return the parts' names, and all numbers and arrays; ValueError if one is impossible."""
    numbers, arrays = members.numbers(simulation), members.arrays(simulation)
    if simulation.layout:
        numbers["extents"] = len(simulation.layout.start)
    if simulation.rows:
        numbers["rows"] = len(simulation.rows.think_ns)
    if isinstance(simulation.device, Drive):
        numbers |= simulation.device.numbers("device.drive")
        arrays |= simulation.device.placed("device.drive")
    policies = simulation.cache.policies if simulation.cache else {}
    return {
        "scheduler": simulation.scheduler,
        "workload": simulation.workload,
        **{kind: policy.described.name for kind, policy in policies.items()},
        "numbers": {name: str(value) for name, value in numbers.items()},
        "arrays": {name: [str(value) for value in array] for name, array in arrays.items()},
    }
