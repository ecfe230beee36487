# SPDX-License-Identifier: MIT
"""Traces from files: what is read, what is refused, and what a replay makes of them."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sample_runs import experiment, outcome

from understudy import trace
from understudy.errors import UserError
from understudy.result import requests_table
from understudy.sim.rows import closed_rows, open_rows

ROWS = {
    "arrival_ns": [100, 300, 150, 900],
    "sector": [8, 16, 80, 0],
    "sectors": [8, 8, 16, 8],
    "op": ["read", "write", "read", "read"],
    "owner": ["b", "a", "b", "a"],
    "completion_ns": [200, 500, 600, 1000],
}


def written(tmp_path: Path, **changes: object) -> str:
    """A Parquet file with ROWS, changed as asked; a column that is None is left out."""
    columns = {name: values for name, values in (ROWS | changes).items() if values is not None}
    pl.DataFrame(columns).write_parquet(tmp_path / "t.parquet")
    return str(tmp_path / "t.parquet")


def test_rows_are_sorted_and_begin_at_zero(tmp_path: Path) -> None:
    found = trace.load(written(tmp_path))
    assert found.arrival_ns.tolist() == [0, 50, 200, 800]
    assert found.sector.tolist() == [8, 80, 16, 0]
    assert found.op.tolist() == [0, 0, 1, 0]
    assert found.owner.tolist() == [0, 0, 1, 1]
    assert found.completion_ns is not None
    assert found.completion_ns.tolist() == [100, 500, 400, 900]
    assert (len(found), found.end_sector) == (4, 96)


def test_csv_with_only_what_is_needed(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("arrival_ns,sector,sectors\n5,0,8\n9,64,8\n")
    found = trace.load(str(tmp_path / "t.csv"))
    assert found.arrival_ns.tolist() == [0, 4]
    assert found.op.tolist() == found.owner.tolist() == [0, 0]
    with pytest.raises(UserError, match="closed needs a column completion_ns"):
        closed_rows(found)


def test_one_run_of_a_run_folder_is_chosen(tmp_path: Path) -> None:
    runs = [
        outcome(experiment(scheduler=name, seed=seed, requests=30))
        for name in ("cats", "none")
        for seed in (1, 2)
    ]
    file = tmp_path / "requests.parquet"
    requests_table(runs).write_parquet(file)
    found = trace.load(f"{file}:none:2")
    assert found.arrival_ns.tolist() == runs[3].requests["arrival_ns"].to_list()
    for text in (str(file), f"{file}:none", f"{file}:bfq:1"):
        with pytest.raises(UserError, match=r"name one run.*there are: cats:1, cats:2, none:1"):
            trace.load(text)


def test_open_keeps_the_times_between_rows(tmp_path: Path) -> None:
    rows = open_rows(trace.load(written(tmp_path)))
    assert np.cumsum(rows.think_ns).tolist() == [0, 50, 200, 800]


def test_closed_thinks_since_the_last_answer(tmp_path: Path) -> None:
    rows, owners = closed_rows(trace.load(written(tmp_path)))
    assert owners == 2
    assert list(rows.first) == [0, 2, 4]
    # b asks at 0 and, before any answer, at 50; a asks at 200 and, answered at 400, at 800.
    assert list(rows.think_ns) == [0, 50, 200, 400]
    assert list(rows.sector) == [8, 80, 16, 0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sector": None}, "no column sector"),
        ({"sectors": [8, 0, 8, 8]}, "request 2: sectors is 0"),
        ({"sector": [8, -1, 80, 0]}, "request 2: sector is -1"),
        ({"arrival_ns": [100, 300, -150, 900]}, "request 0: arrival_ns is -150"),
        ({"arrival_ns": [1.0, 2.0, 3.0, 4.0]}, "arrival_ns has to hold whole numbers"),
        ({"sector": [8, None, 80, 0]}, "sector has to hold whole numbers"),
        ({"op": ["read", "trim", "read", "read"]}, 'op "trim" is neither read nor write'),
        ({"completion_ns": [50, 500, 600, 1000]}, "request 0 completes before it arrives"),
        ({name: [] for name in ROWS}, "no request in it"),
    ],
)
def test_damaged_traces_are_refused(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        trace.load(written(tmp_path, **changes))


def test_files_that_are_no_trace(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No such file"):
        trace.load(str(tmp_path / "none.parquet"))
    (tmp_path / "text.parquet").write_text("hello")
    with pytest.raises(UserError, match="neither Parquet nor CSV"):
        trace.load(str(tmp_path / "text.parquet"))
    with pytest.raises(UserError, match="no runs to choose from"):
        trace.load(written(tmp_path) + ":cats")
