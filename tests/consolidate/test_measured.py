# SPDX-License-Identifier: MIT
"""A VM that was measured alone: its figures over all runs, which traces it has, and how a trace is
reduced."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from measured_vms import MS, run

from understudy_devices.base import file_arrays
from understudy_devices.base.errors import UserError
from understudy_devices.consolidation import vm as vms
from understudy_devices.consolidation.service_times import Served, served
from understudy_devices.consolidation.vm import Reduction, VirtualMachine, named, read, runs_of
from understudy_devices.traces.trace import Trace


def test_figures_are_of_all_runs(tmp_path: Path) -> None:
    """The runs last 30 and 10 ms."""
    first = run(tmp_path / "1", [0, 10], [5, 20], [1, 3])
    vm = VirtualMachine("vm", (first, run(tmp_path / "2", [0, 4, 5], [10, 2, 3])))
    assert (vm.requests, vm.runs[0].span_ns, vm.runs[1].span_ns) == (5, 30 * MS, 10 * MS)
    assert vm.response_ms.tolist() == [5, 20, 10, 2, 3]
    assert vm.percentiles_ms == {50: 5, 95: 20, 99: 20}
    assert (vm.mean_response_ms, vm.rate_per_ms, vm.in_system) == (8, 5 / 40, 1)
    assert vm.splitting_ratio == (4 + 3) / 5
    assert vm.sizes == [5, 2, 0]


@pytest.mark.parametrize(
    ("until_ms", "in_system"),
    [(None, 55 / 50), (21, 55 / 50), (20, 25 / 30), (10.5, 25 / 30), (10, 1)],
)
def test_only_requests_until_then_are_in_the_system(
    tmp_path: Path, until_ms: float | None, in_system: float
) -> None:
    one = run(tmp_path / "1", [0, 10, 20], [5, 20, 30])
    until_ns = None if until_ms is None else int(until_ms * MS)
    assert one.in_system(until_ns) == pytest.approx(in_system)


def test_names_come_from_paths_or_are_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x=y.csv").write_text("")
    paths = named(["web.1.parquet", "mail=a/b=c", "x=y.csv", "folder/"])
    assert list(paths.values()) == [
        Path("web.1.parquet"),
        Path("a/b=c"),
        Path("x=y.csv"),
        Path("folder"),
    ]
    assert [list(paths)[place] for place in (0, 1, 3)] == ["web", "mail", "folder"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["=a"], "=a: give a VM as NAME=PATH"),
        (["a="], "a=: give a VM as NAME=PATH"),
        (["b/a.csv", "a=c.csv"], "a=c.csv: there is a VM called a already (b/a.csv); rename one"),
        (["b/a.csv", "c/a.csv"], "as in other=c/a.csv"),
    ],
)
def test_a_name_that_is_wrong_is_told(arguments: list[str], says: str) -> None:
    with pytest.raises(UserError, match=re.escape(says)):
        named(arguments)


def test_a_folder_has_a_run_for_each_trace(tmp_path: Path) -> None:
    """The files of a blktrace, one for each CPU, are one trace; hidden files are none."""
    for name in ("b.csv", "a.blktrace.0", "a.blktrace.1", ".hidden", "c.csv"):
        (tmp_path / name).write_text("")
    (tmp_path / "folder").mkdir()
    found = runs_of(tmp_path)
    assert found == [str(tmp_path / name) for name in ("a.blktrace.0", "b.csv", "c.csv")]
    assert runs_of(tmp_path / "b.csv") == [str(tmp_path / "b.csv")]
    with pytest.raises(UserError, match="folder: no trace in this folder"):
        runs_of(tmp_path / "folder")


def test_a_run_folder_has_a_run_for_each_seed(tmp_path: Path) -> None:
    rows = {"scheduler": ["fcfs"] * 2, "seed": [1, 2]}
    columns = ("arrival_ns", "dispatch_ns", "completion_ns", "sector", "sectors")
    pl.DataFrame(rows | {name: [1, 2] for name in columns}).write_parquet(
        tmp_path / "requests.parquet"
    )
    (tmp_path / "another.csv").write_text("")
    file = tmp_path / "requests.parquet"
    assert runs_of(tmp_path) == runs_of(file) == [f"{file}:fcfs:1", f"{file}:fcfs:2"]


def reduced(tmp_path: Path, how: Reduction, **columns: Any) -> vms.Run:
    """Read a VM of one trace with these columns."""
    count = len(columns["arrival_ns"])
    file = tmp_path / "vm.parquet"
    default = {"sector": [0] * count, "sectors": [8] * count}
    pl.DataFrame(default | columns).write_parquet(file)
    [one] = read("vm", file, tmp_path / "kept", how).runs
    return one


def test_requests_are_in_order_of_their_beginning(tmp_path: Path) -> None:
    """Here the VM's own scheduler exchanges two requests; times count from the first issue."""
    one = reduced(
        tmp_path,
        Reduction(limit_blocks=2),
        arrival_ns=[0, 5_000_000, 10_000_000],
        dispatch_ns=[20_000_000, 8_000_000, 30_000_000],
        completion_ns=[21_000_000, 12_000_000, 30_000_000],
        sectors=[8, 24, 17],
    )
    assert one.arrivals.arrival_ns.tolist() == [0, 12_000_000, 22_000_000]
    assert one.response_ns.tolist() == [4_000_000, 1_000_000, 1]
    assert one.service_ns.tolist() == [4_000_000, 1_000_000, 1]
    assert one.arrivals.pieces.tolist() == [2, 1, 2]
    assert one.splitting_ratio == 5 / 3
    assert one.sizes[:4] == [1, 0, 2, 0]
    assert one.interarrival_ms.tolist() == [10, 12]
    assert one.notes == ("1 took no time by the trace's clock; counted as 1 ns",)
    assert (one.contradiction, one.requests) == (None, 3)


