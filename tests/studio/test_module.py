# SPDX-License-Identifier: MIT
"""The simulator's WebAssembly module has the same rows and figures as the program `simulate`, byte
for byte: each scheduler, each simulated workload, each disk.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from built_page import built
from page_jobs import WORKLOADS, in_node, in_page, in_program, page_job, planned, simulations

from understudy_devices.ask import policies
from understudy_devices.ask.experiment import Experiment
from understudy_devices.base.errors import UserError
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
    for experiment, job in zip(asked, made(module, asked), strict=True):
        assert job == page_job(in_simulator.describe(experiment))


POLICIES = [{kind: name} for kind, each in policies.KINDS.items() for name in each.ours()] + [
    {"prefetch": "amp", "replacement": "2q"}
]


@pytest.mark.parametrize("workload", ["surge-buffered", "concurrent-read"])
def test_policies_of_the_page_cache(module: Path, workload: str) -> None:
    """The page makes the same jobs with each policy, and they have the same bytes."""
    ahead = {"read_ahead": 4} if workload == "concurrent-read" else {}
    asked = [
        experiment
        for chosen in POLICIES
        for experiment in planned("cheetah-15k4", workload, "clook", **ahead, **chosen)
    ]
    jobs = made(module, asked)
    for experiment, job, answer in zip(asked, jobs, in_page(module, jobs), strict=True):
        simulation = in_simulator.describe(experiment)
        assert job == page_job(simulation)
        del answer["figures"]
        assert answer == in_program(simulation)


def test_policies_without_an_effect_are_refused(module: Path) -> None:
    """The command refuses them, too."""
    (one,) = planned("cheetah-15k4", "concurrent-read", "clook", read_ahead=4, prefetch="amp")
    without = question(one)
    without["values"]["read_ahead_kib"] = 0
    (answer,) = in_node("make_jobs.ts", [module, module.parent], [without])
    assert answer["error"].startswith(
        "--prefetch: amp may prefetch nothing: concurrent-read has a "
    )
    without["values"]["prefetch"] = 99
    (answer,) = in_node("make_jobs.ts", [module, module.parent], [without])
    assert answer["error"] == f"--prefetch: choose from {', '.join(policies.PREFETCH.ours())}"
    with pytest.raises(UserError, match="may prefetch nothing: concurrent-read"):
        planned("cheetah-15k4", "concurrent-read", "clook", read_ahead=0, prefetch="amp")


def made(module: Path, asked: list[Experiment]) -> list[dict[str, Any]]:
    """Return the jobs that the page makes of experiments."""
    return in_node("make_jobs.ts", [module, module.parent], [question(each) for each in asked])


def question(experiment: Experiment) -> dict[str, Any]:
    """Return what the page knows of an experiment."""
    slots = (experiment, experiment.workload, experiment.device, experiment.platform)
    values = {name: getattr(slot, name) for slot in slots for name in slot.declared()}
    for field, kind in policies.KINDS.items():
        if values.get(field):
            values[field] = kind.ours().index(values[field].name)
    return {
        "disk": experiment.device.disk.name,
        "workload": experiment.workload.name,
        "scheduler": experiment.scheduler.name,
        "values": {name: value for name, value in values.items() if isinstance(value, int | float)},
        "tunables": {},
    }
