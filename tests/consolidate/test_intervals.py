# SPDX-License-Identifier: MIT
"""Intervals include that a trace is a sample: block lengths, degrees of freedom, limits, and
samples of known processes.  `coverage_of_intervals.py` measures the coverage."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from coverage_of_intervals import predicted
from independent_consolidation import (
    ROWS,
    Draw,
    Requests,
    Row,
    bursts,
    exponential,
    lognormal,
    long_range,
    responses,
    runs_of_50,
    sampled,
    truth_ms,
)

from understudy_devices.consolidation.intervals import Spread
from understudy_devices.consolidation.sampling import LEAST_FREEDOM, Sample, drift, judge
from understudy_devices.measure.comparison import Estimate


def of(times: Any, gaps: Any = None) -> Sample:
    count = len(times)
    at = np.arange(count) * 1000 if gaps is None else np.cumsum(gaps * 1e6)
    service_ns = np.maximum(1, times * 1e6).astype(np.int64)
    return judge(at.astype(np.int64), service_ns, service_ns)


def test_independent_times_need_no_blocks() -> None:
    random = np.random.default_rng(1)
    sample = of(exponential(random, 6000), exponential(random, 6000))
    assert sample.block <= 3
    assert 400 < sample.freedom < 1600  # the second moment of N exponential times: N / 6 decide it


@pytest.mark.parametrize("of_gaps", [False, True])
def test_runs_of_alike_times_stay_in_a_block(of_gaps: bool) -> None:
    random = np.random.default_rng(1)
    times, gaps = runs_of_50(random, 4000), exponential(random, 4000)
    sample = of(gaps, times) if of_gaps else of(times, gaps)
    assert 40 < sample.block < 400
    assert sample.freedom < 4000 / 50


def test_a_long_trace_is_judged_by_its_beginning() -> None:
    times = exponential(np.random.default_rng(1), 400_000)
    assert of(times).freedom == pytest.approx(4 * of(times[:100_000]).freedom, rel=0.01)


def test_long_range_dependence_stretches_the_spread() -> None:
    """The variance of batch means decreases slowly, so no block has all of it."""

    def mean_stretch(service: Draw, gaps: Draw) -> float:
        draws = [np.random.default_rng(seed) for seed in range(8)]
        return float(np.mean([of(service(one, 1500), gaps(one, 1500)).stretch for one in draws]))

    assert mean_stretch(long_range, exponential) > 1.2
    assert mean_stretch(exponential, long_range) > 1.2
    assert mean_stretch(lognormal, bursts) < 1.1
    assert of(np.ones(100)).stretch == 1


def test_a_mean_that_changes() -> None:
    times = (lognormal(np.random.default_rng(3), 4000) * 1e6).astype(np.int64)
    assert drift(times) is None
    assert drift(times[:100]) is None
    times[2000:] *= 2
    before, after = drift(times) or (0, 0)
    assert (before, after) == pytest.approx((1e6, 2e6), rel=0.1)


def test_samples_that_say_little() -> None:
    assert of(np.ones(50)) == Sample(1, LEAST_FREEDOM)
    assert of(np.ones(1)) == Sample(1, LEAST_FREEDOM)
    assert of(np.r_[np.ones(99), 1000]).freedom == LEAST_FREEDOM
    assert 10 < of(np.arange(1.0, 101)).block <= 25
    assert of(np.arange(1.0, 101)).freedom == 1


def test_limits_are_on_a_logarithmic_scale() -> None:
    low, high = Spread(0.1, 1e9).limits(Estimate(10.0, None))
    assert (low, high) == pytest.approx((10 * math.exp(-0.196), 10 * math.exp(0.201)), rel=1e-3)
    low, high = Spread(0.0, 2.0).limits(Estimate(10.0, 1.0))
    assert (low, high) == pytest.approx((10 * math.exp(-0.1), 10 * math.exp(0.1)))
    low, high = Spread(math.inf, 2.0).limits(Estimate(10.0, 1.0))
    assert (low, high) == (0, math.inf)


def test_the_simulation_shares_by_weight() -> None:
    """One server, 1 ms each: after the first request, a weight of 3 has three turns of four."""
    each = Requests(np.zeros(8), np.ones(8))
    light, heavy = responses([each, each], [1, 3], 1)
    assert sorted([*light, *heavy]) == list(range(1, 17))
    assert (heavy[:6] <= 9).all()
    assert light[2] > heavy[5]
    [alone] = responses([Requests(np.zeros(4), np.arange(1.0, 5))], [1], 2)
    assert alone.tolist() == [1, 2, 4, 6]


@pytest.mark.thorough
@pytest.mark.parametrize("row", [ROWS[0], ROWS[5], ROWS[8]], ids=lambda row: str(row.name))
def test_short_traces_have_intervals_that_cover(row: Row, tmp_path: Path) -> None:
    """Most of six intervals cover the mean of the process; the seed is fixed."""
    truth = truth_ms(row, 119, 40, 10**6)
    covered = 0
    for seed in range(3):
        folder = tmp_path / str(seed)
        folder.mkdir()
        together = predicted(sampled(row, 119, [seed]), row, folder).together
        for one, true_ms in zip(together, truth, strict=True):
            assert one.limits_ms
            assert one.limits_ms[0] < one.mean.mean < one.limits_ms[1]
            covered += one.limits_ms[0] <= true_ms <= one.limits_ms[1]
    assert covered >= 4
