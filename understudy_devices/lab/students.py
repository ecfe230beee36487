# SPDX-License-Identifier: MIT
"""students.csv: who is in which team.  Columns: team, name, email; a line for each student.

All mistakes are reported at once, each with its line.
"""

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from understudy_devices.base.errors import UserError
from understudy_devices.base.plain import one_line, plain

COLUMNS = ("team", "name", "email")
HEADING = ",".join(COLUMNS)
TEAM = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?")
EMAIL = re.compile(r"[^\s@,;<>\"'()]+@[^\s@,;<>\"'()]+")
NAME_MAX = 100
SHOWN = 60
BYTES_MAX = 10 * 2**20
TEAM_RULE = "1 to 32 of a-z, 0-9 and -, no - at either end"


@dataclass(frozen=True)
class Student:
    """A member of a team."""

    name: str
    email: str


def teams(file: Path) -> dict[str, list[Student]]:
    """Return the members of each team, teams and members in the file's order.

    UserError has a line for each mistake in the file.
    """
    rows = _rows(file)
    mistakes = [f"line {number}: {words}" for number, words in _mistakes(rows)]
    if mistakes:
        count = "1 mistake" if len(mistakes) == 1 else f"{len(mistakes)} mistakes"
        lines = "\n".join(f"  {each}" for each in mistakes)
        raise UserError(f"{file}: {count}, so nothing was made:\n{lines}")
    if not rows:
        raise UserError(f"{file}: it has no students; a line for each: team07,Ada,ada@example.org")
    members: dict[str, list[Student]] = {}
    for _, row in rows:
        members.setdefault(row["team"], []).append(Student(row["name"], row["email"]))
    return members


Row = tuple[int, Mapping[str, str]]


def _rows(file: Path) -> list[Row]:
    """Return each line's number and fields, without the spaces around them."""
    try:
        if file.stat().st_size > BYTES_MAX:
            raise UserError(f"{file}: more than 10 MiB: is this the list of students?")
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise UserError(f"{file}: not UTF-8: save it as UTF-8") from None
    reader = csv.reader(text.splitlines(keepends=True), strict=True)
    try:
        heading = [each.strip().lower() for each in next(reader, [])]
        if sorted(heading) != sorted(COLUMNS):
            shown = _shown(",".join(heading)) if heading else "the file is empty"
            raise UserError(f"{file}: the first line has to be {HEADING}: {shown}")
        rows: list[Row] = []
        for fields in reader:
            if any(each.strip() for each in fields):
                stripped = [each.strip() for each in fields]
                if len(stripped) != len(heading):
                    rows.append((reader.line_num, {"": str(len(stripped))}))
                else:
                    rows.append((reader.line_num, dict(zip(heading, stripped, strict=True))))
    except csv.Error as error:
        raise UserError(f"{file}:{reader.line_num}: not a line of CSV: {error}") from None
    return rows


def _mistakes(rows: list[Row]) -> Iterator[tuple[int, str]]:
    emails: dict[str, int] = {}
    names: dict[tuple[str, str], int] = {}
    for number, row in rows:
        if "" in row:
            yield number, f"{row['']} fields, and there have to be 3: {HEADING}"
            continue
        yield from ((number, words) for words in _odd(row))
        email, name = row["email"].casefold(), (row["team"], row["name"].casefold())
        if email and email in emails:
            yield number, f"{_shown(row['email'])} is also on line {emails[email]}"
        elif all(name) and name in names:
            yield number, f"{_shown(row['name'])} is in the team also on line {names[name]}"
        emails.setdefault(email, number)
        names.setdefault(name, number)


def _odd(row: Mapping[str, str]) -> Iterator[str]:
    team, name, email = (row[column] for column in COLUMNS)
    if not TEAM.fullmatch(team):
        hint = f"; did you mean {team.lower()}?" if TEAM.fullmatch(team.lower()) else ""
        yield f"team {_shown(team)}: write {TEAM_RULE}{hint}"
    if not name:
        yield "no name"
    elif len(name) > NAME_MAX or name != plain(name) or "\n" in name or "\t" in name:
        yield f"name {_shown(name)}: write at most {NAME_MAX} letters, on one line"
    if not EMAIL.fullmatch(email) or email != plain(email):
        yield f"email {_shown(email)}: write one address, such as ada@example.org"


def _shown(text: str) -> str:
    line = one_line(text)
    return f'"{line[:SHOWN]}..."' if len(line) > SHOWN else f'"{line}"'
