# SPDX-License-Identifier: MIT
"""Sweeps: one file, a row for each run, and nothing run twice."""

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner, Result

from understudy import sweep
from understudy.cli.main import main
from understudy.errors import UserError
from understudy.sim import platform

WORDS = ("sweep", "--workloads", "random", "--requests", "100", "--processes", "4")


def understudy(*words: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(main, words, catch_exceptions=False)


def figures(file: Path) -> pl.DataFrame:
    """What does not depend on the host."""
    return pl.read_parquet(file).select(pl.exclude("^.*wall_seconds$"))


def test_every_combination_has_a_row(tmp_path: Path) -> None:
    file = tmp_path / "s.parquet"
    done = understudy(*WORDS, "--schedulers", "cats,fcfs", "--seeds", "3", "--out", str(file))
    assert done.exit_code == 0, done.stderr
    rows = pl.read_parquet(file)
    assert rows.select("scheduler", "seed").rows() == [
        (name, seed) for name in ("cats", "fcfs") for seed in (1, 2, 3)
    ]
    assert "wrote" in done.stderr
    assert list(tmp_path.iterdir()) == [file]


def test_an_interrupted_sweep_goes_on_and_ends_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, broken = tmp_path / "whole.parquet", tmp_path / "broken.parquet"
    words = (*WORDS, "--schedulers", "clook", "--seeds", "6", "--jobs", "1", "--out")
    understudy(*words, str(whole))
    original, runs = platform.summarise, []

    def fails_at_the_fourth(experiment, report, *, stop):  # type: ignore[no-untyped-def]
        runs.append(experiment.seed)
        if len(runs) == 4:
            raise KeyboardInterrupt
        return original(experiment, report, stop=stop)

    monkeypatch.setattr(platform, "summarise", fails_at_the_fourth)
    assert understudy(*words, str(broken)).exit_code == 130
    assert not broken.exists()
    kept = len((tmp_path / "broken.parquet.partial").read_text().splitlines())
    assert 1 <= kept <= 5
    runs.clear()
    runs.extend([0] * 4)
    assert understudy(*words, str(broken)).exit_code == 0
    assert len(runs) == 4 + 6 - kept
    assert figures(broken).equals(figures(whole))
    assert not (tmp_path / "broken.parquet.partial").exists()


def test_a_finished_sweep_runs_only_what_is_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "s.parquet"
    words = (*WORDS, "--schedulers", "clook", "--out", str(file), "--seeds")
    understudy(*words, "2")
    original, seeds = platform.summarise, []

    def counted(experiment, report, *, stop):  # type: ignore[no-untyped-def]
        seeds.append(experiment.seed)
        return original(experiment, report, stop=stop)

    monkeypatch.setattr(platform, "summarise", counted)
    understudy(*words, "4")
    assert sorted(seeds) == [3, 4]
    assert pl.read_parquet(file)["seed"].to_list() == [1, 2, 3, 4]


def test_a_line_that_was_cut_off_does_not_count(tmp_path: Path) -> None:
    file = tmp_path / "s.parquet"
    partial = tmp_path / "s.parquet.partial"
    partial.write_text('{"key": "a"}\n{"key": "b"')
    assert sweep._known(file) == {"a": {"key": "a"}}
    assert partial.read_text() == '{"key": "a"}\n'
    partial.write_text("not JSON\n")
    with pytest.raises(UserError, match="is damaged; remove it"):
        sweep._known(file)


def test_another_file_is_not_written_over(tmp_path: Path) -> None:
    file = tmp_path / "mine.parquet"
    file.write_text("mine")
    done = understudy(*WORDS, "--out", str(file))
    assert (done.exit_code, file.read_text()) == (2, "mine")
    assert "is no sweep" in done.stderr
    done = understudy(*WORDS, "--out", str(tmp_path / "no" / "folder.parquet"))
    assert done.exit_code == 1
    assert "cannot write" in done.stderr


def test_json_has_means_with_intervals(tmp_path: Path) -> None:
    words = (*WORDS, "--schedulers", "cats", "--seeds", "5", "--json")
    done = understudy(*words, "--out", str(tmp_path / "s.parquet"))
    (group,) = json.loads(done.stdout)
    assert (group["disk"], group["scheduler"]) == ("cheetah-15k4", "cats")
    assert 0 < group["half_width"] < group["mean"]


def test_compare_ranks_and_says_what_cannot_be_told_apart(tmp_path: Path) -> None:
    words = ("compare", "--workload", "random", "--requests", "300", "--schedulers")
    done = understudy(
        *words, "mq-deadline,deadline,fcfs", "--processes", "9", "--out", str(tmp_path / "c")
    )
    assert done.exit_code == 0, done.stderr
    assert "tied with" in done.stdout
    assert " best" in done.stdout
    result = json.loads((tmp_path / "c" / "result.json").read_text())
    assert len(result["runs"]) == 30
