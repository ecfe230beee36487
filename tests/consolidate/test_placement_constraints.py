# SPDX-License-Identifier: MIT
"""Constraints on assignments, compared with trying all assignments of small random problems."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from test_placement import PLENTY, Interference, is_right, sets, small

from understudy_devices.api.place_constraints import rules
from understudy_devices.base.errors import UserError
from understudy_devices.consolidation.placement.constraints import Constraints, merged
from understudy_devices.consolidation.placement.problem import Problem, each, together
from understudy_devices.consolidation.placement.search import FOUND, IMPOSSIBLE, place


def constrained(seed: int) -> tuple[Problem, Interference]:
    problem, judge = small(seed)
    random = np.random.default_rng(seed)
    vms, devices = len(problem.vms), len(problem.devices)
    pairs = [together(random.choice(vms, 2, replace=False).tolist()) for _ in range(2)]
    limits = Constraints(
        tuple(random.uniform(200, 500, devices).tolist()),
        tuple(random.uniform(20, 200, vms).tolist()),
        (pairs[0],) if seed % 2 else (),
        (pairs[1],) if pairs[0] != pairs[1] else (),
    )
    return replace(problem, constraints=limits), judge


def meets(limits: Constraints, on: list[list[int]]) -> bool:
    for device, vms in enumerate(on):
        if sum(limits.sizes_gb[vm] for vm in vms) > limits.capacities_gb[device]:
            return False
        if any(sum(vm in vms for vm in each(group)) > 1 for group in limits.apart):
            return False
        if any(0 < sum(vm in vms for vm in each(group)) < 2 for group in limits.together):
            return False
    return True


@pytest.mark.parametrize("seed", range(40))
def test_as_every_assignment_tried(seed: int) -> None:
    problem, judge = constrained(seed)
    devices = range(len(problem.devices))
    possible = any(
        meets(problem.constraints, on) and is_right(problem, judge, on)
        for where in product(devices, repeat=len(problem.vms))
        for on in [[[vm for vm, d in enumerate(where) if d == device] for device in devices]]
    )
    outcome = place(problem, judge, PLENTY)
    assert outcome.kind == (FOUND if possible else IMPOSSIBLE), outcome.reason
    if possible:
        assert sorted(vm for on in sets(outcome) for vm in on) == list(range(len(problem.vms)))
        assert meets(problem.constraints, sets(outcome))
        assert is_right(problem, judge, sets(outcome))


def test_overlapping_sets_are_one() -> None:
    assert merged([0b11, 0b11000, 0b110]) == (0b111, 0b11000)
    assert Constraints(together=(0b101,)).units(4) == [0b101, 0b10, 0b1000]


VMS = ["web", "web#2", "mail", "db"]


@pytest.mark.parametrize(
    ("capacities", "sizes", "together_", "apart", "message"),
    [
        ("x=1", "web=1", [], [], "no device is called x; there are a, b"),
        ("a=1", "web=1", [], [], "device b has no size; add b=GB"),
        ("a=1,b=1", "web=1,mail=2", [], [], "VM db has no size; add db=GB"),
        ("a=1,b=0", "", [], [], "b=0: write NAME=GB"),
        ("", "web=1", [], [], "give the devices' --capacities-gb"),
        ("", "", ["web,x"], [], "--together: no VM is called x"),
        ("", "", ["mail"], [], "name at least two VMs"),
        ("", "", [], ["web,mail"], "3 VMs need as many devices"),
        ("", "", ["web#2,db", "db,mail"], ["mail,web#2"], "keeps web#2 and mail on one device"),
    ],
)
def test_what_is_wrong_is_one_line(
    capacities: str, sizes: str, together_: list[str], apart: list[str], message: str
) -> None:
    with pytest.raises(UserError) as error:
        rules(["a", "b"], VMS, capacities, sizes, together_, apart)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_names_stand_for_copies_and_a_copy_may_have_its_own_size() -> None:
    checked = rules(["a", "b"], VMS, "a=9,b=8", "web#2=3,web=1,mail=2,db=4", [], ["web"])
    limits = checked.on(["a", "b"], VMS)
    assert limits == Constraints((9, 8), (1, 3, 2, 4), (), (0b11,))
    assert checked.on(["a", "b"], ["web", "db"]).apart == ()
