# SPDX-License-Identifier: MIT
"""When a prediction is trusted, and the message if it is not."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from sample_runs import experiment, frame, outcome

from understudy_devices.ask.experiment import asked
from understudy_devices.ask.schedulers import Choice
from understudy_devices.ask.workloads import WORKLOADS
from understudy_devices.base.errors import UserError
from understudy_devices.base.progress import silent
from understudy_devices.campaign.result import Result
from understudy_devices.cli.main import main
from understudy_devices.device import check, profile
from understudy_devices.device.check import Ask, Check
from understudy_devices.device.profile import DiskProfile
from understudy_devices.measure.metrics import Summary, summarise
from understudy_devices.native.demand import NAMES
from understudy_devices.platforms.sim import in_simulator
from understudy_devices.recommend.verdict import sentences, verdict
from understudy_devices.show import table

READS: dict[Ask, float] = {"random": 1.0}
EVERYTHING: dict[Ask, float] = dict.fromkeys(check.ASKS, 0.5)


def checked(*checks: tuple[dict[Ask, float], float, float]) -> DiskProfile:
    """Return a disk with checks; each has the features of its requests, the target's time and
    the model's time."""
    own = [
        Check(workload=f"check {n}", asks=asks, target_ms=target, model_ms=model, demerit_ms=0.0)
        for n, (asks, target, model) in enumerate(checks)
    ]
    return profile.load("cheetah-15k4").model_copy(update={"checks": tuple(own)})


def summary(**changes: Any) -> Summary:
    """Summarise a run of 1,000 random reads of 8 ms each, one at a time."""
    run = summarise(outcome(experiment(requests=1000)))
    counts = dict.fromkeys(NAMES, 0)
    ordinary = {
        "dispatched": 1000,
        "platform": "sim",
        "mean_service_ms": 8.0,
        "hits": 0,
        "stale": 0,
    }
    return replace(run, **{**counts, **ordinary, **changes})


def test_what_was_checked_and_is_within_is_believed() -> None:
    judgement = verdict(checked((READS, 8.0, 8.1)), 1, [summary()])
    assert judgement.trusted is True
    assert not judgement.because
    assert not sentences(judgement)


def test_what_is_off_is_no_ground_for_a_choice() -> None:
    judgement = verdict(checked((READS, 8.0, 9.0)), 1, [summary()])
    assert judgement.trusted is False
    assert sentences(judgement) == ["no pick: with check 0 this profile was 12.5 % off"]


def test_a_third_of_writes_that_nobody_tried() -> None:
    judgement = verdict(checked((READS, 8.0, 8.0)), 1, [summary(written=333)])
    assert judgement.trusted is None
    assert sentences(judgement) == ["not checked: cheetah-15k4 was never tried with writes"]


def test_two_things_that_were_tried_apart() -> None:
    both: list[dict[Ask, float]] = [{"random": 1.0, "writes": 0.3}, {"random": 1.0, "pauses": 1.0}]
    disk = checked(*((asks, 8.0, 8.0) for asks in both))
    assert verdict(disk, 1, [summary(written=300)]).trusted is True
    judgement = verdict(disk, 1, [summary(written=300, paused=500)])
    assert judgement.trusted is None
    assert judgement.because == ("cheetah-15k4 was never tried with writes with pauses",)


def test_writes_that_are_off_do_no_harm_where_nothing_is_written() -> None:
    disk = checked((READS, 8.0, 8.0), ({"random": 1.0, "writes": 1 / 3}, 2.0, 9.06))
    assert verdict(disk, 1, [summary()]).trusted is True
    judgement = verdict(disk, 1, [summary(written=333)])
    assert judgement.trusted is False
    message = "this workload has 33 % writes; with check 1 this profile was 353 % off"
    assert judgement.because == (message,)


def test_what_is_off_counts_by_how_often_it_is_asked_for() -> None:
    """If 5 % of requests are fast sequential reads, an error of 30 % in these hardly matters
    beside 8 ms."""
    off: dict[Ask, float] = {"random": 0.06, "sequences": 0.94}
    disk = checked((READS, 8.0, 8.0), (off, 1.0, 1.3))
    assert verdict(disk, 1, [summary(sequential=50)]).trusted is True
    assert verdict(disk, 1, [summary(sequential=990, mean_service_ms=1.3)]).trusted is False


