# SPDX-License-Identifier: MIT
"""`sweep` in Python: the same rows as the command, resumed, and clear refusals."""

import json
import shlex
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

import understudy_devices as us
from understudy_devices.cli.main import main
from understudy_devices.platforms.sim import in_simulator

SMALL: dict[str, Any] = {
    "workloads": ["random", "poisson"],
    "schedulers": "clook,fcfs",
    "requests": 200,
    "rate": 100,
    "seeds": 3,
}


def steady(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(pl.exclude("^.*wall_seconds$"))


def test_the_command_does_the_same(tmp_path: Path) -> None:
    file = tmp_path / "sweep.parquet"
    swept = us.sweep(**SMALL)
    words = [*shlex.split(swept.command)[1:], "--json", "--out", str(file)]
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    assert steady(pl.read_parquet(file)).equals(steady(swept.runs))
    assert json.loads(done.stdout) == swept.as_json()


def test_measures_are_those_of_predictions() -> None:
    swept = us.sweep(**SMALL).measures
    alone = us.predict(workload="random", schedulers="clook,fcfs", requests=200, seeds=3)
    key = ("scheduler", "measure")
    mean = swept.filter(
        (pl.col("workload") == "random") & (pl.col("measure") == "mean_response_ms")
    )
    theirs = alone.measures.join(mean, on=key, suffix="_swept")
    assert theirs.height == 2
    for column in ("mean", "low", "high"):
        assert theirs[column].to_list() == pytest.approx(theirs[f"{column}_swept"].to_list())


def test_a_file_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "sweep.parquet"
    first = us.sweep(**SMALL, out=file)
    runs = []
    original = in_simulator.summarise

    def noted(experiment: Any, report: Any, *, stop: Any) -> Any:
        runs.append(experiment.seed)
        return original(experiment, report, stop=stop)

    monkeypatch.setattr(in_simulator, "summarise", noted)
    assert us.sweep(**SMALL, out=file).runs.equals(first.runs)
    assert not runs
    us.sweep(**{**SMALL, "seeds": 4}, out=file)
    assert runs == [4] * 4
    written = first.write(tmp_path / "copy.parquet")
    assert us.sweep(**SMALL, out=written).runs.equals(first.runs)
    assert runs == [4] * 4
    with pytest.raises(us.UserError, match="already there"):
        first.write(written)


def test_nothing_is_kept_unless_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    swept = us.sweep(**SMALL)
    assert not list(tmp_path.iterdir())
    assert all(word in repr(swept) for word in ("cheetah-15k4", "poisson", "best"))
    assert all(word in swept._repr_html_() for word in ("<table>", "poisson", swept.command))
    assert swept.trusted is None
    assert "never checked against its drive" in swept.because[0]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"on": "sim,vm"}, "--on: one platform at a time"),
        ({"disks": "nothing"}, "nothing"),
        ({"workloads": "random,random"}, "--workloads: random is named twice"),
        ({"workloads": "walk"}, 'unknown workload "walk"'),
        ({"workloads": object()}, "--workloads: a object is no name"),
        ({"out": "."}, "is a folder; name a file"),
        ({"procs": 3}, "unknown option procs"),
    ],
)
def test_wrong_values_are_refused_in_a_line(values: dict[str, Any], words: str) -> None:
    with pytest.raises(us.UserError) as refused:
        us.sweep(**values)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)
