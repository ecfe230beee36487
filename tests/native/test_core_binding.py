# SPDX-License-Identifier: MIT
"""The Python binding of the compiled core; C tests cover its algorithms."""

from collections.abc import Sequence
from typing import Any

import pytest
from places import CHECKOUT

from understudy_devices.device.timing import Timing, steps
from understudy_devices.native import descriptions, replay
from understudy_devices.native.draw import Draw
from understudy_devices.native.drive import CURVE_POINTS_MAX, SETTINGS, Drive
from understudy_devices.native.optimal_order import optimal_order
from understudy_devices.native.request import READ, REASONS, WRITE

CHEETAH_SECTORS = 143_374_744
MS = 1_000_000


def test_every_file_in_core_schedulers_is_registered() -> None:
    files = {file.stem for file in (CHECKOUT / "core" / "schedulers").glob("*.c")}
    assert set(descriptions.schedulers()) == files


def test_schedulers_describe_themselves() -> None:
    cats = descriptions.schedulers()["cats"]
    tunables = {tunable.name: tunable.initial for tunable in cats.tunables}
    assert tunables["busdriver_ns"] == 7 * MS
    assert tunables["read_delay_ns"] == 100 * MS
    assert tunables["shadow_segments"] == 64
    assert {counter.name for counter in cats.counters} >= {"hits", "table_picks", "waits_won"}
    assert all(scheduler.summary for scheduler in descriptions.schedulers().values())


def test_every_scheduler_has_a_page() -> None:
    for name in descriptions.schedulers():
        assert (CHECKOUT / "docs" / "schedulers" / f"{name}.md").is_file()


def arrivals(rows: list[tuple[int, int, int, int]]) -> replay.Arrivals:
    """Return reads, from tuples (time, id, sector, sectors)."""
    time_ns, ids, sector, sectors = zip(*rows, strict=True)
    zeros = [0] * len(rows)
    return replay.Arrivals(time_ns, ids, sector, sectors, owner=zeros, op=zeros)


def test_replay_answers_each_question() -> None:
    rows = [(0, 7, 500, 8), (0, 8, 100, 8), (20, 9, 900, 8)]
    picks = replay.replay("clook", arrivals(rows), [0, 10, 15, 20, 30])
    assert picks.id.tolist() == [8, 7, replay.NONE_PICKED, 9, replay.NONE_PICKED]
    assert picks.counters == {"wraps": 0, "travel_sectors": 100 + 392 + 392}


def test_replay_merges() -> None:
    """Request 1 merges into request 0; request 0 then grows and covers the sectors before
    request 2."""
    rows = [(0, 0, 100, 8), (0, 1, 108, 8), (0, 2, 112, 8), (1, 1, 108, 0), (1, 0, 100, 16)]
    picks = replay.replay("clook", arrivals(rows), [2, 3, 4])
    assert picks.id.tolist() == [0, 2, replay.NONE_PICKED]
    assert picks.counters["wraps"] == 1


def test_replay_waits_and_says_until_when() -> None:
    """The owner of request 0 sends another read while request 1 is held back."""
    rows = replay.Arrivals(
        time_ns=[0, 0, 9 * MS],
        id=[0, 1, 2],
        sector=[1000, 900_000, 3000],
        sectors=[8, 8, 8],
        owner=[1, 2, 1],
        op=[READ] * 3,
    )
    picks = replay.replay("cats", rows, [0, 5 * MS, 9 * MS], completion_ns=[4 * MS, 0, 0])
    assert picks.id.tolist() == [0, replay.NONE_PICKED, 2]
    assert picks.wake_ns.tolist()[1] == 11 * MS
    assert [REASONS[reason] for reason in picks.reason] == ["table", "order", "waited"]
    assert picks.counters["waits_won"] == 1
    impatient = replay.replay("cats", rows, [0, 5 * MS], tunables={"busdriver_ns": 0})
    assert impatient.id.tolist() == [0, 1]


