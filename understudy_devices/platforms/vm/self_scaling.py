# SPDX-License-Identifier: MIT
"""Finds k, the factor by which service times are multiplied, in the wall clock. One machine finds
k, and another machine measures with it (PERFORM 2010 section 4, Jones 2010 section 4.3.2).

The kernel increases and decreases k while the workload runs (kernel/vpt/scaling.c). Even if nothing
is late, a timer fires a little after its time. So k is the larger of two values, rounded up: the
kernel's final value, and the value at which the timer's delay is OVERHEAD_SHARE of a service time.
All runs of a command with the same disk and workload use the same k. A run with too many late
requests is discarded, and repeated with a larger k.
"""

import math
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace

from understudy_devices.ask.experiment import Experiment, Outcome
from understudy_devices.ask.setting import SCALE_MAX
from understudy_devices.base.errors import RunFailed
from understudy_devices.base.progress import Report
from understudy_devices.measure import metrics, records
from understudy_devices.platforms.vm.scenario import setting_of

RUNS_MAX = 4
RAISE = 1.25
OVERHEAD_SHARE = 0.015  # a host's lateness varies from minute to minute; the promise is 3 %
JUDGED = 1000  # number of requests, as in the kernel

_lock = threading.Lock()
_found: dict[str, float] = {}  # by workload, device and platform


def needed(out: Mapping[str, bytes]) -> float:
    """Return k, from a warm-up's results."""
    rows = records.from_bytes(out["records"]).drop_nulls("completion_ns").tail(JUDGED)
    overhead_ns = float((rows["completion_ns"] - rows["due_ns"]).to_numpy().mean())
    service_ns = float(rows["model_service_ns"].to_numpy().mean())
    exact = overhead_ns / (OVERHEAD_SHARE * service_ns)
    return min(max(int(out["scale_milli"]) / 1000, exact), SCALE_MAX)


def held(experiment: Experiment, scale: float) -> Experiment:
    """Return the same experiment with that k."""
    return replace(experiment, platform=setting_of(experiment).found(scale))


def measured(
    experiment: Experiment,
    find: Callable[[Experiment], float],
    measure: Callable[[Experiment], Outcome],
    report: Report,
) -> Outcome:
    """Return the outcome of the first run without too many late requests.

    `find` makes a run that finds k, `measure` a run with a given k. Raises RunFailed if all of
    RUNS_MAX runs have too many late requests.
    """
    key = repr((experiment.workload, experiment.device, experiment.platform))
    with _lock:
        if key not in _found:
            _found[key] = float(math.ceil(find(experiment)))
    for _ in range(RUNS_MAX):
        scale = _found[key]
        outcome = measure(held(experiment, scale))
        summary = metrics.summarise(outcome)
        if not summary.is_too_late:
            return outcome
        late = summary.late_permille
        _found[key] = min(math.ceil(RAISE * scale), SCALE_MAX)
        report(f"{late:.3g} of 1,000 were late with k = {scale:g}, once more", 0.0)
    raise RunFailed(
        f"{experiment.scheduler.name}: {late:.3g} of 1,000 requests were late with k = {scale:g}, "
        f"in {RUNS_MAX} runs: this host is too busy for the wall clock; take the virtual one, or "
        "--scale"
    )
