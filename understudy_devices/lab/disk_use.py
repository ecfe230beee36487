# SPDX-License-Identifier: MIT
"""How much disk a lab takes, and how much its clones save.

As the dissertation counts it (section 5.1.1): 13 VMs with an installation of 6 GB each save 72 GB,
which are 12 installations.  What the teams have written is the same in a clone as in an image of
its own, so it does not count.
"""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from understudy_devices.base.errors import RunFailed
from understudy_devices.lab import booted, changes, drive, owner
from understudy_devices.lab.memory import PREFIX as MEMORY
from understudy_devices.lab.store import DISK, Lab, Team

BLOCK_BYTES = 512  # of st_blocks


@dataclass(frozen=True)
class TeamUse:
    """What a team's files take on disk, in bytes.

    base: the number of the base of its clone; None if the clone is damaged.
    """

    team: str
    base: int | None
    clone_bytes: int
    snapshot_bytes: int
    old_bytes: int
    memory_bytes: int
    other_bytes: int

    @property
    def total_bytes(self) -> int:
        """Return what all files of the team take."""
        return (
            self.clone_bytes
            + self.snapshot_bytes
            + self.old_bytes
            + self.memory_bytes
            + self.other_bytes
        )


@dataclass(frozen=True)
class LabUse:
    """What a lab takes on disk.

    base_bytes: of each base, by number.  machine_bytes: of the machines that were booted once for
    all.  drive_bytes: of each version of the shared drive, by number.  saved_bytes: what the clones
    save against an image for each team; less than 0 if there are more bases than teams on them.
    """

    teams: list[TeamUse]
    base_bytes: dict[int, int]
    machine_bytes: int
    drive_bytes: dict[int, int]

    @property
    def total_bytes(self) -> int:
        """Return what everything takes."""
        shared = sum(self.base_bytes.values()) + self.machine_bytes + sum(self.drive_bytes.values())
        return shared + sum(team.total_bytes for team in self.teams)

    @property
    def saved_bytes(self) -> int:
        """Return what the clones save."""
        alone = sum(self.base_bytes[team.base] for team in self.teams if team.base is not None)
        return alone - sum(self.base_bytes.values())


def of(lab: Lab) -> LabUse:
    """Return what a lab takes on disk now."""
    bases = {
        int(base.folder.name): sum(_blocks(base.folder / name) for name in base.seals)
        for base in lab.bases()
    }
    machines = sum(each.disk_bytes for base in lab.bases() for each in booted.all_of(base))
    drives = {each.version: each.disk_bytes for each in drive.all_of(lab)}
    teams = []
    for team in lab.teams():
        with owner.acting(team.folder):
            teams.append(_of_team(team))
    return LabUse(teams, bases, machines, drives)


def _of_team(team: Team) -> TeamUse:
    kinds = dict.fromkeys(("clone", "snapshot", "old", "memory", "other"), 0)
    for path in team.folder.iterdir():
        if path.is_file():
            kinds[_kind(path.name)] += _blocks(path)
    try:
        base = int(team.base().folder.name)
    except RunFailed:
        base = None
    return TeamUse(team.name, base, *kinds.values())


def _kind(name: str) -> str:
    if name == DISK:
        return "clone"
    if name == changes.OLD:
        return "old"
    if name.startswith(changes.PREFIX):
        return "snapshot"
    return "memory" if name.startswith(MEMORY) else "other"


def _blocks(path: Path) -> int:
    with suppress(FileNotFoundError):  # removed by a command that is at work
        return path.stat().st_blocks * BLOCK_BYTES
    return 0
