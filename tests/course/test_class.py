# SPDX-License-Identifier: MIT
"""A class with every kind of wrong submission: each is named, and costs nobody else anything."""

import csv
import ctypes
import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import course_class
import pytest
from click.testing import CliRunner, Result
from terminal import COMMAND

from understudy_devices.cli.main import main
from understudy_devices.course import files
from understudy_devices.course.grade import Grader
from understudy_devices.course.result import BROKEN, Grade

pytestmark = pytest.mark.slow

PR_SET_CHILD_SUBREAPER = 36
EVERY_KIND = len(course_class.CODE) + len(course_class.HANDED_IN) + len(course_class.SHELL) + 6


def understudy(*words: str | Path) -> Result:
    return CliRunner().invoke(main, list(map(str, words)))


def grade_all(os_course: Path, inbox: Path, out: Path, name: str = "seek-reduction") -> Result:
    where = ("--course", os_course, "--out", out, "--jobs", "2", "--no-vm")
    return understudy("course", "grade-all", name, inbox, *where)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def children() -> list[str]:
    """Return the running processes that this one has started or, as a subreaper, inherited."""
    lists = Path("/proc/self/task").glob("*/children")
    found = [process for each in lists for process in each.read_text().split()]
    states = {each: Path("/proc", each, "stat").read_text().rpartition(")")[2] for each in found}
    return [each for each in found if states[each].split()[0] != "Z"]


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[course_class.Student]]:
    """A class that has been graded: the folder with os, inbox and grades."""
    folder = tmp_path_factory.mktemp("class")
    temporary = tmp_path_factory.mktemp("temporary")
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    course = course_class.course(folder / "os")
    of = Grader(course.assignment("seek-reduction"), course)
    students = course_class.make(folder / "inbox", of, EVERY_KIND)
    before = children()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(temporary))
        patch.setattr(tempfile, "tempdir", None)
        done = grade_all(folder / "os", folder / "inbox", folder / "grades")
    assert done.exit_code == 1, done.output  # the twins
    assert children() == before
    assert not list(temporary.iterdir())
    return folder, students


def of_student(folder: Path, name: str) -> Grade:
    found = files.read_grade(folder / "grades" / "teacher" / files.folder_name(name))
    assert found, name
    return found


def test_each_wrong_kind_is_named_and_no_right_one_loses_a_point(
    graded: tuple[Path, list[course_class.Student]],
) -> None:
    folder, students = graded
    assert {student.kind for student in students} == {
        *("right", *course_class.CODE, *course_class.HANDED_IN)
    }
    for student in students:
        found = of_student(folder, student.name)
        lines = [line for check in found.lines for line in check.lines]
        assert not found.broken, lines
        if student.words:
            assert found.score < 98, student
            assert any(student.words in line for line in lines), (student, lines)
            assert all(line.partition("\n")[0] for line in lines)
        else:
            assert found.score == 100, (student, lines)


def test_the_class_has_its_tables(graded: tuple[Path, list[course_class.Student]]) -> None:
    folder, students = graded
    rows = list(csv.DictReader((folder / "grades" / "grades.csv").read_text().splitlines()))
    assert len(rows) == len(students) + 1
    assert [row["note"] for row in rows if not row["score"]] == [
        "not graded: Twin and twin.zip are of one student; remove all but one"
    ]
    assert all(not row["student"].startswith(("=", "-")) for row in rows)
    report = (folder / "grades" / "junit.xml").read_text()
    assert report.count("<testsuite ") == len(students)


def test_nothing_was_written_beside_the_results(
    graded: tuple[Path, list[course_class.Student]],
) -> None:
    folder, _ = graded
    assert {path.name for path in folder.iterdir()} == {"os", "inbox", "grades"}
    of_students = (folder / "grades" / "students").glob("*/*")
    assert {file.name for file in of_students} == {"report.md", "report.html", "results.json"}
    assert not list(folder.rglob("pwned"))
    assert not list(folder.rglob("*climbed*"))
    assert not Path("/tmp/climbed").exists()


def test_the_same_folder_gives_the_same_bytes_beside_a_busy_host(
    graded: tuple[Path, list[course_class.Student]],
) -> None:
    folder, _ = graded
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        again = grade_all(folder / "os", folder / "inbox", folder / "again")
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert again.exit_code == 1
    one, other = contents(folder / "grades"), contents(folder / "again")
    assert {name for name in one if one[name] != other.get(name)} == set()
    assert one.keys() == other.keys()


