# SPDX-License-Identifier: MIT
"""What a search for an assignment reports: its reason, and the figures of the nearest one."""

from collections.abc import Callable, Sequence
from math import inf, nan

import pytest

from understudy_devices.base.stopping import Stopped
from understudy_devices.consolidation.placement import exhaustive
from understudy_devices.consolidation.placement.problem import (
    P95,
    Demand,
    Device,
    Problem,
    Verdict,
    bound,
    listed,
    over,
)
from understudy_devices.consolidation.placement.search import FOUND, IMPOSSIBLE, UNKNOWN, place
from understudy_devices.consolidation.placement.verdicts import OutOfBudget, Verdicts

A, B = Device("a", 4), Device("b", 8)
Words = Callable[[tuple[int, ...]], tuple[float, float]]  # mean_ms and most_ms


def problem(*erlangs: float, devices: tuple[Device, ...] = (A, B), kind: str = "") -> Problem:
    """Return VMs with a target of 10 ms, each of its own kind unless `kind` is given."""
    vms = (Demand(f"vm{i}", kind or f"vm{i}", one, 10.0) for i, one in enumerate(erlangs))
    return Problem(tuple(vms), devices)


def judge(times_ms: Words) -> Callable[[Device, tuple[int, ...]], Verdict]:
    return lambda _, on: {vm: P95(*times_ms(on)) for vm in on}


@pytest.mark.parametrize(
    ("erlangs", "kind", "reason", "conflict"),
    [
        ((6, 6), "", "the VMs keep 12 servers busy, but all devices together have 12: ", 0),
        ((1, 8, 2), "", "vm1 asks for 1.00 times what b can do; relax", 0b010),
        ((1, 9), "", "even alone on b, which has the most servers: vm1 asks for 1.12 times", 0b10),
        ((8.8, 1, 1.1), "", ": vm0 asks for 1.10 times what b can do; relax", 0b001),
    ],
)
def test_what_is_impossible_by_load(
    erlangs: tuple[float, ...], kind: str, reason: str, conflict: int
) -> None:
    outcome = place(problem(*erlangs, kind=kind), judge(lambda on: (1, 1)))
    assert reason in outcome.reason
    assert (outcome.kind, outcome.conflict, outcome.judged) == (IMPOSSIBLE, conflict, 0)
    assert (outcome.assignment, outcome.verdicts) == (None, ())


@pytest.mark.parametrize(
    ("times_ms", "words"),
    [
        ((12.0, 12.5), "vm0 has a p95 of 12 ms for 10"),
        ((20.0, 20.0), "vm0 has a p95 of 20 ms for 10"),
        ((10.0, 12.5), "vm0 has a p95 of 10 ms or up to 12.5 for 10"),
        ((9.0, inf), "vm0 has a p95 of 9 ms or up to inf for 10"),
        ((inf, inf), "requests of vm0 pile up"),
    ],
)
def test_what_misses_alone_is_named(times_ms: tuple[float, float], words: str) -> None:
    """Both VMs miss their targets; VMs of one kind are named once."""
    both = place(problem(1, 1, devices=(B,)), judge(lambda on: times_ms))
    alike = place(problem(1, 1, devices=(B,), kind="alike"), judge(lambda on: times_ms))
    assert f": {words}, {words.replace('vm0', 'vm1')}; relax" in both.reason
    assert f": {words}; relax" in alike.reason
    assert both.conflict == alike.conflict == 0b01


def test_just_at_the_target_is_met() -> None:
    outcome = place(problem(2, 2, devices=(B,)), judge(lambda on: (10, 10)))
    assert (outcome.kind, outcome.reason, outcome.conflict) == (FOUND, "", 0)
    assert outcome.verdicts == ({0: P95(10, 10), 1: P95(10, 10)},)


def test_a_conflict_is_told_with_what_would_do() -> None:
    """Two of three VMs can't share a device."""
    outcome = place(problem(1, 1, 1), judge(lambda on: (9.0 + len(on),) * 2))
    assert outcome.reason == (
        "in every assignment of vm0, vm1, vm2 (3 VMs) one misses its target; there is one if any "
        "of them is left out; add servers, or relax a target"
    )


