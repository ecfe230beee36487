# SPDX-License-Identifier: MIT
"""Whose submission is whose, with and without variant.toml and students.csv."""

import csv
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import course_class
import pytest
from click.testing import CliRunner, Result

from understudy_devices.base.errors import UserError
from understudy_devices.cli.main import main
from understudy_devices.course import export, files, inbox, library
from understudy_devices.course.grade import Grader
from understudy_devices.course.report import classes

NAME = "consolidation"  # it is graded in a moment


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A course with three students, and an empty inbox."""
    course_class.course(tmp_path / "os")
    listed = "student,pseudonym\nada,\nbob,\nÜbel Öz,\n"
    (tmp_path / "os" / "students.csv").write_text(listed)
    (tmp_path / "inbox").mkdir()
    return tmp_path


def grader(folder: Path) -> Grader:
    course = library.course(folder / "os")
    return Grader(course.assignment(NAME), course, vms=False)


def hand_in(folder: Path, named: str, student: str) -> None:
    """Hand in a student's whole exported folder, under a name."""
    export.export(grader(folder), student, folder / "inbox" / named)


def found(folder: Path) -> inbox.Inbox:
    return inbox.read(grader(folder), folder / "inbox")


def understudy(*words: str | Path) -> Result:
    return CliRunner().invoke(main, list(map(str, words)))


def grade_all(folder: Path) -> Result:
    where = ("--course", folder / "os", "--out", folder / "grades", "--no-vm")
    return understudy("course", "grade-all", NAME, folder / "inbox", *where)


def test_the_variant_says_who_it_is(folder: Path) -> None:
    hand_in(folder, "12345_upload", "ada")
    got = found(folder)
    assert [*got.submissions] == ["ada"]
    assert got.notes["ada"] == ("handed in as 12345_upload; its variant.toml is that of ada",)
    assert got.missing == ("bob", "Übel Öz")


def test_a_name_outside_ascii_comes_back(folder: Path) -> None:
    """An exported folder's name is readable, and means its student by itself, too."""
    name = files.folder_name("Übel Öz")
    assert name.startswith("Ubel-Oz-")
    hand_in(folder, name, "übel öz")
    for _ in range(2):
        got = found(folder)
        assert ([*got.submissions], got.notes) == (["Übel Öz"], {})
        (folder / "inbox" / name / "variant.toml").unlink(missing_ok=True)


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("ada@example.org", "ada@example.org"),
        ("Łukasz Großmann", "Lukasz-Grossmann-"),
        ("../../etc", "etc-"),
        ("李明", "student-"),
        ("-rf", "rf-"),
    ],
)
def test_folder_names(name: str, begins: str) -> None:
    made = files.folder_name(name)
    assert made.startswith(begins)
    assert made.isascii()
    assert files.SAFE.fullmatch(made)
    assert name == begins or made != files.folder_name(f"{name} ")


def test_a_name_has_the_spelling_of_the_list(folder: Path) -> None:
    """With variant.toml and without, in either case: one row, one folder, nothing removed."""
    hand_in(folder, "ÜBEL ÖZ", "übel öz")
    assert grade_all(folder).exit_code == 0
    first = (folder / "grades" / "grades.csv").read_bytes()
    assert [row["student"] for row in table(folder)] == ["Übel Öz", "ada", "bob"]
    (folder / "inbox" / "ÜBEL ÖZ" / "variant.toml").unlink()
    (folder / "inbox" / "ÜBEL ÖZ").rename(folder / "inbox" / "übel öz")
    again = grade_all(folder).stdout
    assert "removed" not in again
    assert (folder / "grades" / "grades.csv").read_bytes() == first
    assert [each.name for each in (folder / "grades" / "students").iterdir()] == [
        files.folder_name("Übel Öz")
    ]


def test_the_list_gets_another_spelling(folder: Path) -> None:
    hand_in(folder, "ada", "ada")
    grade_all(folder)
    listed = folder / "os" / "students.csv"
    listed.write_text(listed.read_text().replace("ada,", "Ada,"))
    assert "removed" not in grade_all(folder).stdout
    assert [each.name for each in (folder / "grades" / "students").iterdir()] == ["Ada"]


def test_a_neighbours_variant_is_not_graded(folder: Path) -> None:
    """Nobody loses a grade because somebody else hands in for them."""
    for named, student in (("ada", "ada"), ("bob", "ada"), ("carl", "ada")):
        hand_in(folder, named, student)
    got = found(folder)
    assert [*got.submissions] == ["ada"]
    assert got.ungraded.keys() == {"bob", "carl"}
    assert got.ungraded["bob"].startswith("not graded: bob has the variant.toml of ada; ")


