# SPDX-License-Identifier: MIT
"""The parts of a fit: a Baum-Welch step against all paths of a chain, the choice among kinds of
process, and the limits of a poor fit."""

from itertools import pairwise, product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import gamma

from understudy_devices.consolidation import branches as chains
from understudy_devices.consolidation import fit as fits
from understudy_devices.consolidation.branches import Branches, first_guess
from understudy_devices.consolidation.fit import fit
from understudy_devices.consolidation.fit_report import autocorrelations, compare, lag_limit
from understudy_devices.consolidation.map import MarkovianArrivalProcess

Array = NDArray[np.float64]

TWO = Branches(np.array([1, 3]), np.array([0.5, 4.0]), np.array([[0.7, 0.3], [0.2, 0.8]]))


def one(stages: int, rate: float) -> Branches:
    return Branches(np.array([stages]), np.array([rate]), np.eye(1))


def exponential(copies: int) -> Branches:
    """Return branches that are all the exponential distribution with a mean of 1."""
    change = np.full((copies, copies), 1 / copies)
    return Branches(np.ones(copies, int), np.ones(copies), change)


def test_a_step_weighs_all_paths() -> None:
    """Each path through the branches counts by its likelihood: expected changes give the next
    probabilities, and expected times the next rates."""
    times = np.random.default_rng(4).exponential(1, (4, 3))
    weights = [0.4, 0.6]  # stationary: 0.4 * 0.3 = 0.6 * 0.2
    density = [gamma.pdf(times, a, scale=1 / rate) for a, rate in ((1, 0.5), (3, 4.0))]
    changes, visits, lasted, logs = np.zeros((2, 2)), np.zeros(2), np.zeros(2), 0.0
    for column in range(3):
        paths = {}
        for path in product(range(2), repeat=4):
            chance = weights[path[0]] * np.prod([density[k][i, column] for i, k in enumerate(path)])
            paths[path] = chance * np.prod([TWO.change[pair] for pair in pairwise(path)])
        total = sum(paths.values())
        logs += np.log(total)
        for path, chance in paths.items():
            for i, k in enumerate(path):
                visits[k] += chance / total
                lasted[k] += chance / total * times[i, column]
                if i:
                    changes[path[i - 1], k] += chance / total
    after = TWO.improved(times, 1)
    assert TWO.log_likelihood(times) == pytest.approx(logs / 12)
    assert after.change == pytest.approx(changes / changes.sum(axis=1, keepdims=True), rel=1e-5)
    assert after.change.sum(axis=1) == pytest.approx([1, 1], abs=1e-12)
    assert after.rates == pytest.approx(TWO.shapes * visits / lasted, rel=1e-6)
    assert after.shapes is TWO.shapes


def test_changes_that_never_happen_stay_possible() -> None:
    """The chain must lead everywhere; a branch that takes no service time keeps its rate."""
    slow = Branches(np.array([1, 1]), np.array([1.0, 1e-9]), np.array([[1 - 1e-9, 1e-9]] * 2))
    after = slow.improved(np.full((50, 2), 1.0), 1)
    assert after.change[0, 1] == pytest.approx(1e-7, rel=0.01)
    assert (after.change > 0).all()
    assert np.isfinite(after.rates).all()