@pytest.mark.parametrize(
    ("asks", "target", "model", "changes", "within"),
    [
        (READS, 100, 103, {}, True),  # 3 %, the limit
        (READS, 100, 103.1, {}, False),
        (READS, 16, 16.32, {}, True),  # slower requests than the run's: all of its time, not more
        ({"sequences": 1.0}, 8, 10, {"sequential": 10}, True),  # one request in a hundred
        ({"random": 0.5, "sequences": 0.5}, 8, 8.32, {"sequential": 1000}, True),  # half of each
        ({"random": 1.0, "writes": 0.5}, 8, 8.4, {"written": 100}, True),  # a fifth as many writes
        ({"random": 1.0, "writes": 0.5}, 8, 8.4, {"written": 400}, False),
    ],
)
def test_an_error_counts_by_its_part_of_the_run(
    asks: dict[Ask, float], target: float, model: float, changes: dict[str, Any], within: bool
) -> None:
    """An error is weighted by the share of time that the run spends on requests like the
    check's."""
    disk = checked((EVERYTHING, 8.0, 8.0), (READS, 8.0, 8.0), (asks, target, model))
    assert (verdict(disk, 1, [summary(**changes)]).trusted is not False) is within


def test_the_scheduler_that_asks_most_is_named() -> None:
    disk = checked((READS, 8.0, 8.0), ({"random": 1.0, "writes": 1 / 3}, 2.0, 9.06))
    judgement = verdict(disk, 1, [summary(written=333), summary()])
    assert judgement.because[0].startswith("this workload has 33 % writes; ")


@pytest.mark.parametrize(("model", "within"), [(8.16, True), (8.8, False)])
def test_all_requests_are_in_a_queue_or_none(model: float, within: bool) -> None:
    disk = checked(({"random": 1.0, "queue": 1.0}, 8.0, model))
    assert verdict(disk, 2, [summary()]).trusted is within


def test_an_array_has_no_arm_to_sweep() -> None:
    (check,) = checked((READS, 8.0, 8.0)).checks
    array = profile.load("array-32-slow").model_copy(update={"checks": (check,)})
    assert verdict(array, 1, [summary(met_busy=1000)]).trusted is True


def test_what_is_off_after_long_pauses_says_nothing_of_short_ones() -> None:
    rests: dict[Ask, float] = {"random": 1.0, "pauses": 0.5, "rests": 0.5}
    disk = checked((READS, 8.0, 8.0), ({"random": 1.0, "pauses": 1.0}, 8.0, 8.0), (rests, 9.0, 8.0))
    assert verdict(disk, 1, [summary(paused=900)]).trusted is True
    judgement = verdict(disk, 1, [summary(paused=900, rested=400)])
    message = (
        "this workload has 90 % pauses and 40 % long pauses; with check 2 this profile was 11.1"
    )
    assert judgement.because == (f"{message} % off",)


def test_what_is_off_without_a_pause_says_nothing_of_requests_after_one() -> None:
    writes: dict[Ask, float] = {"random": 1.0, "writes": 0.5}
    disk = checked((READS, 8.0, 8.0), (writes, 4.0, 8.0), ({**writes, "pauses": 1.0}, 8.0, 8.0))
    assert verdict(disk, 1, [summary(written=500, paused=1000)]).trusted is True
    assert verdict(disk, 1, [summary(written=500, paused=500)]).trusted is False


def test_each_scheduler_asks_for_something_else() -> None:
    """One scheduler serves the requests as sequences, another alternates between them."""
    sequences: dict[Ask, float] = {"sequences": 1.0}
    streams: dict[Ask, float] = {"streams": 1.0, "sweeps": 1.0}
    disk = checked((sequences, 0.2, 0.6), (streams, 16.0, 16.0), ({**sequences, **streams}, 8, 8))
    slow = summary(streamed=1000, met_busy=1000, mean_service_ms=16.0)
    assert verdict(disk, 1, [slow]).trusted is True
    assert verdict(disk, 1, [slow, summary(sequential=1000, mean_service_ms=0.6)]).trusted is False


def test_where_requests_come_anyway_their_wait_is_off_by_more() -> None:
    disk = checked((READS, 8.0, 8.16))
    busy = summary(mean_response_ms=24.0)
    assert verdict(disk, 1, [busy]).trusted is True
    assert verdict(disk, 1, [busy], is_open=True).trusted is False
    assert verdict(disk, 1, [summary(mean_response_ms=16.0)], is_open=True).trusted is True


