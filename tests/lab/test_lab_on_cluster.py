# SPDX-License-Identifier: MIT
"""VMs of a lab that Slurm starts on one of two nodes; both are on this machine, so locks hold."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import lab_images
import pytest
import slurm
from lab_class import NAME, PATIENCE_SECONDS, Class
from terminal import COMMAND

from understudy_devices.lab import holder, memory, placed
from understudy_devices.lab.monitor import Monitor

pytestmark = [pytest.mark.thorough, pytest.mark.xdist_group("slurm")]

OTHER = {"n1": "n2", "n2": "n1"}


@pytest.fixture(scope="module")
def cluster() -> Iterator[slurm.Slurm]:
    with slurm.cluster() as running:
        yield running


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cluster: slurm.Slurm) -> Iterator[Class]:
    monkeypatch.setenv("SLURM_CONF", cluster.environment["SLURM_CONF"])
    made = Class(tmp_path)
    try:
        made.create(lab_images.guest(tmp_path))
        yield made
    finally:
        cluster.ask("scancel", *cluster.jobs())
        made.until(lambda: not cluster.jobs())
        made.kill()


def begin(lab: Class, team: str = "team01", *more: str) -> "subprocess.Popen[str]":
    words = [COMMAND, "lab", "start", NAME, team, "--on-cluster", "--folder", lab.labs, *more]
    return subprocess.Popen(
        list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def start(lab: Class, team: str = "team01", *more: str, code: int = 0) -> str:
    """Start a VM through Slurm; return what the command says."""
    command = begin(lab, team, *more)
    _, errors = command.communicate(timeout=PATIENCE_SECONDS)
    assert command.returncode == code, errors
    return errors


def node(lab: Class, team: str = "team01") -> str:
    """Return the node on which a VM runs, or nothing."""
    who = holder.of(lab.team(team))
    return who.node if who else ""


def log(lab: Class, team: str = "team01") -> str:
    file = lab.team(team).folder / placed.LOG
    return file.read_text() if file.exists() else ""


def requeued(lab: Class, cluster: slurm.Slurm) -> None:
    """Wait until Slurm has started the job on another node, and let it not wait for two minutes."""
    job = cluster.jobs()[0]

    def runs_again() -> bool:
        state = cluster.ask("scontrol", "show", "job", job)
        if "Restarts=1" in state:
            cluster.ask("scontrol", "update", f"jobid={job}", "starttime=now")
        return "Restarts=1" in state and "JobState=RUNNING" in state

    lab.until(runs_again)


def silenced(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file; Slurm does not answer the jobs on the node that it names."""
    file, tool = folder / "silenced", folder / "bin" / "scontrol"
    tool.parent.mkdir()
    real = shutil.which("scontrol")
    tool.write_text(f'#!/bin/sh\ngrep -qsx "$SLURMD_NODENAME" {file} && exit 1\nexec {real} "$@"\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    return file


def test_slurm_starts_a_vm(lab: Class, cluster: slurm.Slurm) -> None:
    assert "team01: runs on n" in start(lab)
    lab.type("w", ["wrote 0001"])
    place = node(lab)
    assert place in OTHER
    assert lab.do("status").splitlines()[1].split()[:4] == ["team01", "running", holder.me(), place]
    assert f"team01 runs already: {holder.me()} on {place} since" in start(lab, code=1)
    assert "team01 runs already" in lab.start(code=1)
    stop = [str(COMMAND), "lab", "stop", NAME, "team01", "--suspend", "--folder", str(lab.labs)]
    subprocess.run(["srun", "--jobid", cluster.jobs()[0], "--overlap", *stop], check=True)
    lab.until(lambda: not cluster.jobs())

    # A node that is drained takes no VM; one that runs there goes on.
    start(lab)
    place = node(lab)
    cluster.ask("scontrol", "update", f"nodename={place}", "state=drain", "reason=test")
    try:
        assert f"runs on {OTHER[place]} " in start(lab, "team02")
        lab.type("w", ["wrote 0002"])
        lab.do("stop", "team02", "--now")
        lab.do("stop", "team01")
        lab.until(lambda: not cluster.jobs())
        assert f"runs on {OTHER[place]} " in start(lab)
        lab.type("w", ["wrote 0003"])
    finally:
        cluster.ask("scontrol", "update", f"nodename={place}", "state=resume")


def test_of_two_starts_at_one_instant_one_wins(lab: Class, cluster: slurm.Slurm) -> None:
    commands = [begin(lab) for _ in range(2)]
    errors = [command.communicate(timeout=PATIENCE_SECONDS)[1] for command in commands]
    assert sorted(command.returncode for command in commands) == [0, 1], errors
    assert len(cluster.jobs()) == 1
    assert len(lab.qemus()) == 1


def test_a_job_that_waits(lab: Class, cluster: slurm.Slurm) -> None:
    """It fails if somebody has started the VM meanwhile, and is cancelled by Ctrl-C."""
    cluster.ask("scontrol", "update", "nodename=n1,n2", "state=drain", "reason=test")
    try:
        command = begin(lab)
        lab.until(lambda: bool(cluster.jobs()))
        command.send_signal(signal.SIGINT)
        errors = command.communicate(timeout=PATIENCE_SECONDS)[1]
        assert command.returncode == 130
        assert errors.splitlines()[-1] == "understudy: interrupted: no job is left"
        lab.until(lambda: not cluster.jobs())

        command = begin(lab)
        lab.until(lambda: bool(cluster.jobs()))
        (job,) = cluster.jobs()
        command.kill()
        command.communicate(timeout=PATIENCE_SECONDS)
        assert f"team01 has a job already: {job} (PENDING" in start(lab, code=1)
        lab.start()
        lab.do("stop", "team01", "--suspend")
        lab.start()
        said = lab.do("stop", "team01", "--now")
        assert f"job {job} waits, and starts it again: scancel {job} ends it" in said
        lab.start()
    finally:
        cluster.ask("scontrol", "update", "nodename=n1,n2", "state=resume")
    lab.until(lambda: not cluster.jobs())
    assert f" job {job}: team01 runs already: {holder.me()} on " in log(lab)
    assert log(lab).count("\n") == 1


def test_a_vm_is_ended_and_started_at_once(lab: Class, cluster: slurm.Slurm) -> None:
    """Its former job has not ended yet."""
    start(lab)
    lab.do("stop", "team01", "--now")
    assert cluster.jobs()
    assert "team01: runs on n" in start(lab)


def test_before_its_time_is_over_a_vm_is_suspended(lab: Class, cluster: slurm.Slurm) -> None:
    """Also if somebody has paused it."""
    for paused in (False, True):
        start(lab)
        lab.type("w", ["wrote 000"])
        if paused:
            with Monitor(lab.team().folder) as monitor:
                monitor.do("stop")
        cluster.ask("scancel", "--batch", "--signal=USR1", *cluster.jobs())
        lab.until(lambda: not cluster.jobs())
        assert memory.exists(lab.team())
        assert lab.qemus() == {}
    start(lab)
    lab.until(lambda: "resumed" in log(lab).splitlines()[-1])
    lab.type("w", ["wrote 0003"])


def test_a_vm_ends_with_its_job(lab: Class, cluster: slurm.Slurm) -> None:
    start(lab)
    cluster.ask("scancel", *cluster.jobs())
    lab.until(lambda: not lab.qemus())


def test_what_is_refused(lab: Class, cluster: slurm.Slurm, tmp_path: Path) -> None:
    last = start(lab, "team01", "--partition", "big", code=2)
    assert "--on-cluster: sbatch refuses: invalid partition specified: big" in last
    last = start(lab, "team01", "--node-python", "/nowhere/python", code=1)
    assert "has ended: " in last
    assert "/nowhere/python" in last
    lab.do("maintenance", "on", "--reason", "new headers")
    assert f"os822 is in maintenance, by {holder.me()}: new headers" in start(lab, code=1)
    lab.do("maintenance", "off")
    assert "--partition goes with --on-cluster" in lab.refuses(
        "start", "team01", "--partition", "all"
    )
    assert cluster.jobs() == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spared", "how"),
    [((), "booted"), (("qemu",), "booted"), (("",), "resumed")],
    ids=["all that ran there", "but for QEMU", "but for QEMU and its job"],
)
def test_a_node_is_killed(
    lab: Class, cluster: slurm.Slurm, spared: tuple[str, ...], how: str
) -> None:
    """Slurm starts the job on the other node, where the VM goes on when its clone is free."""
    start(lab)
    lab.type("w", ["wrote 0001"])
    place = node(lab)
    cluster.lose(place, spared)
    try:
        requeued(lab, cluster)
        lab.until(lambda: node(lab) == OTHER[place])
        lab.until(lambda: len(lab.qemus()) == 1)
        lab.type("w", ["wrote 0002"])
        lab.until(lambda: how in log(lab).splitlines()[-1])
    finally:
        cluster.start_node(place)
    lab.type("w", ["wrote 0003"])
    assert node(lab) == OTHER[place]


