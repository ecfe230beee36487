# SPDX-License-Identifier: MIT
"""What Slurm is asked for a VM, and what the job does; programs of the test stand for Slurm."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import lab_images
import pytest
from lab_class import NAME, PATIENCE_SECONDS, Class, running_lab
from terminal import COMMAND

from understudy_devices.lab import hardware, holder, locks, memory, placed
from understudy_devices.lab.hardware import Hardware
from understudy_devices.lab.settings import Settings
from understudy_devices.lab.store import Lab, Team

pytestmark = pytest.mark.thorough

JOB = "7"
STRANGER = 54321
SCRIPTS = {
    "sbatch": 'printf "%s\\n" "$@" >$FAKE/options; env >$FAKE/environment; cat >$FAKE/script; '
    f"touch $FAKE/is_submitted; echo {JOB}",
    "squeue": "[ -e $FAKE/is_submitted ] || exec cat $FAKE/before; "
    "touch $FAKE/listed; cat $FAKE/after",
    "scancel": 'echo "$@" >>$FAKE/cancelled',
    "srun": "",
    # The first question is not answered.
    "scontrol": "if [ ! -e $FAKE/asked ]; then touch $FAKE/asked; exit 1; fi; case $2 in config) "
    'echo "SlurmdTimeout = 10 sec";; *) echo "JobState=RUNNING '
    'Restarts=${SLURM_RESTART_COUNT:-0} BatchHost=n1";; esac',
}


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder in which the programs keep what they are asked; no job is left."""
    folder = tmp_path / "slurm"
    folder.mkdir()
    for name, script in SCRIPTS.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    for name in ("before", "after"):
        (folder / name).touch()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("FAKE", str(folder))
    return folder


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Class]:
    with running_lab(tmp_path) as made:
        yield made


def start(lab: Class, *options: str, code: int = 1) -> str:
    done = lab.lab("start", "team01", "--on-cluster", *options)
    assert done.exit_code == code, done.stderr
    return done.stderr


def begin_job(lab: Class, restarts: int = 0) -> "subprocess.Popen[bytes]":
    environment = {
        **os.environ,
        "SLURM_JOB_ID": JOB,
        "SLURMD_NODENAME": "n1",
        "SLURM_RESTART_COUNT": str(restarts),
    }
    words = [sys.executable, "-m", "understudy_devices.lab.job", str(lab.labs), NAME, "team01"]
    return subprocess.Popen(words, env=environment, cwd=lab.labs)


def log(lab: Class) -> str:
    file = lab.team().folder / placed.LOG
    return file.read_text() if file.exists() else ""


def test_what_slurm_is_asked(lab: Class, slurm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {
        "SLURM_CONF": "/here",
        "SLURM_RESTART_COUNT": "1",
        "SBATCH_ARRAY_INX": "1-3",
        "TMPDIR": "/tmp",
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    (lab.team().folder / placed.LOG).write_text("11-28 12:00:00 job 6: scontrol fails\n")
    said = start(lab, "--time", "5", "--node-python", "/x/python", "--sbatch", "mem=1G")
    assert said.startswith(f"team01: job {JOB}\n")
    assert f"job {JOB} has ended: it has written nothing into " in said
    assert "/x/python with understudy-devices, on all nodes?" in said
    options = (slurm / "options").read_text().splitlines()
    assert "--output=/dev/null" in options
    assert "--time=5" in options
    assert "--mem=1G" in options
    (name,) = [each for each in options if each.startswith("--job-name=")]
    assert name.startswith(f"--job-name=understudy-lab.{NAME}.team01.")
    inherited = dict(
        line.partition("=")[::2] for line in (slurm / "environment").read_text().splitlines()
    )
    assert {each: inherited.get(each) for each in environment} == {
        **dict.fromkeys(environment),
        "SLURM_CONF": "/here",
    }
    assert (slurm / "script").read_text().splitlines()[1] == "trap '' USR1"


def test_jobs_that_are_there(lab: Class, slurm: Path) -> None:
    """One that waits will start the VM; one that runs without a VM makes way."""
    (slurm / "before").write_text("5 PENDING Resources \n")
    assert "team01 has a job already: 5 (PENDING Resources)" in start(lab)
    assert not (slurm / "script").exists()
    (slurm / "before").write_text("5 RUNNING None n1\n")
    (slurm / "after").write_text("5 PENDING Resources \n7 PENDING Dependency \n")
    assert "team01 has a job already: 5 (PENDING Resources)" in start(lab)
    assert (slurm / "cancelled").read_text() == f"{JOB}\n"


def test_ctrl_c_names_a_job_that_goes_on(lab: Class, slurm: Path) -> None:
    (slurm / "after").write_text(f"{JOB} RUNNING None n1\n")
    words = [COMMAND, "lab", "start", NAME, "team01", "--on-cluster", "--folder", lab.labs]
    command = subprocess.Popen(list(map(str, words)), stderr=subprocess.PIPE, text=True)
    try:
        assert command.stderr
        assert command.stderr.readline() == f"team01: job {JOB}\n"
        lab.until((slurm / "listed").exists)
        command.send_signal(signal.SIGINT)
        _, errors = command.communicate(timeout=PATIENCE_SECONDS)
    finally:
        command.kill()
        command.wait()
    assert errors == f"understudy: interrupted: job {JOB} goes on; scancel {JOB} ends it\n"
    asked = (slurm / "cancelled").read_text().split()
    assert asked[:2] == ["--state=PENDING", f"--user={os.getuid()}"]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--time", "4"), "--time: a VM needs 5 minutes at least, to be suspended in"),
        (("--sbatch", "array=1-3"), "--sbatch array: the lab sets this itself; leave it out"),
        (("--sbatch", "outp=x"), "--sbatch outp: the lab sets this itself; leave it out"),
        (("--sbatch", "wait"), "--sbatch wait: the lab sets this itself; leave it out"),
    ],
)
def test_what_is_refused(lab: Class, slurm: Path, options: tuple[str, ...], line: str) -> None:
    assert start(lab, *options, code=2).strip().removeprefix("understudy: ") == line
    assert not (slurm / "script").exists()


