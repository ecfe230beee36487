# SPDX-License-Identifier: MIT
"""What the VMs of a lab do: who runs which, where, since when, and how large its files are."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from understudy_devices.lab import first_start, holder, locks, memory, owner, quota
from understudy_devices.lab.holder import Holder
from understudy_devices.lab.monitor import NO_ROOM, Gone, Monitor, NotRunning
from understudy_devices.lab.store import Lab, Team

ANSWER_SECONDS = 2
BLOCK_BYTES = 512  # of st_blocks
WORDS = {
    "running": "running",
    NO_ROOM: "no room",
    "prelaunch": "starting",
    "inmigrate": "starting",
    "postmigrate": "suspending",
    "finish-migrate": "suspending",
}


@dataclass(frozen=True)
class Status:
    """A team's VM.

    state: off, suspended, running, starting, suspending, paused, no room (the disk or the quota is
    full), busy (a command talks to QEMU), silent (QEMU does not answer), locked (by a program that
    the lab does not know), damaged, or private (this user may not look into the team's folder).
    clone_bytes: what the clone takes on disk; team_bytes: with snapshots and memory.
    """

    team: str
    members: list[str]
    state: str
    holder: Holder | None
    clone_bytes: int
    team_bytes: int
    quota_bytes: int | None


def of_team(team: Team) -> Status:
    """Return what a team's VM does; this waits for no command that is at work."""
    if not owner.may_act(team.folder):
        return Status(team.name, [], "private", None, 0, 0, None)
    with owner.acting(team.folder):
        return _of_own(team)


def _of_own(team: Team) -> Status:
    try:
        state, who = _state(team), holder.of(team)
        clone_bytes = team.disk.stat().st_blocks * BLOCK_BYTES
    except OSError:
        state, who, clone_bytes = "damaged", None, 0
    return Status(
        team=team.name,
        members=[member.name for member in team.members],
        state=state,
        holder=who,
        clone_bytes=clone_bytes,
        team_bytes=sum(_sizes(team)),
        quota_bytes=quota.LIMIT.of(team),
    )


def of_lab(lab: Lab) -> list[Status]:
    """Return what the VMs of all teams do, by team."""
    return [of_team(team) for team in lab.teams()]


def _state(team: Team) -> str:
    try:
        with Monitor(team.folder, ANSWER_SECONDS) as monitor:
            state = WORDS.get(monitor.status(), "paused")
            return "starting" if first_start.is_unfinished(team) else state
    except (NotRunning, PermissionError):
        pass
    except Gone:
        return "busy" if locks.is_folder_locked(team.folder) else "silent"
    if locks.is_image_locked(team.disk):
        return "running" if holder.of(team) else "locked"
    return "suspended" if memory.exists(team) else "off"


def _sizes(team: Team) -> Iterator[int]:
    for path in team.folder.iterdir():
        with suppress(FileNotFoundError):  # removed by a command that is at work
            if path.is_file():
                yield path.stat().st_blocks * BLOCK_BYTES
