# SPDX-License-Identifier: MIT
"""The compiled core as Python sees it; its algorithms have C tests of their own."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.base.paths import ROOT
from understudy.device.timing import Timing, steps
from understudy.native import declared, replay
from understudy.native.arrays import U64
from understudy.native.draw import Draw
from understudy.native.drive import CURVE_POINTS_MAX, SETTINGS, Drive
from understudy.native.optimal_order import optimal_order
from understudy.native.request import READ, REASONS, WRITE

CHEETAH_SECTORS = 143_374_744
MS = 1_000_000


def test_every_file_in_core_schedulers_is_registered() -> None:
    files = {file.stem for file in (ROOT / "core" / "schedulers").glob("*.c")}
    assert set(declared.schedulers()) == files


def test_schedulers_describe_themselves() -> None:
    cats = declared.schedulers()["cats"]
    tunables = {tunable.name: tunable.initial for tunable in cats.tunables}
    assert tunables["busdriver_ns"] == 7 * MS
    assert tunables["read_delay_ns"] == 100 * MS
    assert tunables["shadow_segments"] == 64
    assert {counter.name for counter in cats.counters} >= {"hits", "table_picks", "waits_won"}
    assert all(scheduler.summary for scheduler in declared.schedulers().values())


def test_every_scheduler_has_a_page() -> None:
    for name in declared.schedulers():
        assert (ROOT / "docs" / "schedulers" / f"{name}.md").is_file()


def arrivals(rows: list[tuple[int, int, int, int]]) -> replay.Arrivals:
    """Reads, as (time, id, sector, sectors)."""
    time_ns, ids, sector, sectors = zip(*rows, strict=True)
    zeros = [0] * len(rows)
    return replay.Arrivals(time_ns, ids, sector, sectors, owner=zeros, op=zeros)


def test_replay_answers_each_question() -> None:
    rows = [(0, 7, 500, 8), (0, 8, 100, 8), (20, 9, 900, 8)]
    picks = replay.replay("clook", arrivals(rows), [0, 10, 15, 20, 30])
    assert picks.id.tolist() == [8, 7, replay.NONE_PICKED, 9, replay.NONE_PICKED]
    assert picks.counters == {"wraps": 0, "travel_sectors": 100 + 392 + 392}


def test_replay_merges() -> None:
    """Request 1 goes into 0, which grows and then covers 2's way back."""
    rows = [(0, 0, 100, 8), (0, 1, 108, 8), (0, 2, 112, 8), (1, 1, 108, 0), (1, 0, 100, 16)]
    picks = replay.replay("clook", arrivals(rows), [2, 3, 4])
    assert picks.id.tolist() == [0, 2, replay.NONE_PICKED]
    assert picks.counters["wraps"] == 1


def test_replay_waits_and_says_until_when() -> None:
    """The owner of 0 sends another read while 1 is held back for it."""
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


def test_drive_keeps_the_papers_line() -> None:
    service_ns, hit = cheetah().serve([READ] * 2, [0, CHEETAH_SECTORS - 8], [8, 8])
    assert service_ns.tolist() == [4_250_000, 9_500_000 - 1]
    assert not hit.any()


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


def seeking(seek: Sequence[tuple[int, int]], **given: Any) -> Timing:
    """And 5 ns for each."""
    return Timing(seek[-1][0] if seek else 0, 5, tuple(seek), **given)


def test_drive_takes_curves_and_zones() -> None:
    seek = [(0, 0), (10, 100), (1000, 200)]
    drive = Drive(seeking(seek, transfer=steps([(0, 2000), (500, 1000)], 1000)))
    service_ns, _ = drive.serve([READ] * 3, [10, 11, 512], [1, 1, 3])
    assert service_ns.tolist() == [5 + 100 + 2, 5 + 0 + 2, 5 + 149 + 3]
    drive = Drive(seeking(seek, transfer=((0, 2000), (1000, 1000)), rotation_ns=61))
    service_ns, _ = drive.serve([READ] * 2, [10, 511], [1, 4])
    assert service_ns.tolist() == [5 + 100 + 30 + 1, 5 + 149 + 30 + 5]
    with pytest.raises(ValueError, match="past the end"):
        drive.serve([READ], [999], [2])


def test_noisy_curves_are_taken() -> None:
    """Samples of a real disk fall now and then."""
    drive = Drive(seeking([(0, 5), (4, 9), (8, 4)]))
    assert drive.serve([READ] * 2, [6, 0], [1, 1])[0].tolist() == [11, 10]


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


def test_a_random_phase_is_half_a_rotation_on_average() -> None:
    """Drawn anew for each request from the medium, the same again from the same seed."""
    n, rotation_ns = 20_000, 6_000_000
    reads = (np.zeros(n), np.zeros(n), np.ones(n))

    def latencies(seed: int) -> U64:
        timing = Timing(9, 0, ((0, 0), (9, 0)), rotation_ns=rotation_ns, random_phase=True)
        drive = Drive(timing, seed)
        first, _ = drive.serve(*reads)
        drive.reset()
        assert (drive.serve(*reads)[0] == first).all()
        return first

    found = latencies(1)
    assert found.max() < rotation_ns
    assert found.mean() == pytest.approx(rotation_ns / 2, abs=5 * rotation_ns / np.sqrt(12 * n))
    assert found.std() == pytest.approx(rotation_ns / np.sqrt(12), rel=0.02)
    assert (latencies(2) != found).mean() > 0.99


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 10_000)), max_size=50))
def test_a_hit_costs_the_same_everywhere(requests: list[tuple[int, int]]) -> None:
    drive = Drive.linear(20_000, 1000, 1000, cache=(2, 221, 64), hit_ns=7)
    ops = [op for op, _ in requests]
    service_ns, hit = drive.serve(ops, [sector for _, sector in requests], [8] * len(ops))
    assert ((service_ns == 7) == hit).all()
    assert (service_ns[~hit] >= 1000).all()
    assert not hit[np.array(ops, dtype=bool)].any()


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
