# SPDX-License-Identifier: MIT
"""Consolidation and placement on a real cluster: the same bytes as here."""

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import slurm
from terminal import COMMAND

import understudy_devices as us
from understudy_devices.engine.cluster import Request

pytestmark = [pytest.mark.thorough, pytest.mark.xdist_group("slurm")]

SECONDS = 240
ON = ("--on-cluster", "--workers", "2", "--partition", "all")
QUICK = ("--accept-poor-fit", "--seed", "3")
CONSOLIDATE = ("consolidate", "web=web.csv", "mail=mail.csv", "--queue-depth", "4", *QUICK)
PLACE = ("place", "web=web.csv", "mail=mail.csv", "--queue-depths", "fast=8,slow=2", *QUICK)
SHORT = "too short for a cluster (at least 10 s); this is faster without --on-cluster"


@pytest.fixture(scope="module")
def cluster() -> Iterator[slurm.Slurm]:
    """Return a cluster for all tests."""
    with slurm.cluster() as running:
        yield running


@pytest.fixture(autouse=True)
def traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cluster: slurm.Slurm) -> None:
    """Write traces of two VMs: a request each 4 or 5 ms, which takes 1 to 10 ms."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SLURM_CONF", cluster.environment["SLURM_CONF"])
    for name, step in (("web", 40_000), ("mail", 50_000)):
        rows = (f"{step * n},vm,1,Read,{4096 * n},4096,{10_000 + n * 37_000 % 90_001}\n"
                for n in range(2000))  # fmt: skip
        Path(f"{name}.csv").write_text("".join(rows))


def ran(*words: str, code: int = 0) -> str:
    """Run the command; return what it says on stderr."""
    done = subprocess.run(
        [COMMAND, *words], capture_output=True, text=True, check=False, timeout=SECONDS
    )
    assert done.returncode == code, done.stderr
    return done.stderr


def result(folder: str) -> dict[str, Any]:
    """Return result.json without the command line."""
    document: dict[str, Any] = json.loads((Path(folder) / "result.json").read_text())
    document["inputs"].pop("command")
    return document


def test_a_prediction_has_the_same_bytes(cluster: slurm.Slurm) -> None:
    more = ("--merge", "common", "--replications", "25")
    ran(*CONSOLIDATE, *more, "--out", "here")
    said = ran(*CONSOLIDATE, *more, *ON, "--out", "there")
    assert result("there") == result("here")
    file = "replications.parquet"
    assert (Path("there") / file).read_bytes() == (Path("here") / file).read_bytes()
    assert said.count(SHORT) == 1
    assert not Path("there.cluster").exists()
    assert cluster.jobs() == []


@pytest.mark.slow
def test_a_placement_has_the_same_bytes(cluster: slurm.Slurm) -> None:
    targets = ("--p95-ms", "40", "--targets-ms", "mail=20")
    ran(*PLACE, *targets, "--out", "here")
    said = ran(*PLACE, *targets, *ON, "--jobs", "2", "--sbatch", "overcommit",
               "--sbatch", "cpus-per-task=1", "--out", "there")  # fmt: skip
    assert result("there") == result("here")
    assert said.count(SHORT) == 1
    assert not Path("there.cluster").exists()
    assert cluster.jobs() == []


@pytest.mark.slow
def test_python_does_the_same() -> None:
    given: dict[str, Any] = {"queue_depth": 4, "replications": 4, "accept_poor_fit": True}
    nodes = Request(workers=2, minutes=10)
    vms = ["web=web.csv", "mail=mail.csv"]
    there = us.consolidate(vms, **given, out="there", cluster=nodes)
    assert there.replications.equals(us.consolidate(vms, **given).replications)
    assert any(SHORT in notice for notice in there.notices)
    with pytest.raises(us.UserError, match="cluster: needs --out"):
        us.consolidate(vms, **given, cluster=nodes)
    with pytest.raises(us.UserError, match="cluster: needs --out"):
        us.place(vms, queue_depths="a=4", p95_ms=40, accept_poor_fit=True, cluster=nodes)


@pytest.mark.slow
def test_a_command_that_is_killed_goes_on(cluster: slurm.Slurm) -> None:
    """Answers of the killed command count: the same command simulates none of them again."""
    words = (*CONSOLIDATE, "--replications", "40", "--merge", "common")
    ran(*words, "--out", "here")
    command = subprocess.Popen([COMMAND, *words, *ON, "--out", "there"], stderr=subprocess.PIPE)
    spool, until = Path("there.cluster"), time.monotonic() + SECONDS
    while not any(b"distribution_ns" in file.read_bytes() for file in spool.glob("*.answers")):
        assert time.monotonic() < until
        assert command.poll() is None
        time.sleep(0.05)
    command.send_signal(signal.SIGINT)
    _, said = command.communicate(timeout=SECONDS)
    assert b"the cluster's tasks go on (scancel --name understudy-" in said
    while cluster.jobs():
        assert time.monotonic() < until
        time.sleep(0.1)
    answered = {file.name for file in spool.glob("*.answers")}
    assert answered
    again = subprocess.Popen([COMMAND, *words, *ON, "--out", "there"], stderr=subprocess.PIPE)
    time.sleep(1)
    last = ran(*words, *ON, "--out", "there", code=2).splitlines()[-1]
    assert "there.cluster; wait for it, or name another --out" in last
    _, said = again.communicate(timeout=SECONDS)
    assert again.returncode == 0, said
    assert result("there") == result("here")
    assert not spool.exists()


def test_what_is_refused() -> None:
    last = ran(*CONSOLIDATE, *ON, code=2).splitlines()[-1]
    assert last == (
        "understudy: cluster: needs --out (out), a folder on a disk that all nodes share"
    )
    last = ran(*PLACE, "--p95-ms", "40", "--workers", "2", code=2).splitlines()[-1]
    assert last == "understudy: --workers goes with --on-cluster"
    last = ran(*PLACE, "--p95-ms", "9", "--on-cluster", "--partition", "big", "--out", "x", code=2)
    assert "--on-cluster: sbatch refuses: invalid partition specified: big" in last.splitlines()[-1]
    last = ran("consolidate", "--self-check", "--on-cluster", code=2).splitlines()[-1]
    assert last == "understudy: --on-cluster: not with --self-check, which sets it itself"
    assert sorted(path.name for path in Path().iterdir()) == ["mail.csv", "web.csv"]
