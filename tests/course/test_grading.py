# SPDX-License-Identifier: MIT
"""A student's way: export, write, check, hand in, be graded."""

import html
import json
import re
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path

import course_class
import pytest
from click.testing import CliRunner, Result
from course_class import CLOOK, CODE, SSTF, changed
from places import CHECKOUT

from understudy_devices.ask import self_test
from understudy_devices.base import sandbox
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.cli.main import main
from understudy_devices.course import drive, export, library, schedule
from understudy_devices.course.checks import measure
from understudy_devices.course.draws import Draws
from understudy_devices.course.grade import Grader
from understudy_devices.course.report import student
from understudy_devices.course.result import Grade
from understudy_devices.course.submission import Submission
from understudy_devices.measure import comparison
from understudy_devices.native import registry, worker

ASSIGNMENTS = CHECKOUT / "assignments"
QUICK = (
    *("seek-reduction", "beat-cats", "starvation", "prefetching"),
    *("read-drive", "consolidation"),
)


@pytest.fixture(autouse=True)
def no_scheduler_of_another_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_added", dict[str, registry.Source]())


@pytest.fixture
def course(tmp_path: Path) -> library.Course:
    return course_class.course(tmp_path / "os")


def grader(course: library.Course, name: str) -> Grader:
    return Grader(course.assignment(name), course, vms=False)


def graded(of: Grader, student: str, files: dict[str, bytes]) -> Grade:
    registry.forget()
    return of.grade(student, Submission(files))


def understudy(*words: str | Path) -> Result:
    return CliRunner().invoke(main, list(map(str, words)))


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize("student", ["ada", "grace"])
def test_the_solution_scores_all_points_and_the_starter_what_the_text_says(
    course: library.Course, name: str, student: str
) -> None:
    of = grader(course, name)
    full = graded(of, student, export.solution(of, student))
    assert (full.score, full.most) == (100, 100), full.as_json()
    folder = of.assignment.folder / "starter"
    starter = graded(of, student, {file.name: file.read_bytes() for file in folder.iterdir()})
    assert starter.score == of.assignment.document.starter_points


def test_an_assignment_is_tried_with_several_students(tmp_path: Path) -> None:
    """The second one asks for more than the drawn disks give."""
    folder = course_class.course(tmp_path / "os").folder
    assert folder
    (folder / library.STUDENTS).write_text("student,pseudonym\nAda,\n")
    words = ("course", "try", "starvation", "--course", folder, "--students", 2)
    done = understudy(*map(str, words))
    assert done.exit_code == 0, done.output
    assert "2 variants: the solution scores all points" in done.stdout
    mine = folder / library.ASSIGNMENTS / "strict"
    shutil.copytree(ASSIGNMENTS / "starvation", mine)
    file = mine / "assignment.toml"
    text = file.read_text()
    file.write_text(re.sub(r"at_most = .*", "at_most = 0.001", text, count=1))
    done = understudy("course", "try", "strict", "--course", folder, "--students", "2")
    assert done.exit_code == 1
    for name in ("Ada", "student 2"):
        assert f"{name}: the solution scores " in done.stdout
    assert "expected at most 0.001" in done.stdout


def test_the_keys_of_each_kind_are_explained() -> None:
    kinds = understudy("course", "kinds").stdout.split("\n")
    assert len(kinds) > 8
    for name in (line.split()[0] for line in kinds if line):
        assert "points: a number from 0 to 10000" in understudy("course", "kinds", name).stdout
    text = understudy("course", "kinds", "answers").stdout
    assert "    tolerance_percent: a number from 0 to 50, default 1.0" in text
    assert "optional. From this ratio on" in understudy("course", "kinds", "measure").stdout
    assert 'did you mean "order"' in understudy("course", "kinds", "ordr").output


def test_a_wrong_order_is_drawn(course: library.Course) -> None:
    of = grader(course, "seek-reduction")
    files = export.solution(of, "ada") | {"sstf.c": CLOOK.replace("my-clook", "m").encode()}
    line = next(line for line in graded(of, "ada", files).lines if line.name == "SSTF's order")
    text = "\n".join(line.lines)
    for words in ("first wrong choice, in list", "expected: request", "seen: request", "why: SSTF"):
        assert words in text
    assert "of two requests at the same distance" not in text
    (picture,) = line.pictures
    assert picture.svg.startswith("<svg")
    assert 'viewBox="0 0 750 ' in picture.svg  # or a narrow page would cut it off
    assert "expected" in picture.svg
    assert picture.text.count("E") >= 1


