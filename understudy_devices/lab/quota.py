# SPDX-License-Identifier: MIT
"""How large a team's images may become.

The kernel enforces it, by the limit of QEMU's process on the size of a file.  At the limit the VM
pauses, as it does when the disk is full, and loses nothing: it goes on when there is room.
"""

import resource
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from understudy_devices.base.errors import RunFailed
from understudy_devices.lab import holder, owner, state_file, store
from understudy_devices.lab.monitor import Gone, Monitor
from understudy_devices.lab.overlay import CLUSTER
from understudy_devices.lab.store import TEAM_FILE, Lab, Team

KEY = "quota_bytes"
IMAGES = "*.qcow2"
ANSWER_SECONDS = 10


def of(team: Team) -> int | None:
    """Return the team's quota in bytes: its own, or the lab's; None if there is none."""
    own = state_file.optional(team.folder / TEAM_FILE).get(KEY)
    return own if isinstance(own, int) else team.lab.settings.quota_bytes


def set_for_team(team: Team, quota_bytes: int) -> list[str]:
    """Give a team its own quota, which counts at once, also for a VM that runs.

    Return what to say of a VM that runs on another host, for which it counts at its next start.
    """
    with owner.acting(team.folder):
        content = state_file.required(team.folder / TEAM_FILE)
        state_file.write(team.folder / TEAM_FILE, {**content, KEY: quota_bytes})
    return _enforce_now([team])


def set_for_lab(lab: Lab, quota_bytes: int) -> list[str]:
    """Give all teams without a quota of their own another one; return as `set_for_team`."""
    settings = replace(lab.settings, quota_bytes=quota_bytes)
    store.write_settings(lab.folder, settings)
    return _enforce_now(Lab(lab.folder, settings).teams())


def _enforce_now(teams: list[Team]) -> list[str]:
    notes = []
    for team in teams:
        with owner.acting(team.folder):
            if holder.is_elsewhere(team):
                why = holder.why_not(team, "stop")
                notes.append(f"{why}; the quota counts at the VM's next start")
                continue
            with suppress(Gone), Monitor(team.folder, ANSWER_SECONDS) as monitor:
                enforce(team, monitor.pid)
    return notes


def room(team: Team) -> int | None:
    """Return how large the clone's file may become, beside snapshots; None if there is no limit."""
    quota = of(team)
    if quota is None:
        return None
    others = (path for path in team.folder.glob(IMAGES) if path != team.disk)
    return max(0, quota - sum(_size(path) for path in others))


def check(team: Team) -> None:
    """Raise RunFailed if the clone cannot grow by a cluster."""
    left, quota = room(team), of(team)
    if left is not None and quota is not None and _size(team.disk) + CLUSTER > left:
        raise RunFailed(
            f"{team.name} has reached its quota of {quota / 1e6:,.0f} MB: undo or reset the clone, "
            f"or understudy lab quota {team.lab.name} SIZE --team {team.name}"
        )


def enforce(team: Team, pid: int) -> None:
    """Limit the files that the team's QEMU writes."""
    left = room(team)
    limit(pid, resource.RLIM_INFINITY if left is None else left)


def limit(pid: int, bytes_: int) -> None:
    """Set the largest size of a file that a process may write."""
    _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    if hard != resource.RLIM_INFINITY:
        bytes_ = hard if bytes_ == resource.RLIM_INFINITY else min(bytes_, hard)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (bytes_, hard))


def _size(path: Path) -> int:
    with suppress(FileNotFoundError):  # removed by a command that is at work
        return path.stat().st_size
    return 0
