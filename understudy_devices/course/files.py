# SPDX-License-Identifier: MIT
"""The files of a grade, and names of files that are safe for any student's name."""

import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from understudy_devices.base import scratch
from understudy_devices.base.cache import digest
from understudy_devices.base.errors import UserError
from understudy_devices.course.report import classes, gradescope, student
from understudy_devices.course.result import Grade

SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9@+_.-]{0,80}")
WITH_DIGEST = re.compile(r"-[0-9a-f]{8}$")
LETTERS = str.maketrans({"ß": "ss", "æ": "ae", "Æ": "Ae", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L"})
LETTERS_MOST = 60
GRADE = "grade.json"
OF_GRADE = ("report.md", "report.html", "results.json", "junit.xml", GRADE)


def folder_name(name: str) -> str:
    """Return a folder's name for a student: the same if it is harmless, otherwise its letters in
    ASCII (ü is u) with a digest.  A name that ends like one with a digest gets one of its own, so
    no two students share a folder.
    """
    if SAFE.fullmatch(name) and not WITH_DIGEST.search(name):
        return name
    composed = unicodedata.normalize("NFC", name)
    apart = unicodedata.normalize("NFKD", name.translate(LETTERS))
    letters = re.sub(r"[^A-Za-z0-9@+_.]+", "-", apart.encode("ascii", "ignore").decode())
    readable = letters.strip("-.")[:LETTERS_MOST] or "student"
    return f"{readable}-{digest([composed.encode(errors='surrogateescape')])[:8]}"


def write(path: Path, text: str) -> None:
    """Write a file that is complete or absent."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{path.parent}: {error.strerror}: name another folder") from None
    with scratch.replacing(path) as fresh:
        fresh.write_text(text, encoding="utf-8")


def json_text(document: Any) -> str:
    """Return a document as JSON that is the same for the same document."""
    return json.dumps(document, indent=1, ensure_ascii=True) + "\n"


def write_grade(
    grade: Grade,
    folder: Path,
    private: Path,
    level: str,
    board: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Write a student's files, and into `private` the teacher's, with hidden checks' lines.

    grade.json, which says that the others are there, is the last.
    """
    write(folder / "report.md", student.markdown(grade, level))
    write(folder / "report.html", student.html(grade, level))
    write(folder / "results.json", json_text(gradescope.results(grade, level, board)))
    write(private / "report.md", student.markdown(grade, student.LINES))
    write(private / "report.html", student.html(grade, student.LINES))
    write(private / "junit.xml", classes.junit(grade.assignment, [grade]))
    write(private / GRADE, json_text(grade.as_json()))


def read_grade(folder: Path) -> Grade | None:
    """Return the grade of a student's folder; None if there is none that can be read."""
    try:
        return Grade.from_json(json.loads((folder / GRADE).read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError):
        return None
