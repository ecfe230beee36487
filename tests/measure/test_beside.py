# SPDX-License-Identifier: MIT
"""The papers' columns appear beside each answer to one of the papers' questions, and our
simulated columns beside them."""

from typing import Any

import pytest
from sample_runs import experiment, outcome

from understudy_devices.base.progress import silent
from understudy_devices.campaign.result import Result
from understudy_devices.papers import reproduction
from understudy_devices.papers.tables import AT_ONCE, REPRODUCED, TABLES
from understudy_devices.platforms.sim import in_simulator


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
        (("cats", "fcfs"), {}),  # a single scheduler has no ranks
        (("cats", "cfq"), {"workload": "random"}),
        (("cats", "cfq"), {"disk": "vesper-zoned"}),
    ],
)
def test_another_question_has_none(schedulers: tuple[str, ...], changes: dict[str, str]) -> None:
    assert answer(*schedulers, **changes).paper is None


def test_ranks_are_among_those_that_ran() -> None:
    rows = reproduction.rows(TABLES["table2"], answer("deadline", "cfq").comparison)
    service = {row.source: row for row in rows if row.measure.key == "mean_device_ms"}
    assert service["real"].values == {"deadline": 2.71, "cfq": 1.39}
    assert service["real"].ranks == {"deadline": 2, "cfq": 1}
    assert set(service["ours"].values) == {"deadline", "cfq"}
    assert service["virtual"].agrees


def test_mq_deadline_stands_in_before_our_deadline() -> None:
    both = reproduction.beside(["cats", "deadline", "mq-deadline"])
    assert both == {"cats": "cats", "deadline": "mq-deadline"}


def test_the_note_says_who_ran() -> None:
    result = answer("cats", "deadline")
    assert reproduction.note(result.comparison) == (
        "real and virtual (k = 8) are the paper's, with up to 2 past the scheduler at once "
        "(--queue-depth 2), and service is from dispatch to completion; ours ran our cats, and our "
        "deadline"
    )


@pytest.mark.parametrize("name", TABLES)
def test_the_papers_ranks_come_out(name: str) -> None:
    """The ranks agree for the papers' three measures.  In Table 3, cats and deadline tie in
    throughput (12.00 and 12.04)."""
    settings: dict[str, Any] = {
        "workload": TABLES[name].workload,
        "requests": 10_000,
        "queue_depth": AT_ONCE,
    }
    ours = [experiment(one, platform="sim", **settings) for one in REPRODUCED]
    outcomes = tuple(in_simulator.run(one, silent) for one in ours)
    rows = reproduction.rows(TABLES[name], Result("x", outcomes).comparison)
    claimed = {
        row.measure.label: row
        for row in rows
        if row.source == reproduction.OURS and "variance" not in row.measure.label
    }
    assert len(claimed) == 3
    for label, row in claimed.items():
        if (name, label) == ("table3", "throughput"):
            assert row.values["cats"] == pytest.approx(row.values["deadline"], rel=0.05)
            assert row.ranks["cfq"] == 3
        else:
            assert row.agrees, (label, row.values)
