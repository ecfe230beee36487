# SPDX-License-Identifier: MIT
"""Lets Slurm start a team's VM on one of its nodes: one job for each VM that runs (job.py).

Jobs of one team have one name and `--dependency=singleton`, so that Slurm runs one at a time.
"""

import shlex
import subprocess
import sys
import time

from understudy_devices.base.errors import RunFailed
from understudy_devices.base.plain import one_line
from understudy_devices.engine.cluster import Request, own_tmpdir_hidden, refused
from understudy_devices.lab import holder, owner, team_file
from understudy_devices.lab.holder import Holder
from understudy_devices.lab.store import Team

LOG = "job.log"
LOG_BYTES_MAX = 2**16
QEMU_MIB = 256
"""What a VM takes beside the guest's memory."""
SUSPEND_SECONDS = 120
"""How long before the end of its time a job is told to suspend the VM."""
POLL_SECONDS = 0.3
PATIENCE_SECONDS = 60


def start(team: Team, request: Request) -> str:
    """Submit a job that starts the VM; return where it runs, or why it waits.

    RunFailed if the VM runs already, or has a job, or cannot start.
    """
    if who := _holder(team):
        raise RunFailed(f"{team.name} runs already: {who.words}")
    if jobs := _jobs(team):
        raise RunFailed(f"{team.name} has a job already: {_words(jobs)}")
    number = _submit(team, request)
    if (first := min(_jobs(team), key=int, default=number)) != number:
        subprocess.run(["scancel", number], capture_output=True, check=False)
        raise RunFailed(f"{team.name} has a job already: {first}")
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        jobs = _jobs(team)
        who = _holder(team)
        if who and who.job == number:
            return f"runs on {who.place} (job {number})"
        if number not in jobs:
            raise RunFailed(f"{team.name}: job {number} has ended: {_last_words(team)}")
        if time.monotonic() > deadline:
            return f"waits: {_words(jobs)}; it starts by itself (scancel {number} ends it)"
        time.sleep(POLL_SECONDS)


def job_name(team: Team) -> str:
    """Return the name of all jobs of a team."""
    return f"understudy-lab-{team.lab.name}-{team.name}"


def _submit(team: Team, request: Request) -> str:
    labs = team.lab.folder.absolute().parent
    settings = team.lab.settings
    given = {
        "job-name": job_name(team),
        "dependency": "singleton",
        "requeue": True,
        "open-mode": "append",
        "output": str(team.folder.absolute() / LOG),
        "chdir": str(labs),
        "ntasks": "1",
        "cpus-per-task": str(settings.cpus),
        "mem": f"{settings.memory_mib + QEMU_MIB}M",
        "signal": f"B:USR1@{SUSPEND_SECONDS}",
        "partition": request.partition,
        "account": request.account,
        "time": str(request.minutes) if request.minutes else None,
        **request.more,
    }
    options = [
        f"--{name}" if value is True else f"--{name}={value}"
        for name, value in given.items()
        if value
    ]
    python = request.python or sys.executable
    module = ("-P", "-m", "understudy_devices.lab.job")
    command = shlex.join([python, *module, str(labs), team.lab.name, team.name])
    with own_tmpdir_hidden():
        done = subprocess.run(
            ["sbatch", "--parsable", *options],
            input=f"#!/bin/sh\nexec {command}\n",
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise refused(done.stderr)
    return done.stdout.strip().partition(";")[0]


def _jobs(team: Team) -> dict[str, str]:
    """Return the state of each job of a team, and why it waits, by its number."""
    command = ["squeue", "--noheader", "--me", "--name", job_name(team), "--format", "%i %T %r %N"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunFailed(f"squeue does not answer: {one_line(done.stderr.strip())}")
    return dict(line.split(None, 1) for line in done.stdout.splitlines())


def _words(jobs: dict[str, str]) -> str:
    return ", ".join(f"{number} ({one_line(state.strip())})" for number, state in jobs.items())


def _holder(team: Team) -> Holder | None:
    with owner.acting(team.folder):
        return holder.of(team)


def _last_words(team: Team) -> str:
    try:
        lines = team_file.last(team.folder / LOG, LOG_BYTES_MAX).decode(errors="replace")
        return one_line(lines.strip().splitlines()[-1])
    except (OSError, IndexError):
        return f"it has written nothing into {team.folder / LOG}: is the folder on all nodes?"
