# SPDX-License-Identifier: MIT
"""Sweeps: one file with a row for each run, and no run repeated."""

import json
import re
import subprocess
import sys
from collections.abc import Iterable
from concurrent import futures
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import polars as pl
import pytest
from click.testing import CliRunner, Result
from places import CHECKOUT

from understudy_devices.base import threads
from understudy_devices.base.errors import RunFailed
from understudy_devices.campaign import sweep
from understudy_devices.cli.main import main
from understudy_devices.native import binding_file, program_file, registry, version
from understudy_devices.platforms.sim import in_simulator

pytestmark = pytest.mark.thorough

WORDS = ("sweep", "--workloads", "random", "--requests", "100", "--processes", "4")


def understudy(*words: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(main, words, catch_exceptions=False)


def figures(file: Path) -> pl.DataFrame:
    """Return the sweep's rows without the columns that depend on the host."""
    return pl.read_parquet(file).select(pl.exclude("^.*wall_seconds$"))


def interrupted(monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    """Run the command, interrupted in its fourth run. tests/cli/test_stopping.py interrupts a
    real one."""
    original, runs = in_simulator.summarise, []

    def fails_at_the_fourth(experiment, report, *, stop):  # type: ignore[no-untyped-def]
        runs.append(experiment.seed)
        if len(runs) == 4:
            raise KeyboardInterrupt
        return original(experiment, report, stop=stop)

    with monkeypatch.context() as patch:
        patch.setattr(in_simulator, "summarise", fails_at_the_fourth)
        with pytest.raises(click.Abort):
            understudy(*words)


def counted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Return a list to which every later run appends its scheduler and seed."""
    original, runs = in_simulator.summarise, []

    def noted(experiment, report, *, stop):  # type: ignore[no-untyped-def]
        runs.append((experiment.scheduler.name, experiment.seed))
        return original(experiment, report, stop=stop)

    monkeypatch.setattr(in_simulator, "summarise", noted)
    return runs


def test_runs_that_ended_with_the_one_that_failed_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy host several runs can have ended when `wait` returns, in any order."""

    def late(tasks: dict[futures.Future[Any], int]) -> list[futures.Future[Any]]:
        return sorted(futures.wait(tasks).done, key=lambda task: not task.exception())

    monkeypatch.setattr(threads, "ended", late)
    file = tmp_path / "s.parquet"
    words = (*WORDS, "--schedulers", "clook", "--seeds", "6", "--jobs", "1", "--out", str(file))
    interrupted(monkeypatch, *words)
    assert len((tmp_path / "s.parquet.partial").read_bytes().splitlines()) == 3


def test_every_combination_has_a_row(tmp_path: Path) -> None:
    file = tmp_path / "s.parquet"
    done = understudy(*WORDS, "--schedulers", "cats,fcfs", "--seeds", "3", "--out", str(file))
    assert done.exit_code == 0, done.stderr
    rows = pl.read_parquet(file)
    assert rows.select("scheduler", "seed").rows() == [
        (name, seed) for name in ("cats", "fcfs") for seed in (1, 2, 3)
    ]
    assert "wrote" in done.stderr
    assert sorted(tmp_path.iterdir()) == [tmp_path / ".s.parquet.lock", file]


def test_an_interrupted_sweep_goes_on_and_ends_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, broken = tmp_path / "whole.parquet", tmp_path / "broken.parquet"
    partial = tmp_path / "broken.parquet.partial"
    words = (*WORDS, "--schedulers", "clook", "--seeds", "6", "--jobs", "1", "--out")
    understudy(*words, str(whole))
    interrupted(monkeypatch, *words, str(broken))
    assert not broken.exists()
    finished = len(partial.read_text().splitlines())
    assert 1 <= finished <= 5
    runs = counted(monkeypatch)
    assert understudy(*words, str(broken)).exit_code == 0
    assert len(runs) == 6 - finished
    assert figures(broken).equals(figures(whole))
    assert not partial.exists()


def test_what_was_interrupted_survives_another_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "s.parquet"
    words = (*WORDS, "--jobs", "1", "--out", str(file), "--seeds")
    interrupted(monkeypatch, *words, "6", "--schedulers", "clook")
    lines = len((tmp_path / "s.parquet.partial").read_text().splitlines())
    understudy(*words, "1", "--schedulers", "fcfs")
    rows = pl.read_parquet(file)
    assert rows.filter(scheduler="clook").height == lines
    assert rows.filter(scheduler="fcfs").height == 1


def test_a_row_in_the_file_and_in_the_journal_counts_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill between writing the result and deleting the journal leaves both files."""
    file, partial = tmp_path / "s.parquet", tmp_path / "s.parquet.partial"
    words = (*WORDS, "--schedulers", "clook", "--seeds", "6", "--jobs", "1", "--out", str(file))
    interrupted(monkeypatch, *words)
    journal = partial.read_bytes()
    understudy(*words)
    partial.write_bytes(journal)
    assert understudy(*words).exit_code == 0
    assert pl.read_parquet(file)["seed"].to_list() == [1, 2, 3, 4, 5, 6]
    assert not partial.exists()


def test_a_finished_sweep_runs_only_what_is_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "s.parquet"
    words = (*WORDS, "--schedulers", "clook", "--out", str(file), "--seeds")
    understudy(*words, "2")
    runs = counted(monkeypatch)
    understudy(*words, "4")
    assert sorted(runs) == [("clook", 3), ("clook", 4)]
    assert pl.read_parquet(file)["seed"].to_list() == [1, 2, 3, 4]


def test_rows_of_other_commands_stay_and_are_not_printed(tmp_path: Path) -> None:
    file = tmp_path / "s.parquet"
    words = (*WORDS, "--out", str(file))
    understudy(*words, "--schedulers", "clook", "--seeds", "3")
    fewer = understudy(*words, "--schedulers", "clook", "--seeds", "1")
    assert "wrote" in fewer.stderr
    done = understudy(*words, "--schedulers", "fcfs")
    assert "clook" not in done.stdout
    assert pl.read_parquet(file).select("scheduler", "seed").rows() == [
        *(("clook", seed) for seed in (1, 2, 3)),
        ("fcfs", 1),
    ]
    (printed,) = json.loads(understudy(*words, "--schedulers", "clook", "--json").stdout)
    first = pl.read_parquet(file).row(0, named=True)
    assert printed["mean"] == pytest.approx(first["mean_response_ms"])


def test_rows_of_another_version_go_and_are_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "s.parquet"
    words = (*WORDS, "--schedulers", "clook", "--seeds", "2", "--out", str(file))
    assert "rows removed" not in understudy(*words).stderr
    monkeypatch.setattr(sweep, "version", lambda scheduler: "changed")
    runs = counted(monkeypatch)
    done = understudy(*words)
    assert f"{file}: 2 rows removed: they are from another version of a" in done.stderr
    assert sorted(runs) == [("clook", 1), ("clook", 2)]
    assert pl.read_parquet(file)["version"].to_list() == ["changed"] * 2


def sweep_apart(*words: str) -> str:
    """Return the stderr of a sweep in a new process, which reads the scheduler's file again."""
    command = [sys.executable, "-m", "understudy_devices", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stderr


@pytest.mark.parametrize("edited", ["mine.c", "mine.toml"])
def test_a_mean_is_never_one_of_what_was_edited_and_what_it_was(
    tmp_path: Path, edited: str
) -> None:
    """Rows of the edited file go, whatever their seed and workload; all other rows stay."""
    file, scheduler, disk = (tmp_path / name for name in ("s.parquet", "mine.c", "mine.toml"))
    scheduler.write_bytes(registry.source("fcfs").text.replace(b'"fcfs"', b'"mine"'))
    disk.write_text((CHECKOUT / "profiles" / "cheetah-15k4.toml").read_text())
    words = (*WORDS, "--schedulers", f"{scheduler},clook", "--out", str(file))
    sweep_apart(*words, "--disks", f"{disk},vesper-flat", "--seeds", "3")
    sweep_apart(*words, "--disks", str(disk), "--processes", "2")
    assert len(pl.read_parquet(file)) == 14
    content = (tmp_path / edited).read_text()
    (tmp_path / edited).write_text("/* */" * (edited == "mine.c") + content.replace("250", "260"))
    done = sweep_apart(*words, "--disks", str(disk), "--seeds", "2")
    assert "rows removed" in done
    rows = pl.read_parquet(file)
    of = {"mine.c": ("scheduler", "version"), "mine.toml": ("disk", "disk_digest")}[edited]
    assert rows.unique(of).select(of[0]).is_unique().all()
    stayed = {"mine.c": 3 + 3 + 1, "mine.toml": 2 * 3}[edited]
    assert len(rows) == stayed + {"mine.c": 2, "mine.toml": 4}[edited]
    assert f"wrote {file}: 4 runs" in done


def test_the_version_is_that_of_what_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Path] = []

    def digest(files: Iterable[Path]) -> str:
        seen.extend(files)
        return "name"

    monkeypatch.setattr(version, "digest_of_files", digest)
    assert version.code_version.__wrapped__() == "name"
    assert {binding_file(), program_file()} <= set(seen)
    names = {file.name for file in seen}
    assert {"metrics.py", "simulator.py", "Kbuild", "surge.c", "mkfiles.c"} <= names
    assert "options.py" not in names


def test_a_scheduler_that_changed_runs_again_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "s.parquet"
    words = (*WORDS, "--schedulers", "clook,look", "--seeds", "2", "--out", str(file))
    assert understudy(*words).exit_code == 0
    sources = {name: registry.source(name) for name in ("clook", "look")}
    sources["look"] = replace(sources["look"], text=sources["look"].text + b"/* changed */\n")
    monkeypatch.setattr(registry, "source", sources.__getitem__)
    runs = counted(monkeypatch)
    assert understudy(*words).exit_code == 0
    assert sorted(runs) == [("look", 1), ("look", 2)]


def test_what_cannot_be_served_has_a_row(tmp_path: Path) -> None:
    """At 180 requests a second fcfs falls behind, and at 8000 it gives up; clook can serve 180."""
    file = tmp_path / "s.parquet"
    words = ("sweep", "--workloads", "poisson", "--schedulers", "fcfs,clook", "--out", str(file))
    done = understudy(*words, "--requests", "2000", "--rate", "180", "--seeds", "3")
    assert done.exit_code == 0, done.stderr
    assert re.search(r"clook +\d+\.\d+ ± \d+\.\d+ +best", done.stdout)
    assert re.search(r"fcfs +unstable +load 1\.\d+: more than the disk can serve", done.stdout)
    rows = pl.read_parquet(file).filter(scheduler="fcfs")
    assert rows["status"].to_list() == ["unstable"] * 3
    assert 1 < rows["utilisation"].min() < rows["utilisation"].max() < 1.2  # type: ignore[operator]
    assert rows["mean_response_ms"].null_count() == 3
    done = understudy(*words, "--requests", "20000", "--rate", "8000", "--json")
    assert [line["mean"] for line in json.loads(done.stdout)] == [None, None]
    assert all(line["utilisation"] > 10 for line in json.loads(done.stdout))


def test_another_failure_ends_the_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(experiment, report, *, stop):  # type: ignore[no-untyped-def]
        raise RunFailed("fcfs: no memory")

    monkeypatch.setattr(in_simulator, "summarise", fails)
    done = understudy(*WORDS, "--schedulers", "fcfs", "--out", str(tmp_path / "s.parquet"))
    assert done.exit_code == 1
    assert done.stderr.splitlines()[-1] == "understudy: fcfs: no memory"


@pytest.mark.parametrize(
    ("option", "names", "twice"),
    [
        ("--workloads", "random,poisson,random", "random"),
        ("--disks", "vesper-zoned,vesper-zoned", "vesper-zoned"),
        ("--disks", "vesper-zoned,{profiles}/vesper-zoned.toml", "vesper-zoned"),
    ],
)
def test_nothing_is_named_twice(option: str, names: str, twice: str, tmp_path: Path) -> None:
    profiles = Path(__file__).parents[2] / "profiles"
    words = ("sweep", "--rate", "50", option, names.format(profiles=profiles), "--out")
    done = understudy(*words, str(tmp_path / "s.parquet"))
    assert (done.exit_code, done.stderr) == (
        2,
        f"understudy: {option}: {twice} is named twice; --seeds N repeats runs\n",
    )


def test_one_sweep_at_a_time_on_a_file(tmp_path: Path) -> None:
    file = tmp_path / "s.parquet"
    words = (*WORDS, "--schedulers", "fcfs", "--out", str(file))
    with sweep.opened(file):
        refused = understudy(*words)
    assert refused.exit_code == 2
    assert refused.stderr == (
        f"understudy: --out: another sweep is using {file}; wait for it, or name another file\n"
    )
    assert understudy(*words).exit_code == 0


def test_a_row_says_what_was_run(tmp_path: Path) -> None:
    file = tmp_path / "s.parquet"
    words: tuple[str, ...]
    words = (*WORDS, "--schedulers", "sfq", "--out", str(file), "--virtual-size", "64M")
    words = (*words, "--gap", "5", "--ask", "7", "--think", "2", "--think-scale", "3")
    disk = tmp_path / "queueing.toml"
    disk.write_text("[model]\nintercept_ms = 4.0\nfull_seek_ms = 5.0\n[queue]\ndepth = 4\n")
    words = (*words, "--set", "sfq.depth=3", "--weights", "3,1,1,1", "--queue-depth", "2")
    words = (*words, "--disks", str(disk))
    done = understudy(*words)
    assert done.exit_code == 0, done.stderr
    row = pl.read_parquet(file).row(0, named=True)
    expected = {
        "platform": "sim",
        "version": sweep.version("sfq"),
        "virtual_bytes": 64_000_000,
        "gap_us": 5.0,
        "ask_us": 7.0,
        "think_ms": 2.0,
        "think_scale": 3.0,
        "tunables": "depth=3",
        "weights": "3,1,1,1",
        "depth": 2,
        "requests": 100,
        "trace": None,
        "replay": None,
        "status": "stable",
    }
    assert {name: row[name] for name in expected} == expected


def test_a_row_says_why_only_the_tail_has_no_pick(tmp_path: Path) -> None:
    disk = tmp_path / "mine.toml"
    check = 'workload = "reads"\nasks = { random = 1.0, near = 0.1, sweeps = 1.0 }\ntarget_ms = 7.0'
    disk.write_text(
        "[model]\nintercept_ms = 4.0\nfull_seek_ms = 5.0\n"
        f"[[checks]]\n{check}\nmodel_ms = 7.0\ndemerit_ms = 3.5\n"
    )
    file = tmp_path / "s.parquet"
    words = (*WORDS, "--disks", str(disk), "--schedulers", "cats", "--out", str(file))
    done = understudy(*words)
    row = pl.read_parquet(file).row(0, named=True)
    assert row["trusted"] is True
    assert row["because"].startswith("no pick for tail response: this workload has ")
    assert f"mine, random: {row['because']}" in done.stdout


def test_a_row_says_which_trace_and_what_the_depth_was(tmp_path: Path) -> None:
    trace, file = tmp_path / "t.csv", tmp_path / "s.parquet"
    trace.write_text("arrival_ns,sector,sectors,completion_ns\n0,8,8,500\n1000,800,8,2000\n")
    array = tmp_path / "lun.toml"
    array.write_text("[array]\nservers = 6\nservice_ms = 5.0\n")
    words = ("--trace", str(trace), "--replay", "closed", "--disks", f"vesper-zoned,{array}")
    done = understudy(
        *("sweep", "--workloads", "trace", "--schedulers", "fcfs", "--out", str(file)), *words
    )
    assert done.exit_code == 0, done.stderr
    rows = pl.read_parquet(file)
    assert rows.select("disk", "depth", "trace", "replay", "requests").rows() == [
        ("lun", 6, str(trace), "closed", 2),
        ("vesper-zoned", 1, str(trace), "closed", 2),
    ]
    assert rows["disk_digest"].n_unique() == 2
    assert rows["trace_digest"].null_count() == 0


def test_a_line_that_was_cut_off_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, partial = tmp_path / "s.parquet", tmp_path / "s.parquet.partial"
    words = (*WORDS, "--schedulers", "clook", "--seeds", "6", "--jobs", "1", "--out", str(file))
    interrupted(monkeypatch, *words)
    whole = partial.read_bytes()
    partial.write_bytes(whole + whole[:100])
    with sweep.opened(file) as book:
        assert book.rows.height == len(whole.splitlines())
        assert partial.read_bytes() == whole


@pytest.mark.parametrize(
    "junk", [b"[1,2]\n", b'{"a":1}\n', b"\xff\xfe\n", b"not JSON\n", b"\n", b"no line", b"wrong"]
)
def test_junk_in_the_journal_is_refused(
    junk: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, partial = tmp_path / "s.parquet", tmp_path / "s.parquet.partial"
    words = (*WORDS, "--schedulers", "clook", "--seeds", "6", "--jobs", "1", "--out", str(file))
    interrupted(monkeypatch, *words)
    first = partial.read_bytes().splitlines(keepends=True)[0]
    wrong = re.sub(rb'"seed": (\d+)', rb'"seed": "\1"', first)  # whichever run ended first
    assert wrong != first
    content = first + (wrong if junk == b"wrong" else junk)
    partial.write_bytes(content)
    done = understudy(*words)
    assert done.exit_code == 2
    assert done.stderr == (
        f"understudy: {partial}: line 2 is not a row of a sweep; remove the line, or move the "
        "file away to run its rows again\n"
    )
    assert partial.read_bytes() == content


def test_another_file_is_not_written_over(tmp_path: Path) -> None:
    file = tmp_path / "mine.parquet"
    file.write_text("mine")
    done = understudy(*WORDS, "--out", str(file))
    assert (done.exit_code, file.read_text()) == (2, "mine")
    assert "is not a sweep" in done.stderr
    pl.DataFrame({"key": ["a"], "version": ["b"]}).write_parquet(file)
    before = file.read_bytes()
    done = understudy(*WORDS, "--out", str(file))
    assert (done.exit_code, file.read_bytes()) == (2, before)
    assert len(done.stderr.splitlines()) == 1
    assert "is not a sweep: its columns" in done.stderr
    done = understudy(*WORDS, "--out", str(tmp_path))
    assert done.exit_code == 2
    assert "is not a sweep: " in done.stderr


def test_the_folder_is_made(tmp_path: Path) -> None:
    file = tmp_path / "no" / "folder" / "s.parquet"
    assert understudy(*WORDS, "--schedulers", "fcfs", "--out", str(file)).exit_code == 0
    assert file.exists()
    done = understudy(*WORDS, "--out", str(file / "s.parquet"))
    assert done.exit_code == 1
    assert "cannot write" in done.stderr


def test_the_table_says_who_is_best_and_who_cannot_be_told_apart(tmp_path: Path) -> None:
    names = ("mq-deadline", "deadline", "fcfs")
    words: tuple[str, ...]
    words = ("sweep", "--workloads", "random,sequential", "--requests", "300", "--processes", "9")
    words = (*words, "--schedulers", ",".join(names), "--out", str(tmp_path / "s.parquet"))
    done = understudy(*words, "--seeds", "5")
    assert re.search(r"random +deadline +\d+\.\d+ ± \d+\.\d+ +best", done.stdout)
    assert re.search(r"random +mq-deadline +\d+\.\d+ ± \d+\.\d+ +tied", done.stdout)
    assert re.search(r"random +fcfs +\d+\.\d+ ± \d+\.\d+ *$", done.stdout, re.MULTILINE)
    assert done.stdout.count(" best") == 2
    means = [line["mean"] for line in json.loads(understudy(*words, "--json").stdout)[:3]]
    assert means == sorted(means)
    assert "one seed: no interval" in understudy(*words).stdout


def test_differences_are_taken_in_pairs(tmp_path: Path) -> None:
    """The intervals of the means overlap, but the interval of the difference excludes zero."""
    words: tuple[str, ...]
    words = ("sweep", "--workloads", "poisson", "--rate", "120", "--requests", "300")
    words = (*words, "--schedulers", "cats,look", "--seeds", "10", "--json", "--out")
    done = understudy(*words, str(tmp_path / "s.parquet"))
    best, other = json.loads(done.stdout)
    assert best["mean"] + best["half_width"] > other["mean"] - other["half_width"]
    assert (best["verdict"], other["verdict"]) == ("best", "")


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
    assert " tied " in done.stdout
    assert " best" in done.stdout
    result = json.loads((tmp_path / "c" / "result.json").read_text())
    assert len(result["runs"]) == 30
