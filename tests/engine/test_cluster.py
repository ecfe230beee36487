# SPDX-License-Identifier: MIT
"""Sweeps on a real cluster with two nodes: the same rows as here, whatever is killed."""

import random
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import slurm
from places import CHECKOUT
from terminal import COMMAND

import understudy_devices as us
from understudy_devices.engine.cluster import Request
from understudy_devices.native import binding_file, program_file, registry

pytestmark = [pytest.mark.thorough, pytest.mark.xdist_group("slurm")]

SECONDS = 240
SWEEP = ("sweep", "--workloads", "random,surge-direct", "--processes", "20")
ON = ("--on-cluster", "--workers", "2", "--partition", "all")
CELLS = 2 * 2 * 120
MANY = (*SWEEP, "--schedulers", "clook,sfq", "--seeds", "120", "--requests", "20000")
FEW = (*SWEEP, "--schedulers", "clook,fcfs", "--seeds", "12", "--requests", "500")


@pytest.fixture(scope="module")
def cluster() -> Iterator[slurm.Slurm]:
    """Return a cluster for all tests."""
    with slurm.cluster() as running:
        yield running


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    """Return the rows of the sweep MANY, carried out here."""
    file = tmp_path_factory.mktemp("here") / "s.parquet"
    subprocess.run([COMMAND, *MANY, "--out", file], capture_output=True, check=True)
    return figures(file)


def figures(file: Path) -> pl.DataFrame:
    """Return the sweep's rows without the columns that depend on the host."""
    return pl.read_parquet(file).select(pl.exclude("^.*wall_seconds$"))


def begin(cluster: slurm.Slurm, *words: str | Path) -> subprocess.Popen[str]:
    """Start the command."""
    return subprocess.Popen(
        [COMMAND, *words],
        env=cluster.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(command: subprocess.Popen[str]) -> str:
    """Return what a command says on stderr, after it has ended with success."""
    _, said = command.communicate(timeout=SECONDS)
    assert command.returncode == 0, said
    return said


def refused(cluster: slurm.Slurm, *words: str | Path, code: int = 1) -> str:
    """Return the last line of a command that fails and leaves no job."""
    command = begin(cluster, *words)
    _, said = command.communicate(timeout=SECONDS)
    assert command.returncode == code, said
    await_(lambda: not cluster.jobs())
    return said.splitlines()[-1]


def await_(condition: Callable[[], bool]) -> None:
    """Wait until the condition holds."""
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def lines(file: Path) -> int:
    """Return how many runs on the cluster have an answer."""
    answers = file.with_name(file.name + ".cluster").glob("*.answers")
    return sum(each.read_bytes().count(b"\n") for each in answers)


def test_the_rows_are_the_same_bytes(
    cluster: slurm.Slurm, tmp_path: Path, many: pl.DataFrame
) -> None:
    file = tmp_path / "s.parquet"
    said = finish(begin(cluster, *MANY, *ON, "--out", file))
    assert f"{CELLS} runs of this command" in said
    assert figures(file).equals(many)
    assert sorted(tmp_path.iterdir()) == [tmp_path / ".s.parquet.lock", file]
    assert cluster.jobs() == []


def test_python_carries_out_a_sweep(
    cluster: slurm.Slurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_CONF", cluster.environment["SLURM_CONF"])
    given: dict[str, Any] = {
        "processes": 20,
        "schedulers": ["clook", "fcfs"],
        "seeds": 12,
        "requests": 500,
    }
    nodes = Request(workers=2, minutes=10, partition="all")
    file = tmp_path / "there.parquet"
    there = us.sweep(**given, out=file, cluster=nodes)
    here = us.sweep(**given, out=tmp_path / "here.parquet")
    assert figures(file).equals(figures(tmp_path / "here.parquet"))
    assert there.measures.equals(here.measures)
    assert there.runs.height == 2 * 2 * 12
    assert not file.with_name("there.parquet.cluster").exists()
    assert cluster.jobs() == []
    with pytest.raises(us.UserError, match="invalid partition specified: big"):
        us.sweep(**given, out=tmp_path / "s.parquet", cluster=replace(nodes, partition="big"))
    with pytest.raises(us.UserError, match="cluster: needs out, a file on a disk that all nodes"):
        us.sweep(**given, cluster=nodes)


@pytest.mark.slow
def test_users_files_and_traces_travel(cluster: slurm.Slurm, tmp_path: Path) -> None:
    scheduler, trace = tmp_path / "mine.c", tmp_path / "t.csv"
    scheduler.write_bytes(registry.source("fcfs").text.replace(b'"fcfs"', b'"mine"'))
    rows = "".join(f"{1_000_000 * row},{8 * (row * 37 % 1000)},8\n" for row in range(500))
    trace.write_text(f"arrival_ns,sector,sectors\n{rows}")
    words = (
        *("sweep", "--workloads", "random,trace", "--trace", str(trace), "--requests", "200"),
        *("--schedulers", f"{scheduler},clook", "--seeds", "3"),
    )
    finish(begin(cluster, *words, "--out", tmp_path / "here.parquet"))
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/sh\necho "${{TMPDIR-none}}" >> {tmp_path}/said\nexec {sys.executable} "$@"\n'
    )
    python.chmod(0o755)
    cluster_words = (
        *(*ON, "--sbatch", "overcommit", "--sbatch", "nice=5", "--time", "0:10:00"),
        *("--jobs", "2", "--sbatch", "cpus-per-task=1", "--node-python", str(python)),
    )
    finish(begin(cluster, *words, *cluster_words, "--out", tmp_path / "there.parquet"))
    assert figures(tmp_path / "there.parquet").equals(figures(tmp_path / "here.parquet"))
    assert "understudy-" not in (tmp_path / "said").read_text(), "the command's own folder"


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))]
)
def test_a_command_that_is_killed_goes_on(
    seed: int, cluster: slurm.Slurm, tmp_path: Path, many: pl.DataFrame
) -> None:
    """A kill at a random moment, its tasks too in every second case."""
    moment = random.Random(seed)
    file = tmp_path / "s.parquet"
    words = (*MANY, *ON, "--out", file)
    command = begin(cluster, *words)
    time.sleep(moment.uniform(1, 10))
    command.send_signal(signal.SIGKILL)
    command.communicate()
    if seed % 2:
        cluster.ask("scancel", "--signal=KILL", *cluster.jobs())
    kept = lines(file)
    finish(begin(cluster, *words))
    assert kept <= CELLS + 2
    assert figures(file).equals(many)
    assert cluster.jobs() == []


