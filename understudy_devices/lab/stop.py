# SPDX-License-Identifier: MIT
"""Ends a team's VM: asks the guest to power off, cuts its power, or suspends it."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager

from understudy_devices.base.errors import RunFailed
from understudy_devices.lab import first_start, holder, locks, memory, owner, qemu_process, quota
from understudy_devices.lab.monitor import NO_ROOM, Gone, Monitor, Silent
from understudy_devices.lab.start import LOCK_SECONDS
from understudy_devices.lab.store import Team

SAVE_SECONDS = 600
RUNNING = "running"
WAITS = {"paused", NO_ROOM}


def power_off(team: Team, seconds: float) -> None:
    """Ask the guest to power off, and wait; RunFailed if it does not within so many seconds."""
    with _running(team) as monitor:
        status = monitor.status()
        if status != RUNNING:
            raise RunFailed(
                f"{team.name} is {status} and cannot power off: {team.words('start')} lets it go "
                f"on, {team.words('stop')} --now ends it"
            )
        monitor.do("system_powerdown")
        if not monitor.ended(seconds):
            raise RunFailed(
                f"{team.name} has not powered off in {seconds:g} s: {team.words('stop')} --now "
                "cuts its power"
            )


def cut_power(team: Team) -> None:
    """End the VM at once; what the guest has not flushed is lost, as by a power cut."""
    try:
        with _running(team) as monitor:
            qemu_process.end(monitor)
    except Silent as error:
        qemu_process.kill(error.pid)


def suspend(team: Team, *, even_if_it_waits: bool = False) -> int:
    """Save the VM's memory and end its QEMU; return the memory's size in bytes.

    If that fails, the VM goes on, or waits as before.  even_if_it_waits: also suspend a VM that is
    paused or that has no room; RunFailed otherwise.  The next start lets it go on.
    """
    allowed = {RUNNING, *WAITS} if even_if_it_waits else {RUNNING}
    with _running(team) as monitor:
        first_start.check(team)
        who = holder.of(team)
        status = monitor.status()
        if not who or status not in allowed:
            raise RunFailed(f"{team.name} is {status}: {team.words('start')} lets it go on")
        path = memory.new_file(team)
        try:
            monitor.do("stop")
            quota.limit(monitor.pid, resource.RLIM_INFINITY)
            memory.save(monitor, path, SAVE_SECONDS)
            memory.commit(team, path, who.hardware)
        except (Gone, OSError, RunFailed) as error:
            memory.drop(team)
            outcome = _go_on(team, monitor, error) if status == RUNNING else str(error)
            raise RunFailed(f"{team.name} is not suspended: {outcome}") from None
        qemu_process.end(monitor)
        return path.stat().st_size


def _go_on(team: Team, monitor: Monitor, error: Exception) -> str:
    """Let a VM go on that could not be suspended; return the reason, and what became of it."""
    try:
        monitor.do("cont")
        monitor.wait_until_running()
        quota.enforce(team, monitor.pid)
    except Gone:
        return f"{error}; {team.words('start')} starts it with what it had flushed"
    return f"{error}; it goes on"


@contextmanager
def _running(team: Team) -> Iterator[Monitor]:
    """Hold the team's lock, and yield a connection to its QEMU; RunFailed if there is none."""
    with owner.acting(team.folder), locks.folder(team.folder, LOCK_SECONDS, who=team.name):
        monitor = qemu_process.find(team)
        if not monitor:
            raise RunFailed(holder.why_not(team, "stop"))
        with monitor:
            yield monitor
