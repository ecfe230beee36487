# SPDX-License-Identifier: MIT
"""The run folder: complete or absent, never overwritten, and byte-identical for the same run."""

import hashlib
import json
import re
import subprocess
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from places import CHECKOUT
from sample_runs import experiment, outcome

from understudy_devices.base import run_folder
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.base.paths import INSTALLED
from understudy_devices.campaign import result
from understudy_devices.measure.records import SCHEMA

NAMES = ["report.html", "requests.parquet", "result.json"]


def found(**changes: Any) -> result.Result:
    """Return a result of two schedulers and two seeds."""
    runs = [
        outcome(experiment(scheduler=scheduler, seed=seed, **changes))
        for scheduler in ("cats", "none")
        for seed in (1, 2)
    ]
    return result.Result("understudy predict --seeds 2", tuple(runs))


def test_the_folder_has_all_three_files_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "run"
    result.write(found(), folder, "<html>")
    assert sorted(file.name for file in folder.iterdir()) == NAMES
    assert [entry.name for entry in folder.parent.iterdir()] == ["run"]
    assert (folder / "report.html").read_text() == "<html>"


def test_result_json_has_designs_shape(tmp_path: Path) -> None:
    result.write(found(), tmp_path / "run", "")
    document = json.loads((tmp_path / "run" / "result.json").read_text())
    assert document["schema"] == "understudy.result/1"
    assert document["inputs"]["command"] == "understudy predict --seeds 2"
    assert document["inputs"]["schedulers"] == ["cats", "none"]
    assert document["inputs"]["seeds"] == [1, 2]
    assert document["inputs"]["disk"]["model"]["intercept_ms"] == 4.25
    assert document["environment"]["kernel"] == "6.1"
    assert [(run["scheduler"], run["seed"]) for run in document["runs"]] == [
        ("cats", 1),
        ("cats", 2),
        ("none", 1),
        ("none", 2),
    ]
    assert document["runs"][0]["platform"] == "vm"
    assert document["runs"][0]["facts"]["qemu"][0] == "qemu-system-x86_64"
    assert len(document["comparison"]["choices"]) == 3
    assert "paper" not in document  # only one of its schedulers


def test_a_reproduction_carries_the_papers_columns() -> None:
    runs = [outcome(experiment(scheduler=name)) for name in ("cats", "mq-deadline", "cfq")]
    document = result.Result("x", tuple(runs)).as_json()
    rows = document["paper"]["rows"]
    assert {row["source"] for row in rows} == {"ours", "real", "virtual"}
    assert rows[1]["values"] == {"cats": 1.96, "deadline": 2.71, "cfq": 1.39}


def test_parquet_has_every_bio_of_every_run_with_designs_columns(tmp_path: Path) -> None:
    result.write(found(requests=50), tmp_path / "run", "")
    table = pl.read_parquet(tmp_path / "run" / "requests.parquet")
    assert table.columns == ["scheduler", "seed", *SCHEMA]
    assert table.group_by("scheduler", "seed").len()["len"].to_list() == [50] * 4


def test_the_same_run_gives_the_same_bytes_and_another_seed_others(tmp_path: Path) -> None:
    for name, changes in {"a": {}, "b": {}, "c": {"requests": 199}}.items():
        result.write(found(**changes), tmp_path / name, "")
    first, again, other = (
        (tmp_path / name / "requests.parquet").read_bytes() for name in ("a", "b", "c")
    )
    assert first == again
    assert first != other


def test_the_default_folder_says_when_and_what(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with run_folder.reserved(None, result.label(experiment())) as folder:
        assert folder.parent == Path("runs")
        assert re.fullmatch(r"\d{8}-\d{6}-surge-direct-cheetah-15k4", folder.name)


def test_of_those_that_begin_in_one_second_each_has_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Noon(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> "Noon":
            return cls(2025, 1, 2, 12)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(run_folder, "datetime", Noon)
    name = "20250102-120000-surge-direct-cheetah-15k4"
    with (
        run_folder.reserved(None, result.label(experiment())) as first,
        run_folder.reserved(None, result.label(experiment())) as second,
        run_folder.reserved(None, result.label(experiment())) as third,
    ):
        assert [place.name for place in (first, second, third)] == [name, f"{name}-2", f"{name}-3"]
        result.write(found(), second, "")
    assert [place.name for place in Path("runs").iterdir()] == [f"{name}-2"]


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine")
    for out in (tmp_path, tmp_path / "notes"):
        with (
            pytest.raises(UserError, match="is not empty"),
            run_folder.reserved(out, result.label(experiment())),
        ):
            pass
    with pytest.raises(RunFailed, match="cannot write"):
        result.write(found(), tmp_path, "")
    assert (tmp_path / "notes").read_text() == "mine"


def test_an_empty_folder_may_be_filled(tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    with run_folder.reserved(folder, result.label(experiment())) as place:
        assert place == folder
    assert folder.is_dir()  # it was there before
    with run_folder.reserved(folder, result.label(experiment())):
        result.write(found(), folder, "")
    assert sorted(file.name for file in folder.iterdir()) == NAMES


def test_what_stays_empty_is_taken_away_with_its_parents(tmp_path: Path) -> None:
    with run_folder.reserved(tmp_path / "a" / "b", result.label(experiment())) as folder:
        assert folder.is_dir()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunFailed, match="another --out"):
        result.write(found(), tmp_path / "file" / "run", "")
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_a_failure_half_way_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: pl.DataFrame, file: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pl.DataFrame, "write_parquet", full)
    with pytest.raises(RunFailed, match="No space left on device"):
        result.write(found(), tmp_path / "run", "")
    assert list(tmp_path.iterdir()) == []


def test_result_json_names_the_code_that_answered(tmp_path: Path) -> None:
    """The digest equals `sha256sum` of the scheduler's file; the kernel's schedulers have no
    file here."""
    document = found().as_json()
    source = (CHECKOUT / "core" / "schedulers" / "cats.c").read_bytes()
    assert document["inputs"]["sources"]["cats"] == hashlib.sha256(source).hexdigest()
    if INSTALLED:
        assert document["environment"]["commit"] is None
        return
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=CHECKOUT, capture_output=True, text=True, check=True
    ).stdout.strip()
    assert document["environment"]["commit"].removesuffix("-dirty") == head


def test_without_git_no_commit_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert result.commit.__wrapped__() is None
