# SPDX-License-Identifier: MIT
"""Which scheduler is picked, among many, and for the tail."""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_runs import experiment, outcome
from scipy import stats

from understudy_devices.measure.comparison import Comparison
from understudy_devices.measure.metrics import PAPER_MEASURES, Summary, summarise
from understudy_devices.recommend.choice import GOALS, TAIL, as_json, best, choices

pytestmark = pytest.mark.thorough

RUN = summarise(outcome(experiment(requests=5)))
RESPONSE = PAPER_MEASURES[2]
MEAN = "mean_response_ms"
ROUNDS = 300


def compared(figures: Mapping[str, Mapping[str, Sequence[float]]]) -> Comparison:
    """Compare schedulers with the given figures for each seed; all other figures are equal."""
    return Comparison([run for name, values in figures.items() for run in _runs(name, values)])


def _runs(name: str, figures: Mapping[str, Sequence[float]]) -> list[Summary]:
    seeds = len(next(iter(figures.values())))
    return [
        dataclasses.replace(
            RUN,
            scheduler=name,
            seed=seed,
            **{measure: values[seed] for measure, values in figures.items()},  # type: ignore[arg-type]
        )
        for seed in range(seeds)
    ]


def tail(**figures: Sequence[tuple[float, float, float]]) -> Comparison:
    """Compare schedulers by name; for each seed, the 99th and 99.9th percentile and the longest
    response."""
    keys = ("p99_response_ms", "p999_response_ms", "max_response_ms")
    return compared(
        {
            name: dict(zip(keys, zip(*seeds, strict=True), strict=True))
            for name, seeds in figures.items()
        }
    )


def test_who_starves_one_in_a_thousand_is_not_picked_for_the_tail() -> None:
    comparison = tail(sstf=[(10, 900, 2000), (11, 950, 2100)], look=[(12, 14, 15), (13.1, 15, 16)])
    choice = choices(comparison)[1]
    assert choice.best is None
    assert choice.sentence() == (
        "for tail response nobody is best throughout: sstf by p99 (10.5 ms), "
        "look by p99.9 (14.5 ms), look by longest (15.5 ms) (2 seeds)"
    )


def test_who_is_tied_for_its_noise_alone_is_not_picked_for_the_tail() -> None:
    """clook in `compare --schedulers all` is an example: scan beats it in each measure."""
    comparison = tail(
        deadline=[(127, 230, 317), (128, 231, 318), (127, 229, 316)],
        scan=[(151, 223, 243), (152, 225, 244), (151, 224, 242)],
        clook=[(130, 210, 250), (150, 300, 500), (230, 380, 400)],
    )
    choice = choices(comparison)[1]
    assert choice.best is None
    assert all("clook" in one.names for one in choice.by)
    assert choice.sentence() == (
        "for tail response nobody is best throughout: deadline by p99 (127.3 ms), "
        "scan by p99.9 (224 ms), scan by longest (243 ms) "
        "(3 seeds, corrected for a choice among 3)"
    )


FIGURES = st.tuples(*[st.integers(1, 9)] * 3)


@given(st.lists(st.lists(FIGURES, min_size=2, max_size=2), min_size=2, max_size=5))
def test_nobody_is_named_for_the_tail_whom_another_one_beats(
    figures: list[list[tuple[int, int, int]]],
) -> None:
    choice = choices(tail(**{f"s{i}": seeds for i, seeds in enumerate(figures)}))[1]
    means = {f"s{i}": np.mean(seeds, axis=0) for i, seeds in enumerate(figures)}
    beaten = {
        name for name, own in means.items() if any((other < own).all() for other in means.values())
    }
    assert not beaten & set(choice.names)
    assert not any(name in choice.sentence() for name in beaten)


def test_who_is_tied_by_one_measure_and_best_by_the_others_is_picked_for_the_tail() -> None:
    comparison = tail(
        sstf=[(10, 900, 2000), (13, 950, 2100), (10, 940, 1900)],
        look=[(12, 14, 15), (11, 15, 16), (12, 13, 14)],
    )
    choice = choices(comparison)[1]
    assert (choice.best, choice.tied) == ("look", ())
    assert choice.sentence() == (
        "for tail response pick look (p99 11.67 ms, p99.9 14 ms, longest 15 ms; 3 seeds)"
    )


def test_json_has_the_best_by_each_measure_of_a_goal() -> None:
    compared = tail(sstf=[(10, 900, 2000)], look=[(12, 14, 15)])
    entry = as_json(compared, choices(compared))["choices"][1]
    assert entry["best"] is None
    assert [(one["measure"], one["best"]) for one in entry["by"]] == [
        ("p99_response_ms", "sstf"),
        ("p999_response_ms", "look"),
        ("max_response_ms", "look"),
    ]


def test_a_pair_is_told_apart_alone_but_not_among_many() -> None:
    base = np.array([10.0, 20.0, 30.0, 25.0])
    apart = {"best": base, "worse": base + np.array([0.5, 1.5, 1.0, 0.6])}
    comparison = compared({name: {MEAN: values.tolist()} for name, values in apart.items()})
    assert best(comparison, RESPONSE).tied == ()
    many = apart | {f"far{number}": base + 100 + number for number in range(10)}
    comparison = compared({name: {MEAN: values.tolist()} for name, values in many.items()})
    assert best(comparison, RESPONSE).tied == ("worse",)
    assert not comparison.difference("worse", "best", RESPONSE).includes_zero
    assert "corrected for a choice among 12" in choices(comparison)[0].sentence()


