# SPDX-License-Identifier: MIT
"""Maintenance mode: while it is on, no VM of the lab starts.  VMs that run go on."""

import time
from dataclasses import asdict, dataclass

from understudy_devices.base.errors import RunFailed
from understudy_devices.lab import holder, locks, state_file
from understudy_devices.lab.store import Lab

FILE = "maintenance.json"
LOCK_SECONDS = 60


@dataclass(frozen=True)
class Maintenance:
    """Who has switched it on, why, and when (seconds since 1970)."""

    user: str
    reason: str
    since: float


def of(lab: Lab) -> Maintenance | None:
    """Return the maintenance that is on; None if it is off."""
    path = lab.folder / FILE
    if not path.exists():
        return None
    try:
        return Maintenance(**state_file.optional(path))
    except TypeError:
        return Maintenance("somebody", "", path.stat().st_mtime)


def check(lab: Lab) -> None:
    """Raise RunFailed if no VM may start; the caller shares the lock of the lab's folder."""
    if mode := of(lab):
        reason = f": {mode.reason}" if mode.reason else ""
        raise RunFailed(f"{lab.name} is in maintenance, by {mode.user}{reason}; try again later")


def begin(lab: Lab, reason: str) -> None:
    """Let no VM start from now on; starts that have begun are completed first."""
    with locks.folder(lab.folder, LOCK_SECONDS):
        mode = Maintenance(holder.me(), reason, time.time())
        state_file.write(lab.folder / FILE, asdict(mode))


def end(lab: Lab) -> None:
    """Let VMs start again."""
    (lab.folder / FILE).unlink(missing_ok=True)
