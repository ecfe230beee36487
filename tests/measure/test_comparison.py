# SPDX-License-Identifier: MIT
"""Intervals, paired differences, and which scheduler is called the best."""

import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_runs import experiment, outcome
from scipy import stats

from understudy_devices.measure.comparison import Comparison, estimate, ranks
from understudy_devices.measure.metrics import PAPER_MEASURES, Summary, summarise
from understudy_devices.papers.reproduction import rows, shadow_sentence
from understudy_devices.papers.tables import MEASURES, STAND_INS, TABLES
from understudy_devices.recommend.choice import GOALS, as_json, choices

RUN = summarise(outcome(experiment(requests=5)))
SERVICE, _, RESPONSE, VARIANCE, THROUGHPUT = PAPER_MEASURES


def runs(scheduler: str, values: Sequence[float], throughput: float = 1.0) -> list[Summary]:
    """Return a run for each value, which is its mean response and p99."""
    return [
        dataclasses.replace(
            RUN,
            scheduler=scheduler,
            seed=seed,
            mean_response_ms=value,
            p99_response_ms=10 * value,
            throughput_sectors_per_ms=throughput,
        )
        for seed, value in enumerate(values, start=1)
    ]


def test_interval_by_hand() -> None:
    interval = estimate([1.0, 2.0, 3.0])
    assert interval.mean == 2
    # t(0.975, 2) = 4.3027, standard error 1 / sqrt(3)
    assert interval.half_width == pytest.approx(4.3027 / 3**0.5, rel=1e-4)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20))
def test_interval_is_scipys_one_sample_interval(values: list[float]) -> None:
    interval = estimate(values)
    if np.ptp(values) > 1e-3:
        low, high = stats.ttest_1samp(values, 0.0).confidence_interval(0.95)
        assert (interval.mean - (interval.half_width or 0)) == pytest.approx(
            low, rel=1e-6, abs=1e-6
        )
        assert (interval.mean + (interval.half_width or 0)) == pytest.approx(
            high, rel=1e-6, abs=1e-6
        )


def test_one_seed_has_no_interval_and_says_so() -> None:
    comparison = Comparison([*runs("cats", [3.0]), *runs("none", [4.0])])
    mean, tail, throughput = choices(comparison)
    assert mean.sentence() == "for mean response pick cats (3 ms; one seed: no interval)"
    assert tail.best == "cats"
    assert (throughput.best, throughput.tied) == ("cats", ("none",))
    assert as_json(comparison, choices(comparison))["differences"][0]["told_apart"] is None


def test_pairs_tell_apart_what_separate_intervals_could_not() -> None:
    cats, none = [10.0, 20.0, 30.0], [11.0, 21.1, 30.9]
    comparison = Comparison([*runs("cats", cats), *runs("none", none)])
    assert comparison.estimate("cats", RESPONSE).half_width == pytest.approx(24.8, abs=0.1)
    assert choices(comparison)[0].tied == ()
    assert choices(comparison)[0].sentence() == "for mean response pick cats (20 ms; 3 seeds)"


def test_a_difference_around_zero_is_a_tie_that_is_named() -> None:
    comparison = Comparison([*runs("cats", [10.0, 20.0, 30.0]), *runs("none", [9.0, 22.0, 31.0])])
    choice = choices(comparison)[0]
    assert (choice.best, choice.tied) == ("cats", ("none",))
    assert "pick cats or none: they cannot be told apart" in choice.sentence()
    assert as_json(comparison, choices(comparison))["differences"][0]["told_apart"] is False


def test_a_difference_is_the_first_less_the_second() -> None:
    comparison = Comparison([*runs("cats", [10.0, 20.0]), *runs("none", [12.0, 23.0])])
    difference = comparison.difference("cats", "none", RESPONSE)
    assert difference.mean == -2.5
    # t(0.975, 1) = 12.706, standard error 0.5
    assert difference.half_width == pytest.approx(12.706 / 2, rel=1e-4)
    entry = as_json(comparison, choices(comparison))["differences"][0]
    assert entry == {
        "measure": "mean_response_ms",
        "first": "cats",
        "second": "none",
        "mean": -2.5,
        "half_width": difference.half_width,
        "told_apart": False,
    }


