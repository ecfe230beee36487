# SPDX-License-Identifier: MIT
"""Engines without a cluster: threads, how a cluster's rounds are divided, and what is refused."""

import operator
import shutil
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner, Result
from places import CHECKOUT

from understudy_devices.base.errors import RunFailed
from understudy_devices.cli.cluster import _minutes
from understudy_devices.cli.main import main
from understudy_devices.engine import Engine, cluster
from understudy_devices.engine.cluster import Cluster, Request
from understudy_devices.engine.local import AHEAD, Local
from understudy_devices.engine.spool import Spool, Task
from understudy_devices.native.version import code_version

LONG = 60


def understudy(*words: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(main, words, catch_exceptions=False)


def test_every_item_is_answered_once() -> None:
    items = {str(number): number for number in range(50)}
    answers = list(Local(3).run(lambda item, stop: item * 2, items))
    assert sorted(answers, key=lambda answer: answer[1]) == [
        (key, number * 2) for key, number in items.items()
    ]


def test_an_exception_ends_what_runs_and_what_waits() -> None:
    begun: list[int] = []

    def work(item: int, stop: threading.Event) -> int:
        begun.append(item)
        if item == 0:
            raise ValueError("no")
        assert stop.wait(LONG)
        return item

    with pytest.raises(ValueError, match="no"):
        list(Local(2).run(work, {str(number): number for number in range(50)}))
    assert len(begun) <= 3


def test_items_are_taken_only_shortly_before_they_run() -> None:
    taken: list[str] = []

    class Items(dict[str, int]):
        def items(self) -> Any:
            for key, value in super().items():
                taken.append(key)
                yield key, value

    items: Mapping[str, int] = Items({str(number): number for number in range(1000)})
    next(iter(Local(2).run(lambda item, stop: item, items)))
    assert len(taken) <= 2 * AHEAD + 1


@pytest.fixture
def rounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> cluster._Rounds:
    """Return the rounds of 1,000 items on a cluster with 4 workers."""
    monkeypatch.setattr(cluster, "check_installed", lambda: None)
    request = Request(workers=4, minutes=60)
    items = dict.fromkeys(map(str, range(1000)), 0)
    return cluster._Rounds(Cluster(tmp_path, request), Spool(tmp_path), items)


def test_the_first_round_measures(rounds: cluster._Rounds) -> None:
    tasks = rounds._divided(30.0)
    assert [len(keys) for keys in tasks] == [250] * 4
    assert {key for keys in tasks for key in keys} == set(rounds.left)
    rounds.left = dict.fromkeys(map(str, range(20)), 0)
    assert len(rounds._divided(30.0)) == 2, "16 items a task, if there are as many"


@pytest.mark.parametrize(
    ("seconds", "tasks"),
    [
        (0.001, 1),  # all of it takes a second
        (0.02, 2),  # 20 s: each task takes ten
        (0.1, 10),
        (1.0, 16),  # 1,000 s: four tasks a worker
        (60.0, 100),  # none takes longer than ten minutes
        (3600.0, 1000),
    ],
)
def test_later_tasks_last_ten_seconds_or_more(
    seconds: float, tasks: int, rounds: cluster._Rounds
) -> None:
    rounds.measured = cluster.Measured(10, seconds * 10)
    divided = rounds._divided(600.0)
    assert len(divided) == tasks
    assert sorted(key for keys in divided for key in keys) == sorted(rounds.left)


def test_only_answers_to_own_tasks_count_and_each_key_once(rounds: cluster._Rounds) -> None:
    mine, other = Task("mine", 0), Task("other", 0)
    rounds.running, rounds.ids = {mine: ["1", "2"]}, {mine: "5_0"}
    with rounds.spool.answers(other) as answers:
        answers.write("1", "wrong", 1)
        answers.end("wrong")
    for _ in range(2):
        with rounds.spool.answers(mine) as answers:
            answers.write("1", "right", 1)
    assert list(rounds.answers()) == [("1", "right")]
    with rounds.spool.answers(mine) as answers:
        answers.write("2", "right", 1)
        answers.end("n1: no room")
    arrived = rounds.answers()
    assert next(arrived) == ("2", "right")
    with pytest.raises(RunFailed, match="n1: no room"):
        next(arrived)


def test_a_task_counts_as_dead_when_it_is_missing_twice(
    rounds: cluster._Rounds, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = Task("mine", 0)
    rounds.running, rounds.ids = {task: ["1", "2"]}, {task: "5_0"}
    monkeypatch.setattr(rounds, "_listed", dict)
    assert list(rounds._look()) == []
    assert task in rounds.running
    assert list(rounds._look()) == []
    assert not rounds.running
    assert rounds.deaths == {"1": 1}


def test_a_task_that_slurm_calls_dead_is_dead_at_once(
    rounds: cluster._Rounds, monkeypatch: pytest.MonkeyPatch
) -> None:
    dead, alive = Task("mine", 0), Task("mine", 1)
    rounds.running = {dead: ["1", "2"], alive: ["3"]}
    rounds.ids = {dead: "5_0", alive: "5_1"}
    with rounds.spool.answers(dead) as answers:
        answers.write("1", "before its death", 1)
    listed = {dead: ("5_0", "OUT_OF_MEMORY"), alive: ("5_1", "COMPLETING")}
    monkeypatch.setattr(rounds, "_listed", lambda: listed)
    for _ in range(3):
        assert list(rounds._look()) in ([("1", "before its death")], [])
    assert list(rounds.running) == [alive]
    assert rounds.deaths == {"2": 1}


def test_slurm_is_asked_less_often_as_an_array_grows_old(rounds: cluster._Rounds) -> None:
    pauses = []
    for age in (0, 4, 12, 1000):
        rounds.looked = rounds.begun + age
        pauses.append(rounds._pause)
    assert pauses == [0.5, 1, 3, 5]


def test_an_earlier_commands_dead_tasks_are_not_waited_for(
    rounds: cluster._Rounds, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = rounds.spool.plan(code_version(), [(["1"], None), (["2"], None)])
    listed = {Task(name, 0): ("5_0", "NODE_FAIL"), Task(name, 1): ("5_1", "RUNNING")}
    monkeypatch.setattr(rounds, "_listed", lambda: listed)
    cancelled: list[str] = []
    monkeypatch.setattr(cluster, "_cancel", cancelled.extend)
    rounds.adopt()
    assert rounds.running == {Task(name, 1): ["2"]}
    assert cancelled == []


def test_a_controller_that_is_away_is_waited_for(
    rounds: cluster._Rounds, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds.running, rounds.ids = {Task("mine", 0): ["1"]}, {Task("mine", 0): "5_0"}
    monkeypatch.setattr(rounds, "_listed", lambda: None)
    rounds.heard = time.monotonic()
    assert list(rounds._look()) == []
    rounds.heard -= cluster.PATIENCE_SECONDS
    with pytest.raises(RunFailed, match="squeue does not answer; finished runs are kept"):
        list(rounds._look())


LOGS = {
    "submitit INFO (x) - Starting\nMemoryError\nsrun: error: n1: task 0: Exited\n": "MemoryError",
    "slurmstepd: error: *** STEP 3.0 ON n1 CANCELLED DUE TO TIME LIMIT ***\n": (
        "slurmstepd: error: *** STEP 3.0 ON n1 CANCELLED DUE TO TIME LIMIT ***"
    ),
    "": "it left no word; is its folder on a disk that all nodes share",
    "x: No module named 'submitit'\n": "install understudy-devices[cluster] on all nodes",
}


@pytest.mark.parametrize("log", LOGS)
def test_the_last_words_of_a_dead_task(log: str, tmp_path: Path) -> None:
    (tmp_path / "log").write_text(log)
    assert LOGS[log] in cluster._last_words(tmp_path / "log")


class Client:
    """Stands in for Dask's client: each call runs in a process of its own."""

    def __init__(self, pool: ProcessPoolExecutor) -> None:
        self.pool = pool

    def map(self, function: Callable[..., Any], values: list[Any]) -> list[Future[Any]]:
        return [self.pool.submit(function, value) for value in values]

    def cancel(self, tasks: list[Future[Any]]) -> None:
        for task in tasks:
            task.cancel()


def test_the_engine_that_the_page_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (CHECKOUT / "docs" / "cluster.md").read_text()
    shown = ModuleType("shown")
    monkeypatch.setitem(sys.modules, "shown", shown)
    dask = ModuleType("dask.distributed")
    vars(dask).update(Client=Client, as_completed=as_completed)
    monkeypatch.setitem(sys.modules, "dask.distributed", dask)
    exec(page.partition("```python\n")[2].partition("```")[0], vars(shown))
    items = {str(number): number for number in range(2500)}
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        engine: Engine = vars(shown)["Dask"](Client(pool))
        answers = list(engine.run(operator.eq, items))
    assert sorted(answers) == sorted((key, False) for key in items)


def test_no_slurm_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = understudy("sweep", "--on-cluster", "--out", str(tmp_path / "s.parquet"))
    assert done.exit_code == 2
    assert done.stderr == (
        "understudy: --on-cluster: no sbatch here; run this on a node from which Slurm accepts "
        "jobs, or leave --on-cluster out\n"
    )


def test_no_submitit_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: name)
    monkeypatch.setitem(sys.modules, "submitit", None)
    done = understudy("sweep", "--on-cluster", "--out", str(tmp_path / "s.parquet"))
    assert done.exit_code == 2
    assert done.stderr == (
        "understudy: --on-cluster: submitit is missing; pip install 'understudy-devices[cluster]', "
        "here and on the nodes\n"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--workers", "3"), "--workers goes with --on-cluster"),
        (("--time", "5"), "--time goes with --on-cluster"),
        (("--on-cluster", "--time", "soon"), "--time: soon is not a time; write minutes, H:M:S"),
        (("--on-cluster", "--time", "0"), "--time: a task needs some time; write minutes"),
        (("--on-cluster", "--sbatch", "qos="), "--sbatch: qos= is not of the form OPTION=VALUE"),
        (("--on-cluster", "--sbatch", "a b=1"), "--sbatch: a b=1 is not of the form OPTION=VALUE"),
    ],
)
def test_options_that_are_refused(words: tuple[str, ...], message: str) -> None:
    done = understudy("sweep", *words, "--dry-run")
    assert done.exit_code == 2
    assert done.stderr.startswith(f"understudy: {message}")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("5", 5),
        ("5:01", 6),
        ("2:05:00", 125),
        ("1-2", 26 * 60),
        ("1-2:03", 26 * 60 + 3),
        ("1-2:3:4", 1564),
    ],
)
def test_times_are_slurms(text: str, minutes: int) -> None:
    assert _minutes(None, None, text) == minutes  # type: ignore[arg-type]
