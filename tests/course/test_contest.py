# SPDX-License-Identifier: MIT
"""A contest in which a student hands in several: the best one counts, and harms nobody."""

import csv
import re
import signal
import subprocess
import time
import zipfile
from pathlib import Path

import course_class
import pytest
from click.testing import CliRunner, Result
from terminal import COMMAND

from understudy_devices.cli.main import main
from understudy_devices.course import export, files, inbox, league, library
from understudy_devices.course.grade import Grader

pytestmark = pytest.mark.slow

SPECIFICATION = """\
title = "Race"
summary = "a contest without a simulation"
points = 10
files = ["run.txt"]
[contest]
check = "the race"
[[checks]]
kind = "race"
name = "the race"
points = 10
"""
KIND = """\
from understudy_devices.course.check import Check
from understudy_devices.course.result import MISSED, Found


class Kind(Check):
    def files(self):
        return ("run.txt",)

    def run(self, work):
        ratio, valid, share = map(float, work.text("run.txt").split())
        figures = {"value": [ratio, ratio + 0.01], "valid": bool(valid)}
        lines = (f"ran {ratio}",) if valid else ("too late" + MISSED,)
        return Found(share, lines, figures=figures)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A course with a contest, and submissions of ada and bob."""
    course_class.course(tmp_path / "os")
    (tmp_path / "os" / "students.csv").write_text("student,pseudonym\nada,swift\nbob,slow\n")
    race = tmp_path / "os" / "assignments" / "race"
    texts = {"assignment.toml": SPECIFICATION, "text.md": "# Race\n", "checks/race.py": KIND}
    for name, text in (texts | {"solution/run.txt": "1 1 1"}).items():
        (race / name).parent.mkdir(parents=True, exist_ok=True)
        (race / name).write_text(text)
    (tmp_path / "inbox").mkdir()
    hand_in(tmp_path, "ada-1", "0.9 1 0.9")
    hand_in(tmp_path, "ada-2", "0.8 1 0.8")
    hand_in(tmp_path, "ada-10", "0.5 0 0")
    hand_in(tmp_path, "bob", "0.85 1 1", "bob")
    return tmp_path


def hand_in(folder: Path, named: str, text: str, student: str | None = "ada") -> None:
    """Write an archive, with the student's variant.toml if there is one."""
    course = library.course(folder / "os")
    with zipfile.ZipFile(folder / "inbox" / f"{named}.zip", "w") as archive:
        archive.writestr("run.txt", text)
        if student:
            place = folder / "exported" / student
            if not place.exists():
                export.export(Grader(course.assignment("race"), course), student, place)
            archive.write(place / "variant.toml", "variant.toml")


def words(folder: Path, out: str = "grades") -> list[str]:
    where = ("--course", folder / "os", "--out", folder / out)
    return [*map(str, ("course", "grade-all", "race", folder / "inbox", *where, "--jobs", "1"))]


def grade_all(folder: Path, out: str = "grades", code: int = 0) -> Result:
    done = CliRunner().invoke(main, words(folder, out))
    assert done.exit_code == code, done.output
    return done


def rows(folder: Path, out: str = "grades") -> dict[str, dict[str, str]]:
    text = (folder / out / "grades.csv").read_text()
    return {row["student"]: row for row in csv.DictReader(text.splitlines())}


def table(folder: Path, out: str = "grades") -> list[tuple[str, str]]:
    """Return the places and names of the league table, in order."""
    page = (folder / out / "league.html").read_text()
    return re.findall(r"<tr[^>]*><td class=number>(\d*)<td>([^<]*)<td", page)


def contents(folder: Path) -> dict[str, bytes]:
    found = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*")}
    return {name: found[name].read_bytes() for name in sorted(found) if found[name].is_file()}


