# SPDX-License-Identifier: MIT
"""Changed scenarios, and VMs that are copies of another: what they play, and from where."""

import re
from pathlib import Path

import numpy as np
import pytest
from measured_vms import MS, run, tenant

from understudy_devices.base.errors import UserError
from understudy_devices.consolidation import what_if
from understudy_devices.consolidation.placement.guests import Guest, demands, guests, multiplied
from understudy_devices.consolidation.scenario import Scenario, Tenant
from understudy_devices.consolidation.what_if import Change, changed, parse
from understudy_devices.native.open_queue import CLASSES_MAX


@pytest.fixture
def web(tmp_path: Path) -> Tenant:
    """Return a VM with requests at 0, 10, 20 and 60 ms, each served in half of its response
    time."""
    return tenant("web", run(tmp_path / "web", [0, 10, 20, 60], [2, 4, 6, 8], [1, 2, 3, 4]))


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("depth=16,64", [Change(None, "depth", 16), Change(None, "depth", 64)]),
        ("depth=1,1024", [Change(None, "depth", 1), Change(None, "depth", 1024)]),
        ("web.weight=10000", [Change("web", "weight", 10_000)]),
        ("a.b.copies=100,1", [Change("a.b", "copies", 100), Change("a.b", "copies", 1)]),
    ],
)
def test_changes_are_read_and_told(text: str, changes: list[Change]) -> None:
    found = parse([text, "depth=2"], ["web", "a.b"])
    assert found == [*changes, Change(None, "depth", 2)]
    name, _, values = text.partition("=")
    assert [str(one) for one in found[:-1]] == [f"{name}={value}" for value in values.split(",")]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("depth", "depth: write depth=16,64, or NAME.weight=2,4, or NAME.copies=2,3"),
        ("weight=2", "weight=2: write depth=16,64"),
        ("web.depth=2", "web.depth=2: write depth=16,64"),
        ("mail.weight=2", "no VM is called mail; there are web, a.b"),
        ("depth=0", "0 is not a whole number from 1 to 1,024"),
        ("depth=1025", "1025 is not a whole number from 1 to 1,024"),
        ("depth=4,", ":  is not a whole number"),
        ("depth=\u0663", "is not a whole number"),
        ("web.weight=10001", "10001 is not a whole number from 1 to 10,000"),
        ("web.copies=101", "101 is not a whole number from 1 to 100"),
        ("web.copies=-1", "-1 is not a whole number"),
        ("web.copies=1000000000", "1000000000 is not a whole number"),
    ],
)
def test_what_is_no_change_is_named(text: str, says: str) -> None:
    with pytest.raises(UserError, match=re.escape(says)):
        parse([text], ["web", "a.b"])


def test_one_value_changes(web: Tenant, tmp_path: Path) -> None:
    """The other VMs stay as they are."""
    mail = tenant("mail", run(tmp_path / "mail", [0, 5], [1, 1]))
    given = Scenario((web, mail), 4)
    wider = changed(given, Change(None, "depth", 16), tmp_path)
    assert (wider.servers, wider.tenants) == (16, given.tenants)
    [widest] = parse(["depth=1024"], [])
    load = changed(given, widest, tmp_path).offered_load
    assert load == pytest.approx(given.offered_load / 256)
    heavier = changed(given, Change("mail", "weight", 7), tmp_path)
    assert heavier.servers == 4
    assert [one.weight for one in heavier.tenants] == [1, 7]
    more = changed(given, Change("web", "copies", 3), tmp_path)
    assert [one.vm.name for one in more.tenants] == ["web", "web#2", "web#3", "mail"]
    assert more.tenants[0] is web
    assert more.tenants[3] is mail


