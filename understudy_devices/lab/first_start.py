# SPDX-License-Identifier: MIT
"""A team's first start: resumes the machine that was booted once for all, on the team's own clone.

The clone becomes an overlay of that machine's disk.  `first.json` is there from before the guest
runs until the guest has made its own what no two VMs may share; until then nobody reaches the VM,
and a clone whose start was interrupted is made anew.
"""

import socket
from contextlib import suppress
from pathlib import Path

from understudy_devices.base.errors import RunFailed
from understudy_devices.lab import (
    agent,
    base_image,
    booted,
    overlay,
    renewal,
    resume,
    state_file,
    store,
)
from understudy_devices.lab.agent import Agent
from understudy_devices.lab.hardware import CONSOLE, Hardware
from understudy_devices.lab.monitor import connect
from understudy_devices.lab.store import Team

FILE = "first.json"
ANSWER_SECONDS = 60
PRESS_SECONDS = 1


def is_unfinished(team: Team) -> bool:
    """Return whether the VM, if it runs, has not made its own yet what no two VMs may share."""
    return (team.folder / FILE).exists()


def check(team: Team) -> None:
    """Raise RunFailed if nobody may reach the VM yet."""
    if is_unfinished(team):
        starts = team.words("start")
        raise RunFailed(f"{team.name} is at its first start; if no command is at work, {starts}")


def sweep(team: Team) -> None:
    """Make a clone anew whose first start was interrupted; its VM does not run."""
    if is_unfinished(team):
        try:
            base = team.base()
        except RunFailed:
            base = team.lab.bases()[-1]
        store.replace_clone(team, store.relative_base(base.folder.name), base.virtual_bytes)
        _finish(team)


def check_below(team: Team, whole: str) -> None:
    """Raise RunFailed if the disk of a saved machine, below the clone, has changed."""
    for image in team.images():
        folder = image.parent.resolve()
        if folder.name.startswith(booted.PREFIX):
            booted.read(folder).check_quickly(whole, (base_image.DISK,))


def start(team: Team, hardware: Hardware, stays: bool) -> str | None:
    """Resume the saved machine if there is one, and if the team has written nothing yet.

    Return None if the VM runs, or why it has to boot: empty if there is no saved machine.
    """
    if not _is_first(team):
        return ""
    base = team.base()
    try:
        machine = booted.newest(base)
        if not machine:
            return ""
        fitting = hardware.fitting(machine.hardware)
        obstacle = machine.obstacle(fitting)
        if not obstacle:
            whole = team.lab.words("check")
            machine.check_quickly(whole, (base_image.DISK, booted.MEMORY))
            _resume(team, fitting, machine, stays)
            return None
    except (RunFailed, OSError) as error:
        obstacle = str(error)
    plain = store.relative_base(base.folder.name)
    if team.backing() != plain:  # it boots without the files of a boot that others share
        store.replace_clone(team, plain, base.virtual_bytes)
    _finish(team)
    return f"the machine that was booted for all is not resumed: {obstacle}"


def _is_first(team: Team) -> bool:
    return overlay.is_empty(team.disk) and Path(team.backing()).name == base_image.DISK


def _resume(team: Team, hardware: Hardware, machine: booted.Booted, stays: bool) -> None:
    below = store.relative_base(machine.folder.parent.name, machine.folder.name)
    if team.backing() != below:
        store.replace_clone(team, below, team.base().virtual_bytes)
    state_file.write(team.folder / FILE, {"machine": machine.folder.name})
    with resume.launched(team, hardware, resumes=True, stays=stays) as monitor:
        resume.load(monitor, machine.memory)
        waits = resume.let_run(team, monitor)
        if waits:
            raise RunFailed(waits)
        if not agent.is_there(monitor):
            raise RunFailed("its agent is gone")
        with Agent(team.folder, ANSWER_SECONDS) as connection:
            renewal.renew(connection)
            renewal.set_clock(connection, lambda: _press_enter(team))
        _finish(team)


def _press_enter(team: Team) -> None:
    """Let the guest print its prompt again: the saved machine has printed it elsewhere."""
    with suppress(OSError), socket.socket(socket.AF_UNIX) as line:
        line.settimeout(PRESS_SECONDS)
        connect(line, team.folder, CONSOLE)
        line.sendall(b"\r")


def _finish(team: Team) -> None:
    (team.folder / FILE).unlink(missing_ok=True)
    state_file.sync(team.folder)