def test_replay_refuses() -> None:
    rows = [(5, 0, 0, 8), (5, 1, 0, 8)]
    with pytest.raises(ValueError, match="no tunable speed"):
        replay.replay("cats", arrivals(rows), [9], tunables={"speed": 1})
    with pytest.raises(ValueError, match="busdriver_ns is -1"):
        replay.replay("cats", arrivals(rows), [9], tunables={"busdriver_ns": -1})
    with pytest.raises(ValueError, match="arrivals are not in order"):
        replay.replay("fcfs", arrivals([(5, 0, 0, 8), (4, 1, 0, 8)]), [9])
    with pytest.raises(ValueError, match="picks are not in order"):
        replay.replay("fcfs", arrivals(rows), [9, 8])
    with pytest.raises(ValueError, match="max_requests"):
        replay.replay("fcfs", arrivals(rows), [9], max_requests=1)
    with pytest.raises(ValueError, match="differ in length"):
        replay.replay("fcfs", replay.Arrivals([1], [1, 2], [1], [1], [1], [1]), [9])


def cheetah() -> Drive:
    return Drive.linear(CHEETAH_SECTORS, 4_250_000, 5_250_000, cache=(64, 221, 64), hit_ns=250_000)


def test_drive_reads_ahead_and_forgets() -> None:
    drive = cheetah()
    ops = [READ, READ, WRITE, READ]
    service_ns, hit = drive.serve(ops, [1000, 1064, 1010, 1064], [8, 8, 8, 8])
    assert hit.tolist() == [False, True, False, False]
    assert service_ns[1] == 250_000
    assert drive.head == 1072
    drive.reset()
    assert drive.head == 0
    assert not drive.serve([READ], [1064], [8])[1].any()


def seeking(seek: Sequence[tuple[int, int]], **settings: Any) -> Timing:
    """And 5 ns for each."""
    return Timing(seek[-1][0] if seek else 0, 5, tuple(seek), **settings)


def test_drive_refuses() -> None:
    many = [(i, 0) for i in range(CURVE_POINTS_MAX + 1)]
    line = [(0, 0), (9, 5)]
    for seek in ([(0, 0)], [(1, 0), (2, 0)], [(0, 5), (9, 4), (9, 5)], []):
        with pytest.raises(ValueError, match=r"not as core/drive/drive\.h wants it"):
            Drive(seeking(seek))
    with pytest.raises(ValueError, match=r"not as core/drive/drive\.h wants it"):
        Drive(seeking(line, transfer=((0, 5), (8, 5))))
    with pytest.raises(ValueError, match=r"seek.point: 1025 of them, more than 1024"):
        Drive(seeking(many))
    zones = steps([(2 * i, 5 + i % 2) for i in range(513)], 5000)
    with pytest.raises(ValueError, match=r"transfer.point: 1026 of them, more than 1024"):
        Drive(seeking([(0, 0), (5000, 5)], transfer=zones))
    with pytest.raises(ValueError, match=r"seek.point: a number is negative"):
        Drive(seeking([(0, 0), (9, -5)]))


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_that_is_out_of_range_is_named(name: str) -> None:
    """Each number of a disk has limits (core/drive/settings.c)."""
    limits = SETTINGS[name]
    for value in (limits.min - 1, limits.max + 1):
        timing = seeking([(0, 0), (9, 5)], buffer={name: value})
        words = f"{name} is {value}: has to be from {limits.min} to {limits.max}"
        with pytest.raises(ValueError, match=f"^{words}$"):
            Drive(timing, value if name == "rotation_seed" else 0)


def test_optimal_order_refuses() -> None:
    assert optimal_order(5, []) == []
    with pytest.raises(ValueError, match="ascend"):
        optimal_order(0, [2, 1])
    with pytest.raises(ValueError, match="from 0"):
        optimal_order(-1, [2])


def test_draws_repeat_and_stay_in_range() -> None:
    def draws(seed: int, stream: int) -> list[int]:
        draw = Draw(seed, stream)
        return [draw.u64(), draw.below(10), draw.pareto(1500, 2_000_000), draw.zipf(1000)]

    assert draws(1, 2) == draws(1, 2)
    assert draws(1, 2) != draws(1, 3) != draws(2, 3)
    draw = Draw(1)
    assert min(draw.pareto(2430, 1) for _ in range(1000)) == 1
    assert max(draw.zipf(50) for _ in range(1000)) <= 49
    for refused, arguments in ((draw.below, (0,)), (draw.zipf, (0,)), (draw.pareto, (0, 1))):
        with pytest.raises(ValueError, match="at least 1"):
            refused(*arguments)
