# SPDX-License-Identifier: MIT
"""What is in a class's tables and in a student's lines, whatever the student is called or wrote."""

import csv
from pathlib import Path

import course_class
import pytest
from course_class import INCLUDED, SSTF, changed

from understudy_devices.base import sandbox
from understudy_devices.course import export
from understudy_devices.course.grade import Grader
from understudy_devices.course.report import classes
from understudy_devices.course.result import BROKEN, NoPoints
from understudy_devices.course.submission import Submission
from understudy_devices.native import registry

NESTED = """\
static int called(int (*function)(int))
{
	return function(1);
}

int nested(int by)
{
	int add(int number) { return number + by; }

	return called(add);
}
"""


@pytest.fixture
def of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Grader:
    monkeypatch.setattr(registry, "_added", dict[str, registry.Source]())
    course = course_class.course(tmp_path / "os")
    return Grader(course.assignment("seek-reduction"), course, vms=False)


@pytest.mark.parametrize("begin", ["=", " =", "\t=", "\n+", "  @", "-"])
def test_no_cell_is_a_formula(begin: str) -> None:
    text = classes.table([], [classes.Absent(f"{begin}1+1", "why")], {}, 10)
    (row,) = csv.DictReader(text.splitlines())
    assert row["student"].startswith("'")


def test_warnings_of_the_linker_have_no_paths(of: Grader) -> None:
    text = changed(SSTF, ((INCLUDED, INCLUDED + NESTED),))
    files = export.solution(of, "ada") | {"sstf.c": text}
    line = of.grade("ada", Submission(files)).lines[0]
    words = "\n".join(line.lines)
    assert "temporary.o: " in words
    assert "/cc" not in words
    assert "understudy" not in words


def test_a_busy_machine_costs_nothing(of: Grader, monkeypatch: pytest.MonkeyPatch) -> None:
    text = changed(SSTF, ((INCLUDED, f"/* never compiled before */\n{INCLUDED}"),))
    files = export.solution(of, "ada") | {"sstf.c": text}
    monkeypatch.setattr(sandbox, "LOOK_SECONDS", 0)
    monkeypatch.setattr(sandbox, "SECONDS", -1)
    line = of._line(of.assignment.checks[0], of.work("ada", Submission(files)))
    assert line.status == BROKEN
    assert "this machine is too busy; try again" in line.lines[0]


def test_an_assembler_file_that_is_too_large_names_the_limit(of: Grader) -> None:
    text = changed(SSTF, ((INCLUDED, f'asm(".fill 100000000");\n{INCLUDED}'),))
    found = of.grade("ada", Submission(export.solution(of, "ada") | {"sstf.c": text}))
    assert f"no file may have more than {sandbox.FILE_BYTES:,} bytes" in found.lines[0].lines[0]


def test_two_files_of_one_name(of: Grader) -> None:
    text = course_class.CLOOK.replace("my-clook", "my-sstf").encode()
    found = of.grade("ada", Submission(export.solution(of, "ada") | {"clook.c": text}))
    line = next(line for line in found.lines if line.name == "clook.c compiles")
    assert line.lines == ("clook.c calls itself my-sstf, as sstf.c does; change .name",)


def test_limits_are_those_of_the_assignment(of: Grader) -> None:
    allowance = of.work("ada", Submission()).allowance
    assert (allowance.run_seconds, allowance.left_seconds) == (30, 300)


def test_after_the_time_for_all_runs_no_run_is_tried(of: Grader) -> None:
    work = of.work("ada", Submission(export.solution(of, "ada")))
    work.allowance.left_seconds = 0
    rules = next(check for check in of.assignment.checks if check.name == "sstf.c keeps the rules")
    with pytest.raises(NoPoints, match="not tried: the runs of this submission have taken too"):
        rules.run(work)
