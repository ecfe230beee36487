# SPDX-License-Identifier: MIT
"""What students hand in: any form is read, and nothing leads out of it."""

import os
import zipfile
from pathlib import Path

import pytest
from course_class import FORMS, HANDED_IN, Files

from understudy_devices.base.errors import UserError
from understudy_devices.course import submission

NAMES = ["sstf.c", "clook.c"]
FILES: Files = {"sstf.c": b"one\n", "clook.c": b"two\n"}
LIMIT = 256 * 1024


def place_of(folder: Path, name: str) -> Path:
    (found,) = [path for path in folder.iterdir() if path.name.startswith(name)]
    return found


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_read(tmp_path: Path, form: submission.Callable[[Path, Files], None]) -> None:
    form(tmp_path / "ada", FILES)
    place = place_of(tmp_path, "ada")
    found = submission.read(place, NAMES, LIMIT)
    assert (found.files, found.refused, found.notes) == (FILES, {}, ())
    assert submission.identity(place) == "ada"


@pytest.mark.parametrize("kind", HANDED_IN)
def test_what_is_wrong_is_one_line(tmp_path: Path, kind: str) -> None:
    hand_in, words = HANDED_IN[kind]
    hand_in(tmp_path / "bob", FILES)
    found = submission.read(place_of(tmp_path, "bob"), NAMES, LIMIT)
    lines = [*found.refused.values(), *found.notes]
    assert any(line.startswith(words) for line in lines), lines
    assert "sstf.c" in found.refused
    assert all("\n" not in line for line in lines)
    assert {path.name for path in tmp_path.iterdir()} <= {"bob", "bob.zip", "bob.tar", "bob.tgz"}


def test_an_encrypted_archive(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("sstf.c", b"text")
    data = bytearray((tmp_path / "a.zip").read_bytes())
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "a.zip").write_bytes(data)
    found = submission.read(tmp_path / "a.zip", NAMES, LIMIT)
    assert found.refused["sstf.c"] == "sstf.c is encrypted; hand it in without a password"


def test_the_file_nearest_to_the_top_counts(tmp_path: Path) -> None:
    for name in ("", "old", "old/older"):
        (tmp_path / "a" / name).mkdir(parents=True, exist_ok=True)
        (tmp_path / "a" / name / "sstf.c").write_text(f"{name}\nx")
    assert submission.read(tmp_path / "a", NAMES, LIMIT).files["sstf.c"] == b"\nx"
    (tmp_path / "a" / "sstf.c").unlink()
    (tmp_path / "a" / "new").mkdir()
    (tmp_path / "a" / "new" / "sstf.c").write_text("new")
    found = submission.read(tmp_path / "a", NAMES, LIMIT)
    assert found.refused["sstf.c"] == "sstf.c was handed in 2 times; hand in one"


@pytest.mark.parametrize("number", range(30))
def test_a_damaged_archive_is_a_line(tmp_path: Path, number: int) -> None:
    form = FORMS[2 + number % 2]
    form(tmp_path / "a", FILES)
    place = place_of(tmp_path, "a")
    data = bytearray(place.read_bytes())
    data[number * 37 % len(data)] ^= 0xFF
    place.write_bytes(data[: len(data) - number % 7 * 11])
    found = submission.read(place, NAMES, LIMIT)
    assert set(found.files) | set(found.refused) == set(NAMES)


def test_no_such_submission(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="name a submission"):
        submission.read(tmp_path / "nobody", NAMES, LIMIT)


def test_an_unreadable_name(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / os.fsdecode(b"bad\xff\x1b[31m.c")).write_text("x")
    found = submission.read(tmp_path / "a", NAMES, LIMIT)
    assert "\x1b" not in "".join(found.notes)
    assert found.digest == submission.read(tmp_path / "a", NAMES, LIMIT).digest
