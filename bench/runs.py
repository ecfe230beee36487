# SPDX-License-Identifier: MIT
"""Experiments as the benchmarks ask for them, and running them."""

import os
import resource
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from understudy.ask.experiment import Experiment, Outcome
from understudy.ask.workload import WORKLOADS
from understudy.campaign import parallel
from understudy.device import profile
from understudy.platforms import load

DEFAULT_BYTES = 1430 * 2**20  # of --virtual-size
PAPER_BYTES = 73_400_000_512 // 4096 * 4096


def experiment(workload: str, scheduler: str, requests: int, **changes: Any) -> Experiment:
    """On the papers' disk at the default size, as many processes as the workload has."""
    entry = WORKLOADS[workload]
    values: dict[str, Any] = {
        "seed": 1,
        "virtual_bytes": DEFAULT_BYTES,
        "processes": entry.default_processes,
        "clock": "virtual",
        "scale": 1.0,
        "think_scale": 1.0,
        "controller": "vdisk",
        **changes,
    }
    return Experiment(
        disk=profile.load("cheetah-15k4"),
        workload=entry,
        scheduler=scheduler,
        requests=requests,
        **values,
    )


def run_all(platform: str, experiments: Sequence[Experiment], jobs: int = 1) -> list[Outcome]:
    """Their outcomes, `jobs` at a time; what they need is built before."""
    prepare(platform, experiments)
    return parallel.run_all(load(platform), experiments, jobs, lambda *_: None)


def prepare(platform: str, experiments: Sequence[Experiment]) -> None:
    """Build what they need."""
    load(platform).prepare(experiments, lambda phase, done: None)


def cpu_seconds() -> float:
    """That this process and its children, once they have ended, have used so far."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


@contextmanager
def empty_cache() -> Iterator[None]:
    """Nothing is in the cache as long as the block lasts, and what it builds is gone then."""
    before = os.environ.get("XDG_CACHE_HOME")
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["XDG_CACHE_HOME"] = scratch
        try:
            yield
        finally:
            if before is None:
                del os.environ["XDG_CACHE_HOME"]
            else:
                os.environ["XDG_CACHE_HOME"] = before