def test_without_a_proof_the_conflict_is_only_likely(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search for a smaller conflict has no time for any assignment."""
    monkeypatch.setattr(exhaustive, "LOOKS", 9)
    outcome = place(problem(1, 1, 1), judge(lambda on: (9.0 + len(on),) * 2))
    assert (outcome.kind, outcome.conflict) == (IMPOSSIBLE, 0b111)
    assert "one misses its target; perhaps of fewer of them; add" in outcome.reason


def test_a_budget_that_is_used_up() -> None:
    """The budget is enough for one guess: the emptiest devices."""
    outcome = place(problem(1, 1, 1), judge(lambda on: (9.0 + len(on),) * 2), 1)
    assert (outcome.kind, outcome.judged) == (UNKNOWN, 1)
    assert outcome.reason == (
        "sets of VMs tried on a device: 1; in the nearest assignment 3 of 3 VMs miss their target, "
        "the worst on b: vm0 has a p95 of 12 ms for 10; there may be one: allow more tries"
    )


def test_too_many_assignments_are_not_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    def tired(*_: object) -> None:
        raise OutOfBudget

    monkeypatch.setattr(exhaustive, "assign", tired)
    outcome = place(problem(1, 1, 1), judge(lambda on: (9.0 + len(on),) * 2))
    assert outcome.reason.endswith(
        "; there may be one, but there are too many assignments to try them all"
    )


def test_the_worst_vm_on_the_worst_device_is_named() -> None:
    """Of two VMs that miss their targets together the one that misses by more is named."""

    def times(_: Device, on: tuple[int, ...]) -> Verdict:
        late = {0: 11.0, 1: 13.0, 2: 12.0} if len(on) > 1 else dict.fromkeys(on, 9.0)
        return {vm: P95(late[vm], late[vm]) for vm in on}

    outcome = place(problem(1, 1, 1, devices=(B, B)), times, budget=5)
    assert outcome.assignment is not None
    [both] = [on for on in outcome.assignment if on.bit_count() == 2]
    worst = "vm1" if both & 0b010 else "vm2"
    assert f": {worst} has a p95 of" in outcome.reason


def test_progress_is_a_share_of_the_budget() -> None:
    told: list[tuple[str, float]] = []
    verdicts = Verdicts(
        problem(1, 1, 1), judge(lambda on: (9, 9)), 4, lambda *words: told.append(words)
    )
    for members in (0b111, 0b110, 0b101, 0b011):
        verdicts.of(A, members)
    assert told == [("try VMs on devices", share) for share in (0, 0.25, 0.5, 0.75)]
    with pytest.raises(OutOfBudget):
        verdicts.of(B, 0b011)
    assert verdicts.judged == 4
    assert verdicts.of(A, 0b011)  # remembered


@pytest.mark.parametrize(("erlangs", "known"), [(4.0, False), (3.999, None), (5.0, False)])
def test_a_device_that_is_always_busy_bears_nothing(erlangs: float, known: bool | None) -> None:
    """Then nobody is asked."""
    verdicts = Verdicts(problem(erlangs), judge(lambda on: (9, 9)), 4)
    assert verdicts.known(A, 1) is known
    assert verdicts.of(A, 1) == {0: P95(inf, inf) if known is False else P95(9, 9)}
    assert verdicts.judged == (known is None)


@pytest.mark.parametrize(
    ("mean_ms", "most_ms", "fits", "unsure"),
    [(9, 10, True, 0), (10, 10.1, False, 1), (9, 11, False, 1), (10.1, 10.2, False, 0)],
)
def test_a_verdict_at_its_bounds(mean_ms: float, most_ms: float, fits: bool, unsure: int) -> None:
    verdicts = Verdicts(problem(1), judge(lambda on: (mean_ms, most_ms)), 1)
    assert verdicts.fits(A, 1) is fits
    assert verdicts.known(A, 1) is fits
    assert verdicts.known(A, 0) is True
    assert verdicts.unsure == unsure


def test_it_is_unsure_only_if_every_mean_meets_its_target() -> None:
    verdicts = Verdicts(problem(1, 1), lambda *_: {0: P95(9, 11), 1: P95(11, 12)}, 1)
    assert not verdicts.fits(A, 0b11)
    assert verdicts.unsure == 0


def test_over_and_bound_are_fractions_of_the_target() -> None:
    one = problem(1, 1)
    assert over(one, 0, P95(3, 5)) == -0.5
    assert over(one, 0, P95(3, 15)) == 0.5
    assert bound(one, {0: P95(3, 5), 1: P95(3, 15)}) == 1.5
    assert bound(one, {0: P95(3, 5)}) == 0.5
    assert bound(one, {}) == 0


@pytest.mark.parametrize(
    ("count", "text"), [(2, "0, 1"), (10, "0, 1, 2, 3, 4, 5, 6, 7, 8, 9"), (3, "0, 1, 2")]
)
def test_a_short_list_is_told_in_full(count: int, text: str) -> None:
    names = [str(one) for one in range(count)]
    assert listed(names) == listed(names, count) == text
    assert listed([*names, "x", "y"], count) == f"{text} and 2 more"
    assert listed(["a"] * 11).endswith(" and 1 more")


@pytest.mark.parametrize(("looks", "ends"), [(23, False), (24, True)])
def test_an_exhaustive_search_ends_after_so_many_looks(looks: int, ends: bool) -> None:
    """A step looks at three VMs on two devices.  Three steps place two VMs and find no device for
    the third; a fourth step finds nothing left to try."""
    verdicts = Verdicts(problem(3, 3, 1.5, devices=(A, A)), judge(lambda on: (9, 9)), 99)
    if ends:
        assert exhaustive.assign(verdicts, 0b111, looks) is None
    else:
        with pytest.raises(OutOfBudget):
            exhaustive.assign(verdicts, 0b111, looks)


def test_an_exhaustive_search_begins_with_the_largest_where_most_is_free() -> None:
    verdicts = Verdicts(problem(1, 3, 2, 1), judge(lambda on: (9, 9)), 99)
    assert exhaustive.assign(verdicts, 0b1111) == (0b0001, 0b1110)
    assert exhaustive.assign(verdicts, 0b1001) == (0, 0b1001)


@pytest.mark.parametrize("mean_ms", [8.0, 12.0])
@pytest.mark.parametrize("after", range(12))
def test_a_search_that_is_stopped_has_its_best_assignment(after: int, mean_ms: float) -> None:
    """The judge, or the sketch, is interrupted after some calls."""
    calls = 0

    def judged(device: Device, on: tuple[int, ...]) -> Verdict:
        nonlocal calls
        if calls == after:
            raise Stopped
        calls += 1
        # The more VMs, the longer: four VMs on two devices are best in pairs.
        return {vm: P95(mean_ms + len(on) / 2, mean_ms + len(on)) for vm in on}

    def sketched(pairs: Sequence[tuple[Device, tuple[int, ...]]]) -> list[Verdict]:
        return [
            {vm: P95(one.mean_ms, nan) for vm, one in judged(device, on).items()}
            for device, on in pairs
        ]

    outcome = place(problem(1, 1, 1, 1), judged, sketch=sketched)
    if not outcome.interrupted:
        assert calls <= after
        return
    assert calls == after
    verified = [one.most_ms for verdict in outcome.verdicts for one in verdict.values()]
    if outcome.kind == FOUND:
        assert max(verified) <= 10
    else:
        assert outcome.kind == UNKNOWN
        assert outcome.reason.startswith("interrupted; sets of VMs tried on a device: ")
        assert outcome.reason.endswith("search longer")
    if outcome.assignment is not None:
        assert sorted(vm for verdict in outcome.verdicts for vm in verdict) == [0, 1, 2, 3]
