# SPDX-License-Identifier: MIT
"""What a student gets: the text, the starter files, the student's disk, the public checks, and the
headers and pages to read.

The solution and everything about hidden checks stays behind.  variant.toml has the key of the
student's public draws, from which `understudy course check` computes what the grader computes.
"""

import re
import shutil
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2

from understudy_devices.base import sources
from understudy_devices.base.errors import UserError
from understudy_devices.base.paths import ROOT
from understudy_devices.course import drive, spec
from understudy_devices.course.grade import VARIANT, Grader
from understudy_devices.course.result import amount
from understudy_devices.course.spec import SOLUTION, SPECIFICATION, STARTER, TEXT, Assignment
from understudy_devices.course.submission import Submission, shown
from understudy_devices.course.toml_text import toml
from understudy_devices.course.work import Keys

DISK = "disk.toml"
HEADERS, DOCS = "headers", "docs"
STUDENTS_PAGE = f"{DOCS}/course-student.md"
PAGE = re.compile(rf"\b{DOCS}/[\w/-]+\.md")
LINKED = re.compile(r"\]\(([\w/-]+\.md)")
INCLUDED = re.compile(rb'^#include "(?:\.\./)?(\w+\.h)"', re.MULTILINE)


def export(grader: Grader, student: str, folder: Path) -> list[str]:
    """Write a student's copy into a new folder; return the names of its files."""
    if folder.exists() and any(folder.iterdir() if folder.is_dir() else [folder]):
        raise UserError(f"{folder}: already there; name a new folder, so that no work is lost")
    assignment = grader.assignment
    student = grader.course.spelled(student)
    work = grader.work(student, Submission())
    files: dict[str, bytes] = {
        SPECIFICATION: toml(_public(assignment)).encode(),
        VARIANT: toml(
            {"assignment": assignment.name, "student": student, "key": work.keys.public.key.hex()}
        ).encode(),
        DISK: drive.text(work.keys.public.child("disk"), **assignment.variant).encode(),
        TEXT: text(grader, student).encode(),
    }
    for check in assignment.checks:
        if not check.hidden:
            files |= check.exported(work)
    files |= _headers(assignment)
    files |= _pages(files, assignment)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _copy(assignment, folder)
        for name, content in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
    except OSError as error:
        raise UserError(f"{error.filename}: {error.strerror}: name another folder") from None
    return sorted(
        file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()
    )


def solution(grader: Grader, student: str) -> dict[str, bytes]:
    """Return the files of a student's solution, by name."""
    assignment = grader.assignment
    work = grader.work(student, Submission())
    files = {name: assignment.folder / SOLUTION / name for name in assignment.files}
    found = {name: file.read_bytes() for name, file in files.items() if file.is_file()}
    for check in assignment.checks:
        found |= check.solved(work)
    return found


def _copy(assignment: Assignment, folder: Path) -> None:
    """Copy the starter files to the top, and everything else but the solution."""
    private = {SOLUTION, STARTER, SPECIFICATION, TEXT, "__pycache__"}
    for source in sorted(assignment.folder.iterdir()):
        if source.name in private:
            continue
        if source.is_dir():
            shutil.copytree(
                source, folder / source.name, ignore=shutil.ignore_patterns("__pycache__")
            )
        else:
            shutil.copyfile(source, folder / source.name)
    starter = assignment.folder / STARTER
    if starter.is_dir():
        shutil.copytree(starter, folder, dirs_exist_ok=True)


def _headers(assignment: Assignment) -> dict[str, bytes]:
    """Return the headers of core/ that the starter files include, and those that these include.

    They are for reading: the grader compiles with its own.
    """
    left = [file.read_bytes() for file in (assignment.folder / STARTER).glob("*.c")]
    found: dict[str, bytes] = {}
    while left:
        for name in INCLUDED.findall(left.pop()):
            place = f"{HEADERS}/{name.decode()}"
            header = sources.matching(f"core/{name.decode()}")
            if header and place not in found:
                (found[place],) = header.values()
                left.append(found[place])
    return found


def _pages(files: Mapping[str, bytes], assignment: Assignment) -> dict[str, bytes]:
    """Return the pages of docs/ that these files and the starter files name, the students' page and
    what that links to.
    """
    starter = (file.read_bytes() for file in (assignment.folder / STARTER).glob("*.c"))
    read = b"\n".join([files[TEXT], files[SPECIFICATION], *starter]).decode()
    page = (ROOT / STUDENTS_PAGE).read_text(encoding="utf-8")
    names = {
        STUDENTS_PAGE,
        *PAGE.findall(read),
        *(f"{DOCS}/{name}" for name in LINKED.findall(page)),
    }
    return {name: (ROOT / name).read_bytes() for name in sorted(names) if (ROOT / name).is_file()}


def _public(assignment: Assignment) -> dict[str, Any]:
    """Return the specification without hidden checks."""
    table = assignment.document.model_dump(exclude_unset=True)
    shown_checks = [check for check in table["checks"] if not check.get("hidden")]
    table["points"] = sum(check["points"] for check in shown_checks)
    table["hidden_points"] = assignment.document.points - table["points"]
    table.pop("contest", None)
    return {**table, "checks": shown_checks}


def text(grader: Grader, student: str) -> str:
    """Return the student's text: text.md, with the student's figures filled in."""
    assignment = grader.assignment
    work = grader.work(student, Submission())
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined, keep_trailing_newline=True, autoescape=False
    )
    values: Mapping[str, Any] = {
        "student": shown(student),
        "title": assignment.document.title,
        "points": assignment.document.points,
        "starter_points": amount(assignment.document.starter_points),
        "disk": work.disk.summary[:1].lower() + work.disk.summary[1:],
        "checks": [
            {**check.model_dump(include={"name", "points", "hidden", "kind"}), **check.told(work)}
            for check in assignment.checks
        ],
        "told": {check.name: check.told(work) for check in assignment.checks},
        "feedback": assignment.document.feedback,
    }
    file = assignment.folder / TEXT
    try:
        return environment.from_string(file.read_text(encoding="utf-8")).render(values)
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}") from None
    except (jinja2.TemplateError, ValueError, TypeError) as error:
        line = getattr(error, "lineno", None)
        at = f"{file}:{line}" if line else str(file)
        raise UserError(f"{at}: {error}") from None


def student_copy(folder: Path) -> tuple[Assignment, str, Keys]:
    """Return the assignment, the student and the keys of an exported folder."""
    file = folder / VARIANT
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
        keys = Keys.exported(bytes.fromhex(table["key"]))
        student = str(table["student"])
    except OSError as error:
        raise UserError(
            f"{file}: {error.strerror}; name the folder that you got from your teacher"
        ) from None
    except (ValueError, KeyError, TypeError):
        raise UserError(f"{file}: changed or incomplete; take it from your teacher again") from None
    return spec.read(folder, exported=True), student, keys