def test_a_distribution_that_is_off() -> None:
    """A wrong distribution withdraws only the pick for tail response."""
    disk = checked(({"re-reads": 1.0}, 8.0, 8.0))
    off = disk.checks[0].model_copy(update={"demerit_ms": 8.0})
    disk = disk.model_copy(update={"checks": (off,)})
    judgement = verdict(disk, 1, [summary(again=1000)])
    assert judgement.trusted is True
    message = (
        "this workload has 100 % re-reads; with check 0 this profile was off by a demerit of 100 %"
    )
    assert judgement.as_json() == {"trusted": True, "because": [], "tail_because": [message]}
    assert sentences(judgement) == [f"no pick for tail response: {message}"]
    result = Result("understudy predict", (outcome(experiment(disk=disk)),))
    assert [pick.goal for pick in result.picks] == ["mean response", "throughput"]


def test_a_profile_that_was_never_held_against_its_drive() -> None:
    judgement = verdict(profile.load("cheetah-15k4"), 1, [summary(met_busy=999)])
    assert judgement.trusted is None
    assert judgement.because == (
        "cheetah-15k4, made from random reads of a page, one at a time, was never checked against "
        "its drive; this workload has random places and sweeps",
    )


def test_several_at_once_are_a_thing_of_their_own() -> None:
    disk = checked((READS, 8.0, 8.0))
    assert verdict(disk, 2, [summary()]).trusted is None
    with_queue = checked(({"random": 1.0, "queue": 1.0}, 8.0, 8.0))
    assert verdict(with_queue, 2, [summary()]).trusted is True


def test_of_several_runs_those_count_that_ask_most() -> None:
    disk = checked((READS, 8.0, 8.0))
    assert verdict(disk, 1, [summary(), summary(written=20)]).trusted is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stale": 3}, "requests were chosen while the disk was busy (cats 3)"),
        ({"clock": "wall", "late": 11}, "of 1,000 requests more than 10 were late (cats 11)"),
    ],
)
def test_runs_that_do_not_count(changes: dict[str, Any], message: str) -> None:
    """These runs are not trusted, whatever the checks show."""
    judgement = verdict(checked((EVERYTHING, 8.0, 8.0)), 1, [summary(platform="vm", **changes)])
    assert judgement.trusted is False
    assert judgement.because[0].startswith(message)


def test_runs_with_different_k_are_not_put_together() -> None:
    runs = [summary(platform="vm", clock="wall", scale=scale) for scale in (3.0, 4.0)]
    judgement = verdict(checked((EVERYTHING, 8.0, 8.0)), 1, runs)
    assert judgement.trusted is False
    assert "k was 3 to 4" in judgement.because[0]


def test_a_disk_that_was_measured_is_believed() -> None:
    assert verdict(profile.load("cheetah-15k4"), 1, [summary(platform="real")]).trusted is True


def test_a_profile_was_tried_with_each_two_things_together() -> None:
    """All pairs were tried, except with a queue, and except long requests, which were tried only
    as reads without pauses."""
    asks = [ask for ask in check.ASKS if ask != "queue"]
    never = check.untried(profile.load("detailed-10k").checks, asks)
    apart = [each for each in never if check.IN_WORDS["long"] not in each]
    assert apart == ["streams beside one another with long pauses"]
    assert len(never) == 9


def test_nothing_is_recommended_from_what_is_off() -> None:
    disk = checked(({"re-reads": 0.5}, 8.0, 16.0))
    outcomes = tuple(outcome(experiment(name, disk=disk)) for name in ("cats", "none"))
    result = Result("understudy predict", outcomes)
    document = result.as_json()
    assert document["trusted"] is False
    assert document["because"] == list(result.verdict.because)
    assert document["comparison"]["choices"] == []
    message = "\n".join(table.sentences(result))
    assert "no pick: " in message
    assert " pick cats" not in message
    assert {cells[1] for _, cells in table.ranked(result.comparison, trusted=False)} == {""}


