# SPDX-License-Identifier: MIT
"""Creates and runs the benchmarks' experiments."""

import os
import resource
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from understudy_devices.ask.device import Device
from understudy_devices.ask.experiment import Experiment, Outcome, asked
from understudy_devices.ask.schedulers import Choice
from understudy_devices.ask.workloads import WORKLOADS
from understudy_devices.base.errors import RunFailed
from understudy_devices.campaign import parallel
from understudy_devices.device import profile
from understudy_devices.platforms import load

DISK = profile.load("cheetah-15k4")
DEFAULT_BYTES = Device(disk=DISK).virtual_bytes
PAPER_BYTES = 73_400_000_512 // 4096 * 4096


def experiment(
    workload: str, scheduler: str, *, platform: str = "vm", **parameters: Any
) -> Experiment:
    """Return an experiment on the papers' disk, with defaults for everything that is not given."""
    return asked(WORKLOADS[workload], Choice(scheduler), DISK, platform, **parameters)


def run_all(experiments: Sequence[Experiment], jobs: int = 1) -> list[Outcome]:
    """Build everything that the experiments need.  Then run the experiments, `jobs` at a time, and
    return the outcomes.
    """
    prepare(experiments)
    platform = load(experiments[0].platform.name)
    outcomes, failures = parallel.run_all(platform, experiments, jobs, lambda *_: None)
    if failures:
        raise RunFailed("; ".join(failures.values()))
    return outcomes


def prepare(experiments: Sequence[Experiment]) -> None:
    """Build everything that these experiments need.  They must all be on one platform."""
    load(experiments[0].platform.name).prepare(experiments, lambda phase, done: None)


def used() -> tuple[float, float]:
    """Return the CPU seconds (user, system) of this process and of its children that have ended."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime for one in both), sum(one.ru_stime for one in both)


def cpu_seconds() -> float:
    """Return the CPU seconds, user and system together."""
    return sum(used())


@contextmanager
def empty_cache() -> Iterator[None]:
    """Provide an empty cache for the block, and remove it at the block's end."""
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