def test_the_best_submission_counts(folder: Path) -> None:
    done = grade_all(folder)
    assert "ada: 8 of 10 points, 1 check not passed, the best of 3 submissions" in done.stdout
    assert "2 students, 4 graded now, 0 as before" in done.stdout
    found = rows(folder)
    assert (found["ada"]["score"], found["bob"]["score"]) == ("8", "10")
    note = "ada-2.zip is the best of 3 submissions: number 2 in the contest"
    assert found["ada"]["note"] == note
    assert found["bob"]["note"] == ""
    assert [*found] == ["ada", "bob"]
    assert table(folder) == [("1", "swift (2)"), ("2", "slow"), ("", "swift (1)")]
    page = (folder / "grades" / "league.html").read_text()
    assert page.index("Without a place") < page.index("swift (3)<td>too late")
    assert "ada" not in page
    report = (folder / "grades" / "students" / "ada" / "report.md").read_text()
    assert "ran 0.8" in report
    assert "number 2 in the contest" in report
    graded = [files.read_grade(folder / "grades" / "teacher" / "ada" / each) for each in "123"]
    assert [each and each.score for each in graded] == [9, 8, 0]
    before = contents(folder / "grades")
    assert "2 students, 0 graded now, 4 as before" in grade_all(folder).stdout
    assert contents(folder / "grades") == before


