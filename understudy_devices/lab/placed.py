# SPDX-License-Identifier: MIT
"""Lets Slurm start a team's VM on one of its nodes: one job for each VM that runs (job.py).

Jobs of one team have one name and `--dependency=singleton`, so that Slurm runs one at a time.
Slurm's own log of a job would be opened as the user who submits it, and a team could put a link in
its place; so Slurm writes none, and the job writes its log itself.
"""

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress

from understudy_devices.base import regular_file, scratch
from understudy_devices.base.cache import digest
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.base.plain import one_line
from understudy_devices.base.stopping import Stopped, Stops
from understudy_devices.engine.cluster import Request, refused
from understudy_devices.lab import holder, owner, state_file
from understudy_devices.lab.holder import Holder
from understudy_devices.lab.store import Team

LOG = "job.log"
LOG_BYTES_MAX = 2**16
QEMU_MIB = 256
"""What a VM takes beside the guest's memory."""
SUSPEND_SECONDS = 120
"""How long before the end of its time a job is told to suspend the VM."""
MINUTES_MIN = 5
POLL_SECONDS = 0.3
PATIENCE_SECONDS = 60
ANSWER_SECONDS = 10
STOP_SECONDS = 10
EXIT_INTERRUPTED = 130  # docs/decisions/0027-stopping.md
MAKES_WAY = {"RUNNING", "COMPLETING"}
"""States of a job whose VM has ended, so that the job ends."""
OWN_OPTIONS = (
    *("array", "chdir", "clusters", "dependency", "error", "export", "export-file", "gid"),
    *("input", "job-name", "no-requeue", "nodes", "ntasks", "open-mode", "output", "parsable"),
    *("requeue", "signal", "test-only", "time", "uid", "version", "wait", "wrap"),
)
"""Options of sbatch that are the lab's own.  sbatch also takes the beginning of a name."""
KEPT = {"SLURM_CONF", "SLURM_JWT"}
DROPPED_PREFIXES = ("SLURM_", "SQUEUE_", "SCANCEL_")
DROPPED = {
    "TMPDIR",
    *(f"SBATCH_{name}" for name in ("ARRAY_INX", "CLUSTERS", "ERROR", "EXPORT", "INPUT", "WAIT")),
}


def start(team: Team, request: Request, say: Callable[[str], None]) -> str:
    """Submit a job that starts the VM; return where it runs, or why it waits.

    Call `say` with the job's number once there is one.  If the command is interrupted, a job that
    waits is cancelled.  RunFailed if the VM runs already, or has a job that waits, or cannot start.
    """
    _check(request)
    _check_free(team)
    try:
        with Stops(STOP_SECONDS)():
            number = _submit(team, request)
            say(f"job {number}")
            scratch.say_if_interrupted(f"job {number} goes on; scancel {number} ends it")
            return _outcome(team, request, number)
    except Stopped:
        _cancel_what_waits(team)
        with suppress(RunFailed):  # Slurm does not answer
            if not jobs(team):
                scratch.say_if_interrupted("no job is left")
        sys.exit(EXIT_INTERRUPTED)


def job_name(team: Team) -> str:
    """Return the name of all jobs of a team."""
    folder = team.lab.folder.resolve()
    return f"understudy-lab.{team.lab.name}.{team.name}.{digest([os.fsencode(folder)])[:8]}"


def mark_of(number: str) -> str:
    """Return what marks the lines of a job in the log."""
    return f" job {number}: "


def jobs(team: Team) -> dict[str, str]:
    """Return the state of each job of a team, and why it waits, by its number; RunFailed if Slurm
    does not answer."""
    command = ["squeue", "--noheader", "--me", "--name", job_name(team), "--format", "%i %T %r %N"]
    done = _asked(command)
    if done.returncode:
        raise RunFailed(f"squeue does not answer: {one_line(done.stderr.strip())}")
    lines = (line.split(None, 1) for line in done.stdout.splitlines())
    return {number: one_line(state.strip()) for number, state in lines}


def others(team: Team) -> str:
    """Return what to say of jobs that will start the VM, which has just ended, again; empty if
    there is none.  The job that it ran in ends with it."""
    with owner.acting(team.folder):
        ended = state_file.optional(team.folder / holder.FILE).get("job")
    try:
        left = [number for number in jobs(team) if number != ended]
    except (OSError, RunFailed):  # no Slurm here
        return ""
    numbers = " ".join(left)
    return f"job {numbers} waits, and starts it again: scancel {numbers} ends it" if left else ""


