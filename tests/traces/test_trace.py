# SPDX-License-Identifier: MIT
"""Traces from files: what is read, what is refused, and how a trace is replayed."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sample_runs import experiment, outcome

from understudy_devices.base.errors import UserError
from understudy_devices.campaign.result import requests_table
from understudy_devices.traces.read import load
from understudy_devices.traces.steps import closed_rows, open_rows, open_rows_by_owner

ROWS = {
    "arrival_ns": [100, 300, 150, 900],
    "sector": [8, 16, 80, 0],
    "sectors": [8, 8, 16, 8],
    "op": ["read", "write", "read", "read"],
    "owner": ["b", "a", "b", "a"],
    "completion_ns": [200, 500, 600, 1000],
}


def written(tmp_path: Path, **changes: object) -> str:
    """Write ROWS to a Parquet file, with changes; a column that is None is left out."""
    columns = {name: values for name, values in (ROWS | changes).items() if values is not None}
    pl.DataFrame(columns).write_parquet(tmp_path / "t.parquet")
    return str(tmp_path / "t.parquet")


def test_rows_are_sorted_and_begin_at_zero(tmp_path: Path) -> None:
    trace = load(written(tmp_path))
    assert trace.arrival_ns.tolist() == [0, 50, 200, 800]
    assert trace.sector.tolist() == [8, 80, 16, 0]
    assert trace.op.tolist() == [0, 0, 1, 0]
    assert trace.owner.tolist() == [0, 0, 1, 1]
    assert trace.completion_ns is not None
    assert trace.completion_ns.tolist() == [100, 500, 400, 900]
    assert (len(trace), trace.end_sector) == (4, 96)


def test_when_each_was_sent(tmp_path: Path) -> None:
    trace = load(written(tmp_path, dispatch_ns=[110, 300, 200, 950]))
    assert trace.dispatch_ns is not None
    assert trace.dispatch_ns.tolist() == [10, 100, 200, 850]
    assert load(written(tmp_path)).dispatch_ns is None
    without = load(written(tmp_path, dispatch_ns=[1] * 4, completion_ns=None))
    assert without.dispatch_ns is None


@pytest.mark.parametrize("ends", ["", "\n"])
def test_csv_that_is_short(ends: str, tmp_path: Path) -> None:
    """One file has a single row, from which the columns' types are inferred; the other has none."""
    (tmp_path / "one.csv").write_text(f"arrival_ns,sector,sectors\n5,16,8{ends}")
    assert load(str(tmp_path / "one.csv")).sector.tolist() == [16]
    (tmp_path / "none.csv").write_text(f"arrival_ns,sector,sectors{ends}")
    with pytest.raises(UserError, match=r"none.csv: no request in it$"):
        load(str(tmp_path / "none.csv"))


