# SPDX-License-Identifier: MIT
"""A class graded on a real cluster: the same bytes as here, whatever a submission does."""

import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import course_class
import pytest
import slurm
from terminal import COMMAND

from understudy_devices.course import library
from understudy_devices.course.export import solution
from understudy_devices.course.grade import Grader

pytestmark = [pytest.mark.thorough, pytest.mark.slow, pytest.mark.xdist_group("slurm")]

SECONDS = 400
ON = ("--on-cluster", "--workers", "2", "--partition", "all")
CLASS = {"ada": "", "bob": "loops", "carl": "null", "dora": "ties", "eve": "", "fred": "prose"}
"""What is wrong with each student's submission."""
DEADLY = """\
import os
import signal
import time

from understudy_devices.course.check import Check
from understudy_devices.course.result import Found


class Kind(Check):
    def run(self, work):
        if "kill" in work.text("run.txt"):
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(60)
        time.sleep(float(work.text("run.txt")))
        with (work.folder.parents[2] / "graded").open("a") as log:
            log.write("once ")
        return Found(1.0)
"""
SPECIFICATION = """\
title = "Deadly"
summary = "kills the process that asked for its grade"
points = 10
files = ["run.txt"]
[[checks]]
kind = "deadly"
name = "survives"
points = 10
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[slurm.Slurm]:
    """Return a cluster for all tests."""
    with slurm.cluster() as running:
        yield running


@pytest.fixture
def course(tmp_path: Path) -> library.Course:
    """Return a course with an assignment of its own."""
    course_class.course(tmp_path / "os")
    mine = tmp_path / "os" / "assignments" / "deadly"
    texts = {"assignment.toml": SPECIFICATION, "text.md": "# Deadly\n", "checks/deadly.py": DEADLY}
    for name, text in (texts | {"solution/run.txt": "0"}).items():
        (mine / name).parent.mkdir(parents=True, exist_ok=True)
        (mine / name).write_text(text)
    (tmp_path / "inbox").mkdir()
    return library.course(tmp_path / "os")


def begin(cluster: slurm.Slurm, folder: Path, name: str, *more: str) -> subprocess.Popen[str]:
    """Begin to grade the class."""
    words = ("course", "grade-all", name, folder / "inbox", "--course", folder / "os", "--no-vm")
    return subprocess.Popen(
        [COMMAND, *words, *more],
        env=cluster.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(command: subprocess.Popen[str], code: int = 0) -> tuple[str, str]:
    """Return what a command prints."""
    printed, said = command.communicate(timeout=SECONDS)
    assert command.returncode == code, said
    return printed, said


def await_(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def contents(folder: Path) -> dict[str, bytes]:
    found = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*")}
    return {name: found[name].read_bytes() for name in sorted(found) if found[name].is_file()}


def hand_in(folder: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        (folder / "inbox" / f"{name}.txt").write_text(text)


def test_a_class_has_the_same_bytes(
    cluster: slurm.Slurm, course: library.Course, tmp_path: Path
) -> None:
    """A loop and a crash cost their authors points, and the cluster no task."""
    grader = Grader(course.assignment("seek-reduction"), course)
    for name, kind in CLASS.items():
        handed_in = solution(grader, name)
        if kind:
            changes, _ = course_class.CODE[kind]
            handed_in["sstf.c"] = course_class.changed(course_class.SSTF, changes)
        course_class.as_zip(tmp_path / "inbox" / name, handed_in)
    here, there = tmp_path / "here", tmp_path / "there"
    one, _ = finish(begin(cluster, tmp_path, "seek-reduction", "--out", str(here)))
    other, _ = finish(begin(cluster, tmp_path, "seek-reduction", *ON, "--out", str(there)))
    assert other == one
    assert contents(there) == contents(here)
    assert {path.name for path in there.iterdir()} == {path.name for path in here.iterdir()}
    await_(lambda: not cluster.jobs())


def test_a_dead_task_is_reported(
    cluster: slurm.Slurm, course: library.Course, tmp_path: Path
) -> None:
    """The message names the submission; the grades of the others are kept."""
    hand_in(tmp_path, {"ada": "0", "bob": "kill", "carl": "0"})
    words = (*ON, "--out", str(tmp_path / "grades"))
    _, said = finish(begin(cluster, tmp_path, "deadly", *words), code=1)
    last = said.splitlines()[-1]
    assert last.startswith("understudy: bob.txt: a task on the cluster died 3 times at the same ")
    assert Path(last.rpartition("see ")[2]).is_file()
    await_(lambda: not cluster.jobs())
    hand_in(tmp_path, {"bob": "0"})
    printed, _ = finish(begin(cluster, tmp_path, "deadly", *words))
    assert re.search(r"3 students, [12] graded now, [12] as before", printed)
    assert not (tmp_path / "grades" / "cluster").exists()
    finish(begin(cluster, tmp_path, "deadly", "--out", str(tmp_path / "anew")))
    assert contents(tmp_path / "grades") == contents(tmp_path / "anew")


def test_a_command_that_is_killed_goes_on(
    cluster: slurm.Slurm, course: library.Course, tmp_path: Path
) -> None:
    """What its tasks grade meanwhile counts: nothing is graded twice."""
    hand_in(tmp_path, dict.fromkeys(CLASS, "2"))
    out = tmp_path / "grades"
    words = (*ON, "--out", str(out))
    command = begin(cluster, tmp_path, "deadly", *words)
    await_(lambda: any(file.read_bytes() for file in out.glob("cluster/*.answers")))
    command.send_signal(signal.SIGINT)
    _, said = command.communicate(timeout=SECONDS)
    assert "the cluster's tasks go on (scancel --name understudy-" in said
    assert "give the same command again to go on" in said
    await_(lambda: not cluster.jobs())
    finish(begin(cluster, tmp_path, "deadly", *words))
    assert not (out / "cluster").exists()
    assert (tmp_path / "graded").read_text().count("once") == len(CLASS)
    finish(begin(cluster, tmp_path, "deadly", "--out", str(tmp_path / "anew")))
    assert contents(out) == contents(tmp_path / "anew")


def test_the_cluster_refuses(cluster: slurm.Slurm, course: library.Course, tmp_path: Path) -> None:
    hand_in(tmp_path, {"ada": "0"})
    words = ("--on-cluster", "--partition", "big", "--out", str(tmp_path / "grades"))
    _, said = finish(begin(cluster, tmp_path, "deadly", *words), code=2)
    assert "--on-cluster: sbatch refuses: invalid partition specified: big" in said
    assert not (tmp_path / "grades" / "cluster").exists()