def test_a_copy_plays_each_run_from_five_places(web: Tenant, tmp_path: Path) -> None:
    """It plays a run from there to the end, then from the beginning; the first request follows the
    last one after the mean interarrival time, 20 ms.  Places depend on the copy's number alone."""
    _, two, three = what_if.copied(web, 3, tmp_path / "first")
    again = what_if.copied(web, 2, tmp_path / "again")[1]
    assert len(two.vm.runs) == 5
    places = []
    for one, other in zip(two.vm.runs, again.vm.runs, strict=True):
        at = one.arrivals.arrival_ns
        assert np.array_equal(at, other.arrivals.arrival_ns)
        first = [2, 4, 6, 8].index(int(one.response_ns[0]) // MS)
        order = np.roll(np.arange(4), -first)
        assert (one.response_ns // MS).tolist() == [2 * i + 2 for i in order]
        assert (one.service_ns // MS).tolist() == [i + 1 for i in order]
        assert one.arrivals.pieces.tolist() == [i + 1 for i in order]
        gaps = np.roll([10, 10, 40, 20], -first)[:3]
        assert (np.diff(at) / MS).tolist() == gaps.tolist()
        assert 0 <= at[0] < 40 * MS
        places.append(int(at[0]))
    assert len(set(places)) == 5
    assert places != [int(one.arrivals.arrival_ns[0]) for one in three.vm.runs]
    with pytest.raises(ValueError, match="already exists"):
        what_if.copied(web, 2, tmp_path / "first")


@pytest.mark.parametrize(
    ("turn", "arrival_ms"),
    [
        (0.0, [0, 10, 20, 60]),
        (0.124, [0.08, 10.08, 50.08, 70.08]),
        (0.125, [0, 10, 50, 70]),
        (0.5, [20, 40, 50, 60]),
        (0.99, [0.8, 10.8, 20.8, 60.8]),
    ],
)
def test_a_run_is_turned(web: Tenant, tmp_path: Path, turn: float, arrival_ms: list[float]) -> None:
    """The run lasts 80 ms until it begins again."""
    turned = what_if._rotated(web.vm.runs[0], turn, tmp_path / "turned")
    assert turned.arrivals.arrival_ns / MS == pytest.approx(arrival_ms)


def test_a_single_request_can_be_copied(tmp_path: Path) -> None:
    one = tenant("one", run(tmp_path / "one", [0], [3]))
    [copy] = what_if.copied(one, 2, tmp_path / "copies")[1:]
    assert copy.vm.requests == 5


def test_guests_are_named_and_have_targets(tmp_path: Path) -> None:
    named = {"web": tmp_path / "a", "mail": tmp_path / "b"}
    targets = {"web#2": 1.0, "web": 2.0, "": 3.0}
    found = guests(named, {"web": 3}, targets)
    assert [(one.name, one.kind.name, one.target_ms) for one in found] == [
        ("web", "a", 2), ("web#2", "a", 1), ("web#3", "a", 2), ("mail", "b", 3),
    ]  # fmt: skip
    with pytest.raises(UserError, match=r"^mail has no target: .* --targets-ms mail=MS"):
        guests(named, {}, {"web": 1.0})
    assert len(guests({"web": tmp_path}, {"web": CLASSES_MAX}, targets)) == CLASSES_MAX
    with pytest.raises(UserError, match="1,001 VMs: at most 1,000 can be placed"):
        guests({"web": tmp_path}, {"web": CLASSES_MAX + 1}, targets)


def test_guests_of_one_trace_are_copies(web: Tenant, tmp_path: Path) -> None:
    """A guest with another name but the same trace is a copy, too."""
    mail = tenant("mail", run(tmp_path / "mail", [0, 5], [10, 10]), mean_ms=7)
    read = {Path("a"): web, Path("b"): mail}
    kinds = {"web": "a", "mail": "b", "other": "a"}
    found = [Guest(name, Path(kind), 9.0) for name, kind in kinds.items()]
    tenants = multiplied(found, read, tmp_path / "copies")
    assert [one.vm.name for one in tenants] == list(kinds)
    assert [len(one.vm.runs) for one in tenants] == [1, 1, 5]
    assert tenants[2].vm.runs[0].requests == 4
    wanted = demands(found, read, merge=2)
    assert [(one.name, one.kind, one.target_ms) for one in wanted] == [
        (name, kind, 9) for name, kind in kinds.items()
    ]
    assert [one.erlangs for one in wanted] == [one.erlangs / 2 for one in (web, mail, web)]
    assert [one.alone_ms for one in wanted] == [8, 10, 8]
