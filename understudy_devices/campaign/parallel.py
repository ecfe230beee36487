# SPDX-License-Identifier: MIT
"""Run many experiments in parallel.

If one run of a scheduler fails, all runs of that scheduler are left out of the results, but the
results of other schedulers count.  Ctrl-C, and any error other than a failed run, stops everything.
A run counts only if its records pass the checks in understudy_devices/measure/records.py.
"""

import threading
from collections.abc import Callable, Sequence
from functools import partial

from understudy_devices.ask.experiment import Experiment, Outcome
from understudy_devices.base import threads
from understudy_devices.base.errors import RunFailed
from understudy_devices.campaign import second_run
from understudy_devices.campaign.failures import Failures
from understudy_devices.measure import records
from understudy_devices.measure.metrics import summarise
from understudy_devices.platforms import Platform

RunReport = Callable[[Experiment, str, float], None]


def run_all(
    platform: Platform,
    experiments: Sequence[Experiment],
    jobs: int,
    report: RunReport,
) -> tuple[list[Outcome], dict[str, str]]:
    """Run experiments, `jobs` at a time; return outcomes in order, and failures by scheduler."""
    stop = threading.Event()
    failures = Failures()

    def one(place: int, experiment: Experiment) -> Outcome | None:
        name = experiment.scheduler.name
        if failures.before(name, place):
            return None
        try:
            return _run(platform, experiment, report, stop)
        except RunFailed as error:
            failures.add(name, place, str(error))
            return None

    work: list[Callable[[], Outcome | None]] = [
        partial(one, place, each) for place, each in enumerate(experiments)
    ]
    outcomes = threads.run_all(work, jobs, stop)
    failed = failures.first()
    return [run for run in outcomes if run and run.experiment.scheduler.name not in failed], failed


def _run(
    platform: Platform, experiment: Experiment, report: RunReport, stop: threading.Event
) -> Outcome:
    def report_run(phase: str, fraction: float) -> None:
        report(experiment, phase, fraction)

    outcome = platform.run(experiment, report_run, stop=stop)
    records.check(outcome.requests, outcome.unseen)
    second_run.check(experiment, lambda: summarise(outcome))
    report(experiment, "done", 1.0)
    return outcome