def test_a_wrong_tie_says_what_decides_it(course: library.Course) -> None:
    of = grader(course, "seek-reduction")
    code = SSTF.replace("rq->sector > best->sector", "rq->sector < best->sector").encode()
    found = graded(of, "ada", export.solution(of, "ada") | {"sstf.c": code})
    (line,) = (line for line in found.lines if line.name == "SSTF's ties")
    assert "; of two requests at the same distance the higher one goes first" in line.lines[-1]
    checked = student.markdown(found, student.LINES)
    assert "(o: served, ?: pending, H: head, E: expected, S: seen)" in checked.replace("\\", "")


def test_numbers_of_pending_requests_do_not_overlap() -> None:
    """Requests at one place share a text; crowded texts go onto other levels."""
    places = [number * 2000 for number in range(40)]
    waiting = [(number, sector) for number, sector in enumerate([*places, *places[:5]], 1)]
    labels = list(schedule._labels(waiting))
    numbers = [int(each) for _, _, words in labels for each in words.split(", ")]
    assert sorted(numbers) == list(range(1, 46))
    assert any("," in words for _, _, words in labels)
    assert max(level for _, level, _ in labels) >= 2
    for number, (x, level, words) in enumerate(labels):
        for other_x, other_level, _ in labels[number + 1 :]:
            assert other_level != level or other_x >= x + schedule.LETTER * len(words)


def test_a_throughput_is_told_the_right_way_round(course: library.Course) -> None:
    """The bound is on reference / student, but people read student / reference."""
    (check, *_) = (
        each for each in course.assignment("prefetching").checks if isinstance(each, measure.Kind)
    )
    words = check._words(check.measure, comparison.estimate([1.99, 2.01] * 4), 1.25)
    assert ", as a multiple of doubling's: 0.500 ± 0.00" in words
    assert words.endswith("expected at least 0.8")
    words = check._words("mean_response_ms", comparison.estimate([2.0, 2.0]), 1.25)
    assert words.endswith("as a multiple of doubling's: 2.000 ± 0.000, expected at most 1.25")


def test_a_report_fits_a_narrow_page(course: library.Course) -> None:
    of = grader(course, "consolidation")
    page = student.html(graded(of, "ada", {"placement.toml": b"[vms"}), student.LINES)
    assert '<meta name="viewport" content="width=device-width' in page
    assert "pre-wrap" in page


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("\ufeffstudent;pseudonym\nada;\n", "its columns are separated by semicolons"),
        ("student\tpseudonym\nada\t\n", "its columns are separated by tabs"),
        ("ada,\nbob,\n", "the first line has to be student,pseudonym; ada,"),
    ],
)
def test_students_csv_with_another_separator(tmp_path: Path, text: str, words: str) -> None:
    course_class.course(tmp_path)
    (tmp_path / "students.csv").write_text(text, encoding="utf-8")
    done = understudy("course", "export", "beat-cats", "--all", "--to", "x", "--course", tmp_path)
    assert done.exit_code == 2
    assert words in done.stderr


def test_students_csv_in_latin_1(tmp_path: Path) -> None:
    course_class.course(tmp_path)
    (tmp_path / "students.csv").write_bytes("student,pseudonym\nJörg,\n".encode("latin-1"))
    done = understudy("course", "export", "beat-cats", "--all", "--to", "x", "--course", tmp_path)
    assert done.exit_code == 2
    assert done.stderr.strip().endswith("students.csv: is not UTF-8: save it as UTF-8")


def test_a_copy_says_where_it_has_to_be(tmp_path: Path) -> None:
    course_class.course(tmp_path / "os")
    where = ("--course", tmp_path / "os")
    copied = understudy("course", "copy", "beat-cats", "--to", tmp_path / "mine", *where)
    assert f"has to be in {tmp_path}/os/assignments, under a name of your choice" in copied.stderr
    here = tmp_path / "os" / "assignments" / "mine"
    copied = understudy("course", "copy", "beat-cats", "--to", here, *where)
    command = copied.stderr.strip().partition("; understudy ")[2].removesuffix(" checks it")
    assert understudy(*command.split()).exit_code == 0, command


