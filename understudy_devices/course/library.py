# SPDX-License-Identifier: MIT
"""A teacher's course folder, and where assignments are found.

The folder has course.toml (title, secret, assignments chosen), students.csv if the teacher wants
one, and assignments/ for the teacher's own.  Without a folder, the assignments that come with the
project can be tried, with a secret that is public.
"""

import csv
import os
import secrets
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from understudy_devices.base.catalog import unknown
from understudy_devices.base.errors import UserError
from understudy_devices.base.paths import ROOT
from understudy_devices.base.plain import one_line
from understudy_devices.course import spec
from understudy_devices.course.check import Table
from understudy_devices.course.draws import Draws

FILE, STUDENTS, ASSIGNMENTS = "course.toml", "students.csv", "assignments"
HEADING = "student,pseudonym"
SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}
SECRET_BYTES = 32
PUBLIC_SECRET = b"no course: for trying"
ADJECTIVES = (
    "amber bold brisk calm clear coral early fair fleet gentle green hazel indigo keen late "
    "light lively mellow noble olive plain quick quiet rapid rosy sharp silver steady sunny swift"
)
ANIMALS = (
    "badger beaver bison cod crane deer dove eagle egret falcon finch fox gecko hare heron ibis "
    "lark lynx marten mole moth newt otter owl plover raven robin seal stoat swan tern wren"
)


class Settings(Table):
    """The keys of course.toml."""

    title: Annotated[str, Field(min_length=1, max_length=200)]
    secret: Annotated[str, Field(pattern=r"^[0-9a-f]{32,128}$")]
    """Hexadecimal digits; every draw follows from it, so it stays with the teacher."""
    assignments: Annotated[list[str], Field(default_factory=list)]
    """The assignments of the course; an empty list stands for all."""


@dataclass(frozen=True)
class Course:
    """A course; `folder` is None if there is none."""

    folder: Path | None
    title: str
    secret: bytes
    chosen: tuple[str, ...] = ()

    @cached_property
    def folders(self) -> dict[str, Path]:
        """Return the folder of each assignment; a teacher's own replaces one of the project."""
        places = [ROOT / ASSIGNMENTS, *([self.folder / ASSIGNMENTS] if self.folder else [])]
        found = {
            file.parent.name: file.parent
            for place in places
            for file in place.glob(f"*/{spec.SPECIFICATION}")
        }
        for name in self.chosen:
            if name not in found:
                raise UserError(f"{self.folder}/{FILE}: assignments: {unknown('one', name, found)}")
        names = self.chosen or sorted(found)
        return {name: found[name] for name in names}

    def assignment(self, name: str) -> spec.Assignment:
        """Return a checked assignment."""
        if name not in self.folders:
            raise UserError(unknown("assignment", name, self.folders))
        return spec.read(self.folders[name])

    def pseudonym(self, student: str) -> str:
        """Return the name under which a student is on public lists."""
        given = self.listed(student)
        if given and self.students[given]:
            return self.students[given]
        draws = Draws.of(self.secret, "pseudonym", normal(student))
        words = (draws.choice(each, each.split()) for each in (ADJECTIVES, ANIMALS))
        return f"{'-'.join(words)}-{draws.between('number', 1000, 9999)}"

    def listed(self, student: str) -> str | None:
        """Return a student as students.csv spells the name; None if it has no such student."""
        return self._spelled.get(normal(student))

    def spelled(self, student: str) -> str:
        """Return a student as students.csv spells the name, or as it is if it is not there."""
        return self._spelled.get(normal(student), student)

    @cached_property
    def _spelled(self) -> Mapping[str, str]:
        return {normal(each): each for each in self.students}

    @cached_property
    def students(self) -> Mapping[str, str]:
        """Return the pseudonym, perhaps empty, of each student in students.csv."""
        file = self.folder / STUDENTS if self.folder else None
        if not file or not file.exists():
            return {}
        try:
            lines = file.read_text(encoding="utf-8-sig").splitlines()
            rows = list(csv.DictReader(lines))
        except UnicodeDecodeError:
            raise UserError(f"{file}: is not UTF-8: save it as UTF-8") from None
        except (OSError, ValueError, csv.Error) as error:
            raise UserError(f"{file}: cannot be read: {error}") from None
        _check_heading(lines, file)
        return dict(_students(rows, file))


def _check_heading(lines: Sequence[str], file: Path) -> None:
    """Raise a UserError if the first line has no column of students."""
    first = one_line(lines[0]) if lines else ""
    if lines and "student" not in next(csv.reader(lines[:1])):
        separator = next((each for each in SEPARATORS if each in lines[0]), "")
        shown = SEPARATORS.get(separator, "")
        why = f"its columns are separated by {shown}: save it with commas" if shown else first
        raise UserError(f"{file}: the first line has to be {HEADING}; {why}")


def _students(rows: list[dict[str, str]], file: Path) -> Iterator[tuple[str, str]]:
    seen = set()
    for number, row in enumerate(rows, 2):
        name = unicodedata.normalize("NFC", (row.get("student") or "").strip())
        if not name:
            raise UserError(f"{file}:{number}: no student; the first line is: {HEADING}")
        if normal(name) in seen:
            raise UserError(f"{file}:{number}: {one_line(name)} is there twice; remove one")
        seen.add(normal(name))
        yield name, one_line(row.get("pseudonym") or "")


def normal(student: str) -> str:
    """Return an identity without differences that people do not see: ADA is ada."""
    return unicodedata.normalize("NFC", student.strip()).casefold()


def course(folder: Path | None) -> Course:
    """Return the course of a folder, or of the current folder and those above it."""
    if folder is None:
        here = Path.cwd()
        folder = next((each for each in (here, *here.parents) if (each / FILE).is_file()), None)
        if folder is None:
            return Course(None, "", PUBLIC_SECRET)
    file = folder / FILE
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
        settings = Settings.model_validate(table)
    except OSError as error:
        raise UserError(
            f"{file}: {error.strerror or error}; understudy course new {folder} makes one"
        ) from None
    except ValidationError as error:
        raise UserError(f"{file}: {spec.reason(error.errors()[0], Settings)}") from None
    except ValueError as error:
        raise UserError(f"{file}: not TOML: {' '.join(str(error).split())}") from None
    return Course(
        folder, settings.title, bytes.fromhex(_even(settings.secret)), tuple(settings.assignments)
    )


def _even(digits: str) -> str:
    return digits if len(digits) % 2 == 0 else f"0{digits}"


NEW = """\
# A course (docs/course.md).  Whoever has the secret can compute every student's hidden draws:
# keep this file, and hand it to nobody.
title = "{title}"
secret = "{secret}"
assignments = [] # all of them; or some: ["seek-reduction", "beat-cats"]
"""


def new(folder: Path, title: str) -> None:
    """Make a course folder, with a secret of its own."""
    if (folder / FILE).exists():
        raise UserError(f"{folder / FILE}: already there; name a new folder")
    try:
        (folder / ASSIGNMENTS).mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            words = one_line(title).replace("\\", "").replace('"', "'")
            file.write(NEW.format(title=words, secret=secrets.token_hex(SECRET_BYTES)))
        students = folder / STUDENTS
        if not students.exists():
            students.write_text(f"{HEADING}\n", encoding="utf-8")
    except OSError as error:
        raise UserError(f"{error.filename}: {error.strerror}: name another folder") from None
