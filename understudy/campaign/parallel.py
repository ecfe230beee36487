# SPDX-License-Identifier: MIT
"""Run many experiments side by side.

A scheduler with a run that failed has failed: its other runs are left out, and what is
found of the other schedulers counts.  Ctrl-C, and whatever else is not a run's failure,
stops all.  Each run's records are held against the definitions before they count.
"""

import threading
from collections.abc import Callable, Sequence
from functools import partial

from understudy.ask.experiment import Experiment, Outcome
from understudy.base import threads
from understudy.base.errors import RunFailed
from understudy.campaign import second_run
from understudy.measure import records
from understudy.measure.metrics import summarise
from understudy.platforms import Platform

RunReport = Callable[[Experiment, str, float], None]


def run_all(
    platform: Platform,
    experiments: Sequence[Experiment],
    jobs: int,
    report: RunReport,
    meanwhile: Callable[[], None] = lambda: None,
) -> tuple[list[Outcome], dict[str, str]]:
    """The outcomes in the order of the experiments, `jobs` at a time, and who failed, how.

    `meanwhile` is done once, by who finds no run left to begin: what follows may need it.
    """
    stop = threading.Event()
    failures: dict[str, str] = {}

    def one(experiment: Experiment) -> Outcome | None:
        name = experiment.scheduler.name
        if name in failures:
            return None
        try:
            return _run(platform, experiment, report, stop)
        except RunFailed as error:
            failures.setdefault(name, str(error))
            return None

    work: list[Callable[[], Outcome | None]] = [partial(one, each) for each in experiments]
    outcomes = threads.run_all([*work, meanwhile], jobs, stop)
    counted = [run for run in outcomes if run and run.experiment.scheduler.name not in failures]
    return counted, failures


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
