# SPDX-License-Identifier: MIT
"""Whether simulator and VM agree in closed loop."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from bench.part import Column, Row, Rows
from bench.runs import experiment, run_all
from understudy_devices.ask import schedulers as catalogue
from understudy_devices.ask.experiment import Experiment, Outcome
from understudy_devices.ask.setting import OnSim
from understudy_devices.measure.comparison import Estimate, estimate
from understudy_devices.measure.metrics import Times, carried_requests, response_times_ms

TITLE = "How well simulator and VM agree"
TEXT = """
Both platforms run closed-loop workloads with the same seeds: `random` with 20 processes that have
no think time, and `surge-direct` with 50 processes. Two medians from the VM's records are
parameters of the simulator's runs. *Gap* (`--gap-us`) is the time that the guest's kernel needs
between a completion and the next dispatch while requests are pending. *Ask* (`--ask-us`), only in
`random`, is the time that a process needs between a completion and its next request. A scheduler's
deliberate wait does not count as a gap.

The difference of the mean response times is a percentage of the VM's, with the 95 % interval of the
paired differences. The platforms agree if the difference is within 3 %, or if the interval includes
zero.

{{ agreement }}

The platforms agreed only after two faults were fixed. The simulator did not merge adjacent
requests. In the VM, cfq and anticipatory drew wrong conclusions from the file lookups before the
measurement. Now the scheduler and the throttle start when the measurement starts.

With the same arrivals, the two platforms agree on every request: `tests/vm/test_parity.py` checks
that choice, reason and service time are identical, with each of Understudy's schedulers.
"""
TABLES = {
    "agreement": (
        Column("workload", "{workload}, {processes} processes"),
        Column("scheduler", "{scheduler}"),
        Column("gap (us)", "{gap_us:.1f}"),
        Column("ask (us)", "{ask_us:.1f}"),
        Column("VM (ms)", "{vm_ms:.2f}"),
        Column("simulator (ms)", "{sim_ms:.2f}"),
        Column("difference (%)", "{difference_percent:+.1f}"),
        Column("± (%)", "{interval_percent:.1f}"),
        Column("agrees", "{agrees}"),
    )
}
SIZES = {
    "full": {
        "workloads": ["random", "surge-direct"],
        "schedulers": ["all"],
        "seeds": 10,
        "requests": 3000,
        "jobs": 2,
    },
    "quick": {
        "workloads": ["random", "surge-direct"],
        "schedulers": ["cats", "fcfs"],
        "seeds": 3,
        "requests": 1000,
        "jobs": 1,
    },
    "tiny": {
        "workloads": ["random"],
        "schedulers": ["fcfs"],
        "seeds": 1,
        "requests": 200,
        "jobs": 1,
    },
}
IN_VM = True
PROCESSES = {"random": 20, "surge-direct": 50}
LIMIT = 0.03
ON_PURPOSE_US = 1000  # a longer gap is a scheduler's deliberate wait


def measure(
    workloads: list[str], schedulers: list[str], seeds: int, requests: int, jobs: int
) -> Rows:
    """Yield a row for each workload and scheduler."""
    for workload in workloads:
        for scheduler in catalogue.parse(",".join(schedulers)):
            runs = [
                experiment(
                    workload, scheduler, requests=requests, processes=PROCESSES[workload], seed=seed
                )
                for seed in range(1, seeds + 1)
            ]
            yield "agreement", _row(runs, jobs)


def _row(runs: Sequence[Experiment], jobs: int) -> Row:
    first = runs[0]
    vm = run_all(runs, jobs)
    gap_us = _median(gaps_us, vm)
    ask_us = _median(asks_us, vm) if first.workload.name == "random" else 0.0
    simulated = OnSim(gap_us=gap_us, ask_us=ask_us)
    sim = run_all([replace(one, platform=simulated) for one in runs], jobs)
    means = [[float(response_times_ms(one).mean()) for one in outcomes] for outcomes in (vm, sim)]
    vm_ms, sim_ms = (float(np.mean(each)) for each in means)
    difference = estimate([ours - theirs for theirs, ours in zip(*means, strict=True)])
    half_width = difference.half_width
    return {
        "workload": first.workload.name,
        "processes": first.workload.processes,
        "scheduler": first.scheduler.name,
        "gap_us": gap_us,
        "ask_us": ask_us,
        "vm_ms": vm_ms,
        "sim_ms": sim_ms,
        "difference_percent": 100 * difference.mean / vm_ms,
        "interval_percent": None if half_width is None else 100 * half_width / vm_ms,
        "agrees": "yes" if agree(difference, vm_ms) else "NO",
    }


def agree(difference: Estimate, reference: float) -> bool:
    """Return whether the difference is small enough to count as agreement."""
    return abs(difference.mean) <= LIMIT * reference or difference.includes_zero


def gaps_us(outcome: Outcome) -> Times:
    """Return the time in us from each completion to the next dispatch, if a request was pending."""
    arrivals = outcome.requests.group_by("request_id").agg(arrival=pl.col("arrival_ns").min())
    carried = carried_requests(outcome.requests).join(
        arrivals, on="request_id", maintain_order="left"
    )
    completion = carried["completion_ns"].to_numpy()[:-1]
    waited = carried["arrival"].to_numpy()[1:] < completion
    gaps = (carried["dispatch_ns"].to_numpy()[1:] - completion)[waited] / 1e3
    return np.asarray(gaps[gaps < ON_PURPOSE_US])


def asks_us(outcome: Outcome) -> Times:
    """Return the time in us from each completion to the same process's next request."""
    rows = outcome.requests.sort("owner", "arrival_ns")
    gaps = rows.select(
        (pl.col("arrival_ns") - pl.col("completion_ns").shift(1).over("owner")).drop_nulls()
    )
    return gaps.to_series().to_numpy() / 1e3


def _median(measure: Callable[[Outcome], Times], outcomes: Sequence[Outcome]) -> float:
    times = np.concatenate([measure(one) for one in outcomes])
    return round(float(np.median(times)), 1) if len(times) else 0.0
