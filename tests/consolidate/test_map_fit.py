# SPDX-License-Identifier: MIT
"""Fits of service times to random samples, each drawn here from the definition of its
distribution."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from understudy_devices.consolidation.branches import Branches, first_guess
from understudy_devices.consolidation.fit import fit
from understudy_devices.consolidation.source import chosen

Array = NDArray[np.float64]

COUNT = 12_000


def mmpp(random: np.random.Generator) -> Array:
    """Sample two phases with 10 and 0.1 events per unit of time; the lag-1 autocorrelation
    exceeds 0.4."""
    leaves, rates = (0.02, 0.002), (10.0, 0.1)
    times: list[float] = []
    phase, waited = 0, 0.0
    while len(times) < COUNT:
        both = rates[phase] + leaves[phase]
        waited += random.exponential(1 / both)
        if random.random() < rates[phase] / both:
            times.append(waited)
            waited = 0.0
        else:
            phase = 1 - phase
    return np.array(times)


def four_states(random: np.random.Generator) -> Array:
    """Sample exponential times with four means; the state changes at random after each time."""
    change = ((0.9, 0.1, 0, 0), (0, 0.95, 0.05, 0), (0, 0, 0.8, 0.2), (0.02, 0, 0, 0.98))
    means, state = (0.1, 1.0, 5.0, 20.0), 0
    times = np.empty(COUNT)
    for place in range(COUNT):
        times[place] = random.exponential(means[state])
        state = int(random.choice(4, p=change[state]))
    return times


def hyperexponential(random: np.random.Generator) -> Array:
    return np.where(
        random.random(COUNT) < 0.9, random.exponential(1, COUNT), random.exponential(20, COUNT)
    )


def hits_and_misses(random: np.random.Generator) -> Array:
    """Sample the service times of a disk with a cache, in ns."""
    hit, miss = random.normal(0.25e6, 0.03e6, COUNT), random.uniform(3e6, 12e6, COUNT)
    return np.where(random.random(COUNT) < 0.3, hit, miss)


SAMPLES: dict[str, Callable[[np.random.Generator], Array]] = {
    "poisson": lambda random: random.exponential(4, COUNT),
    "erlang": lambda random: random.gamma(5, 1, COUNT),
    "hyperexponential": hyperexponential,
    "mmpp": mmpp,
    "four states": four_states,
    "lognormal, cv 5": lambda random: random.lognormal(0, np.log(26) ** 0.5, COUNT),
    "hits and misses": hits_and_misses,
}
QUICK = ("erlang", "hits and misses")


def sample_autocorrelation(times: Array, lag: int) -> float:
    """Return the correlation of the sample with itself, shifted by `lag`."""
    return float(np.corrcoef(times[:-lag], times[lag:])[0, 1])


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in QUICK else pytest.mark.thorough) for name in SAMPLES],
)
def test_figures_of_the_sample_are_met(name: str) -> None:
    times = SAMPLES[name](np.random.default_rng(17))
    if name == "mmpp":
        assert sample_autocorrelation(times, 1) > 0.4
    fitted = fit(times)
    process = fitted.process
    assert process.order <= 16
    assert process.mean == pytest.approx(times.mean(), rel=0.01)
    assert process.cv == pytest.approx(times.std() / times.mean(), rel=0.05)
    for lag, value in enumerate(process.autocorrelation(10), 1):
        assert value == pytest.approx(sample_autocorrelation(times, lag), abs=0.05)
    assert fitted.report.poor == ()
    assert fitted.report.distance < 0.1


@pytest.mark.thorough
def test_a_sample_of_the_fit_is_like_the_sample() -> None:
    """A sample of the fitted process resembles the original; fitting the same sample twice gives
    equal processes."""
    times = four_states(np.random.default_rng(5))[:6000]
    process = fit(times).process
    again = fit(times).process
    assert np.array_equal(process.d0, again.d0)
    assert np.array_equal(process.d1, again.d1)
    sample = process.sample(60_000, 1)
    assert sample.mean() == pytest.approx(times.mean(), rel=0.1)
    assert sample_autocorrelation(sample, 1) == pytest.approx(
        sample_autocorrelation(times, 1), abs=0.05
    )


def test_a_constant_becomes_the_narrowest_erlang_and_is_poor() -> None:
    fitted = fit(np.full(400, 3.0))
    assert "variation of 0.25 for 0, and 16 phases can't be narrower" in fitted.report.poor[0]
    assert fitted.process.order == 16
    assert fitted.process.mean == pytest.approx(3.0)
    assert fitted.process.cv == pytest.approx(0.25)
    assert not fitted.report.given.autocorrelation.any()


def test_what_alternates_is_fitted_poorly_and_taken_from_the_trace() -> None:
    """Two constants that alternate are a sample that no process of 16 phases fits."""
    times = np.tile([1.0, 9.0], 300)
    assert fit(times).report.poor
    assert chosen(times).recorded.startswith("no process fits: ")
    assert not chosen(times, accept_poor=True).recorded


def test_a_few_times_are_taken_from_the_trace() -> None:
    assert not chosen(np.random.default_rng(1).exponential(1, 300)).recorded
    few = chosen(np.arange(1, 21))
    assert few.recorded == "20 are too few to fit a process, which takes 300"
    assert few.process.mean == pytest.approx(10.5)
    with pytest.raises(ValueError, match="19 service times: at least 20 are needed"):
        chosen(np.ones(19))


@pytest.mark.thorough
def test_twelve_orders_of_magnitude_are_fitted() -> None:
    times = 10 ** np.random.default_rng(2).uniform(0, 12, 3000)
    assert fit(times).process.mean == pytest.approx(times.mean(), rel=0.01)


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (np.ones(299), "299 service times: at least 300 are needed; give a longer trace"),
        (np.ones((300, 2)), r"shape \(300, 2\)"),
        (
            np.r_[np.ones(300), 0.0, 1.0],
            "service time 300 is 0: must be finite and above 0; 1 of",
        ),
        (np.r_[np.ones(300), -2.0], "service time 300 is -2"),
        (np.r_[np.nan, np.ones(300)], "service time 0 is nan"),
        (np.full(300, 1e200), r"a mean service time of 1e\+200: .* another unit"),
        (np.full(300, 1e-200), "a mean service time of 1e-200"),
        (np.r_[np.inf, np.ones(300)], "service time 0 is inf"),
    ],
)
def test_what_is_no_sample(times: Array, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit(times)


def test_branches_are_the_process_that_they_give() -> None:
    branches = Branches(
        np.array([3, 1, 2]),
        np.array([9.0, 0.5, 4.0]),
        np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]]),
    )
    process = branches.process(1.0)
    times = np.random.default_rng(2).exponential(1.0, 200)
    assert (process.order, branches.order) == (6, 6)
    assert process.mean == pytest.approx(branches.mean())
    assert process.cv == pytest.approx(branches.cv())
    assert process.autocorrelation(8) == pytest.approx(branches.autocorrelation(8))
    assert process.log_likelihood(times) / 200 == pytest.approx(
        branches.log_likelihood(times[:, None])
    )
    assert branches.process(1e6).mean == pytest.approx(1e6 * process.mean)


def test_each_step_makes_the_sample_likelier() -> None:
    times = hyperexponential(np.random.default_rng(9))[:4000].reshape(200, 20) / 3
    branches = first_guess(np.array([2, 1]), times)
    before = branches.log_likelihood(times)
    for _ in range(8):
        branches = branches.improved(times, 1)
        after = branches.log_likelihood(times)
        assert after > before - 1e-6
        before = after
