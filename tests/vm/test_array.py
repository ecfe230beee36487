# SPDX-License-Identifier: MIT
"""An array in the VM: its service times are the simulator's, and it serves as many requests at once
as it has servers.

Some tests change settings while the array is full. tests/core/test_device.c tests which server
serves which request.
"""

from typing import Any

import full_disk
import polars as pl
import pytest
from guests import MIB, attempts, experiment, group, once, text

from understudy_devices.ask.experiment import Outcome, asked
from understudy_devices.ask.schedulers import Choice
from understudy_devices.ask.workloads import WORKLOADS
from understudy_devices.device import profile
from understudy_devices.measure import metrics, records
from understudy_devices.platforms.sim import in_simulator
from understudy_devices.platforms.vm import in_vm
from understudy_devices.platforms.vm.machine import Result

DRAWN = profile.load("array-32")
CONSTANT = profile.DiskProfile(
    name="constant", array=profile.Servers(servers=4, service_ms=2.0, distribution="constant")
)
SCHEDULERS = ("sfq", "fcfs", "mq-deadline", "none")
LOAD = {"requests": 2000, "processes": 50, "virtual_bytes": 1024 * MIB, "writes_percent": 30}


def in_both(run: dict[str, Any]) -> tuple[Outcome, Outcome]:
    """Return the VM's outcome, and the simulator's for the same parameters."""
    kernel = measured(**run)
    words = {name: value for name, value in (LOAD | run).items() if name not in ("scale",)}
    scheduler, disk = words.pop("scheduler"), words.pop("disk")
    one = asked(WORKLOADS["random"], Choice(scheduler), disk, "sim", **words)
    return kernel, in_simulator.run(one, lambda *_: None)


@once
def measured(**run: Any) -> Outcome:
    """Run in the VM; in_vm.run checks the witnesses."""
    answer = in_vm.run(experiment(**(LOAD | run)), lambda *_: None)
    records.check(answer.requests)
    return answer


def carried(answer: Outcome) -> pl.DataFrame:
    """Return one row for each request, in order of dispatch."""
    return answer.requests.unique("request_id", keep="first").sort("request_id")


def busy_ns(answer: Outcome) -> int:
    """Return the time of 1,600 dispatches, while all servers and the queue are full."""
    dispatch_ns = carried(answer)["dispatch_ns"].sort()
    return int(dispatch_ns[1800] - dispatch_ns[200])


@pytest.mark.parametrize(
    "scheduler", [pytest.param(name, marks=group("array-constant")) for name in SCHEDULERS]
)
def test_constant_service_agrees(scheduler: str) -> None:
    """Each service time is exact to the nanosecond.

    Between two dispatches the VM adds the kernel's own time, 4 to 9 us with four servers. Response
    times are not compared, since a scheduler that reorders leaves other requests waiting at the
    end.
    """
    kernel, ours = in_both({"disk": CONSTANT, "scheduler": scheduler})
    assert (carried(kernel)["due_ns"] - carried(kernel)["dispatch_ns"] == 2_000_000).all()
    assert kernel.facts["counters"]["late"] == kernel.facts["counters"]["stale"] == 0
    vm, sim = metrics.summarise(kernel), metrics.summarise(ours)
    assert vm.mean_service_ms == sim.mean_service_ms == 2
    assert 0 <= busy_ns(kernel) - busy_ns(ours) < 0.02 * busy_ns(ours)


@pytest.mark.parametrize(
    "scheduler", [pytest.param(name, marks=group("array-drawn")) for name in SCHEDULERS]
)
def test_drawn_service_agrees(scheduler: str) -> None:
    """Throttle and simulator use the same sequence of random numbers.

    The simulator takes a number when a request arrives, and the throttle when it is dispatched, so
    the times agree one by one if the order stays the same. The kernel may merge neighbours, which
    then share one service time.
    """
    kernel, ours = in_both({"disk": DRAWN, "scheduler": scheduler})
    throttled, simulated = carried(kernel)["model_service_ns"], carried(ours)["model_service_ns"]
    if scheduler in ("fcfs", "none"):
        merged = kernel.requests.height - len(throttled)
        assert merged < 5
        assert throttled.to_list() == simulated.to_list()[: len(simulated) - merged]
    else:
        same = set(throttled.to_list()) & set(simulated.to_list())
        assert len(same) > len(simulated) - 2 * LOAD["processes"]
    vm, sim = metrics.summarise(kernel), metrics.summarise(ours)
    assert vm.mean_response_ms == pytest.approx(sim.mean_response_ms, rel=0.02)
    assert vm.mean_service_ms == pytest.approx(sim.mean_service_ms, rel=0.02)


# Changes while the array is full.

SERVERS = 2
SETTINGS = f"""
attempt 4097 $vpt/array_servers
attempt 2 $vpt/array_exponential
attempt 15000000001 $vpt/array_service_ns
put 1 $vpt/array_exponential
attempt 333333334 $vpt/array_service_ns
attempt 333333333 $vpt/array_service_ns
put 0 $vpt/array_exponential
put 1000000000 $vpt/array_service_ns
attempt 1 $vpt/array_exponential
put {SERVERS} $vpt/array_servers
attempt sptf $queue/scheduler
"""
TROUBLES = {
    "fewer servers": "put 1 $vpt/array_servers\n",
    "a disk": "put 0 $vpt/array_servers\nput 1 $vpt/reset\n",
}


@once
def full(trouble: str) -> Result:
    """Boot the VM in which eight reads are on an array of two servers, one second for each read."""
    return full_disk.in_trouble(trouble, SETTINGS, TROUBLES, full_disk.MODULES | {"sptf": ""})


@full_disk.on_each("array", TROUBLES)
def test_each_read_ends_once_and_well(trouble: str) -> None:
    full_disk.assert_each_read_ended_once_and_well(full(trouble), trouble)


@full_disk.on_each("array", TROUBLES)
def test_those_on_it_keep_their_times_until_it_is_detached(trouble: str) -> None:
    """Two reads at a time take a second each."""
    seconds = full_disk.seconds(full(trouble))
    expected = full_disk.READERS / SERVERS
    if trouble in full_disk.DETACHING:
        assert seconds < expected / 2
    else:
        assert expected - 0.5 < seconds < expected + 0.5


@group("array-nothing")
def test_what_no_array_is_is_refused() -> None:
    """The limits exclude too many servers, and services so long that the disk would look dead.

    An array has no model that a scheduler could use.
    """
    lines = text(full("nothing"), "attempts").splitlines()
    out_of_range = "Numerical result out of range"
    assert lines == [
        f"array_servers=4097: {out_of_range}",
        f"array_exponential=2: {out_of_range}",
        f"array_service_ns=15000000001: {out_of_range}",
        f"array_service_ns=333333334: {out_of_range}",
        "array_service_ns=333333333: ok",
        f"array_exponential=1: {out_of_range}",
        "scheduler=sptf: No such device",
    ]
    assert "vdisk has none" in text(full("nothing"), "dmesg")
    assert attempts(full("nothing"))["scheduler=sptf"] == "No such device"