@pytest.mark.slow
def test_what_ended_without_a_command_survives_another_one(
    cluster: slurm.Slurm, tmp_path: Path, many: pl.DataFrame
) -> None:
    """The next command runs something else, here; the tasks' rows are in its file."""
    file = tmp_path / "s.parquet"
    command = begin(cluster, *MANY, *ON, "--out", file)
    await_(lambda: lines(file) > 20)
    command.send_signal(signal.SIGKILL)
    command.communicate()
    await_(lambda: not cluster.jobs())
    assert lines(file) > 400
    finish(begin(cluster, *SWEEP, "--schedulers", "look", "--requests", "100", "--out", file))
    rows = figures(file)
    assert rows.filter(pl.col("scheduler") != "look").equals(many)
    assert rows.filter(scheduler="look").height == 2


@pytest.mark.slow
def test_ctrl_c_says_what_goes_on(cluster: slurm.Slurm, tmp_path: Path) -> None:
    file = tmp_path / "s.parquet"
    command = begin(cluster, *MANY, *ON, "--out", file)
    await_(lambda: lines(file) > 20)
    command.send_signal(signal.SIGINT)
    _, said = command.communicate(timeout=SECONDS)
    (last,) = (line for line in said.splitlines() if "interrupted" in line)
    assert "the cluster's tasks go on (scancel --name understudy-" in last
    name = last.partition("--name ")[2].split()[0]
    assert cluster.jobs()
    cluster.ask("scancel", "--name", name)
    await_(lambda: not cluster.jobs())


@pytest.mark.slow
def test_tasks_that_are_killed_cost_only_time(
    cluster: slurm.Slurm, tmp_path: Path, many: pl.DataFrame
) -> None:
    file = tmp_path / "s.parquet"
    command = begin(cluster, *MANY, *ON, "--out", file)
    for least in (10, 200):
        await_(lambda least=least: lines(file) > least)  # type: ignore[misc]
        cluster.ask("scancel", "--signal=KILL", *cluster.jobs())
    finish(command)
    assert figures(file).equals(many)


@pytest.mark.slow
def test_a_node_that_is_lost_costs_only_time(
    cluster: slurm.Slurm, tmp_path: Path, many: pl.DataFrame
) -> None:
    file = tmp_path / "s.parquet"
    command = begin(cluster, *MANY, *ON, "--out", file)
    await_(lambda: lines(file) > 10)
    cluster.lose("n1")
    try:
        finish(command)
    finally:
        cluster.start_node("n1")
    assert figures(file).equals(many)


@pytest.mark.slow
def test_a_scheduler_that_fails_is_left_out_as_here(cluster: slurm.Slurm, tmp_path: Path) -> None:
    scheduler = tmp_path / "mine.c"
    text = registry.source("fcfs").text.replace(b'"fcfs"', b'"mine"')
    crashing = re.sub(rb"(\n\w[^;\n]*\bfcfs_next\([^;{]*\{)", rb"\1 __builtin_trap();", text)
    assert crashing != text
    scheduler.write_bytes(crashing)
    words = (*SWEEP, "--schedulers", f"{scheduler},clook", "--seeds", "3", "--requests", "100")
    here = refused(cluster, *words, "--out", tmp_path / "here.parquet")
    there = refused(cluster, *words, *ON, "--out", tmp_path / "there.parquet")
    assert here == there
    assert "mine" in here
    rows = figures(tmp_path / "there.parquet")
    assert rows.filter(scheduler="clook").equals(
        figures(tmp_path / "here.parquet").filter(scheduler="clook")
    )


