# SPDX-License-Identifier: MIT
"""Specifications of assignments: the project's are right, and every mistake is named at once."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from places import CHECKOUT

from understudy_devices.base.errors import UserError
from understudy_devices.cli.main import main
from understudy_devices.course import library, spec

OURS = CHECKOUT / "assignments"
COURSE = library.Course(None, "", library.PUBLIC_SECRET)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of an assignment, to make mistakes in."""
    return Path(shutil.copytree(OURS / "seek-reduction", tmp_path / "mine"))


def mistakes(folder: Path, *changes: tuple[str, str]) -> list[str]:
    """Return the lines about a specification with these changes."""
    file = folder / spec.SPECIFICATION
    text = file.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    file.write_text(text)
    with pytest.raises(UserError) as error:
        spec.read(folder)
    lines = str(error.value).split("\n")
    assert all(line.startswith(f"{file}: ") for line in lines)
    return [line.removeprefix(f"{file}: ") for line in lines]


@pytest.mark.parametrize("name", sorted(COURSE.folders))
def test_an_assignment_of_the_project_is_right(name: str) -> None:
    assignment = COURSE.assignment(name)
    assert sum(check.points for check in assignment.checks) == assignment.document.points
    assert {file.parent.name for file in OURS.glob(f"*/{spec.SPECIFICATION}")} == {*COURSE.folders}


def test_all_mistakes_are_named_at_once(folder: Path) -> None:
    (folder / "text.md").unlink()
    (folder / "solution" / "sstf.c").unlink()
    lines = mistakes(
        folder,
        ("points = 100", "points = 90"),
        ('title = "Seek reduction"', 'titel = "Seek reduction"\ntitle = ""'),
        ('file = "sstf.c"', 'fiel = "sstf.c"'),
        ('kind = "contract"', 'kind = "contrakt"'),
        ('like = "sstf"', 'like = "ssft"'),
        ("lists = 10", "lists = 0"),
        ('measure = "mean_service_ms"', 'measure = "mean_servise_ms"'),
        ("requests = 10000 }", "request = 10000 }"),
    )
    expected = (
        "titel: is not a key here: did you mean",
        "title: ",
        'checks 1 "sstf.c compiles": file: is missing',
        'checks 1 "sstf.c compiles": fiel: is not a key here: did you mean "file"?',
        'checks 3 "sstf.c keeps the rules": kind: unknown kind "contrakt": did you mean',
        'checks 5 "SSTF\'s order": like: unknown scheduler "ssft": did you mean "sstf"?',
        'checks 8 "SSTF\'s order, other requests": lists: input should be greater',
        'checks 10 "SSTF against FCFS on your disk": measure: unknown measure "mean_servise_ms"',
        'checks 10 "SSTF against FCFS on your disk": workload, options: ',
    )
    for words in expected:
        assert any(line.startswith(words) for line in lines), (words, lines)


def test_a_check_with_a_wrong_key_is_examined_further(folder: Path) -> None:
    """A wrong key hides neither another mistake of its check nor a file that is missing."""
    (folder / "solution" / "clook.c").unlink()
    lines = mistakes(
        folder,
        ('title = "Seek reduction"', "titel = 1"),
        ("starter_points = 20", "starter_points = 200"),
        ('name = "SSTF\'s order"', 'name = "SSTF\'s order"\nrequest = 3'),
        ('like = "sstf"', 'like = "ssft"'),
        ('file = "sstf.c"\nagainst', 'file = "stsf.c"\nseed = 3\nagainst'),
    )
    expected = (
        "title: is missing",
        "starter_points: is 200, more than all points (100)",
        'checks 5 "SSTF\'s order": request: is not a key here: did you mean "requests"?',
        'checks 5 "SSTF\'s order": like: unknown scheduler "ssft"',
        'checks 10 "SSTF against FCFS on your disk": seed: is not a key here',
        'checks "SSTF against FCFS on your disk": stsf.c is not among the files to hand in',
        "solution/clook.c: is missing",
    )
    for words in expected:
        assert any(line.startswith(words) for line in lines), (words, lines)