@pytest.mark.slow
def test_a_node_is_cut_off(
    lab: Class, cluster: slurm.Slurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its job hears nothing of Slurm, and suspends the VM, which the other node resumes."""
    cut = silenced(tmp_path, monkeypatch)
    start(lab)
    lab.type("w", ["wrote 0001"])
    place = node(lab)
    cut.write_text(f"{place}\n")
    cluster.stop_node(place)
    try:
        requeued(lab, cluster)
        lab.until(lambda: node(lab) == OTHER[place])
        lab.type("w", ["wrote 0002"])
        assert "the VM: silent" in log(lab)
        lab.until(lambda: "resumed" in log(lab).splitlines()[-1])
    finally:
        cut.unlink()
        cluster.stop_node(place, signal.SIGCONT)
    lab.until(lambda: "idle" in cluster.ask("sinfo", "-h", "-n", place, "-o", "%t").split())
    lab.type("w", ["wrote 0003"])
    assert node(lab) == OTHER[place]


@pytest.mark.slow
def test_while_slurm_is_silent_a_vm_waits(
    lab: Class, cluster: slurm.Slurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is lost if only Slurm's controller was away."""
    away = silenced(tmp_path, monkeypatch)
    start(lab)
    away.write_text(f"{node(lab)}\n")
    lab.until(lambda: memory.exists(lab.team()))
    lab.until(lambda: not lab.qemus())
    away.unlink()
    lab.until(lambda: "resumed" in log(lab).splitlines()[-1])
    lab.type("w", ["wrote 0001"])
