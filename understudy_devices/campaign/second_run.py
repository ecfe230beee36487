# SPDX-License-Identifier: MIT
"""Check a user's scheduler that ran in a VM against the same file in the simulator.

In the VM the scheduler is part of the kernel that measures it, and could forge its own figures.
In the simulator the scheduler runs in a separate process, and can't forge them.  The simulator
runs the scheduler with the VM's seed and OTHER_SEEDS other seeds.  The VM's run does not count if
one of its figures is better than the best simulated figure by more than the figure's limit.

An honest run may exceed a limit by chance.  To learn how often, runs in the simulator were
compared with each other: one of 17 seeds with the others, for this project's schedulers, random
and SURGE workloads, and 300, 1,000 and 5,000 requests, on a disk and on an array.  Means were
over their limit in at most 0.4 % of runs, and in none with 5,000 requests.
"""

from collections.abc import Callable
from dataclasses import replace

from understudy_devices.ask.experiment import Experiment
from understudy_devices.ask.setting import OnSim, OnVm
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.base.progress import silent
from understudy_devices.measure.metrics import MORE_MEASURES, PAPER_MEASURES, Summary
from understudy_devices.measure.trust import Trust
from understudy_devices.native import registry
from understudy_devices.platforms.sim import in_simulator

OTHER_SEEDS = 16
SEEDS = 2**63
LIMITS = {
    "mean_service_ms": 0.1,
    "mean_response_ms": 0.1,
    "throughput_sectors_per_ms": 0.1,
    "p99_response_ms": 0.3,
}
"""How much better the VM may be, as a fraction of the best simulated figure."""
MEASURES = [one for one in (*PAPER_MEASURES, *MORE_MEASURES) if one.key in LIMITS]


def trust(experiment: Experiment) -> Trust:
    """Return the trust in a run: None (not checked) if the scheduler could forge the figures and
    the simulator can't run the experiment."""
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
    measured = measure_it()
    seeds = [(experiment.seed + more) % SEEDS for more in range(1 + OTHER_SEEDS)]
    simulated = [in_simulator.summarise(replace(again, seed=seed), silent) for seed in seeds]
    for measure in MEASURES:
        of_all = max if measure.higher_is_better else min
        vm, best = measured.value(measure), of_all(run.value(measure) for run in simulated)
        ratio = vm / best if measure.higher_is_better else best / vm
        if not ratio <= 1 + LIMITS[measure.key]:
            raise RunFailed(
                f"{experiment.scheduler.name}: the VM measured a {measure.label} of {vm:.4g} "
                f"{measure.unit}, but the best of {len(simulated)} runs in the simulator has "
                f"{best:.4g} {measure.unit}: the run does not count, since kernel code can forge "
                "what the kernel measures"
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
