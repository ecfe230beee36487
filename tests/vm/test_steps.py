# SPDX-License-Identifier: MIT
"""The kernel and the simulator carry out the same steps for one workload file."""

import threading
from pathlib import Path

import polars as pl
from guests import CHEETAH, group
from places import CHECKOUT

from understudy_devices.ask.experiment import asked
from understudy_devices.ask.schedulers import Choice
from understudy_devices.ask.workloads import WORKLOADS
from understudy_devices.ask.workloads.own import load
from understudy_devices.base.progress import silent
from understudy_devices.measure.metrics import summarise
from understudy_devices.platforms import load as platform

pytestmark = group("own workload")
COLUMNS = ["sector", "sectors", "op"]


def test_the_same_steps_in_simulator_and_kernel(tmp_path: Path) -> None:
    file = tmp_path / "mine.c"
    text = (CHECKOUT / "sim" / "workloads" / "random.c").read_text()
    file.write_text(text.replace('.name = "random"', '.name = "mine"'))
    values = (("writes_percent", 30), ("sectors", 64), ("think_ns", 2_000_000))
    outcomes = {}
    for where in ("sim", "vm"):
        run = asked(
            WORKLOADS["own"],
            Choice("fcfs", ()),
            CHEETAH,
            where,
            file=load(str(file)),
            values=values,
            processes=3,
            requests=150,
        )
        outcome = platform(where).run(run, silent, stop=threading.Event())
        outcomes[where] = outcome.requests.filter(~pl.col("meta")), summarise(outcome)
    (simulated, model), (in_vm, real) = outcomes["sim"], outcomes["vm"]
    ours, theirs = (set(rows.select(COLUMNS).rows()) for rows in (simulated, in_vm))
    assert len(ours & theirs) > 140
    assert abs(real.mean_response_ms / model.mean_response_ms - 1) < 0.05