@pytest.mark.parametrize("taken", ["title", "summary", "points", "files", "kind", "file", "like"])
def test_a_missing_key_is_only_a_line(folder: Path, taken: str) -> None:
    file = folder / spec.SPECIFICATION
    lines = file.read_text().splitlines()
    text = "\n".join(line for line in lines if not line.startswith(f"{taken} = "))
    file.write_text(text)
    with pytest.raises(UserError) as error:
        spec.read(folder)
    assert f"{taken}: " in str(error.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("points = 100", "points = 99"), "points: is 99, but the checks add up to 100"),
        (
            ('name = "clook.c compiles"', 'name = "sstf.c compiles"'),
            'checks: 2 checks have the name "sstf.c compiles"',
        ),
        (
            ('file = "clook.c"', 'file = "look.c"'),
            'checks "clook.c compiles": look.c is not among the files to hand in',
        ),
        (
            ('"clook.c", "answers.toml"]', '"clook.c", "clook.c", "answers.toml"]'),
            "files: clook.c is named twice",
        ),
        (("[variant]", '[contest]\ncheck = "none"\n\n[variant]'), "contest.check: no check has"),
        (('["sstf.c"', '["../sstf.c"'), "files.0: string should match pattern"),
        (("small = true", "small = 1"), "variant.small: input should be a valid boolean"),
        (
            ('like = "sstf"', 'like = "solution/sstf.c"'),
            'checks 5 "SSTF\'s order": like: a student',
        ),
    ],
)
def test_a_mistake(folder: Path, change: tuple[str, str], words: str) -> None:
    assert any(line.startswith(words) for line in mistakes(folder, change))


def test_a_missing_file_is_named(folder: Path) -> None:
    (folder / "solution" / "clook.c").unlink()
    assert mistakes(folder) == ["solution/clook.c: is missing"]


def test_no_toml(folder: Path) -> None:
    (folder / spec.SPECIFICATION).write_text("title = ")
    with pytest.raises(UserError, match=r"assignment.toml: not TOML: "):
        spec.read(folder)


def test_a_kind_of_check_in_the_assignments_folder(folder: Path) -> None:
    (folder / "checks").mkdir()
    (folder / "checks" / "line_count.py").write_text(
        "from understudy_devices.course.check import Check\n"
        "from understudy_devices.course.result import Found\n"
        "class Kind(Check):\n"
        "    most: int\n"
        "    def run(self, work):\n"
        "        return Found(float(work.text('sstf.c').count(chr(10)) <= self.most))\n"
    )
    file = folder / spec.SPECIFICATION
    added = '\n[[checks]]\nkind = "line-count"\nname = "short"\npoints = 5\nmost = 100\n'
    text = file.read_text().replace("points = 100", "points = 105", 1)
    file.write_text(text + added)
    assert spec.read(folder).checks[-1].kind == "line-count"
    (folder / "checks" / "line_count.py").write_text("1 / 0")
    assert "division by zero" in mistakes(folder)[0]


def test_a_teachers_own_assignment_is_found(tmp_path: Path, folder: Path) -> None:
    library.new(tmp_path / "os", "OS")
    shutil.copytree(folder, tmp_path / "os" / "assignments" / "mine")
    course = library.course(tmp_path / "os")
    assert {"mine", "seek-reduction", "beat-cats"} <= course.folders.keys()
    assert course.assignment("mine").folder == tmp_path / "os" / "assignments" / "mine"
    with pytest.raises(UserError, match=r'unknown assignment "seek": did you mean'):
        course.assignment("seek")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{{ titel }}\n", "text.md: 'titel' is undefined"),
        ("\n{% for x in %}\n", "text.md:2: "),
        ("{{ told['SSTF'].command }}\n", "text.md: "),
    ],
)
def test_show_reads_the_text_too(tmp_path: Path, folder: Path, text: str, words: str) -> None:
    library.new(tmp_path / "os", "OS")
    mine = Path(shutil.copytree(folder, tmp_path / "os" / "assignments" / "mine"))
    words_of = ["course", "show", "mine", "--course", str(tmp_path / "os")]
    assert CliRunner().invoke(main, words_of).exit_code == 0
    (mine / "text.md").write_text(text)
    done = CliRunner().invoke(main, words_of)
    assert done.exit_code == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
