# SPDX-License-Identifier: MIT
"""Markovian arrival processes, compared with integrals over matrix exponentials, closed forms
and long random walks."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.linalg import expm, null_space

from understudy_devices.consolidation import map as mapped
from understudy_devices.consolidation.map import MarkovianArrivalProcess, stationary

Array = NDArray[np.float64]

EXACT = {"epsabs": 1e-12, "epsrel": 1e-9, "limit": 200}


def random_process(seed: int, order: int, spread: float = 1.0) -> MarkovianArrivalProcess:
    random = np.random.default_rng(seed)
    rates = np.exp(random.normal(0, spread, (2, order, order)))
    np.fill_diagonal(rates[0], 0)
    return MarkovianArrivalProcess(rates[0] - np.diag(rates.sum(axis=(0, 2))), rates[1])


def start_by_null_space(process: MarkovianArrivalProcess) -> Array:
    both = (process.d0 + process.d1).T
    begins = null_space(both, rcond=1e-9)[:, 0] @ process.d1 if len(both) > 1 else np.ones(1)
    result: Array = begins / begins.sum()
    return result


@pytest.mark.parametrize("order", [1, 3])
def test_moments_are_integrals_of_survival(order: int) -> None:
    """E[X^k] is the integral of k x^(k-1) P(X > x)."""
    process = random_process(order, order)
    start = start_by_null_space(process)

    def longer(time: float) -> float:
        return float(start @ expm(process.d0 * time).sum(axis=1))

    for power in (1, 2, 3):
        integral = quad(
            lambda x, k=power: k * x ** (k - 1) * longer(x), 0, 250 * process.mean, **EXACT
        )[0]
        assert process.moment(power) == pytest.approx(integral, rel=1e-6)


def test_autocorrelation_by_an_integral() -> None:
    """E[X0 Xk] by Simpson's rule on a grid, with each mean an integral over exp(D0 x)."""
    process = random_process(7, 3)
    steps, length = 4000, 60 * process.mean
    grid = np.linspace(0, length, steps + 1)
    weight = np.where(np.arange(steps + 1) % 2, 4.0, 2.0) * length / steps / 3
    weight[[0, -1]] /= 2
    step, matrix = expm(process.d0 * length / steps), np.eye(3)
    plain, timed = np.zeros((3, 3)), np.zeros((3, 3))
    for time, share in zip(grid, weight, strict=True):
        plain, timed = plain + share * matrix, timed + share * time * matrix
        matrix = matrix @ step
    start = start_by_null_space(process)
    mean = float(start @ timed @ process.d1.sum(axis=1))
    later = timed @ process.d1.sum(axis=1)
    variance = float(start @ plain @ later) * 2 - mean**2
    row = start @ timed @ process.d1
    for value in process.autocorrelation(6):
        assert value == pytest.approx(float(row @ later - mean**2) / variance, abs=1e-6)
        row = row @ plain @ process.d1


def test_closed_forms() -> None:
    poisson = MarkovianArrivalProcess([[-2.0]], [[2.0]])
    assert [poisson.moment(k) for k in (1, 2, 3)] == pytest.approx([0.5, 0.5, 0.75])
    assert poisson.autocorrelation(3) == pytest.approx([0, 0, 0], abs=1e-12)
    erlang = MarkovianArrivalProcess([[-4.0, 4.0], [0.0, -4.0]], [[0.0, 0.0], [4.0, 0.0]])
    assert (erlang.mean, erlang.cv) == pytest.approx((0.5, 0.5**0.5))
    assert erlang.density([0.1, 1.0]) == pytest.approx(
        [16 * x * np.exp(-4 * x) for x in (0.1, 1.0)]
    )


def test_rates_many_orders_of_magnitude_apart() -> None:
    """Phases of 1 ns and of 1,000 s, each lasting 10 times on average.  The autocorrelation at
    lag k is 0.8^k times the between-phase share of the variance."""
    fast, slow = 1.0, 1e-12
    change = np.array([[0.9, 0.1], [0.1, 0.9]])
    rates = np.array([fast, slow])
    process = MarkovianArrivalProcess(-np.diag(rates), rates[:, None] * change)
    means = 1 / rates
    mean = means.mean()
    variance = (means**2).sum() - mean**2
    expected = ((means - mean) ** 2).mean() / variance * 0.8 ** np.arange(1, 6)
    assert process.mean == pytest.approx(mean, rel=1e-12)
    assert process.autocorrelation(5) == pytest.approx(expected, rel=1e-9)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), order=st.integers(1, 4), scale=st.floats(1e-6, 1e6))
