# SPDX-License-Identifier: MIT
"""The steps of a start: launch QEMU, load a saved memory, let the guest run."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from understudy_devices.lab import bandwidth, holder, qemu_process, quota
from understudy_devices.lab.hardware import Hardware
from understudy_devices.lab.monitor import Gone, Monitor, NoRoom, Refused
from understudy_devices.lab.store import Team

LOAD_SECONDS = 600


@contextmanager
def launched(team: Team, hardware: Hardware, *, resumes: bool, stays: bool) -> Iterator[Monitor]:
    """Launch QEMU, record that, and yield a connection to it; if the block fails, end QEMU.

    stays: whether it goes on when this process ends.
    """
    name = f"{team.lab.name}/{team.name}"
    if hardware.drive:
        hardware.drive.check_quickly(team.lab.words("check"))
    with qemu_process.launch(team.folder, name, hardware, team.base(), resumes, stays) as monitor:
        try:
            holder.record(team, monitor.pid, resumes, hardware.identity())
            yield monitor
        except BaseException:
            qemu_process.end(monitor)
            raise


def load(monitor: Monitor, path: Path) -> None:
    """Load a saved memory; Refused if QEMU does not accept it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        monitor.do("getfd", descriptor, fdname="memory")
    finally:
        os.close(descriptor)
    try:
        monitor.do("migrate-incoming", uri="fd:memory")
        monitor.migrated(LOAD_SECONDS)
    except Refused:
        raise
    except Gone as error:  # QEMU ends if it does not understand the memory
        if monitor.ended(qemu_process.END_SECONDS) and not monitor.was_killed():
            raise Refused(str(error)) from None
        raise


def let_run(team: Team, monitor: Monitor) -> str:
    """Let the guest run; return why it waits, or nothing."""
    quota.enforce(team, monitor.pid)
    bandwidth.enforce(team, monitor)
    monitor.do("cont")
    try:
        monitor.wait_until_running()
    except NoRoom as error:
        return f"the VM waits: {error}; {team.words('start')} lets it go on when there is room"
    return ""