def test_a_killed_grader_goes_on(folder: Path) -> None:
    """What a killed command has graded is not graded again, and the results are the same bytes."""
    process = subprocess.Popen([COMMAND, *words(folder)], stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 300
    private = folder / "grades" / "teacher"
    while not list(private.glob("ada/*/grade.json")) and time.monotonic() < until:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    kept = f"finished grades are kept in {folder / 'grades'}"
    assert f"interrupted: {kept}; give the same command again to go on" in told
    done = [*private.glob("ada/*/grade.json"), *private.glob("bob/grade.json")]
    assert 1 <= len(done) < 4
    said = grade_all(folder).stdout
    assert f"2 students, {4 - len(done)} graded now, {len(done)} as before" in said
    grade_all(folder, "anew")
    assert contents(folder / "grades") == contents(folder / "anew")


def test_a_submission_is_removed(folder: Path) -> None:
    """The next best one counts, nothing is graded again, and the last one is as if alone."""
    grade_all(folder)
    (folder / "inbox" / "ada-2.zip").unlink()
    said = grade_all(folder).stdout
    assert "2 students, 0 graded now, 3 as before" in said
    assert "changed: ada: 8 -> 9 (+1), another submission: the race 8/10 -> 9/10" in said
    assert table(folder) == [("1", "slow"), ("2", "swift (1)")]
    lines = (folder / "grades" / "changes.txt").read_text().splitlines()
    assert [line.partition(",")[0] for line in lines] == ["# correction 1", "ada: 8 -> 9 (+1)"]
    (folder / "inbox" / "ada-10.zip").unlink()
    assert "2 students, 0 graded now, 2 as before" in grade_all(folder).stdout
    grade_all(folder, "anew")
    now = contents(folder / "grades")
    del now["changes.txt"]
    assert now == contents(folder / "anew")
    (folder / "inbox" / "ada-1.zip").unlink()
    assert "ada: the submission is gone; its grade is removed" in grade_all(folder).stdout
    assert {path.name for path in (folder / "grades").glob("*/*")} == {"bob"}


def test_several_submissions_follow_one(folder: Path) -> None:
    """The grade of the only submission counts when others come."""
    for name in ("ada-2", "ada-10"):
        (folder / "inbox" / f"{name}.zip").rename(folder / f"{name}.zip")
    grade_all(folder)
    for name in ("ada-2", "ada-10"):
        (folder / f"{name}.zip").rename(folder / "inbox" / f"{name}.zip")
    assert "2 students, 2 graded now, 2 as before" in grade_all(folder).stdout
    assert rows(folder)["ada"]["score"] == "8"
    now = contents(folder / "grades")
    del now["changes.txt"]
    grade_all(folder, "anew")
    assert now == contents(folder / "anew")


def test_a_correction_concerns_all_submissions(folder: Path) -> None:
    grade_all(folder)
    race = folder / "os" / "assignments" / "race"
    (race / "assignment.toml").write_text(SPECIFICATION.replace("points = 10", "points = 20"))
    said = grade_all(folder).stdout
    assert "2 students, 4 graded now, 0 as before" in said
    why = "the assignment or Understudy changed"
    assert f"changed: ada: 8 -> 16 (+8), {why}: the race 8/10 -> 16/20" in said
    assert f"changed: bob: 10 -> 20 (+10), {why}: the race 10/10 -> 20/20" in said


def test_a_stranger_harms_nobody(folder: Path) -> None:
    """Neither with ada's variant.toml under another name, nor under her name without it."""
    grade_all(folder)
    before = contents(folder / "grades" / "students")
    places = table(folder)
    hand_in(folder, "carl", "0.1 1 0")
    hand_in(folder, "bob-2", "0.1 1 0")
    hand_in(folder, "ADA", "0.1 1 0", None)
    said = grade_all(folder, code=1).stdout
    assert "carl: not graded: carl.zip has the variant.toml of ada; ask both" in said
    assert "bob-2: not graded: bob-2.zip has the variant.toml of ada; ask both" in said
    assert "ADA.zip: not graded: ADA.zip has no variant.toml of ada, which another sub" in said
    assert contents(folder / "grades" / "students") == before
    assert table(folder) == places
    found = {name: row["score"] for name, row in rows(folder).items()}
    assert found == {"ada": "8", "bob": "10", "ADA.zip": "", "bob-2": "", "carl": ""}
    hand_in(folder, "ada-3", "0.1 1 0", None)
    said = grade_all(folder, code=1).stdout
    assert "ada-3: note: ada-3 is not in students.csv" in said
    assert rows(folder)["ada"]["score"] == "8"


def test_the_grader_fails_at_one_of_several(folder: Path) -> None:
    """The others count; the next command grades that one again."""
    hand_in(folder, "ada-3", "no number")
    said = grade_all(folder, code=1).stdout
    assert "ada: the grader failed: the race: ValueError: " in said
    assert rows(folder)["ada"]["score"] == "8"
    assert "2 students, 1 graded now, 4 as before" in grade_all(folder, code=1).stdout


def test_whose_several_submissions_are(folder: Path) -> None:
    """A name with a number is another student's if students.csv has it; the rest is unclear."""
    course = library.course(folder / "os")
    grader = Grader(course.assignment("race"), course)
    found = inbox.read(grader, folder / "inbox")
    assert [path.name for path in found.submissions["ada"]] == [
        "ada-1.zip",
        "ada-2.zip",
        "ada-10.zip",
    ]
    assert (found.count, found.ungraded, found.notes) == (4, {}, {})
    for name in ("ada-1", "ada-2", "ada-10"):
        hand_in(folder, name, "1 1 1", None)
    assert inbox.read(grader, folder / "inbox").missing == ("ada",)
    for name in ("ada-1", "ada-2", "ada-10"):
        (folder / "inbox" / f"{name}.zip").unlink()
    for name in ("upload-1", "upload-2"):
        hand_in(folder, name, "1 1 1")
    assert inbox.read(grader, folder / "inbox").ungraded["ada"] == (
        "not graded: upload-1.zip and upload-2.zip are of one student; remove all but one, or "
        "name them ada-1, ada-2, ..., each with the variant.toml"
    )
    (folder / "os" / "students.csv").write_text("student\nada\nada-2\n")
    course = library.course(folder / "os")
    for path in (folder / "inbox").iterdir():
        path.unlink()
    for name in ("ada-1", "ada-2"):
        hand_in(folder, name, "1 1 1")
    found = inbox.read(Grader(course.assignment("race"), course), folder / "inbox")
    assert [path.name for path in found.submissions["ada"]] == ["ada-1.zip"]
    assert found.ungraded["ada-2"].startswith("not graded: ada-2.zip has the variant.toml of ada;")


def test_the_page_says_what_the_lines_are(folder: Path) -> None:
    grade_all(folder)
    assert league.SEVERAL in (folder / "grades" / "league.html").read_text()