def test_neighbours_have_other_disks_and_answers(course: library.Course) -> None:
    of = grader(course, "seek-reduction")
    hers, his = (export.solution(of, name)["answers.toml"] for name in ("ada", "bob"))
    found = graded(of, "ada", {"answers.toml": his})
    line = next(line for line in found.lines if line.name == "the questions")
    assert line.score == 0
    assert hers != his


def test_draws_repeat_and_differ() -> None:
    draws = Draws.of(b"secret", "a")
    assert draws.below("x", 10**9) == Draws.of(b"secret", "a").below("x", 10**9)
    others = (draws.child("b"), Draws.of(b"other", "a"), Draws.of(b"secret", "b"))
    assert len({each.below("x", 10**12) for each in (draws, *others)}) == 4
    items = list(range(50))
    assert sorted(draws.shuffled("x", items)) == items != draws.shuffled("x", items)


def test_every_drawn_disk_is_a_profile() -> None:
    names = set()
    for number in range(100):
        draws = Draws(number.to_bytes(4, "big"))
        text = drive.text(draws, small=number % 2 == 0, cache=number % 3 == 0)
        names.add(drive.read(text, "drawn").summary)
    assert len(names) > 95


def test_from_export_to_grade(
    course: library.Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert course.folder
    work = tmp_path / "elsewhere" / "work"
    place = ("--course", course.folder)
    done = understudy(
        "course", "export", "seek-reduction", "--to", work, "--student", "ada", *place
    )
    assert done.exit_code == 0, done.output
    names = {file.name for file in work.iterdir()}
    assert names == {
        *("assignment.toml", "variant.toml", "text.md", "disk.toml", "headers", "docs"),
        *("sstf.c", "clook.c", "answers.toml"),
    }
    everything = "".join(file.read_text() for file in work.rglob("*") if file.is_file())
    assert course.secret.hex() not in everything
    assert 'other requests"' not in (work / "assignment.toml").read_text()
    assert Grader(course.assignment("seek-reduction"), course).student_of(work) == "ada"
    monkeypatch.chdir(work)
    checked = understudy("course", "check")
    assert checked.exit_code == 0, checked.output
    assert "20 of 75 points" in checked.stdout
    solved = understudy(
        "course",
        "solution",
        "seek-reduction",
        "--to",
        tmp_path / "solved",
        "--student",
        "ada",
        *place,
    )
    assert solved.exit_code == 0, solved.output
    shutil.copytree(tmp_path / "solved", work, dirs_exist_ok=True)
    assert "75 of 75 points" in understudy("course", "check").stdout
    out = tmp_path / "report"
    done = understudy(
        "course",
        "grade",
        "seek-reduction",
        work,
        "--student",
        "ada",
        *place,
        "--out",
        out,
        "--json",
    )
    assert json.loads(done.stdout)["score"] == 100
    assert {file.relative_to(out).as_posix() for file in out.rglob("*.*")} == {
        *("report.md", "report.html", "results.json"),
        *("teacher/report.md", "teacher/report.html", "teacher/junit.xml", "teacher/grade.json"),
    }
    hidden = [each for each in json.loads(done.stdout)["checks"] if each["hidden"]]
    told = [line for check in hidden for line in check["lines"]]
    assert told
    for name in ("report.md", "report.html", "results.json"):
        text = html.unescape((out / name).read_text())
        assert not [line for line in told if line in text or json.dumps(line)[1:-1] in text], name
        assert "a hidden check; your teacher decides" in text
    teacher = html.unescape((out / "teacher" / "report.html").read_text())
    assert all(line in teacher for line in told)


@pytest.mark.parametrize("name", sorted(folder.name for folder in ASSIGNMENTS.iterdir()))
def test_what_an_export_names_is_in_it(name: str, tmp_path: Path) -> None:
    """Its texts name headers and pages; a student may have nothing but a wheel and the folder."""
    course = library.Course(None, "", library.PUBLIC_SECRET)
    export.export(grader(course, name), "ada", tmp_path / "work")
    work = tmp_path / "work"
    files = [file for file in work.rglob("*") if file.suffix in (".md", ".c", ".toml")]
    texts = [file.read_text() for file in files if "docs" not in file.parts[len(work.parts) :]]
    named = re.findall(r"\b(?:headers|docs)/[\w/-]+\.\w+", "\n".join(texts))
    page = (work / "docs" / "course-student.md").read_text()
    linked = re.findall(r"\]\(([\w/-]+\.md)", page)
    assert linked
    for place in (*named, *(f"docs/{each}" for each in linked)):
        assert (work / place).is_file(), place
    for file in work.glob("*.c"):
        for header in re.findall(r'#include "../(\S+)"', file.read_text()):
            assert (work / "headers" / header).is_file(), header
    assert not re.search(r"\bcore/\w+\.h", "\n".join(texts))


@pytest.mark.parametrize("name", ["seek-reduction", "prefetching", "starvation"])
def test_the_answers_to_begin_with_have_the_questions_keys(
    course: library.Course, tmp_path: Path, name: str
) -> None:
    export.export(grader(course, name), "ada", tmp_path / "work")
    text = (tmp_path / "work" / "answers.toml").read_text()
    assert tomllib.loads(text) == {}
    keys = re.findall(r"^# (\w+) = $", text, re.MULTILINE)
    assert keys == [
        *tomllib.loads(export.solution(grader(course, name), "ada")["answers.toml"].decode())
    ]


def test_an_export_never_overwrites_work(tmp_path: Path) -> None:
    (tmp_path / "mine.c").write_text("my work")
    done = understudy("course", "export", "beat-cats", "--to", tmp_path)
    assert done.exit_code == 2
    assert "name a new folder, so that no work is lost" in done.stderr


def test_a_variant_of_somebody_else_is_refused(course: library.Course, tmp_path: Path) -> None:
    of = grader(course, "beat-cats")
    export.export(of, "ada", tmp_path / "work")
    file = tmp_path / "work" / "variant.toml"
    file.write_text(file.read_text().replace("ada", "bob"))
    with pytest.raises(UserError, match="its key is not that of bob for beat-cats"):
        of.student_of(tmp_path / "work")


def test_a_check_that_fails_by_itself_costs_nothing(
    course: library.Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = grader(course, "beat-cats")

    def fail(*_: object) -> None:
        raise ZeroDivisionError("a mistake of ours")

    monkeypatch.setattr("understudy_devices.course.checks.contract._simulations", fail)
    found = graded(of, "ada", export.solution(of, "ada"))
    assert [line.name for line in found.broken] == ["challenger.c keeps the rules"]
    assert (found.score, found.most) == (85, 85)


def test_failed_runs_are_not_repeated_for_ever(course: library.Course) -> None:
    of = grader(course, "seek-reduction")
    changes, words = CODE["null"]
    files = export.solution(of, "ada") | {"sstf.c": changed(SSTF, changes)}
    lines = {line.name: line.lines for line in graded(of, "ada", files).lines}
    assert words in lines["sstf.c keeps the rules"][0]
    assert words in lines["SSTF's order"][0]
    assert lines["SSTF's ties"] == ("not tried: 2 runs of sstf.c have failed",)
    assert lines["C-LOOK's order"][0].startswith("20 of 20")


def test_a_list_has_a_name_a_line() -> None:
    listed = understudy("course", "list").stdout.splitlines()
    assert listed == sorted(folder.name for folder in ASSIGNMENTS.iterdir())


def test_a_profile_that_is_none(course: library.Course) -> None:
    of = grader(course, "read-drive")
    found = graded(of, "ada", {"drive.toml": b"[seek]\nms = [3]\n"})
    assert found.score == 0
    assert found.lines[0].lines[0].startswith("drive.toml: seek")
    found = graded(of, "ada", {"drive.toml": b"[array]\nservers = 2\nservice_ms = 3\n"})
    assert (found.score, found.broken) == (0, ()), found.as_json()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("vms = 3", "has no section [vms]"),
        ("[vms", "is not TOML"),
        ("[vms]\nbackup = [1]", "backup: write the name of a device"),
        ('[vms]\nweb = "fast"', "backup: write the name of a device: fast, slow, slow2"),
    ],
)
def test_a_placement_that_is_none(course: library.Course, text: str, words: str) -> None:
    of = grader(course, "consolidation")
    found = graded(of, "ada", {"placement.toml": text.encode()})
    assert found.score == 0
    assert words in found.lines[0].lines[0]


