# SPDX-License-Identifier: MIT
"""What Slurm runs for a VM: starts it, and lives as long as it does.

    python -m understudy_devices.lab.job LABS NAME TEAM

Slurm decides on which node the VM is.  If it starts the job anew elsewhere, the VM may still run on
the node that was lost; so the new job waits until the clone's lock is free.  A job that Slurm has
not restarted fails instead, since somebody has started the VM.  The job on the lost node asks Slurm
whether it is still the one.  If it is not, or if Slurm has not answered for as long as it takes to
declare a node lost, the VM is suspended, and its power is cut if that fails.  QEMU ends with this
process.
"""

import os
import re
import select
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from understudy_devices.base import regular_file
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.base.plain import one_line
from understudy_devices.lab import (
    holder,
    locks,
    owner,
    placed,
    start,
    stop,
    store,
)
from understudy_devices.lab.hardware import Hardware
from understudy_devices.lab.store import Team
from understudy_devices.platforms.vm import accelerator

RETRY_SECONDS = 1
LINGER_SECONDS = 2
"""For a command inside this job (srun --overlap) that has ended the VM, and has to end itself."""
ASK_PART = 0.1
"""How often the job asks Slurm, as a part of the time after which it counts as lost."""
ANSWER_SECONDS = 10
SLURMD_TIMEOUT_SECONDS = 300
"""Slurm's default."""
SUSPENDS = 3
"""How often the job tries to suspend a VM while other commands are at work on it."""
GONE = "Invalid job id"
SUSPEND = signal.SIGUSR1
"""Slurm sends it some time before it ends the job."""

Answer = Literal["ours", "lost", "silent"]
Outcome = Literal["ended", "lost", "silent", "over"]


@dataclass
class Job:
    """This job of Slurm.  seconds: after so many without an answer, the job counts as lost."""

    number: str
    restarts: str
    node: str
    seconds: float
    heard: float = field(default_factory=time.monotonic)
    words: str = ""

    @property
    def is_restarted(self) -> bool:
        """Return whether Slurm has taken the job from a node that was lost."""
        return self.restarts != "0"

    def say_once(self, words: str) -> None:
        """Write a line into the log, unless it was the last such line."""
        if words != self.words:
            _say(words)
        self.words = words

    def ask(self) -> Answer:
        """Ask Slurm whether this is still the job; `silent` if it has not answered for long."""
        asked = time.monotonic()
        text = _scontrol("show", "job", "-o", self.number)
        if text is None:
            return "silent" if asked - self.heard > self.seconds else "ours"
        self.heard = asked
        fields = dict(re.findall(r"(JobState|Restarts|BatchHost)=(\S+)", text))
        is_ours = (
            fields.get("JobState") == "RUNNING"
            and fields.get("Restarts") == self.restarts
            and fields.get("BatchHost") == self.node
        )
        return "ours" if is_ours else "lost"


class Over:
    """Whether Slurm has said that the job's time is nearly over."""

    def __init__(self) -> None:
        """Listen from now on."""
        self.descriptor = os.eventfd(0)
        signal.signal(SUSPEND, lambda *_: os.eventfd_write(self.descriptor, 1))

    def __bool__(self) -> bool:
        return bool(select.select([self.descriptor], [], [], 0)[0])


def this() -> Job:
    """Return the job that runs this process; RunFailed if Slurm does not answer for long."""
    deadline = time.monotonic() + SLURMD_TIMEOUT_SECONDS
    while (settings := _scontrol("show", "config")) is None:
        if time.monotonic() > deadline:
            raise RunFailed("scontrol does not answer on this node, so no VM is started here")
        time.sleep(RETRY_SECONDS)
    match = re.search(r"^SlurmdTimeout\s*=\s*(\d+)", settings, re.MULTILINE)
    return Job(
        os.environ["SLURM_JOB_ID"],
        os.environ.get("SLURM_RESTART_COUNT", "0"),
        os.environ["SLURMD_NODENAME"],
        int(match[1]) if match else SLURMD_TIMEOUT_SECONDS,
    )


def run(team: Team, hardware: Hardware, job: Job, over: Over) -> None:
    """Keep the VM running until it ends, or until the job is over."""
    while not over and (answer := job.ask()) != "lost":
        if answer == "silent" or not _started(team, hardware, job):
            time.sleep(RETRY_SECONDS)
            continue
        outcome = _watched(team, job, over)
        _say(f"the VM: {outcome}")
        if outcome == "ended":
            time.sleep(LINGER_SECONDS)
            return
        _suspend(team)


def _started(team: Team, hardware: Hardware, job: Job) -> bool:
    """Start the VM; return False if another command is at work there, or if a QEMU that may be on
    the node that was lost has the clone."""
    try:
        started = start.start(team, hardware, stays=False)
    except RunFailed as error:
        is_held = job.is_restarted and (isinstance(error, start.Held) or _is_locked(team))
        if not (is_held or isinstance(error, locks.Busy)):
            raise
        job.say_once(f"waits: {error}")
        return False
    _say("; ".join(filter(None, (started.how, started.note))))
    job.words = ""
    return True


def _is_locked(team: Team) -> bool:
    with owner.acting(team.folder):
        return locks.is_image_locked(team.disk)


def _watched(team: Team, job: Job, over: Over) -> Outcome:
    """Return when the VM has ended, or may not go on here, and why."""
    with owner.acting(team.folder):
        who = holder.of(team)
    if not who:
        return "ended"
    try:
        process = os.pidfd_open(who.pid)
    except ProcessLookupError:
        return "ended"
    try:
        sources = [process, over.descriptor]
        while process not in (ready := select.select(sources, [], [], job.seconds * ASK_PART)[0]):
            if ready:
                return "over"
            if (answer := job.ask()) != "ours":
                return answer
    finally:
        os.close(process)
    return "ended"


def _suspend(team: Team) -> None:
    why: Exception | None = None
    for _ in range(SUSPENDS):
        try:
            stop.suspend(team, even_if_it_waits=True)
        except locks.Busy as error:
            why = error
        except (RunFailed, OSError) as error:
            why = error
            break
        else:
            return
    _say(f"its power is cut: {why}")
    stop.cut_power(team)


def _scontrol(*words: str) -> str | None:
    """Return what scontrol prints; None if Slurm does not answer."""
    try:
        done = subprocess.run(
            ["scontrol", *words],
            capture_output=True,
            text=True,
            check=False,
            timeout=ANSWER_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if not done.returncode else ("" if GONE in done.stderr else None)


def _say(words: str) -> None:
    mark = placed.mark_of(os.environ["SLURM_JOB_ID"])
    print(f"{time.strftime('%m-%d %H:%M:%S')}{mark}{one_line(words)}", flush=True)


def _write_log(team: Team) -> None:
    """Let this process write all that it prints into the team's log."""
    with owner.acting(team.folder), regular_file.to_append_to(team.folder / placed.LOG) as log:
        for descriptor in (1, 2):
            os.dup2(log.fileno(), descriptor)


def main() -> None:
    """Run the VM that the command line names."""
    over = Over()
    labs, name, chosen = sys.argv[1:]
    try:
        lab = store.read(Path(labs), name)
        team = lab.team(chosen)
        _write_log(team)
        run(team, Hardware(lab.settings, accelerator.best()), this(), over)
    except (RunFailed, UserError, OSError) as error:
        _say(str(error) or repr(error))
        sys.exit(1)


if __name__ == "__main__":
    main()