def test_the_interval_among_n_is_bonferronis() -> None:
    base = np.array([1.0, 3.0, 2.0, 4.0, 7.0])
    error = np.array([-1.0, 0.5, 0.2, 0.8, -0.5])
    half = stats.t.ppf(1 - 0.05 / 2 / 3, 4) * stats.sem(error)
    for shift, tied in ((half * 0.999, ("b",)), (half * 1.001, ())):
        others = {"b": base + shift + error, "c": base + 50, "d": base + 60}
        figures = {name: {MEAN: values.tolist()} for name, values in ({"a": base} | others).items()}
        assert best(compared(figures), RESPONSE).tied == tied


@pytest.mark.parametrize("schedulers", [3, 13])
def test_the_truly_best_is_named_as_often_as_promised(schedulers: int) -> None:
    """The schedulers differ only by noise, so each is equally likely to be the truly best."""
    draw = np.random.default_rng(1)
    rounds, left_out = 400, 0
    for _ in range(rounds):
        values = draw.normal(100, 5, (schedulers, 5))
        comparison = compared({f"s{i}": {MEAN: values[i].tolist()} for i in range(schedulers)})
        left_out += "s0" not in best(comparison, RESPONSE).names
    assert left_out <= 0.05 * rounds


@pytest.mark.parametrize(("schedulers", "seeds"), [(3, 5), (14, 3), (14, 10)])
def test_a_pick_is_as_often_right_as_the_docs_say(schedulers: int, seeds: int) -> None:
    """True figures and noise of 0.5 to 20 % are random; docs/method.md states the resulting
    shares."""
    draw = np.random.default_rng(1)
    means = throughout = right = 0
    for _ in range(ROUNDS):
        true = np.exp(draw.normal(0, 0.3, (schedulers, 1)) + draw.normal(0, 0.1, (schedulers, 3)))
        noise = 10 ** draw.uniform(-2.3, -0.7, (schedulers, 1, 1)) * [1, 1.5, 2]
        errors = draw.normal(0, 0.05, (seeds, 1)) + noise * draw.normal(
            0, 1, (schedulers, seeds, 3)
        )
        seen = true[:, None] * (1 + errors)
        keys = (MEAN, *(measure.key for measure in GOALS[TAIL]))
        comparison = compared(
            {
                f"s{i}": dict(zip(keys, [by[:, 0].tolist(), *by.T.tolist()], strict=True))
                for i, by in enumerate(seen)
            }
        )
        mean, tail, _ = choices(comparison)
        close = true <= 1.01 * true.min(axis=0)
        means += any(close[int(name[1:])][0] for name in mean.names)
        if (true == true.min(axis=0)).all(axis=1).any():
            throughout += 1
            right += any(close[int(name[1:])].all() for name in tail.names)
    assert means >= 0.99 * ROUNDS
    assert throughout > ROUNDS / 3
    assert right >= 0.95 * throughout


def test_those_that_are_tied_are_named_in_the_order_of_their_means() -> None:
    figures = {"c": [3.0, 1.0], "a": [2.0, 1.5], "b": [1.0, 2.3]}
    comparison = compared({name: {MEAN: values} for name, values in figures.items()})
    assert choices(comparison)[0].sentence() == (
        "for mean response pick b or a or c: they cannot be told apart "
        "(1.65 ms; 2 seeds, corrected for a choice among 3)"
    )


def test_of_several_measures_the_first_decides_who_comes_first() -> None:
    comparison = tail(look=[(10, 15, 40), (12, 15, 44)], sstf=[(12, 15.5, 41), (10.5, 15, 40)])
    choice = choices(comparison)[1]
    assert [one.best for one in choice.by] == ["look", "look", "sstf"]
    assert (choice.best, choice.tied) == ("look", ("sstf",))
    assert choice.sentence() == (
        "for tail response pick look or sstf: they cannot be told apart "
        "(p99 11 ms, p99.9 15 ms, longest 42 ms; 2 seeds)"
    )
    assert choice.as_json() == {
        "goal": "tail response",
        "best": "look",
        "cannot_be_told_apart": ["sstf"],
        "by": [one.as_json() for one in choice.by],
        "among": 2,
        "seeds": 2,
    }
    assert choice.by[2].as_json() == {
        "measure": "max_response_ms",
        "best": "sstf",
        "cannot_be_told_apart": ["look"],
    }


def test_of_two_measures_each_has_its_label() -> None:
    choice = choices(tail(look=[(12, 14, 15)]))[1]
    two = dataclasses.replace(choice, by=choice.by[:2])
    assert two.sentence() == (
        "for tail response pick look (p99 12 ms, p99.9 14 ms; one seed: no interval)"
    )


def test_a_goals_measures_are_in_the_unit_of_their_keys() -> None:
    measures = [measure for measures in GOALS.values() for measure in measures]
    assert {(one.unit, one.key.endswith("_sectors_per_ms")) for one in measures} == {
        ("ms", False),
        ("sectors/ms", True),
    }


def test_an_answer_cannot_be_changed() -> None:
    choice = choices(tail(look=[(12, 14, 15)]))[0]
    for answer, field in ((choice, "goal"), (choice.by[0], "best")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(answer, field, "other")
