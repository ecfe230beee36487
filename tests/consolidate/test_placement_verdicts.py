# SPDX-License-Identifier: MIT
"""Verdicts on sets of VMs that follow from other verdicts, and verdicts that do not."""

from understudy_devices.consolidation.placement import exhaustive
from understudy_devices.consolidation.placement.problem import P95, Demand, Device, Problem, Verdict
from understudy_devices.consolidation.placement.verdicts import Verdicts

SMALL, MIDDLE, LARGE = Device("small", 4), Device("middle", 8), Device("large", 16)


def verdicts(most_ms: float, count: int = 3, kind: str = "") -> Verdicts:
    """Return verdicts for VMs with a target of 10 ms, whose response time is `most_ms` in any
    company.  Each VM is of its own kind unless `kind` is given."""
    vms = tuple(Demand(f"vm{i}", kind or f"vm{i}", 0.95, 10.0) for i in range(count))

    def judge(_: Device, on: tuple[int, ...]) -> Verdict:
        return {vm: P95(most_ms, most_ms) for vm in on}

    return Verdicts(Problem(vms, (SMALL, MIDDLE, LARGE)), judge, budget=10)


def test_what_fits_fits_with_fewer_vms_and_more_servers() -> None:
    judge = verdicts(9)
    assert judge.fits(MIDDLE, 0b011)
    assert judge.judged == 1
    assert judge.known(MIDDLE, 0b001) is True
    assert judge.known(LARGE, 0b011) is True
    assert judge.known(LARGE, 0b111) is None
    assert judge.known(SMALL, 0b001) is None
    assert judge.known(SMALL, 0) is True


def test_what_fails_fails_with_more_vms_and_fewer_servers() -> None:
    judge = verdicts(11)
    assert not judge.fits(MIDDLE, 0b011)
    assert judge.judged == 1
    assert judge.known(MIDDLE, 0b111) is False
    assert judge.known(SMALL, 0b011) is False
    assert judge.known(SMALL, 0b001) is None
    assert judge.known(LARGE, 0b111) is None


def test_what_is_learnt_later_makes_nobody_forget() -> None:
    """A result for more VMs on more servers implies nothing for fewer VMs on fewer servers."""
    judge = verdicts(9)
    assert judge.fits(SMALL, 0b011)
    assert judge.fits(LARGE, 0b111)
    assert judge.known(SMALL, 0b001) is True
    failed = verdicts(11)
    assert not failed.fits(LARGE, 0b111)
    assert not failed.fits(SMALL, 0b001)
    assert failed.known(MIDDLE, 0b111) is False


def test_a_judgement_that_tells_less_replaces_none() -> None:
    """Verdicts on sets that were known to fit or to fail are judged as well, for their figures."""
    judge = verdicts(9)
    judge.of(SMALL, 0b111)
    judge.of(MIDDLE, 0b001)
    assert judge.known(SMALL, 0b010) is True
    failed = verdicts(11)
    failed.of(MIDDLE, 0b001)
    failed.of(SMALL, 0b011)
    assert failed.known(MIDDLE, 0b101) is False
    assert (judge.judged, failed.judged) == (2, 2)


def test_a_busy_device_bears_nothing_however_it_is_judged() -> None:
    judge = verdicts(9, count=5)
    assert judge.known(SMALL, 0b11111) is False
    assert judge.of(SMALL, 0b11111)[0].most_ms == float("inf")
    assert judge.judged == 0


def test_a_verdict_is_of_those_that_were_asked_about() -> None:
    """Of VMs of the same kind, the first ones are judged in place of any others."""
    judge = verdicts(9, kind="alike")
    assert list(judge.of(SMALL, 0b110)) == [1, 2]
    assert list(judge.of(SMALL, 0b101)) == [0, 2]
    assert judge.judged == 1


def test_devices_are_filled_to_the_last_vm() -> None:
    """Eight VMs keep 7.6 of 8 servers busy: only four on each device fit."""
    vms = tuple(Demand(f"vm{i}", "alike", 0.95, 10.0) for i in range(8))
    problem = Problem(vms, (Device("a", 4), Device("b", 4)))
    assignment = exhaustive.assign(
        Verdicts(problem, lambda _, on: {vm: P95(9, 9) for vm in on}, budget=100), problem.everyone
    )
    assert assignment is not None
    assert [on.bit_count() for on in assignment] == [4, 4]