def test_answers_that_cost_the_grader_its_memory_cost_their_points(course: library.Course) -> None:
    of = grader(course, "seek-reduction")
    key = ".".join("a" * 15_000)
    found = graded(of, "ada", export.solution(of, "ada") | {"answers.toml": f"{key}=1".encode()})
    assert (found.score, found.most, found.broken) == (85, 100, ())
    assert found.lines[-1].lines[0].startswith("answers.toml cannot be read: reading it takes")


JUNK = {
    "behind a miss, and anything at a hit": """\
	if (read->found != PAGE_THERE)
		return prefetch_within(read, read->page.number + 1, mine->most);
	return prefetch_within(read, 7 * mine->calls % read->file_pages, mine->most);
""",
    "anything": """\
	return prefetch_within(read, mine->calls * mine->most % 24, mine->most);
""",
}
PREFETCHER = """\
#include "../prefetch.h"

struct mine {
	u32 most;
	u64 calls;
};

static int mine_init(void *state, const struct prefetch_limits *limits)
{
	((struct mine *)state)->most = limits->most_pages;
	return 0;
}

static struct page_range mine_read(void *state, const struct page_read *read)
{
	struct mine *mine = state;

	mine->calls++;
%s}

static const struct prefetcher mine_prefetcher = {
	.name = "mine",
	.summary = "fetches what nobody reads",
	.state_size = sizeof(struct mine),
	.init = mine_init,
	.read = mine_read,
};
REGISTER_PREFETCHER(mine_prefetcher);
"""


