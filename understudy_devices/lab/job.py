# SPDX-License-Identifier: MIT
"""What Slurm runs for a VM: starts it, and lives as long as it does.

    python -m understudy_devices.lab.job LABS NAME TEAM

Slurm decides on which node the VM is.  If it starts the job anew elsewhere, the VM may still run on
the node that was lost; so the new job waits until the clone's lock is free.  The job on the lost
node asks Slurm whether it is still the one.  If it is not, or if Slurm has not answered for as long
as it takes to declare a node lost, the VM is suspended, and its power is cut if that fails.  QEMU
ends with this process.
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

from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.base.plain import one_line
from understudy_devices.lab import accelerator, holder, locks, start, stop, store
from understudy_devices.lab.hardware import Hardware
from understudy_devices.lab.store import Team

RETRY_SECONDS = 1
LINGER_SECONDS = 2
"""For a command inside this job (srun --overlap) that has ended the VM, and has to end itself."""
ASK_SECONDS_MAX = 5.0
ANSWER_SECONDS = 10
SLURMD_TIMEOUT_SECONDS = 300
"""Slurm's default."""
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


def this() -> Job:
    """Return the job that runs this process."""
    settings = _scontrol("show", "config")
    if settings is None:
        raise RunFailed("scontrol does not answer on this node, so no VM is started here")
    match = re.search(r"^SlurmdTimeout\s*=\s*(\d+)", settings, re.MULTILINE)
    return Job(
        os.environ["SLURM_JOB_ID"],
        os.environ.get("SLURM_RESTART_COUNT", "0"),
        os.environ["SLURMD_NODENAME"],
        int(match[1]) if match else SLURMD_TIMEOUT_SECONDS,
    )


def run(team: Team, hardware: Hardware, job: Job) -> None:
    """Keep the VM running until it ends, or until the job is over."""
    over: list[int] = []
    signal.signal(SUSPEND, lambda number, _: over.append(number))
    while not over and (answer := job.ask()) != "lost":
        if answer == "silent" or not _started(team, hardware):
            time.sleep(RETRY_SECONDS)
            continue
        outcome = _watched(team, job, over)
        _say(f"the VM: {outcome}")
        if outcome == "ended":
            time.sleep(LINGER_SECONDS)
            return
        _suspend(team)


def _started(team: Team, hardware: Hardware) -> bool:
    """Start the VM; return False if another QEMU has the clone."""
    try:
        started = start.start(team, hardware, stays=False)
    except RunFailed as error:
        if not (isinstance(error, start.Held) or locks.is_image_locked(team.disk)):
            raise
        _say(f"waits: {error}")
        return False
    _say("; ".join(filter(None, (started.how, started.note))))
    return True


def _watched(team: Team, job: Job, over: list[int]) -> Outcome:
    """Return when the VM has ended, or may not go on here, and why."""
    who = holder.of(team)
    if not who:
        return "ended"
    try:
        process = os.pidfd_open(who.pid)
    except ProcessLookupError:
        return "ended"
    try:
        while not select.select([process], [], [], min(ASK_SECONDS_MAX, job.seconds / 4))[0]:
            if over:
                return "over"
            if (answer := job.ask()) != "ours":
                return answer
    finally:
        os.close(process)
    return "ended"


def _suspend(team: Team) -> None:
    try:
        stop.suspend(team)
    except RunFailed as error:
        _say(f"its power is cut: {error}")
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
    print(f"{time.strftime('%m-%d %H:%M:%S')} {one_line(words)}", flush=True)


def main() -> None:
    """Run the VM that the command line names."""
    labs, name, chosen = sys.argv[1:]
    try:
        lab = store.read(Path(labs), name)
        run(lab.team(chosen), Hardware(lab.settings, accelerator.best()), this())
    except (RunFailed, UserError) as error:
        _say(str(error))
        sys.exit(1)


if __name__ == "__main__":
    main()
