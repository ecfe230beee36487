# SPDX-License-Identifier: MIT
"""A mutant of a solution loses points, in a check of the file that was changed.

Mutants of drivers are in tests/vm/test_course_vm.py.
"""

import tomllib
from collections.abc import Callable
from pathlib import Path

import course_class
import pytest

from understudy_devices.course import export
from understudy_devices.course.grade import Grader
from understudy_devices.course.result import FAILED
from understudy_devices.course.submission import Submission
from understudy_devices.course.toml_text import toml
from understudy_devices.native import registry

pytestmark = pytest.mark.thorough

FORGETS = ("best->fifo_next; rq; rq", "best->fifo_next; rq && rq->id % 8; rq")

# For each file of an assignment: the changes, and what the lines that lose points have in their
# name (nothing: any line).
CODE = {
    ("seek-reduction", "clook.c", ("C-LOOK", "clook.c")): (
        ("rq->sector >= from", "rq->sector > from"),
        ("rq->sector < best->sector", "rq->sector > best->sector"),
        ("rq->sector < best->sector", "rq->sector <= best->sector"),
        ("mine->head = request_end(rq)", "mine->head = rq->sector"),
        (" ?: lowest(mine, 0)", " ?: mine->pending.oldest"),
    ),
    ("seek-reduction", "sstf.c", ("SSTF", "sstf.c")): (
        ("rq->sector > best->sector", "rq->sector < best->sector"),
        ("one == other && rq->sector > best->sector", "0"),
        ("one < other ||", "one <= other ||"),
        ("mine->head = request_end(best)", "mine->head = best->sector"),
        ("head - sector : sector - head", "0 : sector - head"),
        FORGETS,
    ),
    ("starvation", "patient.c", ()): (
        ("1000000000ull, 0,", "1000000000000ull, 0,"),
        ("<= now_ns)\n\t\treturn serve(mine, best)", "> now_ns)\n\t\treturn serve(mine, best)"),
        ("1000000000ull, 0,", "0, 0,"),
        ("one < other ||", "one > other ||"),
        FORGETS,
    ),
    ("beat-cats", "challenger.c", ()): (
        ("ns < best_ns", "ns > best_ns"),
        ("300000000ull, 0,", "0, 0,"),
        ("rq = nearest(mine, now_ns);", "rq = mine->pending.oldest;"),
        ("\t.needs_model = true,\n", ""),
    ),
    ("prefetching", "ahead.c", ()): (
        ("#define FIRST_PAGES 4", "#define FIRST_PAGES 1"),
        ("read->page.number != window->marker", "read->page.number + 1 != window->end"),
        ("2ull * window->pages", "1ull * window->pages"),
        ("return prefetch_within(read, from", "return prefetch_within(read, from + 1"),
        ("window->marker = from;", "window->marker = from + window->pages;"),
        ("!page || (window->file", "(window->file"),
    ),
    ("real-kernel", "elevator.c", ()): (
        ("rq->sector >= mine->head", "rq->sector > mine->head"),
        ("rq->sector > best->sector :", "rq->sector >= best->sector :"),
        ("mine->head = request_end(rq)", "mine->head = rq->sector"),
        ("mine->down = !mine->down;", "mine->down = mine->head % 2;"),
        ("mine->down = !mine->down;", "mine->head = 0; mine->down = false;"),
    ),
}


def change_id(value: object) -> str:
    return value[0] if isinstance(value, tuple) else str(value)


@pytest.mark.parametrize(
    ("where", "change"),
    [(where, change) for where, changes in CODE.items() for change in changes],
    ids=change_id,
)
def test_a_mutant_of_code_loses_points(
    where: tuple[str, str, tuple[str, ...]], change: tuple[str, str], tmp_path: Path
) -> None:
    name, file, lines = where
    of = grader(tmp_path, name)
    files = export.solution(of, "ada")
    files[file] = course_class.changed(files[file].decode(), (change,))
    lost = lost_by(of, files)
    assert not lines or all(any(part in name for part in lines) for name in lost), lost


