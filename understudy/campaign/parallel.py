# SPDX-License-Identifier: MIT
"""Run many experiments side by side; all of them succeed or none counts.

The first failure, or Ctrl-C, stops every other run and is what the caller
sees.  Each run's records are held against the definitions before they count.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed

from understudy.ask.experiment import Experiment, Outcome
from understudy.measure import records
from understudy.platforms import Platform

RunReport = Callable[[Experiment, str, float], None]


def run_all(
    platform: Platform, experiments: Sequence[Experiment], jobs: int, report: RunReport
) -> list[Outcome]:
    """The outcomes in the order of the experiments, `jobs` at a time."""
    stop = threading.Event()

    def one(experiment: Experiment) -> Outcome:
        return _run(platform, experiment, report, stop)

    with ThreadPoolExecutor(max_workers=jobs) as pool:
        try:
            return _results([pool.submit(one, experiment) for experiment in experiments])
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _run(
    platform: Platform, experiment: Experiment, report: RunReport, stop: threading.Event
) -> Outcome:
    def report_run(phase: str, fraction: float) -> None:
        report(experiment, phase, fraction)

    outcome = platform.run(experiment, report_run, stop=stop)
    records.check(outcome.requests)
    report(experiment, "done", 1.0)
    return outcome


def _results(futures: Sequence[Future[Outcome]]) -> list[Outcome]:
    for future in as_completed(futures):
        future.result()  # raises the first failure as soon as it happens
    return [future.result() for future in futures]