def _check(request: Request) -> None:
    """Refuse what would keep the job from its work."""
    if 0 < request.minutes < MINUTES_MIN:
        raise UserError(f"--time: a VM needs {MINUTES_MIN} minutes at least, to be suspended in")
    for name in request.more:
        if any(own.startswith(name) for own in OWN_OPTIONS):
            raise UserError(f"--sbatch {name}: the lab sets this itself; leave it out")


def _check_free(team: Team) -> None:
    """Raise RunFailed if the VM runs, or if a job is about to start it."""
    if who := _holder(team):
        raise RunFailed(f"{team.name} runs already: {who.words}")
    if blocking := _blocking(jobs(team)):
        raise RunFailed(f"{team.name} has a job already: {_words(blocking)}")


def _blocking(listed: dict[str, str]) -> dict[str, str]:
    return {number: state for number, state in listed.items() if state.split()[0] not in MAKES_WAY}


def _outcome(team: Team, request: Request, number: str) -> str:
    """Wait until the VM runs, or until it has waited for long; return which."""
    earlier = {each: state for each, state in jobs(team).items() if int(each) < int(number)}
    if blocking := _blocking(earlier):
        _cancel(number)
        raise RunFailed(f"{team.name} has a job already: {_words(blocking)}")
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        listed = jobs(team)
        who = _holder(team)
        if who and who.job == number:
            return f"runs on {who.place} (job {number})"
        if who:  # it was started meanwhile
            _cancel(number)
            raise RunFailed(f"{team.name} runs already: {who.words}")
        if number not in listed:
            words = _last_words(team, request, number)
            raise RunFailed(f"{team.name}: job {number} has ended: {words}")
        if time.monotonic() > deadline:
            return f"waits: {_words(listed)}; it starts by itself (scancel {number} ends it)"
        time.sleep(POLL_SECONDS)


def _submit(team: Team, request: Request) -> str:
    labs = team.lab.folder.absolute().parent
    settings = team.lab.settings
    given = {
        "cpus-per-task": str(settings.cpus),
        "mem": f"{settings.memory_mib + QEMU_MIB}M",
        **request.more,
        "job-name": job_name(team),
        "dependency": "singleton",
        "requeue": True,
        "output": os.devnull,
        "chdir": str(labs),
        "ntasks": "1",
        "signal": f"B:USR1@{SUSPEND_SECONDS}",
        "partition": request.partition,
        "account": request.account,
        "time": str(request.minutes) if request.minutes else None,
    }
    options = [
        f"--{name}" if value is True else f"--{name}={value}"
        for name, value in given.items()
        if value
    ]
    module = ("-P", "-m", "understudy_devices.lab.job")
    command = shlex.join([_python(request), *module, str(labs), team.lab.name, team.name])
    # The signal may come before Python can handle it.
    script = f"#!/bin/sh\ntrap '' USR1\nexec {command}\n"
    done = subprocess.run(
        ["sbatch", "--parsable", *options],
        env=_environment(),
        input=script,
        capture_output=True,
        text=True,
        check=False,
    )
    number = done.stdout.strip().partition(";")[0]
    if done.returncode or not number.isdigit():
        raise refused(done.stderr)
    return number


def _python(request: Request) -> str:
    return request.python or sys.executable


def _environment() -> dict[str, str]:
    """Return the environment of Slurm's commands.

    A job inherits it, also what the job would take for its own (SLURM_RESTART_COUNT), and the
    command's folder for temporary files, which nodes lack.
    """
    return {
        name: value
        for name, value in os.environ.items()
        if name in KEPT or not (name.startswith(DROPPED_PREFIXES) or name in DROPPED)
    }


def _asked(command: list[str]) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(
            command,
            env=_environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=ANSWER_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", f"not within {ANSWER_SECONDS} s")


def _cancel(number: str) -> None:
    _asked(["scancel", number])


def _cancel_what_waits(team: Team) -> None:
    """Cancel the command's job, whose number may not be known, if it has not begun."""
    user = str(os.getuid())
    _asked(["scancel", "--state=PENDING", f"--user={user}", f"--name={job_name(team)}"])


def _words(listed: dict[str, str]) -> str:
    return ", ".join(f"{number} ({state})" for number, state in listed.items())


def _holder(team: Team) -> Holder | None:
    with owner.acting(team.folder):
        return holder.of(team)


def _last_words(team: Team, request: Request, number: str) -> str:
    """Return the last line that the job has written."""
    log, mark = team.folder / LOG, mark_of(number)
    try:
        with owner.acting(team.folder):
            lines = regular_file.last(log, LOG_BYTES_MAX).decode(errors="replace").splitlines()
        return one_line([line for line in lines if mark in line][-1])
    except (OSError, IndexError):
        return (
            f"it has written nothing into {log}: are this folder, and {_python(request)} with "
            "understudy-devices, on all nodes?"
        )
