# SPDX-License-Identifier: MIT
"""Starts a team's VM: goes on with one that waits, resumes a suspended one, or boots.

At every instant at which the command or QEMU may be killed, the clone can be started again:

* QEMU waits, and does not touch the clone, until the command lets it run.  A QEMU whose command
  died before that is ended by the next start, or goes on if the saved memory is already removed.
* A saved memory is removed after QEMU has loaded it and before the guest runs, or if QEMU refuses
  it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Literal

from understudy_devices.base.errors import RunFailed
from understudy_devices.lab import (
    changes,
    holder,
    locks,
    maintenance,
    memory,
    owner,
    qemu_process,
    quota,
)
from understudy_devices.lab.hardware import Hardware
from understudy_devices.lab.monitor import NO_ROOM, Gone, Monitor, NoRoom, Refused, Silent
from understudy_devices.lab.store import Team

LOCK_SECONDS = 60
LOAD_SECONDS = 600
NOT_YET = {"prelaunch", "inmigrate"}
BROKEN = {"internal-error", "guest-panicked", "shutdown", "watchdog"}

How = Literal["booted", "resumed", "continued"]


@dataclass(frozen=True)
class Started:
    """How a VM came to run; `note` says why it was not resumed or why it waits, or is empty."""

    how: How
    note: str = ""


def start(team: Team, hardware: Hardware) -> Started:
    """Start a team's VM; RunFailed says who runs it if it runs already."""
    lab = team.lab
    with (
        locks.folder(lab.folder, LOCK_SECONDS, shared=True, who=lab.name),
        owner.acting(team.folder),
        locks.folder(team.folder, LOCK_SECONDS, who=team.name),
    ):
        maintenance.check(lab)
        if _goes_on(team):
            return Started("continued")
        if locks.is_image_locked(team.disk):
            raise RunFailed(_held(team))
        memory.sweep(team)
        changes.sweep(team)
        hardware = replace(hardware, second=changes.OLD if changes.has_old(team) else "")
        team.base().check_quickly(f"understudy lab check {lab.name}")
        quota.check(team)
        saved = memory.find(team, hardware)
        note = f"the suspended VM is not resumed: {saved.obstacle}" if saved else ""
        if saved and not saved.obstacle:
            try:
                return Started("resumed", _resume(team, hardware, saved))
            except Refused as error:
                note = f"the suspended VM is not resumed: {error}"
            except Gone as error:
                raise RunFailed(_not_resumed(team, error)) from None
        memory.drop(team)
        with _launched(team, hardware, resumes=False) as monitor:
            waits = _let_run(team, monitor)
        return Started("booted", "; ".join(filter(None, (note, waits))))


def _resume(team: Team, hardware: Hardware, saved: memory.Memory) -> str:
    """Resume a VM; return why it waits, or nothing.  Refused if QEMU does not accept the memory."""
    with _launched(team, hardware, resumes=True) as monitor:
        descriptor = os.open(saved.path, os.O_RDONLY | os.O_CLOEXEC)
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
        memory.drop(team)
        return _let_run(team, monitor)


@contextmanager
def _launched(team: Team, hardware: Hardware, *, resumes: bool) -> Iterator[Monitor]:
    """Launch QEMU, record that, and yield a connection to it; if the block fails, end QEMU."""
    with qemu_process.launch(team, hardware, team.base(), resumes) as monitor:
        try:
            holder.record(team, monitor.pid, resumes, hardware.identity())
            yield monitor
        except BaseException:
            qemu_process.end(monitor)
            raise


def _let_run(team: Team, monitor: Monitor) -> str:
    """Let the guest run; return why it waits, or nothing."""
    quota.enforce(team, monitor.pid)
    monitor.do("cont")
    try:
        monitor.wait_until_running()
    except NoRoom as error:
        return f"the VM waits: {error}; {team.words('start')} lets it go on when there is room"
    return ""


def _goes_on(team: Team) -> bool:
    """Let a QEMU go on that runs and waits; return False if there is none.

    RunFailed if its VM runs.  A QEMU that cannot go on is ended.
    """
    try:
        monitor = qemu_process.find(team)
    except Silent as error:
        raise RunFailed(f"{team.name}: {error}") from None
    if not monitor:
        return False
    with monitor:
        status = monitor.status()
        if status == "running":
            raise RunFailed(_held(team))
        if status in NOT_YET or status in BROKEN or memory.exists(team):
            qemu_process.end(monitor)
            return False
        if status == NO_ROOM:
            quota.check(team)
        with suppress(Gone):  # none is under way
            monitor.do("migrate_cancel")
        memory.drop(team)
        quota.enforce(team, monitor.pid)
        try:
            monitor.do("cont")
            monitor.wait_until_running()
        except Gone as error:
            raise RunFailed(f"{team.name}: its VM waits and cannot go on: {error}") from None
    return True


def _not_resumed(team: Team, error: Gone) -> str:
    if not memory.exists(team):
        return f"{team.name}: {error}; {team.words('start')} starts it with what it had flushed"
    return (
        f"{team.name}: not resumed, and its memory is kept: {error}; try again, or remove "
        f"{team.folder / memory.FILE} to boot it"
    )


def _held(team: Team) -> str:
    """Return the line that says who holds the clone."""
    if who := holder.of(team):
        return f"{team.name} runs already: {who.words}; {team.words('console')} opens its console"
    return f"{team.disk}: locked by a program that this lab has not started"
