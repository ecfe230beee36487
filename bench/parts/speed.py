# SPDX-License-Identifier: MIT
"""How fast a run in a VM is: simulated seconds of the disk per second of the host."""

import threading

from bench.part import Column, Rows
from bench.runs import cpu_seconds, experiment, prepare
from understudy_devices.ask.experiment import Experiment
from understudy_devices.platforms import load

TITLE = "How fast a run in a VM is"
TEXT = """
The runs are in the virtual clock, one after another, on the default disk. Each run resumes a VM
that was booted and saved before (decision 25). *CPU s* is the CPU time of the whole run, including
QEMU. There are two columns of wall seconds: until the guest's script begins, and for the
measurement. They depend on other work on the machine. The papers' runs took 8 wall seconds for each
second of the modelled disk (k = 8).

{{ speed }}
"""
TABLES = {
    "speed": (
        Column("run", "{workload}, {processes} processes, {scheduler}"),
        Column("requests", "{requests:,}"),
        Column("mean response (ms)", "{mean_response_ms:.2f}"),
        Column("sectors/ms", "{sectors_per_ms:.2f}"),
        Column("disk s", "{disk_seconds:.1f}"),
        Column("CPU s", "{cpu_seconds:.1f}"),
        Column("disk s / CPU s", "{disk_a_cpu_second:.1f}"),
        Column("until it begins (wall s)", "{boot_wall_seconds:.1f}"),
        Column("measured (wall s)", "{measure_wall_seconds:.1f}"),
    )
}
SIZES = {
    "full": {
        "schedulers": ["cats", "mq-deadline", "bfq", "none"],
        "surge": 50_000,
        "random": 20_000,
    },
    "quick": {"schedulers": ["cats", "mq-deadline", "none"], "surge": 10_000, "random": 5_000},
    "tiny": {"schedulers": [], "surge": 0, "random": 200},
}
IN_VM = True


def measure(schedulers: list[str], surge: int, random: int) -> Rows:
    """Measure random reads by one process, then SURGE with each scheduler.

    The first run of each kind boots the machine, and is not counted.
    """
    reads = [experiment("random", "none", requests=random)]
    files = [experiment("surge-direct", scheduler, requests=surge) for scheduler in schedulers]
    prepare(reads + files)
    for runs in (reads, files):
        if runs:
            _row(runs[0])
        for run in runs:
            yield "speed", _row(run)


def _row(run: Experiment) -> dict[str, object]:
    before = cpu_seconds()
    summary = load("vm").summarise(run, lambda phase, done: None, stop=threading.Event())
    used = cpu_seconds() - before
    return {
        "workload": run.workload.name,
        "processes": run.workload.processes,
        "scheduler": run.scheduler.name,
        "requests": run.requests,
        "mean_response_ms": summary.mean_response_ms,
        "sectors_per_ms": summary.throughput_sectors_per_ms,
        "disk_seconds": summary.device_seconds,
        "cpu_seconds": used,
        "disk_a_cpu_second": summary.device_seconds / used,
        "boot_wall_seconds": summary.boot_wall_seconds,
        "measure_wall_seconds": summary.measure_wall_seconds,
    }