def test_teams_have_jobs_of_different_names(tmp_path: Path) -> None:
    settings = Settings(memory_mib=32, cpus=1, quota_bytes=None)
    places = [("one", "a-b", "c"), ("one", "a", "b-c"), ("two", "a", "b-c")]
    teams = [Team(Lab(tmp_path / labs / lab, settings), team) for labs, lab, team in places]
    assert len({placed.job_name(team) for team in teams}) == 3


def test_a_link_leads_a_job_of_root_to_no_other_file(slurm: Path) -> None:
    assert os.geteuid() == 0, "only root can give a folder away: run the tests as root"
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        with running_lab(Path(folder)) as lab:
            place = lab.team().folder
            for path in (place, *place.iterdir()):
                os.chown(path, STRANGER, STRANGER)
            (secret := lab.folder / "secret").write_text("root's")
            (place / placed.LOG).symlink_to(secret)
            assert begin_job(lab).wait(PATIENCE_SECONDS) == 1
            assert secret.read_text() == "root's"
            assert "it has written nothing into" in start(lab)
            (place / placed.LOG).unlink()
            with locks.image(lab.team().disk):
                assert begin_job(lab).wait(PATIENCE_SECONDS) == 1
            assert (place / placed.LOG).stat().st_uid == STRANGER
            assert "locked by a program that this lab has not started" in log(lab)


def test_only_a_restarted_job_waits_for_the_clone(lab: Class, slurm: Path) -> None:
    """It says so once.  It also waits for the answer of Slurm, at its start."""
    with locks.image(lab.team().disk):
        assert begin_job(lab).wait(PATIENCE_SECONDS) == 1
        assert f" job {JOB}: " in log(lab)
        job = begin_job(lab, restarts=1)
        try:
            lab.until(lambda: " waits: " in log(lab))
            time.sleep(2.5)
            assert log(lab).count(" waits: ") == 1
        except BaseException:
            job.kill()
            raise
    try:
        lab.until(lambda: " booted" in log(lab))
        who = holder.of(lab.team())
        assert who
        assert (who.node, who.job) == ("n1", JOB)
        (slurm / "before").write_text(f"{JOB} RUNNING None n1\n")
        assert "note: " not in lab.do("stop", "team01", "--now")
        assert job.wait(PATIENCE_SECONDS) == 0
    finally:
        job.kill()
        job.wait()


def test_memory_of_another_processor_is_not_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What KVM shows a guest depends on the host's processor; what QEMU emulates does not."""
    settings = Settings(memory_mib=32, cpus=1, quota_bytes=None)
    identities = []
    for flags in ("fpu avx2", "fpu"):
        file = tmp_path / "cpuinfo"
        file.write_text(f"model name\t: X\ncpu MHz\t: 1\nflags\t: {flags}\n\nflags\t: none\n")
        monkeypatch.setattr(hardware, "CPU_INFO", file)
        identities += [Hardware(settings, "kvm").identity(), Hardware(settings, "tcg").identity()]
    assert identities[1] == identities[3]
    words = memory.difference(identities[0], identities[2])
    assert words == "a host with another processor saved it"


def test_a_vm_without_room_is_suspended_at_the_end_of_its_time(tmp_path: Path, slurm: Path) -> None:
    """And its writes are done when it goes on with more room."""
    lab = Class(tmp_path)
    try:
        lab.create(lab_images.guest(tmp_path, mib=16), "--quota", "3MiB")
        job = begin_job(lab)
        try:
            lab.until(lambda: " booted" in log(lab))
            lab.type("w", ["wrote 0001"])
            lab.type("d", ["d"])
            lab.until(lambda: "no room" in lab.do("status"))
            job.send_signal(signal.SIGUSR1)
            assert job.wait(PATIENCE_SECONDS) == 0
        finally:
            job.kill()
            job.wait()
        assert lab.qemus() == {}
        assert "has reached its quota" in lab.start(code=1)
        lab.do("quota", "100MiB")
        assert "team01: resumed" in lab.start()
        lab.wait_for("full")
    finally:
        lab.kill()
