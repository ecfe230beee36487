# SPDX-License-Identifier: MIT
"""The folders for Gradescope and Autolab run as those hosts run them."""

import json
import os
import shutil
import stat
import subprocess
import sys
import zipfile
from importlib.metadata import Distribution
from pathlib import Path
from typing import Any

import course_class
import pytest
from click.testing import CliRunner
from terminal import COMMAND

from understudy_devices.cli.main import main
from understudy_devices.course import export, repack
from understudy_devices.course.grade import Grader
from understudy_devices.course.report import gradescope
from understudy_devices.course.spec import Feedback

pytestmark = pytest.mark.thorough


@pytest.fixture
def grader(tmp_path: Path) -> Grader:
    course = course_class.course(tmp_path / "os")
    return Grader(course.assignment("beat-cats"), course, vms=False)


def made(grader: Grader, host: str, to: Path) -> Path:
    words = ["course", "autograder", "beat-cats", "--for", host, "--to", str(to)]
    done = CliRunner().invoke(main, [*words, "--course", str(grader.course.folder)])
    assert done.exit_code == 0, done.output
    return to


def metadata(file: Path, *hours_ago: int) -> None:
    earlier = [
        {"submission_time": f"2026-11-{10 - hours // 24:02}T{12 - hours % 24:02}:00:00-07:00"}
        for hours in hours_ago
    ]
    document = {
        "id": 1,
        "created_at": "2026-11-10T12:00:00.365935-07:00",
        "users": [{"email": "ada@example.org", "id": 7, "name": "Ada"}],
        "previous_submissions": earlier,
    }
    file.write_text(json.dumps(document))


def on_gradescope(zip_file: Path, root: Path, submission: dict[str, bytes], *hours: int) -> Any:
    """Run the autograder as Gradescope does: unpacked in source/, run without arguments."""
    (root / "submission").mkdir(parents=True)
    for name, content in submission.items():
        (root / "submission" / name).write_bytes(content)
    metadata(root / "submission_metadata.json", *hours)
    with zipfile.ZipFile(zip_file) as archive:
        for info in archive.infolist():
            place = Path(archive.extract(info, root / "source"))
            place.chmod(stat.S_IMODE(info.external_attr >> 16))
    shutil.copy(root / "source" / "run_autograder", root)
    subprocess.run(
        [root / "run_autograder"],
        cwd=root,
        env={**os.environ, "AUTOGRADER": str(root), "UNDERSTUDY": str(COMMAND)},
        check=True,
        capture_output=True,
    )
    return json.loads((root / "results" / "results.json").read_text())


def test_gradescope(grader: Grader, tmp_path: Path) -> None:
    upload = made(grader, "gradescope", tmp_path / "upload") / "autograder.zip"
    again = made(grader, "gradescope", tmp_path / "again") / "autograder.zip"
    assert upload.read_bytes() == again.read_bytes()
    assert stat.S_IMODE(upload.stat().st_mode) == 0o600
    solved = export.solution(grader, "ada@example.org")
    found = on_gradescope(upload, tmp_path / "first", solved)
    assert sum(test["score"] for test in found["tests"]) == 100
    assert sum(test["max_score"] for test in found["tests"]) == 100
    assert {test["visibility"] for test in found["tests"]} == {"visible"}
    (entry,) = found["leaderboard"]
    assert entry["order"] == "asc"
    assert 0.5 < entry["value"] < 0.95
    assert "held back" not in json.dumps(found)
    braked = on_gradescope(upload, tmp_path / "braked", solved, *range(10))
    hidden = [test for test in braked["tests"] if test["name"] == "the contest"]
    assert [test["visibility"] for test in hidden] == ["after_published"]
    assert braked["output"].startswith("40 of 40 points in the public checks")
    assert grader.course.secret.hex() not in json.dumps([found, braked])


def test_a_wrong_submission_on_gradescope(grader: Grader, tmp_path: Path) -> None:
    upload = made(grader, "gradescope", tmp_path / "upload") / "autograder.zip"
    changes, words = course_class.CODE["null"]
    code = course_class.changed(course_class.SSTF, changes)
    found = on_gradescope(upload, tmp_path / "root", {"challenger.c": code})
    assert sum(test["score"] for test in found["tests"]) == 5
    assert any(words in test["output"] for test in found["tests"])


def test_gradescope_without_a_grade_gives_no_points(grader: Grader, tmp_path: Path) -> None:
    """Such as in a container without a sandbox; Gradescope then says that the autograder failed."""
    upload = made(grader, "gradescope", tmp_path / "upload") / "autograder.zip"
    with zipfile.ZipFile(upload) as archive:
        script = archive.read("run_autograder").decode()
    (tmp_path / "run").write_text(script)
    root = tmp_path / "nothing"
    done = subprocess.run(
        ["bash", tmp_path / "run"],
        env={**os.environ, "AUTOGRADER": str(root), "UNDERSTUDY": str(COMMAND)},
        check=False,
        capture_output=True,
    )
    assert done.returncode
    assert not (root / "results" / "results.json").exists()