# What takes a student a line in the starter file.
NAIVE = {
    "one page ahead": "return prefetch_within(read, read->page.number + 1, 1)",
    "the most pages at every read": "return prefetch_within(read, read->page.number + 1, MOST)",
    "the most pages at a miss": "return read->found != PAGE_ABSENT ? nothing :"
    " prefetch_within(read, read->page.number + 1, MOST - 1)",
}


@pytest.mark.parametrize("student", ["ada", "barbara", "edsger"])
@pytest.mark.parametrize("kind", NAIVE)
def test_a_naive_prefetcher_loses_a_third_of_the_points(
    kind: str, student: str, tmp_path: Path
) -> None:
    of = grader(tmp_path, "prefetching")
    line = NAIVE[kind].replace("MOST", "((struct ahead *)state)->most")
    files = export.solution(of, student)
    starter = (of.assignment.folder / "starter" / "ahead.c").read_text()
    files["ahead.c"] = course_class.changed(starter, (("return nothing", line),))
    registry.forget()
    found = of.grade(student, Submission(files))
    hidden = next(line for line in found.lines if line.hidden)
    assert hidden.score <= hidden.points / 3, found.as_json()
    assert found.score <= found.most * 2 / 3, found.as_json()


def grader(tmp_path: Path, name: str) -> Grader:
    course = course_class.course(tmp_path / "os")
    return Grader(course.assignment(name), course, vms=False)


def lost_by(of: Grader, files: dict[str, bytes]) -> set[str]:
    """Return the checks that a submission fails, of which there is at least one."""
    registry.forget()
    found = of.grade("ada", Submission(files))
    lost = {line.name for line in found.lines if line.status == FAILED}
    assert lost
    assert found.score < found.most
    return lost


def other_speed(drive: dict[str, dict[str, object]]) -> None:
    drive["rotation"]["period_ms"] = float(str(drive["rotation"]["period_ms"])) * 1.1


def no_arm(drive: dict[str, dict[str, object]]) -> None:
    drive["seek"]["ms"] = [0.1 for _ in list(drive["seek"]["ms"])]  # type: ignore[call-overload]


def slow_media(drive: dict[str, dict[str, object]]) -> None:
    rates = drive["throughput"]["mb_per_s"]
    drive["throughput"]["mb_per_s"] = [rate * 0.8 for rate in rates]  # type: ignore[attr-defined]


def longer_seeks(drive: dict[str, dict[str, object]]) -> None:
    drive["seek"]["ms"] = [ms + 1.5 for ms in list(drive["seek"]["ms"])]  # type: ignore[call-overload]


@pytest.mark.parametrize("change", [other_speed, no_arm, slow_media, longer_seeks])
def test_a_drive_that_is_a_little_different_loses_points(
    change: Callable[[dict[str, dict[str, object]]], None], tmp_path: Path
) -> None:
    of = grader(tmp_path, "read-drive")
    files = export.solution(of, "ada")
    drive = tomllib.loads(files["drive.toml"].decode())
    change(drive)
    lost_by(of, {"drive.toml": toml(drive).encode()})


def test_another_placement_loses_points(tmp_path: Path) -> None:
    """Any two VMs of different devices, exchanged: at least half of these miss a target."""
    of = grader(tmp_path, "consolidation")
    vms = tomllib.loads(export.solution(of, "ada")["placement.toml"].decode())["vms"]
    for one in ("fast", "slow"):
        everything = {"vms": dict.fromkeys(vms, one)}
        assert lost_by(of, {"placement.toml": toml(everything).encode()})
    for gone in vms:
        to = "slow" if vms[gone] != "slow" else "slow2"
        moved = {"vms": vms | {gone: to}}
        assert lost_by(of, {"placement.toml": toml(moved).encode()}), gone
