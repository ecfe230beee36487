# SPDX-License-Identifier: MIT
"""Statistics of a trace, compared with closed forms and with naive loops over the definitions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy_devices.base import file_arrays
from understudy_devices.traces.characterise import (
    LAGS,
    PERCENTS,
    autocorrelation,
    characterise,
    percentiles,
    series,
)
from understudy_devices.traces.trace import Trace

Row = tuple[int, int, int]


def trace(rows: list[Row], sectors: list[int] | None = None, answered: bool = True) -> Trace:
    """Return a trace of requests (arrival, wait and service in ns); every third is a write."""
    arrival, wait, service = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    count = len(rows)
    return Trace(
        name="t",
        arrival_ns=arrival,
        sector=np.zeros(count, np.int64),
        sectors=np.array(sectors or [8] * count, np.int64),
        op=(np.arange(count) % 3 == 0).astype(np.int64),
        owner=np.arange(count) % 2,
        completion_ns=arrival + wait + service if answered else None,
        dispatch_ns=arrival + wait if answered else None,
    )


def test_a_server_that_is_always_late_the_same_way() -> None:
    """Every 10 ms a request takes 4 ms, of which 1 ms is a wait."""
    count = 1000
    statistics = characterise(trace([(i * 10**7, 10**6, 3 * 10**6) for i in range(count)]))
    span_ms = (count - 1) * 10 + 4
    assert (statistics.requests, statistics.writes, statistics.reads, statistics.owners) == (
        1000,
        334,
        666,
        2,
    )
    assert statistics.duration_s == pytest.approx(span_ms / 1000)
    assert statistics.interarrival is not None
    assert statistics.response is not None
    assert statistics.outstanding is not None
    assert (
        statistics.interarrival.mean,
        statistics.interarrival.std,
        statistics.interarrival.cv,
    ) == (10, 0, 0)
    assert set(statistics.interarrival.autocorrelation.values()) == {None}
    assert statistics.response.percentiles == {50: 4, 95: 4, 99: 4}
    assert statistics.outstanding.mean == pytest.approx(count * 4 / span_ms)
    assert statistics.outstanding.most == 1
    assert statistics.utilisation == pytest.approx(count * 3 / span_ms)


def test_two_values_that_alternate() -> None:
    """The mean is 2, the deviation 1, and the autocorrelation 1 or -1 except at the ends."""
    statistics = series(np.array([1.0, 3.0] * 500))
    assert (statistics.mean, statistics.std, statistics.cv) == (2, 1, 0.5)
    for lag in LAGS:
        assert statistics.autocorrelation[lag] == pytest.approx((-1) ** lag * (1000 - lag) / 1000)
    assert statistics.percentiles == {50: 1, 95: 3, 99: 3}


def test_exponential_times_have_a_cv_of_one() -> None:
    draws = np.random.default_rng(7).exponential(5.0, 40_000)
    statistics = series(draws)
    assert statistics.cv == pytest.approx(1, abs=0.03)
    assert statistics.percentiles[95] == pytest.approx(5 * np.log(20), rel=0.03)
    assert all(abs(share or 0) < 0.02 for share in statistics.autocorrelation.values())


def test_an_autoregressive_series() -> None:
    """x[i+1] = 0.8 x[i] + noise has the autocorrelation 0.8 ** lag."""
    noise = np.random.default_rng(7).normal(size=60_000)
    values = np.empty_like(noise)
    values[0] = noise[0]
    for i in range(1, len(noise)):
        values[i] = 0.8 * values[i - 1] + noise[i]
    for lag, value in autocorrelation(values, (1, 2, 3, 10)).items():
        assert value == pytest.approx(0.8**lag, abs=0.03)


def test_sizes_fall_into_the_bins_of_figure_6() -> None:
    """A size at a bound is in the bound's bin; one sector more is in the next bin."""
    bounds = [8 * 2**n for n in range(8)]
    sizes = [1, *bounds, *(bound + 1 for bound in bounds)]
    statistics = characterise(trace([(i, 0, 1) for i in range(len(sizes))], sizes))
    assert statistics.bins == [2] * 8 + [1]
    assert statistics.size.mean == pytest.approx(sum(sizes) / len(sizes) / 2)


def test_arrivals_alone() -> None:
    statistics = characterise(trace([(0, 0, 0), (3, 0, 0)], answered=False))
    assert (statistics.response, statistics.outstanding, statistics.utilisation) == (
        None,
        None,
        None,
    )
    assert statistics.duration_s == 3e-9
    alone = characterise(trace([(0, 0, 0)]))
    assert (alone.interarrival, alone.outstanding, alone.utilisation) == (None, None, None)


ROWS = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=25
)


@given(ROWS, st.sampled_from([1, 4, 100]))
def test_outstanding_and_busy_instant_by_instant(rows: list[Row], block: int) -> None:
    """The reference is computed for each ns of the span; BLOCK makes no difference."""
    begin = min(arrival for arrival, *_ in rows)
    rows = sorted((arrival - begin, wait, service) for arrival, wait, service in rows)
    span = max(map(sum, rows))
    present = [sum(a <= t < a + w + s for a, w, s in rows) for t in range(span)]
    busy = [any(a + w <= t < a + w + s for a, w, s in rows) for t in range(span)]
    with pytest.MonkeyPatch.context() as shorter:
        shorter.setattr(file_arrays, "BLOCK", block)
        statistics = characterise(trace(rows))
    if not span:
        assert statistics.outstanding is None
        return
    assert statistics.outstanding is not None
    assert statistics.outstanding.most == max(present)
    assert statistics.outstanding.mean == pytest.approx(sum(present) / span)
    assert statistics.utilisation == pytest.approx(sum(busy) / span)


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=60), st.sampled_from([1, 2, 3, 10]))
def test_figures_by_naive_loops(values: list[int], lag: int) -> None:
    mean = Fraction(sum(values), len(values))
    squares = sum((value - mean) ** 2 for value in values)
    figure = autocorrelation(np.array(values, np.float64), [lag])[lag]
    if len(values) <= lag or not squares:
        assert figure is None
    else:
        pairs = zip(values, values[lag:], strict=False)
        expected = sum((one - mean) * (other - mean) for one, other in pairs) / squares
        assert figure == pytest.approx(float(expected), abs=1e-9)
    for percent in PERCENTS:
        reached = [
            value
            for value in sorted(values)
            if 100 * sum(other <= value for other in values) >= percent * len(values)
        ]
        assert percentiles(np.array(values, np.float64))[percent] == reached[0]
