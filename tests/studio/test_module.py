# SPDX-License-Identifier: MIT
"""The simulator's WebAssembly module has the same rows and figures as the program `simulate`, byte
for byte: each scheduler, each simulated workload, each disk.
"""

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from built_page import built
from page_jobs import NODE, WORKLOADS, in_page, in_program, page_job, planned, simulations
from places import CHECKOUT

from understudy_devices.ask.experiment import Experiment
from understudy_devices.device import profile
from understudy_devices.device.profile import catalogue
from understudy_devices.native.simulator import run
from understudy_devices.platforms.sim import in_simulator


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the module of the page."""
    return built(tmp_path_factory) / "data" / "simulator.wasm"


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
