# SPDX-License-Identifier: MIT
"""Do simulator and VM agree in closed loop?  python -m bench.agreement [SEEDS [REQUESTS]]

The same seeds on both platforms, `random` and `surge-direct`, with our schedulers.  Two
medians of the VM's records become the simulator's `--gap` and `--ask`: what the guest's
kernel needs between a completion and the next dispatch while requests wait, and, in
`random`, whose processes don't think, what a process needs between an answer and its next
request.  Mean responses agree if they differ by 3 % at most, or if the 95 % interval of the paired
differences includes zero.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from understudy.ask import schedulers
from understudy.ask.experiment import Experiment, Outcome, asked
from understudy.ask.schedulers import Choice
from understudy.ask.setting import OnSim
from understudy.ask.workloads import WORKLOADS
from understudy.base.errors import RunFailed
from understudy.campaign import parallel
from understudy.device import profile
from understudy.measure.comparison import Estimate, estimate
from understudy.measure.metrics import Times, carried_requests, response_times_ms
from understudy.platforms import load

PROCESSES = {"random": 20, "surge-direct": 50}
LIMIT = 0.03
ON_PURPOSE_US = 1000  # from here on it is a scheduler that waits
JOBS = 2


def main() -> None:
    """Print a line for each workload and scheduler."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    requests = int(sys.argv[2]) if len(sys.argv) > 2 else 3000
    columns = ("scheduler", "gap (us)", "ask (us)", "VM (ms)", "simulator (ms)", "difference")
    print(f"| workload, {seeds} seeds | {' | '.join(columns)} |\n{'| --- ' * 7}|")
    for workload in PROCESSES:
        for scheduler in schedulers.core():
            _line(
                [_experiment(workload, scheduler, seed, requests) for seed in range(1, seeds + 1)]
            )


def _experiment(workload: str, scheduler: str, seed: int, requests: int) -> Experiment:
    return asked(
        WORKLOADS[workload],
        Choice(scheduler),
        profile.load("cheetah-15k4"),
        "vm",
        seed=seed,
        requests=requests,
        processes=PROCESSES[workload],
    )


def _line(experiments: Sequence[Experiment]) -> None:
    vm = _run("vm", experiments)
    gap_us = _median(gaps_us, vm)
    ask_us = _median(asks_us, vm) if experiments[0].workload.name == "random" else 0.0
    simulated = OnSim(gap_us=gap_us, ask_us=ask_us)
    sim = _run("sim", [replace(one, platform=simulated) for one in experiments])
    means = [[float(response_times_ms(one).mean()) for one in runs] for runs in (vm, sim)]
    difference = estimate([ours - theirs for theirs, ours in zip(*means, strict=True)])
    first = experiments[0]
    cells = (
        f"{first.workload.name}, {first.workload.processes} processes",
        first.scheduler.name,
        gap_us,
        ask_us,
        f"{np.mean(means[0]):.2f}",
        f"{np.mean(means[1]):.2f}",
        verdict(difference, float(np.mean(means[0]))),
    )
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def _run(name: str, experiments: Sequence[Experiment]) -> list[Outcome]:
    platform = load(name)
    platform.prepare(experiments, lambda phase, done: None)
    outcomes, failures = parallel.run_all(platform, experiments, JOBS, lambda *_: None)
    if failures:
        raise RunFailed(", ".join(failures.values()))
    return outcomes


def gaps_us(outcome: Outcome) -> Times:
    """Microseconds from each completion to the next dispatch, where a request waited."""
    arrivals = outcome.requests.group_by("request_id").agg(arrival=pl.col("arrival_ns").min())
    carried = carried_requests(outcome.requests).join(
        arrivals, on="request_id", maintain_order="left"
    )
    completion = carried["completion_ns"].to_numpy()[:-1]
    waited = carried["arrival"].to_numpy()[1:] < completion
    gaps = (carried["dispatch_ns"].to_numpy()[1:] - completion)[waited] / 1e3
    return np.asarray(gaps[gaps < ON_PURPOSE_US])


def asks_us(outcome: Outcome) -> Times:
    """Microseconds from each answer to the same process's next request."""
    rows = outcome.requests.sort("owner", "arrival_ns")
    asked = rows.select(
        (pl.col("arrival_ns") - pl.col("completion_ns").shift(1).over("owner")).drop_nulls()
    )
    return asked.to_series().to_numpy() / 1e3


def _median(measure: Callable[[Outcome], Times], outcomes: Sequence[Outcome]) -> float:
    found = np.concatenate([measure(one) for one in outcomes])
    return round(float(np.median(found)), 1) if len(found) else 0.0


def verdict(difference: Estimate, reference: float) -> str:
    """The difference as a share, its interval, and whether it may be called none."""
    share = difference.mean / reference
    interval = (difference.half_width or 0.0) / reference
    within = abs(share) <= LIMIT or difference.includes_zero
    return f"{share:+.1%} ± {interval:.1%}: {'agrees' if within else 'DIFFERS'}"


if __name__ == "__main__":
    main()