def test_log_likelihood_is_that_of_the_product_of_densities(
    seed: int, order: int, scale: float
) -> None:
    process = random_process(seed, order)
    scaled = MarkovianArrivalProcess(process.d0 / scale, process.d1 / scale)
    times = np.random.default_rng(seed).exponential(3 * process.mean, 23) + 1e-9
    row, expected = start_by_null_space(process), 0.0
    for time in times:
        row = row @ expm(process.d0 * time) @ process.d1
        expected += np.log(row.sum()) - np.log(scale)
        row = row / row.sum()
    assert scaled.log_likelihood(times * scale) == pytest.approx(expected, rel=1e-8, abs=1e-7)


def test_a_long_sample_is_as_likely_in_blocks() -> None:
    """A Poisson sample of more than two blocks, with one time far out in the tail."""
    times = np.random.default_rng(3).exponential(1.0, 9000)
    times[5000] = 2000.0
    poisson = MarkovianArrivalProcess([[-3.0]], [[3.0]])
    expected = len(times) * np.log(3) - 3 * times.sum()
    assert poisson.log_likelihood(times) == pytest.approx(expected, rel=1e-12)


def test_samples_are_of_the_process() -> None:
    process = MarkovianArrivalProcess(
        [[-2.0, 0.02, 0.0], [0.0, -0.2, 0.005], [0.01, 0.0, -0.5]],
        [[1.98, 0.0, 0.0], [0.0, 0.195, 0.0], [0.0, 0.0, 0.49]],
    )
    times = process.sample(120_000, 5)
    assert times.shape == (120_000,)
    assert times.mean() == pytest.approx(process.mean, rel=0.05)
    assert times.std() / times.mean() == pytest.approx(process.cv, rel=0.05)
    centred = times - times.mean()
    for lag, expected in enumerate(process.autocorrelation(10), 1):
        sampled = (centred[:-lag] * centred[lag:]).mean() / times.var()
        assert sampled == pytest.approx(expected, abs=0.03)
    assert process.autocorrelation(1)[0] > 0.2
    assert np.array_equal(times[:1000], process.sample(1000, 5))
    assert not np.array_equal(times[:1000], process.sample(1000, 6))


def test_tables_say_what_the_matrices_say() -> None:
    process = random_process(11, 4)
    rates, cumulative, start = process.tables()
    moves = np.diff(cumulative, axis=1, prepend=0) * rates[:, None]
    assert moves[:, 4:] == pytest.approx(process.d1)
    assert moves[:, :4] == pytest.approx(process.d0 + np.diag(rates))
    assert np.diff(start, prepend=0) == pytest.approx(start_by_null_space(process))
    assert (cumulative[:, -1] == 1).all()


def test_stationary_probabilities_of_a_chain_that_hardly_moves() -> None:
    assert stationary(np.array([[0.0, 1e-14], [3e-14, 0.0]])) == pytest.approx([0.75, 0.25])


GOOD = ([[-3.0, 1.0], [1.0, -2.0]], [[1.0, 1.0], [0.0, 1.0]])