@pytest.mark.parametrize(("ours", "score"), [(True, 100.0), (False, 20.0)])
def test_autolab(grader: Grader, tmp_path: Path, ours: bool, score: float) -> None:
    """Autolab copies the hand-in, the Makefile and the archive into a folder, and runs make."""
    made_files = made(grader, "autolab", tmp_path / "autolab")
    box = tmp_path / "box"
    box.mkdir()
    shutil.copy(made_files / "autograde-Makefile", box / "Makefile")
    shutil.copy(made_files / "autograde.tar", box)
    export.export(grader, "ada", tmp_path / "work")
    if ours:
        for name, content in export.solution(grader, "ada").items():
            (tmp_path / "work" / name).write_bytes(content)
    shutil.make_archive(str(box / "handin"), "zip", tmp_path / "work")
    alone = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(
        ["make"],
        cwd=box,
        env={**alone, "UNDERSTUDY": str(COMMAND)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    last = json.loads(done.stdout.rstrip().splitlines()[-1])
    assert last == {"scores": {"score": score}, "scoreboard": [score]}


@pytest.mark.parametrize(
    ("tries", "level"), [(1, "score"), (10, "score"), (11, "nothing"), (500, "nothing")]
)
def test_brakes(tries: int, level: str) -> None:
    assert gradescope.level(Feedback(), tries) == level


def test_only_tries_in_the_window_count(tmp_path: Path) -> None:
    metadata(tmp_path / "m.json", 1, 2, 26, 50)
    found = gradescope.metadata(tmp_path / "m.json", Feedback())
    assert (found.student, found.tries) == ("ada@example.org", 3)


def of(email: str) -> str:
    return f'{{"created_at": "2026-11-10T12:00:00+00:00", "users": [{{"email": {email}}}]}}'


DAMAGED = {
    "nothing": "",
    "a list": "[]",
    "nobody": '{"users": []}',
    "a number": of("1"),
    "null": of("null"),
    "a path": of('"../../x"'),
    "a path to somebody": of('"../../x@y"'),
    "depth": "[" * 100_000,
    "length": " " * 2**24 + "{}",
}


@pytest.mark.parametrize("text", DAMAGED.values(), ids=DAMAGED)
def test_damaged_metadata(tmp_path: Path, text: str) -> None:
    (tmp_path / "m.json").write_text(text)
    words = ["course", "grade", "beat-cats", str(tmp_path), "--metadata", str(tmp_path / "m.json")]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2
    assert "not Gradescope's submission_metadata.json" in done.stderr


@pytest.fixture
def package(tmp_path: Path) -> Distribution:
    """An installed package with a program, a script for an entry point, and a data file."""
    info = "understudy_devices-9.dist-info"
    texts = {
        "understudy_devices/__init__.py": "",
        "understudy_devices/simulate": "#!/bin/sh\n",
        "understudy_devices-9.data/data/share/man/man1/understudy.1": "page\n",
        "understudy_devices-9.data/data/lib/libvesper.a": "code\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: understudy-devices\nVersion: 9\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": "[console_scripts]\nunderstudy = understudy_devices:main\n",
    }
    texts[f"{info}/RECORD"] = "".join(f"{name},,\n" for name in texts)
    with zipfile.ZipFile(tmp_path / "understudy_devices-9-py3-none-any.whl", "w") as archive:
        for name, text in texts.items():
            info_of = zipfile.ZipInfo(name)
            info_of.external_attr = (0o100755 if name.endswith("simulate") else 0o100644) << 16
            archive.writestr(info_of, text)
    return _install(tmp_path / "understudy_devices-9-py3-none-any.whl", tmp_path / "one")


def _install(wheel: Path, prefix: Path) -> Distribution:
    words = ["install", "-q", "--no-index", "--no-deps", "--ignore-installed", "--prefix", prefix]
    subprocess.run([sys.executable, "-m", "pip", *map(str, words), str(wheel)], check=True)
    (found,) = prefix.rglob("understudy_devices-9.dist-info")
    return Distribution.at(found)


def test_an_installed_package_is_packed_again(package: Distribution, tmp_path: Path) -> None:
    name, content = repack.wheel(package)
    assert name == "understudy_devices-9-py3-none-any.whl"
    assert content == repack.wheel(package)[1]
    (tmp_path / "again").mkdir()
    (tmp_path / "again" / name).write_bytes(content)
    again = _install(tmp_path / "again" / name, tmp_path / "two")
    one, two = (
        {
            file.relative_to(folder).as_posix(): (file.read_bytes(), file.stat().st_mode)
            for file in folder.rglob("*")
            if file.is_file()
            and file.suffix != ".pyc"
            and file.name not in ("RECORD", "direct_url.json")
        }
        for folder in (tmp_path / "one", tmp_path / "two")
    )
    assert one.keys() == two.keys()
    assert {each for each in one if one[each] != two[each]} <= {"bin/understudy"}
    assert any(each.endswith("bin/understudy") for each in one)
    assert any(each.endswith("man1/understudy.1") for each in one)
    assert repack.wheel(again)[1] == content


def test_a_checkout_says_that_a_wheel_is_needed(
    grader: Grader, tmp_path: Path, package: Distribution, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["course", "autograder", "beat-cats", "--for", "gradescope"]
    place = ["--course", str(grader.course.folder)]
    monkeypatch.setattr(repack, "installed", lambda: None)
    done = CliRunner().invoke(main, [*words, "--to", str(tmp_path / "a"), *place])
    assert "add --wheel FILE" in done.stderr
    monkeypatch.setattr(repack, "installed", lambda: package)
    done = CliRunner().invoke(main, [*words, "--to", str(tmp_path / "b"), *place])
    assert "--wheel" not in done.stderr
    with zipfile.ZipFile(tmp_path / "b" / "autograder.zip") as archive:
        assert repack.wheel(package)[0] in archive.namelist()
        setup = archive.read("setup.sh").decode()
    assert "pip install /autograder/source/understudy_devices-9-py3-none-any.whl" in setup


def test_no_course_no_autograder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["course", "autograder", "beat-cats", "--for", "autolab", "--to", "x"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2
    assert "understudy course new FOLDER makes one" in done.stderr
