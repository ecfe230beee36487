# SPDX-License-Identifier: MIT
"""`trace` in Python: what the command prints and writes, as frames, and as a workload."""

import json
import shlex
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

import understudy_devices as us
from understudy_devices.cli.main import main

LINES = [f"{1_000_000 * n},hm,1,Read,{2**20 * n},4096,{4000 + n}" for n in range(300)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "hm.csv"
    path.write_text("\n".join([*LINES, ""]))
    return path


def printed(*words: str) -> str:
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    return done.stdout


def test_it_says_what_the_command_prints(file: Path) -> None:
    recorded = us.trace(file)
    words = shlex.split(recorded.command)[1:]
    assert json.loads(printed(*words, "--json")) == [json.loads(json.dumps(recorded.as_json()))]
    assert repr(recorded) + "\n" == printed(*words)
    html = recorded._repr_html_()
    assert all(word in html for word in ("<table>", "interarrival (ms)", "<svg", recorded.command))
    assert html == us.trace(file)._repr_html_()


def test_its_frames(file: Path, tmp_path: Path) -> None:
    recorded = us.trace(file)
    printed("trace", "convert", str(file), str(tmp_path / "theirs.parquet"))
    recorded.write(tmp_path / "ours.parquet")
    assert (tmp_path / "ours.parquet").read_bytes() == (tmp_path / "theirs.parquet").read_bytes()
    assert recorded.requests.equals(pl.read_parquet(tmp_path / "ours.parquet"))
    mean = recorded.measures.row(
        by_predicate=(pl.col("measure") == "size") & (pl.col("figure") == "mean"), named=True
    )
    assert mean == {"measure": "size", "unit": "KiB", "figure": "mean", "value": 4.0}
    with pytest.raises(us.UserError, match=r"ends in \.parquet"):
        recorded.write(tmp_path / "ours.csv")


def test_it_is_a_workload(file: Path) -> None:
    options = {"schedulers": "clook", "virtual_size": "1G"}
    by_name, by_object = (
        us.predict(workload="trace", trace=trace, **options) for trace in (file, us.trace(file))
    )
    assert by_name.requests.equals(by_object.requests)
    assert by_name.command == by_object.command
    frame = us.predict(workload=us.trace(file).requests, **options)
    assert frame.requests.drop("owner").equals(by_name.requests.drop("owner"))


def test_a_trace_that_breaks_off(file: Path) -> None:
    file.write_text("\n".join([*LINES[:50], LINES[50][:20]]))
    recorded = us.trace(file)
    assert recorded.broken
    assert recorded.requests.height == 50
    assert any("incomplete" in line for line in recorded.notices)
    with pytest.raises(us.UserError, match="understudy trace convert"):
        us.predict(workload="trace", trace=recorded)


def test_no_trace(tmp_path: Path) -> None:
    with pytest.raises(us.UserError, match="No such file"):
        us.trace(tmp_path / "nothing")