def test_csv_with_only_what_is_needed(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("arrival_ns,sector,sectors\n5,0,8\n9,64,8\n")
    trace = load(str(tmp_path / "t.csv"))
    assert trace.arrival_ns.tolist() == [0, 4]
    assert trace.op.tolist() == trace.owner.tolist() == [0, 0]
    with pytest.raises(
        UserError, match=r"^--replay closed: .* has arrivals only, .* replay it open"
    ):
        closed_rows(trace)


def test_a_format_is_told_by_content_and_not_by_name(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("arrival_ns,sector,sectors\n5,0,8\n9,64,8\n")
    assert load(str(tmp_path / "t.txt")).sector.tolist() == [0, 64]
    (tmp_path / "t.csv").write_bytes(Path(written(tmp_path)).read_bytes())
    assert len(load(str(tmp_path / "t.csv"))) == 4
    (tmp_path / "cut").write_bytes((tmp_path / "t.csv").read_bytes()[:-9])
    with pytest.raises(UserError, match="damaged Parquet"):
        load(str(tmp_path / "cut"))


def test_one_run_of_a_run_folder_is_chosen(tmp_path: Path) -> None:
    runs = [
        outcome(experiment(scheduler=name, seed=seed, requests=30))
        for name in ("cats", "none")
        for seed in (1, 2)
    ]
    file = tmp_path / "requests.parquet"
    requests_table(runs).write_parquet(file)
    (tmp_path / "result.json").write_text('{"inputs": {"scale": 1.0}}')
    trace = load(f"{file}:none:2")
    assert trace.arrival_ns.tolist() == runs[3].requests["arrival_ns"].to_list()
    for text in (str(file), f"{file}:none", f"{file}:bfq:1"):
        with pytest.raises(UserError, match=r"name one run.*there are: cats:1, cats:2, none:1"):
            load(text)


def test_open_keeps_the_times_between_rows(tmp_path: Path) -> None:
    rows = open_rows(load(written(tmp_path)))
    assert np.cumsum(rows.think_ns).tolist() == [0, 50, 200, 800]


def test_open_by_owner_keeps_every_time(tmp_path: Path) -> None:
    rows = open_rows_by_owner(load(written(tmp_path)))
    assert list(rows.first) == [0, 2, 4]
    assert list(rows.think_ns) == [0, 50, 200, 600]
    assert list(rows.sector) == [8, 80, 16, 0]


def test_closed_thinks_since_the_last_answer(tmp_path: Path) -> None:
    rows = closed_rows(load(written(tmp_path)))
    assert list(rows.first) == [0, 2, 4]
    # Process b sends at 0 and 50, before any completion. Process a sends at 200, which completes at
    # 400, and at 800.
    assert list(rows.think_ns) == [0, 50, 200, 400]
    assert list(rows.sector) == [8, 80, 16, 0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sector": None}, "does not say where on the disk"),
        ({"sectors": [8, 0, 8, 8]}, "row 2: sectors: 0 is impossible"),
        ({"sector": [8, -1, 80, 0]}, "row 2: sector: -1 is impossible"),
        ({"arrival_ns": [100, 300, -150, 900]}, "row 3: arrival_ns: -150 is impossible"),
        ({"arrival_ns": [1.0, 2.0, 3.0, 4.0]}, "arrival_ns has to hold whole numbers, not Float64"),
        ({"sector": [8, None, 80, 0]}, "row 2: sector: nothing is there"),
        ({"op": ["read", "trim", "read", "read"]}, "row 2: op: trim is neither read nor write"),
        ({"completion_ns": [50, 500, 600, 1000]}, "row 1: completion_ns: 50 is before the arrival"),
        ({"dispatch_ns": [150, 301, 601, 950]}, "row 3: dispatch_ns: 601 is not between arrival"),
        ({"dispatch_ns": [150, 299, 200, 950]}, "row 2: dispatch_ns: 299 is not between arrival"),
        ({"op": ["other"] * 4}, "no request in it"),
        ({"op": ["read", "write", None, "read"]}, "row 3: op: nothing is there"),
        ({"op": [["read"]] * 4}, r"op has to hold words, not List\(String\)"),
        ({"owner": ["b", "a", "b", None]}, "row 4: owner: nothing is there"),
        ({"owner": [["b"]] * 4}, r"owner has to hold words, not List\(String\)"),
        ({"owner": [None] * 4}, "row 1: owner: nothing is there"),
        (
            {"sector": pl.Series([8, 16, 2**63, 0], dtype=pl.UInt64)},
            "row 3: sector: 9223372036854775808 is far too large",
        ),
        ({name: [] for name in ROWS}, "no request in it"),
    ],
)
def test_damaged_traces_are_refused(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        load(written(tmp_path, **changes))


def test_rows_are_counted_in_the_file_also_when_some_are_passed_over(tmp_path: Path) -> None:
    op = ["other", "write", "read", "read"]
    with pytest.raises(UserError, match="row 4: sector: nothing is there"):
        load(written(tmp_path, op=op, sector=[None, 16, 80, None]))


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("values", [[[1]] * 4, [{"a": 1}] * 4, [b"x"] * 4, [True] * 4, [None] * 4])
def test_a_column_of_any_other_kind_is_refused_by_name(
    tmp_path: Path, name: str, values: list[object]
) -> None:
    with pytest.raises(UserError, match=name):
        load(written(tmp_path, **{name: values}))


def test_a_number_too_large_for_64_bits_in_csv(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"arrival_ns,sector,sectors\n5,0,8\n{'9' * 23},0,8\n")
    with pytest.raises(UserError, match=r"row 2: arrival_ns: 9{23} is far too large"):
        load(str(tmp_path / "t.csv"))


def test_a_file_is_called_what_it_is_called(tmp_path: Path) -> None:
    """Brackets and stars in a file's name are no wildcards."""
    for name in ("a[1].csv", "a1.csv"):
        sector = len(name)
        (tmp_path / name).write_text(f"arrival_ns,sector,sectors\n5,{sector},8\n")
    assert load(str(tmp_path / "a[1].csv")).sector.tolist() == [8]
    with pytest.raises(UserError, match="No such file"):
        load(str(tmp_path / "a*.csv"))
    with pytest.raises(UserError, match="File name too long"):
        load("a" * 300 + ".csv:cats")


def test_times_of_a_run_folder_are_divided_by_its_k(tmp_path: Path) -> None:
    run = outcome(experiment(scheduler="cats", requests=30))
    file = tmp_path / "requests.parquet"
    requests_table([run]).write_parquet(file)
    for text in ("", "[]", '{"inputs": {"scale": 0}}', '{"inputs": {"scale": 1.5}}'):
        with pytest.raises(UserError, match=r"result\.json should say .* keep the files"):
            load(str(file))
        (tmp_path / "result.json").write_text(text)
    (tmp_path / "result.json").write_text('{"inputs": {"scale": 8.0}}')
    trace = load(str(file))
    rows = run.requests.sort("arrival_ns")
    assert trace.arrival_ns.tolist() == [ns // 8 for ns in rows["arrival_ns"]]
    assert trace.completion_ns is not None
    assert trace.completion_ns.tolist() == [ns // 8 for ns in rows["completion_ns"]]


def test_files_that_are_no_trace(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No such file"):
        load(str(tmp_path / "none.parquet"))
    (tmp_path / "text.parquet").write_text("hello")
    with pytest.raises(UserError, match=r"in no format of a trace .* CSV with our"):
        load(str(tmp_path / "text.parquet"))
    with pytest.raises(UserError, match="no runs or volumes to choose from"):
        load(written(tmp_path) + ":cats")