def test_without_a_contest_a_student_hands_in_one(folder: Path) -> None:
    for named in ("ada-1", "ada-2"):
        hand_in(folder, named, "ada")
    got = found(folder)
    assert got.submissions == {}
    assert got.ungraded == {
        "ada": "not graded: ada-1 and ada-2 are of one student; remove all but one"
    }


def test_a_changed_variant_is_named(folder: Path) -> None:
    hand_in(folder, "ada", "bob")
    file = folder / "inbox" / "ada" / "variant.toml"
    file.write_text(file.read_text().replace("bob", "ada"))
    (note,) = found(folder).notes["ada"]
    assert note.startswith("variant.toml: its key is not that of ada for consolidation")
    assert note.endswith("graded as ada's")


def test_a_class_beside_students_csv(folder: Path) -> None:
    """Who is not listed and who has handed in nothing is said, in the table too."""
    for named in ("ada", "eve"):
        hand_in(folder, named, named)
    done = grade_all(folder)
    assert done.exit_code == 0, done.output
    assert "eve: note: eve is not in students.csv" in done.stdout
    assert "bob: nothing handed in" in done.stdout
    assert "4 students, 2 graded now, 0 as before, 2 handed in nothing" in done.stdout
    rows = {row["student"]: row for row in table(folder)}
    assert (rows["bob"]["score"], rows["bob"]["of"]) == ("0", "100")
    assert rows["bob"]["note"] == "nothing handed in"
    assert rows["bob"]["pseudonym"]
    assert rows["eve"]["note"] == "eve is not in students.csv"
    assert rows["ada"]["note"] == ""


def table(folder: Path) -> Sequence[dict[str, str]]:
    return list(csv.DictReader((folder / "grades" / "grades.csv").read_text().splitlines()))


def test_a_removed_submission_is_mentioned(folder: Path) -> None:
    for named in ("ada", "bob"):
        hand_in(folder, named, named)
    assert "removed" not in grade_all(folder).stdout
    (folder / "inbox" / "bob").rename(folder / "bob")
    assert "bob: the submission is gone; its grade is removed" in grade_all(folder).stdout
    assert "removed" not in grade_all(folder).stdout


def test_one_students_folder_is_no_class(folder: Path) -> None:
    hand_in(folder, "ada", "ada")
    with pytest.raises(UserError, match=r"has assignment\.toml, so it is one student's submission"):
        inbox.read(grader(folder), folder / "inbox" / "ada")


def on_gradescope(folder: Path, variant_of: str | None, *addresses: str) -> tuple[str, str, str]:
    """Return the score, the student's output and the teacher's notes of a solution."""
    shutil.rmtree(folder / "work", ignore_errors=True)
    export.export(grader(folder), variant_of or "", folder / "work")
    solved = export.solution(grader(folder), variant_of or addresses[0])
    for name, content in solved.items():
        (folder / "work" / name).write_bytes(content)
    if variant_of is None:
        (folder / "work" / "variant.toml").unlink()
    said = {
        "created_at": "2026-11-10T12:00:00+00:00",
        "users": [{"email": each} for each in addresses],
    }
    (folder / "said.json").write_text(json.dumps(said))
    where = ("--course", folder / "os", "--metadata", folder / "said.json")
    place = folder / "results"
    done = understudy("course", "grade", NAME, folder / "work", *where, "--out", place, "--no-vm")
    assert done.exit_code == 0, done.output
    output = json.loads((place / "results.json").read_text())["output"]
    return done.stdout.splitlines()[0], output, done.output


def test_an_autograder_for_names_without_addresses(folder: Path) -> None:
    (folder / "os" / "students.csv").write_text("student,pseudonym\nada,\nbob,\nc@uni.example,\n")
    where = ("--course", folder / "os")
    for host, noted in (("gradescope", True), ("autolab", False)):
        done = understudy(
            "course", "autograder", NAME, "--for", host, "--to", folder / host, *where
        )
        assert done.exit_code == 0, done.output
        words = "note: students.csv: ada and 1 more without an e-mail address"
        assert (words in done.stderr) is noted


def test_an_address_beside_a_list_of_names(folder: Path) -> None:
    """The variant of the variant.toml counts, and the teacher reads why."""
    score, output, notes = on_gradescope(folder, "übel öz", "ubel@uni.example")
    assert score.endswith(": 100 of 100 points")
    assert output.splitlines() == ["100 of 100 points"]
    assert "note: handed in by ubel@uni.example; graded as Übel Öz, whose variant.toml" in notes
    assert "note: ubel@uni.example is not in students.csv" in notes


def test_an_address_beside_a_list_of_names_without_a_variant(folder: Path) -> None:
    _, output, notes = on_gradescope(folder, None, "ubel@uni.example")
    words = "graded with the variant of ubel@uni.example, who is not on your teacher's list"
    assert words in output
    assert words in notes