@pytest.mark.parametrize(
    ("gains", "steps", "taken"),
    [([1, 1, 1, 1], 3, 3), ([1, 3e-5, 1.9e-5, 1], 9, 3), ([1, -1, 1, 1], 9, 2)],
)
def test_steps_end_when_they_gain_little(
    gains: list[float], steps: int, taken: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    likelihoods = iter(np.cumsum(gains))
    calls: list[Branches] = []

    def step(branches: Branches, _: Array) -> tuple[Branches, float]:
        calls.append(branches)
        return one(1, len(calls)), float(next(likelihoods))

    monkeypatch.setattr(chains, "_step", step)
    assert TWO.improved(np.ones((2, 2)), steps).rates.tolist() == [taken]
    assert len(calls) == taken


def test_the_first_guess_is_spread_over_the_logarithms() -> None:
    times = np.exp(np.linspace(-1, 9, 501))
    guess = first_guess(np.array([2, 1]), times)
    low, high = -1 + 0.02 * 10, -1 + 0.998 * 10
    means = np.exp([low + 0.25 * (high - low), low + 0.75 * (high - low)])
    assert guess.shapes / guess.rates == pytest.approx(means)
    assert guess.change == pytest.approx(np.array([[0.75, 0.25], [0.25, 0.75]]))


def test_every_kind_of_process_is_compared() -> None:
    """There are two dozen, of at most 16 phases: single branches, exponential ones, and others."""
    kinds = list(fit(np.random.default_rng(1).exponential(1, 300)).report.held_out)
    assert len(set(kinds)) == 24
    singles = [kind[0] for kind in kinds if len(kind) == 1]
    assert singles == [1, 2, 3, 4, 5, 6, 8, 12, 16]
    alike = [len(kind) for kind in kinds if set(kind) == {1} and len(kind) > 1]
    assert alike == [2, 3, 4, 5, 6]
    others = [kind for kind in kinds if len(kind) > 1 and set(kind) != {1}]
    assert [sum(kind) for kind in others] == [3, 4, 6, 8, 10, 16, 16, 6, 16, 16]


@pytest.mark.parametrize("count", [700, 64 * 330 + 63])
def test_every_second_block_is_held_out(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A single branch is the Erlang distribution with the mean of the other blocks; there are at
    most 320 blocks of 64 times, at regular intervals."""
    monkeypatch.setattr(fits, "SHAPES", ((3,), (4,)))
    times = np.random.default_rng(2).gamma(3, 2.0, count)
    found = fit(times).report.held_out
    blocks = (times / times.mean())[: count // 64 * 64].reshape(-1, 64)
    blocks = blocks[np.linspace(0, len(blocks) - 1, min(320, len(blocks))).astype(int)]
    train, later = blocks[::2], blocks[1::2]
    assert list(found) == [(3,), (4,)]
    for (stages,), likelihood in found.items():
        logs = gamma.logpdf(later, stages, scale=train.mean() / stages)
        assert likelihood == pytest.approx(logs.mean(), rel=1e-9)


def test_blocks_of_a_short_sample_are_quarters() -> None:
    times = np.arange(403.0)
    assert fits._blocks(times, 256, 200).T.tolist() == times[:400].reshape(4, 100).tolist()


@pytest.mark.parametrize(
    ("held_out", "copies"),
    [
        ([-1.0, -1.0, -1.0], 1),
        ([-1.0019, -1.0, -1.0], 1),  # about equally likely: the smallest
        ([-1.0021, -1.0, -1.0], 2),
        ([-1.0, -1.1, -1.2], 1),
        ([-1.2, -1.1, -1.0], 3),
    ],
)
def test_the_smallest_of_the_likeliest_is_chosen(held_out: list[float], copies: int) -> None:
    """Each kind of process fits the sample: all branches are exponential."""
    kinds = {(1,) * size: value for size, value in zip((3, 2, 1), held_out[::-1], strict=True)}
    trials = {kind: exponential(len(kind)) for kind in kinds}
    assert fits._best(sample(), kinds, trials).order == copies


@pytest.mark.parametrize(("stages", "order"), [((5, 4, 2), 2), ((5, 4, 3, 6, 2), 3)])
def test_of_four_that_fit_poorly_the_nearest_is_chosen(stages: tuple[int, ...], order: int) -> None:
    """An exponential sample is nearest to the Erlang distribution of the fewest stages; the fifth
    kind is not tried."""
    held_out: dict[tuple[int, ...], float] = {(k,): -1.0 - place for place, k in enumerate(stages)}
    trials = {kind: one(kind[0], float(kind[0])) for kind in held_out}
    assert fits._best(sample(), held_out, trials).order == order


@pytest.mark.parametrize(
    ("cv", "lag", "off"),
    [(1.0, 0.0, 0), (1.0, 0.02, 0.8), (1.0, -0.05, 2), (1.02, 0.01, 0.7843), (0.95, 0.05, 2.1053)],
)
def test_how_far_a_process_is_off(cv: float, lag: float, off: float) -> None:
    """At 2 an error is as large as its limit: 5 % of the coefficient of variation, or 0.05."""
    target = np.array([0.0, lag, 0.0])
    assert fits._off(exponential(2), cv, target, 0.05) == pytest.approx(off, abs=1e-4)


def test_a_process_is_matched_to_the_figures() -> None:
    """What matches already hardly changes."""
    scaled = Branches(TWO.shapes, TWO.rates * TWO.mean(), TWO.change)
    cv, target = scaled.cv(), scaled.autocorrelation(10)
    same = fits._matched(scaled, cv, target)
    assert same.rates == pytest.approx(scaled.rates, rel=1e-6)
    assert same.change == pytest.approx(scaled.change, rel=1e-6)
    near = fits._matched(scaled, 1.05 * cv, 0.9 * target)
    assert near.mean() == pytest.approx(1, abs=1e-3)
    assert near.cv() == pytest.approx(1.05 * cv, rel=5e-3)
    assert near.autocorrelation(10) == pytest.approx(0.9 * target, abs=0.01)
    assert near.change.sum(axis=1) == pytest.approx([1, 1], abs=1e-12)
    assert near.weights == pytest.approx(scaled.weights, abs=0.02)
    assert near.shapes is scaled.shapes


@pytest.mark.parametrize(
    ("times", "limit"), [(300, 3 / 300**0.5), (3599, 3 / 3599**0.5), (3600, 0.05), (10**6, 0.05)]
)
def test_chance_widens_the_limit_of_a_short_sample(times: int, limit: float) -> None:
    assert lag_limit(times) == pytest.approx(limit)


def sample(mean: float = 1.0, power: float = 1.0) -> Array:
    """Return quantiles of the exponential distribution to a power, in random order."""
    quantiles = (-np.log1p(-(np.arange(20_000) + 0.5) / 20_000)) ** power
    times: Array = np.random.default_rng(1).permutation(quantiles) * mean / quantiles.mean()
    return times


POISSON = MarkovianArrivalProcess([[-1.0]], [[1.0]])


@pytest.mark.parametrize(
    ("times", "poor"),
    [
        (sample(), ()),
        (sample(1.0098), ()),
        (sample(0.9902), ()),
        (sample(1.0102), ("a mean of 1 for 1.01",)),
        (sample(0.98), ("a mean of 1 for 0.98",)),
        (sample(5), ("a mean of 1 for 5", "a Kolmogorov-Smirnov distance of 0.535")),
        (sample(power=0.96), ()),
        (sample(power=0.94), ("a coefficient of variation of 1 for 0.94, and 1 phases can't",)),
        (sample(power=1.1), ("a coefficient of variation of 1 for 1.1",)),
        (
            np.sort(sample()),
            (
                "an autocorrelation at lag 1 of 0.000 for 0.998",
                "a mean autocorrelation at lags 11 to 30 of 0.000 for 0.9",
                "a mean autocorrelation at lags 31 to 100 of 0.000 for 0.9",
            ),
        ),
        (
            np.stack([sample()[:10_000]] * 2, axis=1).reshape(-1),
            ("an autocorrelation at lag 1 of 0.000 for 0.498",),
        ),
    ],
)
def test_the_limits_of_a_poor_fit(times: Array, poor: tuple[str, ...]) -> None:
    """The mean may be 1 % off, and the coefficient of variation 5 %."""
    report = compare(times, POISSON, {})
    assert len(report.poor) == len(poor), report.poor
    for reason, words in zip(report.poor, poor, strict=True):
        assert reason.startswith(words)


@pytest.mark.parametrize(("times", "narrower"), [([1.0, 3.0], False), ([1.0, 2.99], True)])
def test_what_four_phases_can_not_be_is_said(times: list[float], narrower: bool) -> None:
    """They can have a coefficient of variation of a half, but no less."""
    process = exponential(4).process(2.0)
    poor = compare(np.tile(times, 200), process, {}).poor
    assert ("and 4 phases can't be narrower" in " ".join(poor)) is narrower


def test_long_runs_of_alike_times_are_poor() -> None:
    runs = np.repeat(sample()[:1000], 100)
    rest = np.random.default_rng(2).exponential(1, len(runs)) * 2
    poor = compare((runs + rest) / 3, POISSON, {}).poor
    far = [one.split(" of ")[0] for one in poor if one.startswith("a mean autocorrelation")]
    assert far == [
        "a mean autocorrelation at lags 11 to 30",
        "a mean autocorrelation at lags 31 to 100",
    ]


def test_each_of_the_first_ten_lags_is_judged() -> None:
    for lag, count in ((10, 1), (11, 0)):
        times = sample()
        groups = times[:19_800].reshape(-1, lag * 2)[: 19_800 // (2 * lag)]
        groups[:, lag:] = groups[:, :lag]
        report = compare(groups.reshape(-1) / groups.mean(), POISSON, {})
        assert len([one for one in report.poor if f"at lag {lag} " in one]) == count


def test_a_report_has_the_figures_of_both() -> None:
    times = sample(2.0)
    report = compare(times, POISSON, {(1,): -1.0})
    assert report.given.moments == pytest.approx([(times**k).mean() for k in (1, 2, 3)])
    assert report.given.cv == pytest.approx(times.std() / times.mean())
    assert report.given.autocorrelation[2] == pytest.approx(
        np.corrcoef(times[:-3], times[3:])[0, 1], abs=1e-4
    )
    assert report.given.autocorrelation.shape == report.fitted.autocorrelation.shape == (100,)
    assert report.fitted.moments == pytest.approx((1, 2, 6))
    assert report.fitted.cv == pytest.approx(1)
    assert report.held_out == {(1,): -1.0}
    assert report.distance == pytest.approx(0.25, abs=1e-3)  # of exp(-x) and exp(-x / 2)
    assert autocorrelations(np.ones(50), 3).tolist() == [0, 0, 0]


def test_a_distance_counts_on_both_sides_of_a_step() -> None:
    """All times are one half: the process has 0.39 below it, so 0.61 above it."""
    assert compare(np.full(300, 0.5), POISSON, {}).distance == pytest.approx(np.exp(-0.5))
    assert compare(np.full(300, 2.0), POISSON, {}).distance == pytest.approx(1 - np.exp(-2))
