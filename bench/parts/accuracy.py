# SPDX-License-Identifier: MIT
"""How closely the throttle's completion times follow the modelled disk's, on every controller."""

from typing import Any

from bench.part import Column, Rows
from bench.runs import DEFAULT_BYTES, PAPER_BYTES, experiment, run_all
from understudy_devices.ask.experiment import Experiment
from understudy_devices.measure import metrics

TITLE = "How exactly the throttle keeps time"
TEXT = """
One process reads 4 KiB at random, with mq-deadline. The run is repeated on every controller in the
virtual clock, and on the default disk in the wall clock (k = 8). The disks that QEMU emulates have
the papers' size of 73.4 GB. *Lateness* is the mean difference between a request's completion
(`block_rq_complete`) and its due time. *Process* is the difference between the response time that
the process measures around `pread` and the model's service time. Lateness and process are
percentages of the model's mean service time.

{{ accuracy }}

The figures of the two virtio controllers are not repeatable: QEMU completes their requests from its
main loop, and meanwhile the virtual clock may jump to the next tick. Use `vdisk` or `lsi53c895a`
for measurements.

The remaining lateness is the time from the timer's callback to `block_rq_complete`. The timer is
set 2 us early, to compensate for the delay of its callback.
"""
TABLES = {
    "accuracy": (
        Column("controller", "{controller}"),
        Column("GB", "{gigabytes:.1f}"),
        Column("clock", "{clock}"),
        Column("k", "{scale:g}"),
        Column("reads", "{reads:,}"),
        Column("model (ms)", "{model_ms:.4f}"),
        Column("lateness (%)", "{lateness_percent:.3f}"),
        Column("process (%)", "{process_percent:+.3f}"),
        Column("late", "{late:,}"),
        Column("stale", "{stale:,}"),
    )
}
SIZES_OF = {
    "vdisk": DEFAULT_BYTES,
    "lsi53c895a": PAPER_BYTES,
    "null_blk": 2**30,
    "virtio-scsi": PAPER_BYTES,
    "virtio-blk": PAPER_BYTES,
}
SIZES = {
    "full": {"controllers": list(SIZES_OF), "requests": 5000, "wall_requests": 1000},
    "quick": {"controllers": list(SIZES_OF), "requests": 1000, "wall_requests": 200},
    "tiny": {"controllers": ["vdisk"], "requests": 200, "wall_requests": 0},
}
IN_VM = True
WALL_SCALE = 8.0


def measure(controllers: list[str], requests: int, wall_requests: int) -> Rows:
    """Measure one run on each controller.  If wall_requests is not 0, measure another run in the
    wall clock.
    """
    for name in controllers:
        yield "accuracy", _row(_reads(name, requests))
    if wall_requests:
        wall: dict[str, Any] = {"clock": "wall", "scale": WALL_SCALE}
        yield "accuracy", _row(_reads("vdisk", wall_requests, **wall))


def _reads(controller: str, requests: int, **clock: Any) -> Experiment:
    size = SIZES_OF[controller]
    return experiment(
        "random",
        "mq-deadline",
        requests=requests,
        controller=controller,
        virtual_bytes=size,
        **clock,
    )


def _row(run: Experiment) -> dict[str, object]:
    [outcome] = run_all([run])
    summary = metrics.summarise(outcome)
    model_ms = summary.mean_model_service_ms
    seen_ms = outcome.facts["witness"]["processes"]["mean_response_ms"] / run.platform.scale
    return {
        "controller": run.platform.controller,
        "gigabytes": run.device.virtual_bytes / 1e9,
        "clock": run.platform.clock,
        "scale": run.platform.scale,
        "reads": run.requests,
        "model_ms": model_ms,
        "lateness_percent": 100 * summary.mean_lateness_ms / model_ms,
        "process_percent": 100 * (seen_ms / model_ms - 1),
        "late": summary.late,
        "stale": summary.stale,
    }
