# SPDX-License-Identifier: MIT
"""How large a team's images may become.

The kernel enforces it, by the limit of QEMU's process on the size of a file.  At the limit the VM
pauses, as it does when the disk is full, and loses nothing: it goes on when there is room.
"""

import resource
from contextlib import suppress
from pathlib import Path

from understudy_devices.base.errors import RunFailed
from understudy_devices.lab.overlay import CLUSTER
from understudy_devices.lab.store import Team
from understudy_devices.lab.team_limits import Limit

IMAGES = "*.qcow2"


def room(team: Team) -> int | None:
    """Return how large the clone's file may become, beside snapshots; None if there is no limit."""
    quota = LIMIT.of(team)
    if quota is None:
        return None
    others = (path for path in team.folder.glob(IMAGES) if path != team.disk)
    return max(0, quota - sum(_size(path) for path in others))


def check(team: Team) -> None:
    """Raise RunFailed if the clone cannot grow by a cluster."""
    left, quota = room(team), LIMIT.of(team)
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


LIMIT = Limit("quota_bytes", "the quota", lambda team, monitor: enforce(team, monitor.pid))
