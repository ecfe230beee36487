# SPDX-License-Identifier: MIT
"""Makes a clone independent of its snapshots: it becomes an overlay of its base alone.

A first QEMU, with a guest that never runs, copies what the clone reads from the snapshots into the
clone, which stays an overlay of them.  When it has ended, and the clone's tables in the file name
all the copies, a second QEMU writes the base's name into the clone's header.  So the clone reads
the same at each instant, also if a QEMU or the command is killed; only its file may have grown.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.lab import changes, qcow2, qemu_process, quota, state_file
from understudy_devices.lab.hardware import Hardware
from understudy_devices.lab.monitor import Gone, Monitor
from understudy_devices.lab.overlay import CLUSTER
from understudy_devices.lab.store import Team

COPY_SECONDS = 3600
POLL_SECONDS = 0.05
JOB = "flatten"
COUNTS_PER_CLUSTER = CLUSTER // 2


def flatten(team: Team, hardware: Hardware) -> int:
    """Copy what the snapshots below a clone have into the clone; return how much it has grown.

    UserError if there are none.  RunFailed if the disk or the quota has no room, or if QEMU fails;
    the clone then reads as before.
    """
    with changes.resting(team):
        changes.refuse_suspended(team)
        images = team.images()
        snapshots = [each for each in images[1:] if each.name.startswith(changes.PREFIX)]
        if not snapshots:
            raise UserError(f"{team.name}: its clone is on no snapshot, so it is flat already")
        backing = qcow2.backing_of(snapshots[-1])
        before = team.disk.stat().st_size
        _check_room(team, before, _missing_bytes(team.disk, snapshots))
        try:
            with _launched(team, hardware) as monitor:
                quota.enforce(team, monitor.pid)
                _copy(monitor, 1 + len(snapshots), team.backing())
            if _missing_bytes(team.disk, snapshots):
                raise RunFailed("QEMU has not written all of it")
            state_file.sync(team.disk)
            with _launched(team, hardware) as monitor:
                monitor.do(
                    "change-backing-file",
                    device="disk",
                    image_node_name="disk",
                    backing_file=backing,
                )
        except RunFailed as error:
            raise RunFailed(f"{team.name} reads as before: {error}") from None
        state_file.sync(team.disk)
        return team.disk.stat().st_size - before


def _missing_bytes(clone: Path, snapshots: list[Path]) -> int:
    """Return the most by which the clone's file grows; 0 if the clone needs no snapshot."""
    below: dict[int, qcow2.Flags] = {}
    for path in snapshots:
        with qcow2.Image(path) as image:
            for number, has in image.allocated().items():
                below[number] = below[number] | has if number in below else has
    with qcow2.Image(clone) as image:
        own = image.allocated()
    clusters = 0
    for number, has in below.items():
        missing = int((has & ~own[number]).sum() if number in own else has.sum())
        clusters += missing + (missing > 0 and number not in own)
    counts = 1 + clusters // COUNTS_PER_CLUSTER
    return (clusters + counts) * CLUSTER if clusters else 0


def _check_room(team: Team, size: int, more: int) -> None:
    """Raise RunFailed if the clone's file cannot grow by so many bytes."""
    room = quota.room(team)
    if room is not None and size + more > room:
        raise RunFailed(
            f"{team.name}: a flat clone may take {(size + more) / 1e6:,.1f} MB, and its quota "
            f"leaves {room / 1e6:,.1f} MB: understudy lab quota {team.lab.name} SIZE --team "
            f"{team.name}"
        )
    disk = os.statvfs(team.folder)
    if more > disk.f_bavail * disk.f_frsize:
        raise RunFailed(
            f"{team.name}: its clone may grow by {more / 1e6:,.1f} MB, and the disk has "
            f"{disk.f_bavail * disk.f_frsize / 1e6:,.1f} MB: make room there"
        )


@contextmanager
def _launched(team: Team, hardware: Hardware) -> Iterator[Monitor]:
    """Yield a QEMU whose guest never runs; let it write all at the end, or end it on an error."""
    name = f"{team.lab.name}/{team.name}"
    with qemu_process.launch(
        team.folder, name, hardware, team.base(), resumes=False, stays=False
    ) as monitor:
        try:
            yield monitor
            qemu_process.finish(monitor)
        except BaseException:
            qemu_process.bury(monitor)
            raise


def _copy(monitor: Monitor, below: int, backing: str) -> None:
    """Copy all images above the one that is so far below the clone, and wait.

    backing: what the clone's header names afterwards.
    """
    image: dict[str, Any] = next(
        each["inserted"]["image"]
        for each in monitor.do("query-block")
        if each.get("inserted", {}).get("node-name") == "disk"
    )
    for _ in range(below):
        image = image["backing-image"]
    monitor.do(
        "block-stream",
        job_id=JOB,
        device="disk",
        base=image["filename"],
        backing_file=backing,
        auto_dismiss=False,
    )
    deadline = time.monotonic() + COPY_SECONDS
    while (job := next(each for each in monitor.do("query-jobs") if each["id"] == JOB))[
        "status"
    ] != "concluded":
        if time.monotonic() > deadline:
            raise Gone(f"QEMU has not copied it in {COPY_SECONDS} s")
        time.sleep(POLL_SECONDS)
    if "error" in job:
        raise Gone(f"QEMU has not copied it: {job['error']}")
