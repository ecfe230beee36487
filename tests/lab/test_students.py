# SPDX-License-Identifier: MIT
"""students.csv: all mistakes at once, each with its line."""

from pathlib import Path

import pytest

from understudy_devices.base.errors import UserError
from understudy_devices.lab import students
from understudy_devices.lab.students import Student

HEADING = "team,name,email\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "students.csv"


def refusal(file: Path, content: str | bytes) -> str:
    """Return the message of a file that is refused."""
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(UserError) as error:
        students.teams(file)
    return str(error.value)


def test_teams_have_members_in_any_order_of_columns(file: Path) -> None:
    file.write_text("﻿email;name;team\n".replace(";", ",") + "a@b.c,Ada,t1\n\nb@b.c, Bob ,t1\n")
    assert students.teams(file) == {"t1": [Student("Ada", "a@b.c"), Student("Bob", "b@b.c")]}


def test_one_wrong_line_of_500_is_named(file: Path) -> None:
    lines = [f"team{n},Student {n},s{n}@example.org\n" for n in range(500)]
    lines[250] = "Team 250,,nobody\n"
    words = refusal(file, HEADING + "".join(lines)).splitlines()
    assert words[0].endswith("students.csv: 3 mistakes, so nothing was made:")
    assert words[1:] == [
        '  line 252: team "Team 250": write 1 to 32 of a-z, 0-9 and -, no - at either end',
        "  line 252: no name",
        '  line 252: email "nobody": write one address, such as ada@example.org',
    ]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("Team07,Ada,a@b.c", 'line 2: team "Team07": write 1 to 32'),
        ("Team07,Ada,a@b.c", "did you mean team07?"),
        ("../up,Ada,a@b.c", 'team "../up"'),
        ("-t,Ada,a@b.c", 'team "-t"'),
        (f"{'t' * 33},Ada,a@b.c", "write 1 to 32"),
        ("t1,A\x1b[2Jda,a@b.c", 'name "A?[2Jda"'),
        (f"t1,{'a' * 101},a@b.c", "at most 100 letters"),
        ("t1,Ada,a@b.c d@e.f", "write one address"),
        ("t1,Ada", "2 fields, and there have to be 3"),
        ("t1,Ada,a@b.c,x", "4 fields, and there have to be 3"),
        ("t1,Ada,a@b.c\nt2,Bob,A@b.c", 'line 3: "A@b.c" is also on line 2'),
        ("t1,Ada,a@b.c\nt1,ada,d@b.c", 'line 3: "ada" is in the team also on line 2'),
    ],
)
def test_a_wrong_line_is_named(file: Path, line: str, words: str) -> None:
    assert words in refusal(file, f"{HEADING}{line}\n")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "the first line has to be team,name,email: the file is empty"),
        ("name,email\n", "the first line has to be team,name,email"),
        ("team;name;email\n", "the first line has to be team,name,email"),
        (HEADING, "it has no students"),
        (HEADING.encode("utf-16"), "not UTF-8"),
        (HEADING + '"t1,Ada,a@b.c\n', "not a line of CSV"),
    ],
)
def test_a_file_that_is_no_list_of_students_is_refused(
    file: Path, content: str | bytes, words: str
) -> None:
    assert words in refusal(file, content)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none\.csv: No such file"):
        students.teams(tmp_path / "none.csv")