def test_a_second_time_nothing_is_graded(graded: tuple[Path, list[course_class.Student]]) -> None:
    folder, students = graded
    before = contents(folder / "grades")
    done = grade_all(folder / "os", folder / "inbox", folder / "grades")
    count = len(students)
    assert f"{count} students, 0 graded now, {count} as before" in done.stdout
    assert contents(folder / "grades") == before


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A course with its own assignment, and six submissions of it."""
    course_class.course(tmp_path / "os")
    mine = tmp_path / "os" / "assignments" / "rules"
    (mine / "solution").mkdir(parents=True)
    (mine / "solution" / "sstf.c").write_text(course_class.SSTF)
    (mine / "text.md").write_text("# Rules\n")
    (mine / "assignment.toml").write_text(
        'title = "Rules"\nsummary = "two checks"\npoints = 10\nfiles = ["sstf.c"]\n'
        '[[checks]]\nkind = "builds"\nname = "compiles"\npoints = 4\nfile = "sstf.c"\n'
        '[[checks]]\nkind = "contract"\nname = "rules"\npoints = 6\nfile = "sstf.c"\n'
    )
    (tmp_path / "inbox").mkdir()
    for number in range(6):
        text = course_class.SSTF.replace('"shortest seek', f'"{number}: shortest seek')
        (tmp_path / "inbox" / f"s{number}.c").write_text(text)
    for file in (tmp_path / "inbox").iterdir():
        place = tmp_path / "inbox" / file.stem
        place.mkdir()
        file.rename(place / "sstf.c")
    changes, _ = course_class.CODE["null"]
    wrong = course_class.changed(course_class.SSTF, changes)
    (tmp_path / "inbox" / "s5" / "sstf.c").write_bytes(wrong)
    return tmp_path


def scores(folder: Path) -> dict[str, float]:
    published = json.loads((folder / "grades" / "published.json").read_text())
    return {student: entry["score"] for student, entry in published.items()}


def test_a_correction_grades_what_changed_and_says_who_gained(small: Path) -> None:
    done = grade_all(small / "os", small / "inbox", small / "grades", "rules")
    assert "6 students, 6 graded now, 0 as before" in done.stdout, done.output
    assert scores(small) == {**{f"s{number}": 10 for number in range(5)}, "s5": 4}
    (small / "inbox" / "s5" / "sstf.c").write_text(course_class.SSTF)
    done = grade_all(small / "os", small / "inbox", small / "grades", "rules")
    assert "6 students, 1 graded now, 5 as before" in done.stdout
    assert "changed: s5: 4 -> 10 (+6), another submission: rules 0/6 -> 6/6" in done.stdout
    file = small / "os" / "assignments" / "rules" / "assignment.toml"
    file.write_text(file.read_text().replace("points = 4", "points = 3").replace("= 10", "= 9"))
    done = grade_all(small / "os", small / "inbox", small / "grades", "rules")
    assert "6 students, 6 graded now, 0 as before" in done.stdout
    why = "the assignment or Understudy changed"
    assert f"changed: s0: 10 -> 9 (-1), {why}: compiles 4/4 -> 3/3" in done.stdout
    lines = (small / "grades" / "changes.txt").read_text().splitlines()
    assert lines[0] == "# correction 1"
    assert lines[1].startswith("s5: 4 -> 10 (+6), another submission: ")
    assert lines[2] == "# correction 2"
    assert len(lines) == 3 + 6


def test_what_the_grader_failed_at_is_graded_anew(small: Path) -> None:
    """Other grades are kept, unless the teacher wants all anew."""
    grade_all(small / "os", small / "inbox", small / "grades", "rules")
    file = small / "grades" / "teacher" / "s1" / files.GRADE
    document = json.loads(file.read_text())
    document["checks"][1] |= {"status": BROKEN, "score": 0.0}
    file.write_text(json.dumps(document))
    done = grade_all(small / "os", small / "inbox", small / "grades", "rules")
    assert "6 students, 1 graded now, 5 as before" in done.stdout, done.output
    assert scores(small)["s1"] == 10
    where = ("--course", small / "os", "--out", small / "grades")
    done = understudy("course", "grade-all", "rules", small / "inbox", *where, "--no-vm", "--again")
    assert "6 students, 6 graded now, 0 as before" in done.stdout, done.output


def test_a_class_on_a_machine_that_cannot_grade(small: Path, tmp_path: Path) -> None:
    """What the machine lacks is in no grade, and nothing of it is kept."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "bwrap").symlink_to("/bin/false")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
        done = grade_all(small / "os", small / "inbox", small / "grades", "rules")
    assert done.exit_code == 1
    assert "understudy: the self-test failed: a stranger's scheduler needs" in done.stderr
    assert not (small / "grades" / "grades.csv").exists()
    done = grade_all(small / "os", small / "inbox", small / "grades", "rules")
    assert "6 students, 6 graded now, 0 as before" in done.stdout, done.output


def test_a_killed_grader_goes_on_and_grades_nothing_twice(small: Path) -> None:
    words = ("course", "grade-all", "rules", str(small / "inbox"), "--course", str(small / "os"))
    more = ("--out", str(small / "grades"), "--jobs", "1", "--no-vm")
    process = subprocess.Popen([COMMAND, *words, *more], stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 120
    first = small / "grades" / "teacher"
    while len(list(first.glob("*/grade.json"))) < 2 and time.monotonic() < until:
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    done = {file.parent.name: file.stat().st_mtime_ns for file in first.glob("*/grade.json")}
    assert 2 <= len(done) < 6
    again = grade_all(small / "os", small / "inbox", small / "grades", "rules")
    assert f"6 students, {6 - len(done)} graded now, {len(done)} as before" in again.stdout
    for name, written in done.items():
        assert (first / name / "grade.json").stat().st_mtime_ns == written
    assert len(scores(small)) == 6


def test_two_graders_do_not_share_a_folder(small: Path) -> None:
    (small / "grades").mkdir()
    with (small / "grades" / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = grade_all(small / "os", small / "inbox", small / "grades", "rules")
    assert done.exit_code == 2
    assert "another command is grading into" in done.stderr


def test_what_begins_with_a_dot_is_named(small: Path) -> None:
    (small / "inbox" / "s5").rename(small / "inbox" / ".s5")
    (small / "inbox" / ".DS_Store").write_text("")
    done = grade_all(small / "os", small / "inbox", small / "grades", "rules")
    assert done.exit_code == 1
    assert ".s5: not graded: its name begins with a dot; rename it" in done.stdout
    assert "DS_Store" not in done.output


def test_a_folder_without_submissions(small: Path) -> None:
    (small / "none").mkdir()
    for folder, words in (("none", "is empty"), ("nowhere", "No such file")):
        done = grade_all(small / "os", small / folder, small / "grades", "rules")
        assert done.exit_code == 2
        assert words in done.stderr
