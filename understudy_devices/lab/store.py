# SPDX-License-Identifier: MIT
"""A lab is a folder on a disk of this machine.

    LABS/NAME/lab.json                  settings
    LABS/NAME/.lock                     by which the folder is locked, as others are (locks.py)
    LABS/NAME/bases/1/                  the sealed base (base_image.py); 2, 3 ... after a rebase
    LABS/NAME/teams/TEAM/team.json      members
    LABS/NAME/teams/TEAM/disk.qcow2     the team's clone
    LABS/NAME/teams/TEAM/...            what a running or suspended VM needs

The images name each other by relative paths, so a lab may be moved while no VM runs.  Everybody may
read settings and bases; only its owner may look into a team's folder.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from understudy_devices.base import scratch
from understudy_devices.base.catalog import unknown
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.lab import base_image, locks, overlay, qcow2, state_file
from understudy_devices.lab.base_image import Base, Source
from understudy_devices.lab.settings import Settings
from understudy_devices.lab.students import TEAM, TEAM_RULE, Student

SCHEMA = "understudy.lab/1"
FILE, TEAM_FILE, DISK = "lab.json", "team.json", "disk.qcow2"
SNAPSHOTS = "snapshot-*.qcow2"
TEAMS, BASES = "teams", "bases"
FIRST = "1"
IMAGES_MAX = 100
"""Most images that a clone may consist of: itself, snapshots and its base."""
FOR_OWNER, FOR_ALL = 0o700, 0o755
"""The modes of a team's folder, and of all others, whatever the umask."""


@dataclass(frozen=True)
class Team:
    """A team of a lab."""

    lab: "Lab"
    name: str

    @property
    def folder(self) -> Path:
        """Return the folder with everything that is the team's."""
        return self.lab.folder / TEAMS / self.name

    @property
    def disk(self) -> Path:
        """Return the path of the team's clone."""
        return self.folder / DISK

    @property
    def members(self) -> list[Student]:
        """Return the members, in the order of students.csv."""
        listed = state_file.optional(self.folder / TEAM_FILE).get("members", [])
        return [Student(str(each.get("name")), str(each.get("email"))) for each in listed]

    def images(self) -> list[Path]:
        """Return the clone, the snapshots below it, and its base; RunFailed if one is damaged."""
        images = [self.disk]
        try:
            while backing := qcow2.backing_of(images[-1]):
                if len(images) == IMAGES_MAX:
                    raise UserError(f"{self.disk}: {IMAGES_MAX} images or more below it")
                images.append(images[-1].parent / backing)
        except UserError as error:
            raise RunFailed(f"{error}; or {self._way_back()}") from None
        return images

    def base(self) -> Base:
        """Return the base of the team's clone, below any snapshots."""
        return base_image.read(self.images()[-1].parent.resolve())

    def backing(self) -> str:
        """Return what the clone is an overlay of, a path relative to the team's folder."""
        return qcow2.backing_of(self.disk)

    def _way_back(self) -> str:
        if any(self.folder.glob(SNAPSHOTS)):
            return f"{self.words('undo')} LABEL goes back to a snapshot"
        return f"{self.words('reset')} makes a new clone"

    def words(self, command: str) -> str:
        """Return a command for this team, as one types it."""
        return f"understudy lab {command} {self.lab.name} {self.name}"


@dataclass(frozen=True)
class Lab:
    """A lab, whose settings have been read."""

    folder: Path
    settings: Settings

    @property
    def name(self) -> str:
        """Return the lab's name."""
        return self.folder.name

    def teams(self) -> list[Team]:
        """Return the teams, by name."""
        return [Team(self, name) for name in sorted(_folders(self.folder / TEAMS))]

    def team(self, name: str) -> Team:
        """Return a team; UserError if there is none of that name."""
        names = _folders(self.folder / TEAMS)
        if name not in names:
            raise UserError(unknown("team", name, names))
        return Team(self, name)

    def words(self, command: str) -> str:
        """Return a command for this lab, as one types it."""
        return f"understudy lab {command} {self.name}"

    def bases(self) -> list[Base]:
        """Return the bases, oldest first."""
        numbers = sorted(int(each) for each in _folders(self.folder / BASES) if each.isdigit())
        return [base_image.read(self.folder / BASES / str(number)) for number in numbers]


def check_name(name: str) -> None:
    """Raise UserError if no lab can have this name."""
    if not TEAM.fullmatch(name):
        raise UserError(f'lab "{name}": write {TEAM_RULE}')


def check_new(labs: Path, name: str) -> None:
    """Raise UserError if no lab of that name can be made."""
    check_name(name)
    if (labs / name).exists():
        raise UserError(f"{labs / name}: already there; take another name")


def create(
    labs: Path,
    name: str,
    source: Source,
    teams: Mapping[str, Sequence[Student]],
    settings: Settings,
) -> Lab:
    """Make a lab with a sealed base and a clone for each team; it appears when it is complete.

    UserError if there is such a lab, or if the base cannot be used.
    """
    check_new(labs, name)
    final = labs / name
    virtual_bytes = source.check()
    try:
        labs.mkdir(parents=True, exist_ok=True)
        with scratch.folder(f".{name}.", labs) as folder:
            base_image.seal(source, folder / BASES / FIRST)
            for team, members in teams.items():
                _make_team(folder / TEAMS / team, members, virtual_bytes)
            write_settings(folder, settings)
            locks.prepare(folder)
            for public in (folder / BASES, folder / TEAMS, folder):
                public.chmod(FOR_ALL)
            os.sync()  # 200 clones at once
            folder.rename(final)
            state_file.sync(labs)
    except OSError as error:
        place = error.filename or labs
        raise RunFailed(f"{place}: {error.strerror or error}; nothing was made") from error
    return Lab(final, settings)


def read(labs: Path, name: str) -> Lab:
    """Return the lab of that name; UserError if there is none."""
    check_name(name)
    folder = labs / name
    if not (folder / FILE).is_file():
        names = [each for each in _folders(labs) if (labs / each / FILE).is_file()]
        raise UserError(f"{unknown('lab', name, names)} (in {labs}; --folder names another folder)")
    content = state_file.required(folder / FILE)
    try:
        return Lab(folder, Settings(**content["settings"]))
    except (KeyError, TypeError):
        raise state_file.damaged(folder / FILE) from None


def write_settings(folder: Path, settings: Settings) -> None:
    """Write the settings of a lab; VMs that run keep theirs."""
    state_file.write(folder / FILE, {"schema": SCHEMA, "settings": settings.as_json()})


def relative_base(number: str, booted: str = "") -> str:
    """Return the path of a base's image, or of the disk of a saved machine in the base's folder,
    relative to a team's folder."""
    return str(Path("../..", BASES, number, booted, base_image.DISK))


def replace_clone(team: Team, backing: str, virtual_bytes: int) -> None:
    """Put a new, empty overlay in the place of the clone, in one step."""
    with scratch.replacing(team.disk) as fresh:
        overlay.write(fresh, backing, virtual_bytes)
        state_file.sync(fresh)
    state_file.sync(team.folder)


def _make_team(folder: Path, members: Sequence[Student], virtual_bytes: int) -> None:
    folder.mkdir(parents=True)
    folder.chmod(FOR_OWNER)
    content: dict[str, Any] = {"members": [asdict(member) for member in members]}
    state_file.write(folder / TEAM_FILE, content, durable=False)
    overlay.write(folder / DISK, relative_base(FIRST), virtual_bytes)


def _folders(top: Path) -> list[str]:
    with suppress(OSError):
        return [each.name for each in os.scandir(top) if each.is_dir() and each.name[0] != "."]
    return []
