# SPDX-License-Identifier: MIT
"""Who has which version of the shared drive; a version goes only when nobody has it."""

from contextlib import suppress

from understudy_devices.base.errors import RunFailed
from understudy_devices.lab import booted, drive, holder, locks, memory, owner
from understudy_devices.lab.store import Lab, Team

LOCK_SECONDS = 60


def of(lab: Lab) -> dict[str, list[str]]:
    """Return the teams whose VM, running or suspended, has a version, by the drive's identity.

    Teams whose folder this user may not look into are left out.
    """
    teams: dict[str, list[str]] = {}
    for team in lab.teams():
        if owner.may_act(team.folder):
            with owner.acting(team.folder):
                teams.setdefault(_identity(team), []).append(team.name)
    teams.pop("", None)
    return teams


def is_booted_with_another(lab: Lab) -> bool:
    """Return whether the machine that was booted once for all has another version than VMs that
    are started now."""
    machine = booted.newest(lab.bases()[-1])
    now = drive.current(lab)
    return machine is not None and machine.drive != (now.identity if now else "")


def drop(lab: Lab, version: int) -> None:
    """Remove a version, also a damaged one; RunFailed if a VM has it, or would have it."""
    with locks.folder(lab.folder, LOCK_SECONDS, who=lab.name):  # no start is under way
        place = drive.folder_of(lab, version)
        if drive.current_version(lab) == version:
            raise RunFailed(
                f"version {version} is the one that VMs start with: {lab.words('drive')} --use "
                "chooses another one, or none"
            )
        for team in lab.teams():
            with owner.acting(team.folder):
                if _identity(team).partition(" ")[0] == str(version):
                    raise RunFailed(
                        f"{team.name} has version {version} until its VM ends: "
                        f"{team.words('start')} if it is suspended, then {team.words('stop')}"
                    )
        image = place / drive.IMAGE
        if image.exists() and locks.is_image_locked(image):
            raise RunFailed(f"{image}: a QEMU has it open; try again when that has ended")
        drive.remove(place)


def _identity(team: Team) -> str:
    """Return the identity of the drive that the team's VM has; empty if it has none."""
    with suppress(OSError):  # a damaged clone has no VM
        if who := holder.of(team):
            return str(who.hardware.get("drive", "")) if isinstance(who.hardware, dict) else ""
    return memory.drive(team)
