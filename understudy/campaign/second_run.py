# SPDX-License-Identifier: MIT
"""Check a user's scheduler that ran in a VM against the same file in the simulator.

In the VM the scheduler is part of the kernel that measures it, and could forge its own figures.  In
the simulator the scheduler runs in a separate process, and can't forge them.  Both runs use the
same random numbers.  If the VM's figures are better than the simulator's by more than chance can
explain, the VM's run does not count.

For this project's schedulers the figures of VM and simulator differ by up to 4 % with 5,000
requests, 8 % with 1,000 requests and 21 % with 100 requests.  The VM's 99th percentile is up to
10 % shorter.  (Tried with the workloads surge-direct, surge-buffered and random under cats, clook,
deadline, fcfs and sstf.)
"""

import math
from collections.abc import Callable
from dataclasses import replace

from understudy.ask.experiment import Experiment
from understudy.ask.setting import OnSim, OnVm
from understudy.base.errors import RunFailed, UserError
from understudy.base.progress import silent
from understudy.measure.metrics import Measure, Summary
from understudy.measure.trust import Trust
from understudy.native import registry
from understudy.platforms.sim import in_simulator

MOST_BETTER = 0.05
CHANCE = 3.0
"""With n requests a figure may by chance be better by the fraction CHANCE / sqrt(n)."""
COMPARED = {  # figures, and a factor by which each one's limit is multiplied
    Measure("mean_service_ms", "mean service", "ms"): 1,
    Measure("mean_response_ms", "mean response", "ms"): 1,
    Measure("p99_response_ms", "p99 response", "ms"): 3,
    Measure("throughput_sectors_per_ms", "throughput", "sectors/ms", higher_is_better=True): 1,
}


def trust(experiment: Experiment) -> Trust:
    """Return the trust in a run: not checked if the scheduler could forge the figures and the
    simulator can't run the experiment."""
    if not _is_forgeable(experiment) or not (why := _in_simulator(experiment)[1]):
        return Trust(True)
    name = experiment.scheduler.name
    return Trust(
        None,
        (
            f"{name} is part of the kernel that measures it, and the simulator can't play this "
            f"workload to check it: {why}",
        ),
    )


def check(experiment: Experiment, measure_it: Callable[[], Summary]) -> None:
    """Raise RunFailed if the simulator contradicts a VM's figures for a user's scheduler."""
    if not _is_forgeable(experiment):
        return
    again, _ = _in_simulator(experiment)
    if not again:
        return
    measured, simulated = measure_it(), in_simulator.summarise(again, silent)
    most = MOST_BETTER + CHANCE / math.sqrt(measured.requests)
    for measure, factor in COMPARED.items():
        vm, sim = getattr(measured, measure.key), getattr(simulated, measure.key)
        ratio = vm / sim if measure.higher_is_better else sim / vm
        if not ratio <= 1 + factor * most:
            raise RunFailed(
                f"{experiment.scheduler.name}: the VM measured a {measure.label} of {vm:.4g} "
                f"{measure.unit}, but the simulator has {sim:.4g} {measure.unit} for the same "
                "file: the run does not count, since kernel code can forge what the kernel measures"
            )


def _is_forgeable(experiment: Experiment) -> bool:
    name = experiment.scheduler.name
    on_vm = isinstance(experiment.platform, OnVm)
    return on_vm and registry.known(name) and bool(registry.source(name).stranger)


def _in_simulator(experiment: Experiment) -> tuple[Experiment | None, str]:
    """Return the same experiment for the simulator, or why the simulator can't run it."""
    vm = experiment.platform
    try:
        again = replace(experiment, platform=OnSim(think_scale=vm.think_scale / vm.scale))
        in_simulator.check([again])
        in_simulator.prepare([again], silent)
    except UserError as error:
        return None, str(error)
    return again, ""