@pytest.mark.slow
def test_a_task_that_always_dies(cluster: slurm.Slurm, tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 'no memory left' >&2\nexit 3\n")
    python.chmod(0o755)
    words = (*FEW, *ON, "--node-python", str(python), "--out", tmp_path / "s.parquet")
    last = refused(cluster, *words)
    assert last.startswith(
        "understudy: a task on the cluster died 3 times at the same run: no memory left; see "
    )
    assert Path(last.rpartition("see ")[2]).is_file()


def environment(folder: Path) -> tuple[Path, Path]:
    """Make an environment of Python with submitit and our libraries, without our package.

    Return its Python and its folder of packages.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (site,) = (folder / "lib").glob("python*/site-packages")
    for package in Path(sysconfig.get_path("purelib")).iterdir():
        if "understudy" not in package.name:
            (site / package.name).symlink_to(package)
    return folder / "bin" / "python", site


@pytest.mark.slow
def test_nodes_without_the_package(cluster: slurm.Slurm, tmp_path: Path) -> None:
    python, _ = environment(tmp_path / "venv")
    words = (*FEW, *ON, "--node-python", str(python), "--out", tmp_path / "s.parquet")
    last = refused(cluster, *words)
    assert "ModuleNotFoundError: No module named 'understudy_devices'" in last
    assert "; install understudy-devices[cluster] on all nodes, or name a --node-python" in last


@pytest.mark.slow
def test_nodes_without_that_python(cluster: slurm.Slurm, tmp_path: Path) -> None:
    python = tmp_path / "nothing"
    words = (*FEW, *ON, "--node-python", str(python), "--out", tmp_path / "s.parquet")
    last = refused(cluster, *words)
    assert f"execve(): {python}: No such file or directory" in last
    assert "; install understudy-devices[cluster] on all nodes, or name a --node-python" in last


@pytest.mark.slow
def test_nodes_with_another_version(cluster: slurm.Slurm, tmp_path: Path) -> None:
    python, site = environment(tmp_path / "venv")
    for folder in ("core", "guest", "host", "kernel", "profiles", "sim", "cards"):
        (site / folder).symlink_to(CHECKOUT / folder)
    package = shutil.copytree(CHECKOUT / "understudy_devices", site / "understudy_devices")
    for file in (binding_file(), program_file()):
        shutil.copy(file, package)
    with (package / "measure" / "metrics.py").open("a") as text:
        text.write("# changed\n")
    words = (*FEW, *ON, "--node-python", str(python), "--out", tmp_path / "s.parquet")
    last = refused(cluster, *words)
    assert f"{python} has another version of Understudy than this command; install" in last


@pytest.mark.slow
def test_a_folder_that_is_full(cluster: slurm.Slurm, tmp_path: Path) -> None:
    """There is room for the items, and not for all answers."""
    folder = tmp_path / "small"
    folder.mkdir()
    file = folder / "s.parquet"
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "none", folder], check=True)
    try:
        last = refused(
            cluster, *MANY[:-4], "--seeds", "60", "--requests", "500", *ON, "--out", file
        )
        assert "No space left on device" in last
        assert lines(file) > 10
    finally:
        subprocess.run(["umount", folder], check=True)


def test_sbatch_refuses(cluster: slurm.Slurm, tmp_path: Path) -> None:
    file = tmp_path / "s.parquet"
    last = refused(cluster, *FEW, "--on-cluster", "--partition", "big", "--out", file, code=2)
    assert last == (
        "understudy: --on-cluster: sbatch refuses: invalid partition specified: big Batch job "
        "submission failed: Invalid partition name specified; sinfo and sacctmgr show what the "
        "cluster offers"
    )


@pytest.mark.slow
def test_no_controller(cluster: slurm.Slurm, tmp_path: Path) -> None:
    configuration = tmp_path / "slurm.conf"
    text = Path(cluster.environment["SLURM_CONF"]).read_text()
    port = next(line for line in text.splitlines() if line.startswith("SlurmctldPort"))
    configuration.write_text(text.replace(port, "SlurmctldPort=1\nMessageTimeout=2"))
    command = subprocess.run(
        [COMMAND, *FEW, *ON, "--out", tmp_path / "s.parquet"],
        env={**cluster.environment, "SLURM_CONF": str(configuration)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert command.returncode == 1
    assert "squeue does not answer" in command.stderr.splitlines()[-1]