@pytest.mark.parametrize("kind", JUNK)
def test_a_prefetcher_of_junk_gets_nothing_for_it(course: library.Course, kind: str) -> None:
    of = grader(course, "prefetching")
    files = export.solution(of, "ada") | {"ahead.c": (PREFETCHER % JUNK[kind]).encode()}
    found = graded(of, "ada", files)
    measured = [line.score for line in found.lines if line.kind == "measure"]
    assert measured == [0, 0], found.as_json()
    assert (found.score, found.most) == (25, 100)


def test_a_neighbours_placement_misses_targets(course: library.Course) -> None:
    of = grader(course, "consolidation")
    scores = [
        graded(of, "ada", export.solution(of, neighbour)).score for neighbour in ("b", "c", "d")
    ]
    assert min(scores) < 80


def test_a_students_copy_of_the_placement_checks_itself(
    course: library.Course, tmp_path: Path
) -> None:
    of = grader(course, "consolidation")
    export.export(of, "ada", tmp_path / "work")
    (tmp_path / "work" / "placement.toml").write_bytes(export.solution(of, "ada")["placement.toml"])
    assert "100 of 100" in understudy("course", "check", tmp_path / "work").stdout
    (tmp_path / "work" / "vms" / "web.csv").write_text("what")
    assert (
        "take it from your teacher again" in understudy("course", "check", tmp_path / "work").stdout
    )


def no_sandbox(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sandbox, "_missing", lambda: "no bwrap here")


def no_compiler(patch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise UserError("no gcc here: apt-get install gcc libc6-dev")

    patch.setattr(sandbox, "compiled", fail)


def no_simulator(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(worker, "program_file", lambda: Path("/bin/false"))


def no_room(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(worker, "OUTPUT_BYTES", -1)


@pytest.mark.parametrize("lacks", [no_sandbox, no_compiler, no_simulator, no_room])
def test_a_machine_that_cannot_grade_grades_nobody(
    course: library.Course,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    lacks: Callable[[pytest.MonkeyPatch], None],
) -> None:
    """It is not the student's fault."""
    of = grader(course, "beat-cats")
    course_class.as_folder(tmp_path / "ada", export.solution(of, "ada"))
    lacks(monkeypatch)
    place = ("--course", str(course.folder), "--out", tmp_path / "report")
    done = understudy("course", "grade", "beat-cats", tmp_path / "ada", *place)
    assert done.exit_code == 1, done.output
    (line,) = done.stderr.splitlines()
    assert line.startswith("understudy: the self-test failed: ")
    assert not (tmp_path / "report").exists()
    assert not done.stdout


def test_a_machine_that_breaks_while_it_grades_charges_nobody(
    course: library.Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = grader(course, "beat-cats")
    right = self_test.run

    def breaks() -> None:
        right()
        no_simulator(monkeypatch)

    monkeypatch.setattr(self_test, "run", breaks)
    with pytest.raises(RunFailed, match="the self-test failed: "):
        graded(of, "ada", export.solution(of, "ada"))