@pytest.mark.parametrize("listed", [True, False])
def test_a_listed_address_counts(folder: Path, listed: bool) -> None:
    """With its own variant.toml or without; so does any address if nobody is listed."""
    names = "ubel@uni.example,\n" if listed else ""
    (folder / "os" / "students.csv").write_text(f"student,pseudonym\n{names}")
    for variant in ("ubel@uni.example", None):
        score, output, notes = on_gradescope(folder, variant, "Ubel@uni.example")
        assert score.endswith(": 100 of 100 points")
        assert output.splitlines() == ["100 of 100 points"]
        assert "note: " not in notes


def test_a_listed_address_with_anothers_variant(folder: Path) -> None:
    """The student reads why the points are missing."""
    with (folder / "os" / "students.csv").open("a") as listed:
        listed.write("ubel@uni.example,\n")
    score, output, notes = on_gradescope(folder, "ada", "ubel@uni.example")
    words = "the variant.toml is that of ada; graded with the variant of ubel@uni.example"
    assert not score.endswith(": 100 of 100 points")
    assert words in output
    assert f"note: {words}" in notes


@pytest.mark.parametrize("listed", ["ada@x.example+bob@x.example", "bob@x.example+ada@x.example"])
def test_a_group(folder: Path, listed: str) -> None:
    """Its line counts, in any order; a member's own variant.toml is another."""
    people = ("bob@x.example", "Ada@x.example")
    score, output, notes = on_gradescope(folder, "ada", *people)
    assert score.endswith(": 100 of 100 points")
    assert "graded as ada, whose variant.toml" in notes
    with (folder / "os" / "students.csv").open("a") as file:
        file.write(f"{listed},\n")
    for variant, told in ((listed, False), ("ada", True)):
        score, output, notes = on_gradescope(folder, variant, *people)
        assert score.endswith(": 100 of 100 points") != told
        assert (
            f"the variant.toml is that of ada; graded with the variant of {listed}" in output
        ) is (told)


def test_no_course_no_grade(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a course everybody would have another variant; an export without one has a key."""
    hand_in(folder, "ada", "ada")
    monkeypatch.chdir(tmp_path)
    for words in (("grade", NAME, "inbox/ada"), ("grade-all", NAME, "inbox")):
        done = understudy("course", *words)
        assert done.exit_code == 2
        assert done.stderr.startswith("understudy: no course found: --course FOLDER names it")
    assert understudy("course", "export", NAME, "--to", "mine").exit_code == 0
    assert understudy("course", "grade", NAME, "mine").exit_code == 0


def test_a_student_who_is_not_listed_is_named(folder: Path) -> None:
    place = ("--course", folder / "os")
    for words in (
        ("export", NAME, "--student", "eve", "--to", folder / "inbox" / "eve"),
        ("solution", NAME, "--student", "eve", "--to", folder / "solved"),
        ("grade", NAME, folder / "inbox" / "eve"),
    ):
        done = understudy("course", *words, *place)
        assert done.exit_code == 0, done.output
        assert "note: eve is not in students.csv" in done.stderr


def test_everybody_gets_a_folder_once(folder: Path) -> None:
    words = ("course", "export", NAME, "--all", "--to", folder / "out", "--course", folder / "os")
    first = understudy(*words)
    lines = first.stderr.splitlines()
    assert [line.rpartition("/")[2] for line in lines] == [
        "ada for ada",
        "bob for bob",
        f"{files.folder_name('Übel Öz')} for Übel Öz",
    ]
    (folder / "out" / "ada" / "placement.toml").write_text("mine")
    with (folder / "os" / "students.csv").open("a") as listed:
        listed.write("dora,\n")
    again = understudy(*words)
    assert again.exit_code == 0
    assert again.stderr.count("kept ") == 3
    assert again.stderr.count("wrote ") == 1
    assert (folder / "out" / "ada" / "placement.toml").read_text() == "mine"


def test_a_submission_that_is_not_there_is_one_line(folder: Path) -> None:
    done = understudy("course", "grade", NAME, folder / "none", "--course", folder / "os")
    assert done.exit_code == 2
    (line,) = done.stderr.splitlines()
    assert line.endswith("none: No such file or directory: name a submission")


def test_absent_students_have_no_formula() -> None:
    text = classes.table([], [classes.Absent("=1", "nothing", zero=True)], {}, 10)
    assert text.splitlines()[1] == "'=1,,0,10,nothing"


def test_no_two_students_share_a_folder() -> None:
    name = files.folder_name("Jörg Öz")
    assert name.startswith("Jorg-Oz-")
    assert files.folder_name(name) != name
    assert files.folder_name("ada-1") == "ada-1"
