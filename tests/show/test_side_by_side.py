# SPDX-License-Identifier: MIT
"""Two platforms side by side: the differences are those of the two tables."""

import io
from collections.abc import Sequence

import pytest
from rich.console import Console
from sample_runs import experiment, outcome

from understudy_devices.campaign.result import Result
from understudy_devices.measure.metrics import PAPER_MEASURES
from understudy_devices.show import side_by_side

RESPONSE = PAPER_MEASURES[2]


def result(platform: str, schedulers: Sequence[str], seeds: Sequence[int]) -> Result:
    runs = [
        outcome(experiment(scheduler=name, seed=seed, platform=platform))
        for name in schedulers
        for seed in seeds
    ]
    return Result("understudy predict", tuple(runs))


def shown(first: Result, second: Result) -> str:
    console = Console(file=io.StringIO(), width=200)
    side_by_side.show(first, second, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def mean_response(result: Result, name: str) -> float:
    return result.comparison.estimate(name, RESPONSE).mean


def test_a_difference_is_a_share_of_the_second_platforms_figure() -> None:
    one, other = result("sim", ["cats", "none"], [1]), result("vm", ["cats", "none"], [2])
    pairs = {(pair.scheduler, pair.measure): pair for pair in side_by_side.pairs(one, other)}
    for name in ("cats", "none"):
        pair = pairs[name, RESPONSE]
        ours, theirs = mean_response(one, name), mean_response(other, name)
        assert ours != theirs
        assert pair.share(pair.difference.mean) == pytest.approx(ours / theirs - 1)
        assert pair.difference.half_width is None
        assert f"{ours / theirs - 1:+.1%}" in shown(one, other)


def test_several_seeds_have_an_interval_of_the_paired_differences() -> None:
    one, other = result("sim", ["cats"], [1, 2, 3]), result("vm", ["cats"], [4, 5, 6])
    pair = next(p for p in side_by_side.pairs(one, other) if p.measure == RESPONSE)
    assert pair.difference.half_width
    assert " ± " in shown(one, other)


def test_the_same_runs_do_not_differ() -> None:
    text = shown(result("sim", ["cats"], [1, 2]), result("vm", ["cats"], [1, 2]))
    assert text.count("+0.0% ± 0.0%") == len(side_by_side.MEASURES)


def test_only_what_both_have_run_is_compared() -> None:
    text = shown(result("sim", ["cats", "sstf"], [1]), result("vm", ["bfq", "cats"], [1]))
    assert "sim against vm" in text
    assert "cats" in text
    assert "bfq" not in text
    assert "sstf" not in text
