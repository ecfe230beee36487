# SPDX-License-Identifier: MIT
"""Assignments that need a VM: drivers for cards, and a scheduler in a real kernel."""

import re
from pathlib import Path

import course_class
import pytest

from understudy_devices.course import card, export
from understudy_devices.course.grade import Grader
from understudy_devices.course.result import Grade
from understudy_devices.course.submission import Submission
from understudy_devices.course.work import Keys
from understudy_devices.native import registry


@pytest.fixture(autouse=True)
def no_scheduler_of_another_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_added", dict[str, registry.Source]())


def grader(folder: Path, name: str) -> Grader:
    course = course_class.course(folder / "os")
    return Grader(course.assignment(name), course)


def graded(of: Grader, student: str, files: dict[str, bytes]) -> Grade:
    registry.forget()
    return of.grade(student, Submission(files))


@pytest.mark.parametrize(
    "name", ["zach1-driver", pytest.param("copier-driver", marks=pytest.mark.slow)]
)
def test_a_driver(tmp_path: Path, name: str) -> None:
    """The reference driver scores all points, the starter what the text says."""
    of = grader(tmp_path, name)
    (file,) = of.assignment.files
    full = graded(of, "ada", export.solution(of, "ada"))
    assert (full.score, full.most) == (100, 100), full.as_json()
    export.export(of, "ada", tmp_path / "work")
    starter = graded(of, "ada", {file: (tmp_path / "work" / file).read_bytes()})
    assert starter.score == of.assignment.document.starter_points


@pytest.mark.parametrize("name", ["copier-driver", "zach1-driver"])
def test_somebody_elses_driver(tmp_path: Path, name: str) -> None:
    """It does not compile, and with the names changed, the card ignores it."""
    of = grader(tmp_path, name)
    (file,) = of.assignment.files
    last_year = graded(of, "ada", export.solution(of, "bob"))
    assert last_year.score == 0
    assert "does not build" in last_year.lines[0].lines[0]
    cards = (Keys.of(of.course.secret, name, each).public for each in ("ada", "bob"))
    kind = name.removesuffix("-driver")
    variants = [card.variant(kind, keys.child(f"card {kind}")) for keys in cards]
    mine, others = variants
    solved = export.solution(of, "ada")[file].decode()
    renamed = solved.replace(f"{mine.key:#010x}", f"{others.key:#010x}")
    copied = graded(of, "ada", {file: renamed.encode()})
    assert copied.score == 0
    assert "exercise failed" in "\n".join(copied.lines[0].lines)


@pytest.mark.parametrize(
    ("kind", "line", "finding"),
    [
        ("zach1", r"\tiowrite32\(0, zach1->registers.*\n", "interrupts left enabled"),
        pytest.param("copier", r"\tfree_irq\(.*\n", "", marks=pytest.mark.slow),
        pytest.param(
            "copier",
            r"\tiowrite32\(0, copier->registers.*\n",
            "interrupts left enabled",
            marks=pytest.mark.slow,
        ),
        ("zach1", r"(?<=_interrupts\(zach1\);\n)\tdma_free_coherent\(.*\n", ""),
    ],
)
def test_a_driver_without_a_line_loses_points(
    tmp_path: Path, kind: str, line: str, finding: str
) -> None:
    of = grader(tmp_path, f"{kind}-driver")
    (file,) = of.assignment.files
    text = export.solution(of, "ada")[file].decode()
    mutant, changes = re.subn(line, "", text)
    assert changes == 1
    grade = graded(of, "ada", {file: mutant.encode()})
    assert 0 < grade.score < 100
    assert any(finding in words for each in grade.lines for words in each.lines)


def test_a_scheduler_in_a_real_kernel(tmp_path: Path) -> None:
    of = grader(tmp_path, "real-kernel")
    full = graded(of, "ada", export.solution(of, "ada"))
    assert (full.score, full.most) == (100, 100), full.as_json()
    starter = of.assignment.folder / "starter" / "elevator.c"
    found = graded(of, "ada", {"elevator.c": starter.read_bytes()})
    assert found.score == of.assignment.document.starter_points
