# SPDX-License-Identifier: MIT
"""Starts a team's VM: goes on with one that waits, resumes a suspended one, or boots.

At every instant at which the command or QEMU may be killed, the clone can be started again:

* QEMU waits, and does not touch the clone, until the command lets it run.  A QEMU whose command
  died before that is ended by the next start, or goes on if the saved memory is already removed.
* A saved memory is removed after QEMU has loaded it and before the guest runs, or if QEMU refuses
  it.
* A first start is undone if it was interrupted (first_start.py).
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

from understudy_devices.base.errors import RunFailed
from understudy_devices.lab import (
    agent,
    changes,
    drive,
    first_start,
    holder,
    locks,
    maintenance,
    memory,
    owner,
    qemu_process,
    quota,
    renewal,
    resume,
)
from understudy_devices.lab.agent import Agent
from understudy_devices.lab.hardware import Hardware
from understudy_devices.lab.monitor import NO_ROOM, Gone, Monitor, Refused, Silent
from understudy_devices.lab.store import Team

LOCK_SECONDS = 60
ANSWER_SECONDS = 30
NOT_YET = {"prelaunch", "inmigrate"}
BROKEN = {"internal-error", "guest-panicked", "shutdown", "watchdog"}

How = Literal["booted", "resumed", "continued"]


@dataclass(frozen=True)
class Started:
    """How a VM came to run; `note` says why it was not resumed or why it waits, or is empty."""

    how: How
    note: str = ""


class Held(RunFailed):
    """The clone is in use; the text says by whom."""


def start(team: Team, hardware: Hardware, *, stays: bool = True) -> Started:
    """Start a team's VM; Held if it runs already.

    stays: whether the VM goes on when this process ends.
    """
    lab = team.lab
    with (
        locks.folder(lab.folder, LOCK_SECONDS, shared=True, who=lab.name),
        owner.acting(team.folder),
        locks.folder(team.folder, LOCK_SECONDS, who=team.name),
    ):
        maintenance.check(lab)
        if went_on := _goes_on(team):
            return went_on
        if locks.is_image_locked(team.disk):
            raise Held(_held(team))
        memory.sweep(team)
        first_start.sweep(team)
        changes.sweep(team)
        hardware = replace(hardware, second=changes.OLD if changes.has_old(team) else "")
        suspended = replace(hardware, drive=drive.find(lab, memory.drive(team)))
        suspended = suspended.fitting(memory.saved_with(team))
        team.base().check_quickly(lab.words("check"))
        first_start.check_below(team, lab.words("check"))
        quota.check(team)
        saved = memory.find(team, suspended)
        note = f"the suspended VM is not resumed: {saved.obstacle}" if saved else ""
        if saved and not saved.obstacle:
            try:
                return Started("resumed", _resume(team, suspended, saved, stays))
            except Refused as error:
                note = f"the suspended VM is not resumed: {error}"
            except RunFailed as error:
                raise RunFailed(_not_resumed(team, error)) from None
        hardware = replace(hardware, drive=drive.current(lab))
        memory.drop(team)
        if not saved:
            first = first_start.start(team, hardware, stays)
            if first is None:
                return Started("resumed")
            note = first
        with resume.launched(team, hardware, resumes=False, stays=stays) as monitor:
            waits = resume.let_run(team, monitor)
        return Started("booted", "; ".join(filter(None, (note, waits))))


def _resume(team: Team, hardware: Hardware, saved: memory.Memory, stays: bool) -> str:
    """Resume a VM; return why it waits, or nothing.  Refused if QEMU does not accept the memory."""
    with resume.launched(team, hardware, resumes=True, stays=stays) as monitor:
        resume.load(monitor, saved.path)
        memory.drop(team)
        waits = resume.let_run(team, monitor)
        return waits or _set_clock(team, monitor)


def _set_clock(team: Team, monitor: Monitor) -> str:
    """Tell the guest the time; return why it does not know it, or nothing.

    Whatever fails here, the VM goes on.
    """
    try:
        if not agent.is_there(monitor):
            return "its clock stood still meanwhile: it has no agent, so set the clock in the guest"
        with Agent(team.folder, ANSWER_SECONDS) as connection:
            renewal.set_clock(connection)
    except (RunFailed, OSError) as error:
        return f"its clock stood still meanwhile: {error}; set the clock in the guest"
    return ""


def _goes_on(team: Team) -> Started | None:
    """Let a QEMU go on that runs and waits; return None if there is none.

    RunFailed if its VM runs.  A QEMU that cannot go on is ended.
    """
    try:
        monitor = qemu_process.find(team)
    except Silent as error:
        raise RunFailed(f"{team.name}: {error}") from None
    if not monitor:
        return None
    with monitor:
        status = monitor.status()
        unfinished = first_start.is_unfinished(team)
        if status == "running" and not unfinished:
            raise Held(_held(team))
        if status in NOT_YET or status in BROKEN or unfinished or memory.exists(team):
            qemu_process.end(monitor)
            return None
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
        return Started("continued", _set_clock(team, monitor))


def _not_resumed(team: Team, error: Exception) -> str:
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