def test_what_requests_ask_for_is_counted_alike_by_simulator_and_records() -> None:
    for name, disk, settings in (
        ("random", "cheetah-9lp", {"processes": 20, "writes_percent": 30, "think_ms": 5.0}),
        ("surge-direct", "cheetah-15k4", {}),
        ("surge-buffered", "cheetah-9lp", {}),
        ("concurrent-read", "cheetah-15k4", {}),
        ("poisson", "cheetah-15k4", {"rate": 50}),
    ):
        run = asked(
            WORKLOADS[name],
            Choice("clook", ()),
            profile.load(disk),
            "sim",
            requests=1000,
            **settings,
        )
        outcome = in_simulator.run(run, silent)
        from_rows = summarise(replace(outcome, facts=outcome.facts | {"demand": None}))
        summed = in_simulator.summarise(run, silent)
        for count in NAMES:
            # A merged request can consist of measured requests and one that is not measured.
            assert abs(getattr(from_rows, count) - getattr(summed, count)) <= 2, (name, count)


def test_what_requests_ask_for() -> None:
    """Classified by hand: a write, and a long read after it.  After a long pause come four
    reads: at the first place again, after the long read, near that, and too far away."""
    rows = [
        {"op": "write", "sector": 800, "sectors": 8, "arrival_ns": 0},
        {"op": "read", "sector": 808, "sectors": 512, "arrival_ns": 1},
        {"op": "read", "sector": 800, "sectors": 8, "arrival_ns": 10**9},
        {"op": "read", "sector": 1320, "sectors": 8, "arrival_ns": 10**9 + 4_000_000},
        {"op": "read", "sector": 66863, "sectors": 8, "arrival_ns": 10**9 + 8_000_000},
        {"op": "read", "sector": 132407, "sectors": 8, "arrival_ns": 10**9 + 12_000_000},
    ]
    figures = summarise(replace(outcome(experiment(requests=6)), requests=served(rows)))
    assert {name: getattr(figures, name) for name in NAMES} == {
        "written": 1,
        "sized": 1,
        "long_ones": 1,
        "sequential": 1,
        "streamed": 1,
        "again": 1,
        "near": 1,
        "beside": 2,
        "paused": 1,
        "rested": 1,
        "met_busy": 1,
    }


def served(rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Return the rows, each served for 4 ms."""
    until_ns = 0
    whole = []
    for number, row in enumerate(rows, start=1):
        begin_ns = max(until_ns, row["arrival_ns"])
        idle_ns = begin_ns - until_ns if number > 1 else 0
        until_ns = begin_ns + 4_000_000
        whole.append(
            {
                **row,
                "request_id": number,
                "pick_ns": begin_ns,
                "dispatch_ns": begin_ns,
                "due_ns": until_ns,
                "completion_ns": until_ns,
                "model_service_ns": 4_000_000,
                "idle_ns": idle_ns,
            }
        )
    return frame(whole)


TOML = """[model]
intercept_ms = 4.0
full_seek_ms = 5.0
[[checks]]
workload = "random reads"
asks = { random = 1.0 }
target_ms = 8.0
model_ms = 8.1
demerit_ms = 0.3
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("random = 1.0", "seeks = 1.0", "checks.0.asks.seeks"),
        ("random = 1.0", "random = 1.5", "checks.0.asks.random: input should be less than"),
        ("{ random = 1.0 }", "{}", "checks.0.asks: "),
        ("target_ms = 8.0\n", "", "checks.0.target_ms: is missing"),
        ("model_ms = 8.1", "model_ms = -1.0", "checks.0.model_ms: input should be greater"),
        ("demerit_ms = 0.3", "demerit_ms = nan", "checks.0.demerit_ms: input should be a finite"),
        ("demerit_ms = 0.3", "demerit_ms = 0.3\nwithin = true", "checks.0.within: is not a key"),
        ("[[checks]]", "[checks]", "checks: input should be an array"),
    ],
)
def test_a_bad_check_is_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(TOML)
    assert profile.load(str(file)).holds_for == ("random",)
    assert old in TOML
    file.write_text(TOML.replace(old, new, 1))
    with pytest.raises(UserError) as error:
        profile.load(str(file))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_profile_shows_its_checks(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(TOML)
    done = CliRunner().invoke(main, ["disks", "show", str(file), "--out", str(tmp_path / "a.png")])
    assert done.exit_code == 0
    assert "checks      within the limits in 1 of 1 checks" in done.output
    row = next(line for line in done.output.splitlines() if line.startswith(" random reads"))
    assert row.split() == ["random", "reads", "8.000", "8.100", "+1.2", "3.8", "within"]
    document = json.loads(CliRunner().invoke(main, ["disks", "show", str(file), "--json"]).output)
    assert document["checks"][0]["within"] is True
    assert document["holds_for"] == ["random"]
    assert np.isclose(document["checks"][0]["difference_percent"], 1.25)