def test_every_pair_is_held_against_each_other_once() -> None:
    comparison = Comparison([run for name in "abc" for run in runs(name, [1.0, 2.0])])
    entries = as_json(comparison, choices(comparison))["differences"]
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    measures = [measure.key for measures in GOALS.values() for measure in measures]
    assert [(entry["measure"], entry["first"], entry["second"]) for entry in entries] == [
        (measure, *pair) for measure in measures for pair in pairs
    ]


def test_who_is_alone_is_the_best() -> None:
    comparison = Comparison(runs("cats", [1.0, 2.0]))
    assert comparison.platform == "vm"
    assert choices(comparison)[0].sentence() == "for mean response pick cats (1.5 ms; 2 seeds)"
    document = as_json(comparison, choices(comparison))
    assert (document["confidence"], document["seeds"], document["differences"]) == (
        0.95,
        [1, 2],
        [],
    )


def test_an_estimate_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        estimate([1.0, 2.0]).mean = 3.0  # type: ignore[misc]


def test_throughput_is_better_when_higher() -> None:
    comparison = Comparison(
        [*runs("cats", [1.0, 2.0], throughput=5.0), *runs("none", [1.5, 2.6], throughput=6.0)]
    )
    assert choices(comparison)[2].best == "none"
    assert choices(comparison)[2].tied == ()


def test_every_goal_gets_an_answer() -> None:
    comparison = Comparison([*runs("cats", [1.0, 2.0]), *runs("none", [1.5, 2.6])])
    assert [choice.goal for choice in choices(comparison)] == list(GOALS)


def test_a_missing_run_is_refused() -> None:
    with pytest.raises(ValueError, match="every seed"):
        Comparison([*runs("cats", [1.0, 2.0]), *runs("none", [1.0])])


def test_equal_values_share_a_rank() -> None:
    assert ranks({"a": 2.0, "b": 1.0, "c": 2.0}, RESPONSE) == {"a": 2, "b": 1, "c": 2}
    assert ranks({"a": 2.0, "b": 1.0}, THROUGHPUT) == {"a": 1, "b": 2}


def test_the_papers_claim_holds_for_their_own_columns() -> None:
    for name, table in TABLES.items():
        for measure in (MEASURES[0], RESPONSE, THROUGHPUT):
            assert table.ranks("virtual", measure) == table.ranks("real", measure), name
    assert TABLES["table2"].ranks("real", RESPONSE) == {"cats": 1, "deadline": 2, "cfq": 3}
    assert TABLES["table3"].ranks("real", THROUGHPUT) == {"cats": 2, "deadline": 1, "cfq": 3}
    variance = TABLES["table2"].values("real", VARIANCE)
    assert variance == {"cats": 6961.50, "deadline": 561.15, "cfq": 839270.49}


def test_ours_stands_beside_the_papers_with_todays_schedulers() -> None:
    mine = {"cats": 30.0, "mq-deadline": 60.0, "cfq": 50.0}
    comparison = Comparison([run for name, mean in mine.items() for run in runs(name, [mean])])
    ours, real, virtual = [
        row for row in rows(TABLES["table2"], comparison) if row.measure == RESPONSE
    ]
    assert list(STAND_INS) == ["cats", "deadline", "cfq"]
    assert ours.values == {"cats": 30.0, "deadline": 60.0, "cfq": 50.0}
    assert (ours.verdict, real.verdict, virtual.verdict) == ("differ", "", "as real")


def test_shadow_share_is_pooled_over_the_seeds() -> None:
    counts = ((100, 90, 80), (100, 120, 100))
    shadow = [
        dataclasses.replace(run, hits=hits, predicted=predicted, predicted_hits=both)
        for run, (hits, predicted, both) in zip(runs("cats", [1.0, 2.0]), counts, strict=True)
    ]
    sentence = shadow_sentence(Comparison(shadow), "cats", "surge-direct")
    assert sentence
    assert "180 of 200 device-cache hits (90.0%) and promised 30 that missed" in sentence
    assert "97% of 31,949" in sentence
    elsewhere = shadow_sentence(Comparison(shadow), "cats", "random")
    assert elsewhere
    assert "paper" not in elsewhere


def test_without_a_hit_there_is_no_sentence() -> None:
    none = [dataclasses.replace(run, hits=0, predicted=0) for run in runs("cats", [1.0])]
    assert shadow_sentence(Comparison(none), "cats", "random") is None
