# SPDX-License-Identifier: MIT
"""Experiments in VMs: the "vm" platform of understudy_devices.platforms.

The module scenario makes the guest's settings, and outcome reads the results.
"""

import threading
from collections.abc import Sequence

from understudy_devices.ask.experiment import Experiment, Outcome
from understudy_devices.base.cache import digest
from understudy_devices.base.errors import RunFailed
from understudy_devices.base.paths import cache_dir
from understudy_devices.base.progress import Report, silent
from understudy_devices.files import image
from understudy_devices.measure import metrics, records
from understudy_devices.platforms.vm import (
    machine,
    outcome,
    packages,
    qemu,
    scenario,
    self_scaling,
    stages,
    trouble,
)


def check(experiments: Sequence[Experiment]) -> None:
    """Refuse experiments that no VM can run, or for which this machine lacks a program."""
    for experiment in experiments:
        scenario.check(experiment)
    qemu.binary()
    stages.busybox()
    image.mke2fs_version()  # each result names it


def prepare(experiments: Sequence[Experiment], report: Report) -> None:
    """Fetch and build everything that the runs need, before the first run."""
    kernel = packages.fetch_kernel(report)
    for done, experiment in enumerate(experiments):
        report("building modules, programs and the file system", done / len(experiments))
        machine.build(scenario.describe(experiment, report), kernel)


def dry_run(experiment: Experiment) -> list[str]:
    """Return the command that would run the experiment; it can be pasted into a shell."""
    kernel = packages.fetch_kernel()
    vm = scenario.describe(experiment, silent)
    folder = cache_dir() / "dry-run" / digest([repr(vm).encode()])
    folder.mkdir(parents=True, exist_ok=True)
    return machine.lay_out(vm, kernel, folder)


def summarise(
    experiment: Experiment, report: Report, *, stop: threading.Event | None = None
) -> metrics.Summary:
    """Run one experiment, check its records, and keep the figures."""
    answer = run(experiment, report, stop=stop)
    records.check(answer.requests)
    return metrics.summarise(answer)


def run(experiment: Experiment, report: Report, *, stop: threading.Event | None = None) -> Outcome:
    """Run one experiment; if k is not given, a separate run finds it first.

    Raises RunFailed, with the guest's last output, on a panic, a hang, a failing workload, a
    disagreeing witness, a request that escaped the throttle, or a host on which too many requests
    are late.
    """

    def measure(held: Experiment) -> Outcome:
        return outcome.read(held, *_booted(held, report, stop))

    def find(experiment: Experiment) -> float:
        _, _, result = _booted(experiment, report, stop)
        return self_scaling.needed(result.out)

    if not scenario.setting_of(experiment).to_find:
        return measure(experiment)
    return self_scaling.measured(experiment, find, measure, report)


def _booted(
    experiment: Experiment, report: Report, stop: threading.Event | None
) -> tuple[packages.Kernel, machine.Vm, machine.Result]:
    """Boot a machine, and run it to its end."""

    def heard(line: str) -> None:
        words = line.split()
        if words[0] == "progress":
            report("measuring", int(words[1]) / int(words[2]))
        else:
            report(line, 0.0)

    report("booting", 0.0)
    kernel = packages.fetch_kernel()
    vm = scenario.describe(experiment, report)
    result = machine.run(vm, kernel, heard, stop)
    if result.exit_code:
        raise RunFailed(
            f"{experiment.scheduler.name}: the guest gave up; its last words:\n"
            + trouble.last_words(result.console)
        )
    return kernel, vm, result
