# SPDX-License-Identifier: MIT
"""Command queueing in the drive: its profile section, the depth that a run uses, and the
simulated queue."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from places import CHECKOUT
from sample_runs import experiment

from understudy_devices.ask import schedulers
from understudy_devices.ask.experiment import Experiment, Outcome
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.device import profile
from understudy_devices.device.profile import CommandQueue, DiskProfile
from understudy_devices.measure import metrics, records
from understudy_devices.platforms.sim import in_simulator

LINE = "[model]\nintercept_ms = 4.0\nfull_seek_ms = 5.0\n"
DISKS = ("cheetah-15k4", "vesper-zoned", "cheetah-9lp", "atlas-10k")
MIB = 2**20
SECTORS = 256 * MIB // 512


def queueing(name: str, depth: int = 32, age_limit_ms: float = 500.0) -> DiskProfile:
    """Return a disk of the library with a command queue."""
    queue = CommandQueue(depth=depth, age_limit_ms=age_limit_ms)
    return profile.load(name).model_copy(update={"queue": queue})


def asked(disk: DiskProfile, scheduler: str = "fcfs", **settings: Any) -> Experiment:
    own = {"requests": 1500, "processes": 20, "virtual_bytes": 256 * MIB} | settings
    return experiment(scheduler, "random", disk, platform="sim", **own)


def run(one: Experiment) -> Outcome:
    outcome = in_simulator.run(one, lambda *_: None)
    records.check(outcome.requests)
    return outcome


def mean_response_ms(one: Experiment) -> float:
    return metrics.summarise(run(one)).mean_response_ms


# ---- the profile


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ("depth = 0", "queue.depth: input should be greater than or equal to 1, not 0"),
        ("depth = 257", "queue.depth: input should be less than or equal to 256, not 257"),
        ("depth = 2.5", "queue.depth: input should be a valid integer, not 2.5"),
        ("age_limit_ms = 5.0", "queue.depth: is missing"),
        ("depth = 2\nage_limit_ms = -1.0", "queue.age_limit_ms: input should be greater"),
        ("depth = 2\nage_limit_ms = 60001.0", "queue.age_limit_ms: input should be less"),
        ("depth = 2\norder = 'any'", "queue.order: is not a key of a profile"),
    ],
)
def test_a_mistake_in_the_section_is_one_line(section: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(f"{LINE}[queue]\n{section}\n")
    with pytest.raises(UserError) as error:
        profile.load(str(file))
    assert str(error.value).startswith(f"{file}: {message}")


def test_an_array_has_none(tmp_path: Path) -> None:
    file = tmp_path / "lun.toml"
    file.write_text("[array]\nservers = 6\nservice_ms = 5.0\n[queue]\ndepth = 8\n")
    with pytest.raises(UserError, match="queue: does not go with array"):
        profile.load(str(file))


def test_half_a_second_if_nothing_is_said(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(f"{LINE}[queue]\ndepth = 32\n")
    disk = profile.load(str(file))
    assert disk.queue == CommandQueue(depth=32, age_limit_ms=500.0)
    deep = disk.timing(SECTORS, 8)
    assert (deep.queue_depth, deep.queue_age_limit_ns) == (8, 500_000_000)


# ---- the depth that a run uses


@pytest.mark.parametrize(
    ("disk", "depth", "message"),
    [
        (queueing("vesper-zoned", 8), 9, "9: vesper-zoned takes up to 8 at a time"),
        (profile.load("vesper-zoned"), 2, r"2: vesper-zoned has no \[queue\]: it takes one at"),
    ],
)
def test_more_than_the_disk_takes_is_refused(disk: DiskProfile, depth: int, message: str) -> None:
    with pytest.raises(UserError, match=f"--queue-depth: {message}"):
        asked(disk, queue_depth=depth)


@pytest.mark.parametrize("name", DISKS)
@pytest.mark.parametrize("depth", [None, 1])
def test_a_queue_that_is_not_used_changes_nothing(name: str, depth: int | None) -> None:
    plain = run(asked(profile.load(name), "sstf", writes_percent=30)).requests
    queued = run(asked(queueing(name), "sstf", writes_percent=30, queue_depth=depth)).requests
    assert plain.equals(queued)
    assert queueing(name).timing(SECTORS) == profile.load(name).timing(SECTORS)


# ---- the simulated queue


@pytest.mark.parametrize("name", DISKS)
def test_no_more_are_on_it_than_the_run_uses(name: str) -> None:
    rows = run(asked(queueing(name), queue_depth=8)).requests.unique("request_id")
    starts, ends = np.sort(rows["dispatch_ns"]), np.sort(rows["completion_ns"])
    on_it = np.arange(1, len(starts) + 1) - np.searchsorted(ends, starts, side="right")
    assert on_it.max() == 8


def test_a_deeper_queue_makes_up_for_a_scheduler_that_does_not_choose() -> None:
    disk = queueing("vesper-zoned")
    means = [mean_response_ms(asked(disk, queue_depth=depth)) for depth in (1, 4, 16)]
    assert means[0] > 1.1 * means[1] > 1.2 * means[2]


# ---- sptf


def test_without_angles_and_age_sptf_is_sstf() -> None:
    """The disk has no cache, so requests differ only in seek time, except for two at equal
    distance."""
    disk = profile.load("vesper-flat")
    nearest = mean_response_ms(asked(disk, "sstf"))
    soonest = mean_response_ms(asked(disk, "sptf", tunables=(("age_permille", 0),)))
    assert soonest == pytest.approx(nearest, rel=0.002)


def test_sptf_needs_a_model() -> None:
    """The scheduler is refused before the run, and by the engine as well."""
    array = profile.load("array-32")
    with pytest.raises(
        UserError, match=r"^--schedulers: sptf needs a disk's model, but array-32 is"
    ):
        in_simulator.check([asked(array, "sptf")])
    with pytest.raises(RunFailed, match=r"^sptf: needs a disk's model: an array .* take a disk"):
        in_simulator.run(asked(array, "sptf"), lambda *_: None)


def test_all_schedulers_are_those_that_the_disk_can_have() -> None:
    array, disk = profile.load("array-32"), profile.load("vesper-flat")
    assert schedulers.parse("all", disk) == schedulers.core()
    assert set(schedulers.core()) - set(schedulers.parse("all", array)) == {"sptf"}


def test_age_bounds_what_sptf_makes_others_wait() -> None:
    longest = []
    for age in (0, 100):
        one = asked(queueing("vesper-zoned"), "sptf", tunables=(("age_permille", age),))
        longest.append(metrics.summarise(run(one)).max_response_ms)
    assert longest[0] > 2 * longest[1]


def test_what_the_message_says_to_write_is_enough(tmp_path: Path) -> None:
    """docs/commands.md names the same remedy."""
    line = "[model]\nintercept_ms = 1.0\nfull_seek_ms = 3.0\n"
    file = tmp_path / "mydrive.toml"
    file.write_text(line)
    with pytest.raises(UserError, match=r"write depth = 8 into the \[queue\] of its profile"):
        asked(profile.load(str(file)), queue_depth=8)
    file.write_text(f"{line}[queue]\ndepth = 8\n")
    assert asked(profile.load(str(file)), queue_depth=8).device.at_once == 8
    assert (
        "write [queue] and depth = 32 into its profile"
        in (CHECKOUT / "docs" / "commands.md").read_text()
    )