def test_what_was_changed_is_noted(tmp_path: Path) -> None:
    file = tmp_path / "vm.csv"
    file.write_text("1,hm,0,Read,0,4096,30\n0,hm,0,Read,4096,4096,20\n5,hm,0,Read,0,0,20\n")
    [one] = read("vm", file, tmp_path / "kept", Reduction()).runs
    assert one.response_ns.tolist() == [2000, 3000]
    assert "left out: 1 " in one.notes[0]
    assert one.notes[1:] == ("1 came after a later one in the file; sorted",)


@pytest.mark.parametrize(("late", "early"), [(1, 2), (2, 4)])
def test_few_contradictions_are_a_note_and_many_refute(
    tmp_path: Path, late: int, early: int
) -> None:
    """Of 200 requests to one server, 2 may complete too early.  Each late request lasts until the
    next two are complete."""
    arrival_ns = [1000 * i for i in range(200)]
    ends = [
        at + (2100 if i % 10 == 0 and i < 10 * late else 100) for i, at in enumerate(arrival_ns)
    ]
    one = reduced(tmp_path, Reduction(servers=1), arrival_ns=arrival_ns, completion_ns=ends)
    words = (
        f"alone {early} completed before one of 1 servers could have taken them: the device "
        "served more at once, or in another order"
    )
    assert one.notes == (f"{words}; response times are used instead",)
    assert one.contradiction == (words if early > 2 else None)
    assert one.service_ns.tolist() == one.response_ns.tolist()


@pytest.mark.parametrize(
    ("waited", "beyond", "agrees"), [(0, 0, True), (100, 1, True), (99, 1, False), (200, 3, False)]
)
def test_one_of_a_hundred_that_waited_may_be_too_early(
    waited: int, beyond: int, agrees: bool
) -> None:
    assert Served(np.ones(1, np.int64), waited, beyond).agrees is agrees


@pytest.mark.parametrize("servers", [1, 2])
def test_what_waits_across_blocks(servers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns are read in blocks; requests of an earlier block keep servers busy.  In the first
    block nobody waits, in the second everybody does."""
    monkeypatch.setattr(file_arrays, "BLOCK", 3)
    arrival = np.array([0, 100, 200, 210, 220, 230, 400, 500, 600])
    service = np.array([50, 50, 150, 90, 80, 70, 10, 10, 10])
    free, ends = [0] * servers, []
    for at, time in zip(arrival, service, strict=True):
        free.sort()
        free[0] = max(free[0], at) + time
        ends.append(free[0])
    found = served(arrival, np.array(ends) - arrival, servers)
    assert found.service_ns.tolist() == service.tolist()
    assert (found.beyond, found.agrees) == (0, True)


def test_rows_that_were_one_request_are_one() -> None:
    """It arrives with its first row, and has the sectors of all."""
    columns: dict[str, Any] = {
        "arrival_ns": [0, 1, 2, 3], "sector": [8, 0, 40, 16], "sectors": [8, 8, 4, 8],
        "op": [0] * 4, "owner": [0, 1, 2, 3], "completion_ns": [9, 9, 7, 9],
    }  # fmt: skip
    columns = {name: np.array(column) for name, column in columns.items()}
    trace = Trace("t", **columns)
    assert vms._as_sent(trace) is trace
    sent = vms._as_sent(replace(trace, request_id=np.array([5, 5, 1, 5]), left_out={"other": 2}))
    assert sent.arrival_ns.tolist() == [0, 2]
    assert (sent.sector.tolist(), sent.sectors.tolist()) == ([0, 40], [24, 4])
    assert (sent.owner.tolist(), sent.completed_ns().tolist()) == ([0, 2], [9, 7])
    assert sent.left_out == {"other": 2, "merged into another of the VM's requests": 2}
    assert vms._as_sent(replace(trace, request_id=np.arange(4))).left_out == {}


def test_a_long_list_is_drawn_as_a_thousand_quantiles() -> None:
    values = np.random.default_rng(1).permutation(1999).astype(float)
    assert vms._quantiles(values).tolist() == [2.0 * i for i in range(1000)]
    assert vms._quantiles(values[:5]).tolist() == sorted(values[:5])
    assert vms._quantiles(values[:0]).tolist() == []
