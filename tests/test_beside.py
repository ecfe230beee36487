# SPDX-License-Identifier: MIT
"""The papers' columns stand beside every answer to a question that the papers asked."""

from typing import Any

import pytest
from sample_runs import experiment, outcome

from understudy.campaign.result import Result
from understudy.papers import reproduction
from understudy.papers.tables import TABLES


def answer(*schedulers: str, **changes: Any) -> Result:
    return Result("x", tuple(outcome(experiment(scheduler=one, **changes)) for one in schedulers))


@pytest.mark.parametrize(
    ("schedulers", "workload", "table"),
    [
        (("cats", "cfq"), "surge-direct", "table2"),
        (("deadline", "fcfs", "cats"), "surge-direct", "table2"),
        (("mq-deadline", "cfq", "none"), "surge-buffered", "table3"),
    ],
)
def test_a_question_of_the_papers_has_their_table(
    schedulers: tuple[str, ...], workload: str, table: str
) -> None:
    assert answer(*schedulers, workload=workload).paper == TABLES[table]


@pytest.mark.parametrize(
    ("schedulers", "changes"),
    [
        (("cats", "fcfs"), {}),  # one alone has no ranks
        (("cats", "cfq"), {"workload": "random"}),
        (("cats", "cfq"), {"disk": "vesper-zoned"}),
    ],
)
def test_another_question_has_none(schedulers: tuple[str, ...], changes: dict[str, str]) -> None:
    assert answer(*schedulers, **changes).paper is None


def test_ranks_are_among_those_that_ran() -> None:
    rows = reproduction.rows(TABLES["table2"], answer("deadline", "cfq").comparison)
    service = {row.source: row for row in rows if row.measure.key == "mean_service_ms"}
    assert service["real"].values == {"deadline": 2.71, "cfq": 1.39}
    assert service["real"].ranks == {"deadline": 2, "cfq": 1}
    assert set(service["ours"].values) == {"deadline", "cfq"}
    assert service["virtual"].agrees


def test_mq_deadline_stands_in_before_our_deadline() -> None:
    both = reproduction.beside(["cats", "deadline", "mq-deadline"])
    assert both == {"cats": "cats", "deadline": "mq-deadline"}


def test_the_note_says_who_ran() -> None:
    found = answer("cats", "deadline")
    assert reproduction.note(found.comparison) == (
        "real and virtual (k = 8) are the paper's; ours ran our cats, and our deadline"
    )