@pytest.mark.parametrize(
    ("d0", "d1", "message"),
    [
        (GOOD[0], [[1.0, 1.0], [0.0, float("inf")]], r"D1\[1, 1\] is inf: must be finite"),
        ([[-3.0, -1.0], [1.0, -2.0]], GOOD[1], r"D0\[0, 1\] is -1: a rate off the diagonal"),
        (GOOD[0], [[1.0, 1.0], [-1.0, 2.0]], r"D1\[1, 0\] is -1: a rate must be 0 or more"),
        ([[-3.0, 1.0], [1.0, 0.5]], GOOD[1], r"D0\[1, 1\] is 0.5: the diagonal must be below 0"),
        ([[-3.0, 1.0], [1.0, 0.0]], GOOD[1], r"D0\[1, 1\] is 0: the diagonal must be below 0"),
        ([[-3.5, 1.0], [1.0, -2.0]], GOOD[1], r"row 0 .* -0.5: .* D0\[0, 0\] should be -3"),
        ([[-1.0, 1.0], [1.0, -1.0]], np.zeros((2, 2)), "D1 is 0 throughout"),
        (-np.eye(2), np.eye(2), "phases 0 and 1 do not lead to each other"),
        ([[-1.0]], np.eye(2), r"D0 is \(1, 1\) and D1 \(2, 2\)"),
        (np.empty((0, 0)), np.empty((0, 0)), "n x n, n above 0"),
    ],
)
def test_what_is_no_process(d0: object, d1: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MarkovianArrivalProcess(np.array(d0), np.array(d1))


@pytest.mark.parametrize("time", [0.0, -1.0, float("nan"), float("inf")])
def test_times_are_above_zero(time: float) -> None:
    with pytest.raises(ValueError, match=r"time 1 is .*: must be finite and above 0"):
        MarkovianArrivalProcess(*GOOD).log_likelihood([1.0, time])


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda process: process.moment(0), "moment 0: must be 1 or more"),
        (lambda process: process.autocorrelation(0), "0 lags: must be 1 or more"),
        (lambda process: process.sample(-1, 1), "-1 times: must be 0 or more"),
    ],
)
def test_what_can_not_be_asked(
    ask: Callable[[MarkovianArrivalProcess], object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        ask(MarkovianArrivalProcess(*GOOD))


def test_a_sample_is_of_any_length(monkeypatch: pytest.MonkeyPatch) -> None:
    """Service times go on from one chunk of moves to the next, even if none ends in a chunk."""
    process = MarkovianArrivalProcess(*GOOD)
    assert process.sample(0, 1).tolist() == []
    assert process.sample(7, 1).tolist() == process.sample(9, 1)[:7].tolist()
    slow = MarkovianArrivalProcess([[-1.0, 1.0], [1.0, -1.2]], [[0.0, 0.0], [0.0, 0.2]])
    monkeypatch.setattr(mapped, "CHUNK", 8)
    assert slow.sample(3000, 1).mean() == pytest.approx(slow.mean, rel=0.05)


def test_moves_are_added_up_until_a_time_ends() -> None:
    stays = np.array([1.0, 2.0, 4.0, 8.0])
    for ends, finished, rest in (
        ([0, 1, 0, 1], [13, 12], 0),
        ([1, 0, 1, 0], [11, 6], 8),
        ([1, 1, 0, 0], [11, 2], 12),
        ([0, 0, 0, 0], [], 25),
    ):
        times, left = mapped._sum_up(stays, np.array(ends, bool), 10.0)
        assert (times.tolist(), left) == (finished, rest)


def test_a_random_number_selects_the_first_outcome_above_it() -> None:
    """Outcomes of two phases, for the random numbers 0, 0.5 and 0.9."""
    cumulative = np.array([[0.0, 0.5, 0.5, 1.0], [0.25, 0.5, 0.75, 1.0]])
    outcomes = mapped._outcomes(cumulative, np.array([0.0, 0.5, 0.9]))
    assert outcomes.tolist() == [[1, 0], [3, 2], [3, 3]]
    left, ends, phase = mapped._walk(cumulative, 1, np.array([0.0, 0.5, 0.9]))
    assert (left.tolist(), ends.tolist(), phase) == ([1, 0, 1], [False, True, True], 1)


def test_survival_over_a_long_range() -> None:
    """The times need more than one block; very long and very short ones are exact as well."""
    erlang = MarkovianArrivalProcess([[-4.0, 4.0], [0.0, -4.0]], [[0.0, 0.0], [4.0, 0.0]])
    times = np.r_[np.geomspace(1e-9, 100, 5000), 0.25, 0.5]
    wanted = (1 + 4 * times) * np.exp(-4 * times)
    assert erlang.survival(times) == pytest.approx(wanted, rel=1e-12)
    assert erlang.density(times) == pytest.approx(16 * times * np.exp(-4 * times), rel=1e-12)


def test_a_row_may_be_off_by_rounding() -> None:
    """One part in a billion of the diagonal is rounding, more is a mistake."""
    for off, good in ((0.9e-9, True), (1.1e-9, False)):
        for scale in (1.0, 1e-6):
            rates = ([[-2.0 * scale]], [[2.0 * scale * (1 + off)]])
            if good:
                assert MarkovianArrivalProcess(*rates).order == 1
            else:
                with pytest.raises(ValueError, match="adds up to"):
                    MarkovianArrivalProcess(*rates)


def test_the_matrices_are_copied_for_good() -> None:
    d0 = np.array([[-2.0]])
    process = MarkovianArrivalProcess(d0, [[2.0]])
    d0[0, 0] = -3
    assert process.d0[0, 0] == -2
    with pytest.raises(ValueError, match="read-only"):
        process.d0[0, 0] = 1


@pytest.mark.parametrize("order", [2, 3])
def test_blocks_of_several_phases_add_up(order: int, monkeypatch: pytest.MonkeyPatch) -> None:
    process = random_process(5, order)
    times = np.random.default_rng(5).exponential(process.mean, 30)
    at_once = process.log_likelihood(times)
    monkeypatch.setattr(mapped, "BLOCK", 4)
    assert process.log_likelihood(times) == pytest.approx(at_once, rel=1e-12)
