# SPDX-License-Identifier: MIT
"""A job file of fio, run by fio itself in the kernel and by the simulator."""

import threading
from pathlib import Path

import pytest
from guests import CHEETAH, group

from understudy_devices.ask.experiment import asked
from understudy_devices.ask.schedulers import Choice
from understudy_devices.ask.workloads import WORKLOADS
from understudy_devices.ask.workloads.fio import load
from understudy_devices.base.errors import RunFailed
from understudy_devices.base.progress import silent
from understudy_devices.measure.metrics import Summary, summarise
from understudy_devices.platforms import load as platform

pytestmark = group("fio")

JOBS = """
[global]
ioengine=libaio
direct=1
bs=4k
[scan]
rw=read
bs=64k
[points]
rw=randrw
numjobs=2
iodepth=2
"""


def answer(where: str, file: Path, requests: int) -> Summary:
    run = asked(
        WORKLOADS["fio"],
        Choice("fcfs", ()),
        CHEETAH,
        where,
        job_file=load(str(file)),
        requests=requests,
    )
    return summarise(platform(where).run(run, silent, stop=threading.Event()))


def test_the_real_fio_and_the_simulator(tmp_path: Path) -> None:
    file = tmp_path / "jobs.fio"
    file.write_text(JOBS)
    simulated, in_vm = (answer(where, file, 400) for where in ("sim", "vm"))
    assert in_vm.requests == 400
    assert abs(simulated.mean_response_ms / in_vm.mean_response_ms - 1) < 0.05
    assert 80 < in_vm.written < 220  # half of four fifths


def test_a_job_that_fio_refuses_is_named(tmp_path: Path) -> None:
    file = tmp_path / "jobs.fio"
    file.write_text(JOBS + "colour=blue\n")
    with pytest.raises(RunFailed, match=r"Bad option <colour=blue>"):
        answer("vm", file, 100)
