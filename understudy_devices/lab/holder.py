# SPDX-License-Identifier: MIT
"""Who has started a team's VM, where, and since when.

The record is a file, which counts only while the clone's image is locked.  So a record that
somebody leaves behind, by a crash, means nothing.
"""

import os
import socket
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from understudy_devices.lab import locks, memory, owner, state_file
from understudy_devices.lab.store import Team

FILE = "running.json"


@dataclass(frozen=True)
class Holder:
    """since: seconds since 1970.  pid: QEMU's process on that host.  resumed: whether the VM was
    resumed, and not booted.  hardware: what its saved memory will need (hardware.py).
    node, job: Slurm's, if it has started the VM."""

    user: str
    host: str
    since: float
    pid: int
    resumed: bool
    hardware: dict[str, str]
    node: str = ""
    job: str = ""

    @property
    def words(self) -> str:
        """Return who it is, where and since when."""
        begun = datetime.fromtimestamp(self.since).astimezone().strftime("%Y-%m-%d %H:%M:%S")
        job = f"job {self.job}, " if self.job else ""
        return f"{self.user} on {self.place} since {begun} ({job}process {self.pid})"

    @property
    def place(self) -> str:
        """Return the name of the node or host."""
        return self.node or self.host

    @property
    def is_here(self) -> bool:
        """Return whether the VM was started on this host."""
        return self.host == socket.gethostname()


def is_elsewhere(team: Team) -> bool:
    """Return whether the team's VM runs on another host, where no socket and no signal reaches."""
    with suppress(OSError):  # a damaged clone
        who = of(team)
        return who is not None and not who.is_here
    return False


def why_not(team: Team, command: str) -> str:
    """Return why a command does not reach the team's VM here, and what to do."""
    if who := of(team):
        options = "--overlap --pty" if command == "console" else "--overlap"
        inside = f"; srun --jobid={who.job} {options} {team.words(command)}" if who.job else ""
        return f"{team.name} runs{'' if who.is_here else ' elsewhere'}: {who.words}{inside}"
    state = "suspended" if memory.exists(team) else "off"
    return f"{team.name} is {state}; {team.words('start')} starts it"


def me() -> str:
    """Return the name of the user who runs this command."""
    return owner.name_of(os.getresuid()[2])  # also while root acts as a team


def record(team: Team, pid: int, resumed: bool, hardware: dict[str, str]) -> None:
    """Record that this user has started the team's VM here, now."""
    node, job = (os.environ.get(name, "") for name in ("SLURMD_NODENAME", "SLURM_JOB_ID"))
    host = socket.gethostname()
    holder = Holder(me(), host, time.time(), pid, resumed, hardware, node, job)
    state_file.write(team.folder / FILE, asdict(holder), durable=False)


def of(team: Team) -> Holder | None:
    """Return who has started the VM that runs; None if none runs, or nobody knows."""
    if not locks.is_image_locked(team.disk):
        return None
    holder = recorded(team)
    if not holder or not holder.is_here or Path(f"/proc/{holder.pid}").exists():
        return holder
    return None


def recorded(team: Team) -> Holder | None:
    """Return who has started the team's VM last, whether it runs or not; None if nobody knows."""
    try:
        return Holder(**state_file.optional(team.folder / FILE))
    except TypeError:
        return None
