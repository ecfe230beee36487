# SPDX-License-Identifier: MIT
"""Makes a clone independent of its snapshots: it becomes an overlay of its base alone.

QEMU copies what the clone reads from the snapshots into the clone, with a guest that never runs.
The clone reads the same at each instant, so a command that is killed has changed nothing.
"""

import time
from typing import Any

from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.lab import changes, qcow2, qemu_process, quota
from understudy_devices.lab.hardware import Hardware
from understudy_devices.lab.monitor import Gone, Monitor
from understudy_devices.lab.store import Team

COPY_SECONDS = 3600
POLL_SECONDS = 0.05


def flatten(team: Team, hardware: Hardware) -> int:
    """Copy what the snapshots below a clone have into the clone; return how much it has grown.

    UserError if there are none.  RunFailed if the disk or the quota is full.
    """
    with changes.resting(team):
        changes.refuse_suspended(team)
        images = team.images()
        snapshots = [each for each in images[1:] if each.name.startswith(changes.PREFIX)]
        if not snapshots:
            raise UserError(f"{team.name}: its clone is on no snapshot, so it is flat already")
        backing = qcow2.backing_of(snapshots[-1])
        before = team.disk.stat().st_size
        name = f"{team.lab.name}/{team.name}"
        with qemu_process.launch(
            team.folder, name, hardware, team.base(), resumes=False, stays=False
        ) as monitor:
            try:
                quota.enforce(team, monitor.pid)
                _copy(monitor, 1 + len(snapshots), backing)
            except Gone as error:
                raise RunFailed(f"{team.name} is as it was: {error}") from None
            finally:
                qemu_process.bury(monitor)
        if team.backing() != backing:
            raise RunFailed(f"{team.name} is as it was: its disk or its quota is full")
        return team.disk.stat().st_size - before


def _copy(monitor: Monitor, below: int, backing: str) -> None:
    """Copy all images above the one that is so far below the clone, and wait."""
    image: dict[str, Any] = next(
        each["inserted"]["image"]
        for each in monitor.do("query-block")
        if each.get("inserted", {}).get("node-name") == "disk"
    )
    for _ in range(below):
        image = image["backing-image"]
    monitor.do(
        "block-stream",
        job_id="flatten",
        device="disk",
        base=image["filename"],
        backing_file=backing,
    )
    deadline = time.monotonic() + COPY_SECONDS
    while monitor.do("query-block-jobs"):
        if time.monotonic() > deadline:
            raise Gone(f"QEMU has not copied it in {COPY_SECONDS} s")
        time.sleep(POLL_SECONDS)
