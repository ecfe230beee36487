# SPDX-License-Identifier: MIT
"""What students hand in: any form is read, and nothing leads out of it."""

import gzip
import io
import lzma
import os
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from course_class import FORMS, HANDED_IN, Files

from understudy_devices.base.errors import UserError
from understudy_devices.course import reading, submission
from understudy_devices.course.result import NoPoints

NAMES = ["sstf.c", "clook.c"]
FILES: Files = {"sstf.c": b"one\n", "clook.c": b"two\n"}
LIMIT = 256 * 1024


def place_of(folder: Path, name: str) -> Path:
    (found,) = [path for path in folder.iterdir() if path.name.startswith(name)]
    return found


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_read(tmp_path: Path, form: Callable[[Path, Files], None]) -> None:
    form(tmp_path / "ada", FILES)
    place = place_of(tmp_path, "ada")
    found = reading.read(place, NAMES, LIMIT)
    assert (found.files, found.refused, found.notes) == (FILES, {}, ())
    assert submission.identity(place) == "ada"


@pytest.mark.parametrize("kind", HANDED_IN)
def test_what_is_wrong_is_one_line(tmp_path: Path, kind: str) -> None:
    hand_in, words = HANDED_IN[kind]
    hand_in(tmp_path / "bob", FILES)
    found = reading.read(place_of(tmp_path, "bob"), NAMES, LIMIT)
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
    found = reading.read(tmp_path / "a.zip", NAMES, LIMIT)
    assert found.refused["sstf.c"] == "sstf.c is encrypted; hand it in without a password"


def test_the_file_nearest_to_the_top_counts(tmp_path: Path) -> None:
    for name in ("", "old", "old/older"):
        (tmp_path / "a" / name).mkdir(parents=True, exist_ok=True)
        (tmp_path / "a" / name / "sstf.c").write_text(f"{name}\nx")
    assert reading.read(tmp_path / "a", NAMES, LIMIT).files["sstf.c"] == b"\nx"
    (tmp_path / "a" / "sstf.c").unlink()
    (tmp_path / "a" / "new").mkdir()
    (tmp_path / "a" / "new" / "sstf.c").write_text("new")
    found = reading.read(tmp_path / "a", NAMES, LIMIT)
    assert found.refused["sstf.c"] == "sstf.c was handed in 2 times; hand in one"


@pytest.mark.parametrize("number", range(30))
def test_a_damaged_archive_is_a_line(tmp_path: Path, number: int) -> None:
    form = FORMS[2 + number % 2]
    form(tmp_path / "a", FILES)
    place = place_of(tmp_path, "a")
    data = bytearray(place.read_bytes())
    data[number * 37 % len(data)] ^= 0xFF
    place.write_bytes(data[: len(data) - number % 7 * 11])
    found = reading.read(place, NAMES, LIMIT)
    assert set(found.files) | set(found.refused) == set(NAMES)


def tar_of(*infos: tarfile.TarInfo) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for info in infos:
            archive.addfile(info, io.BytesIO(bytes(info.size)))
    return buffer.getvalue()


def header(kind: bytes, size: int) -> bytes:
    info = tarfile.TarInfo("x")
    info.type, info.size = kind, size
    return info.tobuf(tarfile.GNU_FORMAT)


def zip_of(count: int, name: str, size: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(count):
            archive.writestr(f"{number}/{name}", bytes(size))
    return buffer.getvalue()


def of_a_later_version() -> bytes:
    data = bytearray(zip_of(1, "sstf.c", 1))
    data[data.index(b"PK\x01\x02") + 6] = 99
    return bytes(data)


def long_header(kind: bytes) -> bytes:
    """Return a tar whose header says that it has 2 GB, of which 64 MB are there."""
    buffer = io.BytesIO()
    with gzip.open(buffer, "wb", compresslevel=1) as file:
        file.write(header(kind, 2**31))
        for _ in range(2**6):
            file.write(bytes(2**20))
    return buffer.getvalue()


DAMAGED = "the archive cannot be read: it is damaged, or no archive; pack it again"
BOMBS: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "version 9.9": ("zip", of_a_later_version, DAMAGED),
    "3,000 headers of headers": ("tar", lambda: header(b"L", 512) * 3000, DAMAGED),
    "a long name": ("tgz", lambda: long_header(b"L"), "the archive has a header of more than"),
    "long pax": ("tgz", lambda: long_header(b"x"), "the archive has a header of more than"),
    "no number": ("tar", lambda: header(b"0", 5).replace(b"0000000", b"9zz9zz9", 1), DAMAGED),
    "cut off": ("tgz", lambda: gzip.compress(tar_of(tarfile.TarInfo("a")))[:60], DAMAGED),
    "no gzip": ("tgz", lambda: b"\x1f\x8b" + bytes(100), DAMAGED),
    "no xz": ("tar.xz", lambda: lzma.compress(bytes(10_000))[:-20], DAMAGED),
    "many copies": (
        "zip",
        lambda: zip_of(1900, "sstf.c", LIMIT),
        "sstf.c was handed in 1900",
    ),
    "other files": ("zip", lambda: zip_of(1900, "x.c", 2**17), "sstf.c was not handed in"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_a_line(tmp_path: Path, name: str) -> None:
    suffix, content, words = BOMBS[name]
    (tmp_path / f"a.{suffix}").write_bytes(content())
    found = reading.read(tmp_path / f"a.{suffix}", NAMES, LIMIT)
    assert found.refused["sstf.c"].startswith(words), found.refused


def test_a_process_that_dies_is_the_submissions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.zip").write_bytes(zip_of(1, "sstf.c", 1))
    monkeypatch.setattr(sys, "executable", "/bin/false")
    found = reading.read(tmp_path / "a.zip", NAMES, LIMIT)
    assert found.refused["sstf.c"] == f"the submission cannot be read: {reading.WORDS}"


TOML = {
    "a = " + "[" * 20_000: "a.toml is not TOML: its tables are nested too deeply",
    ".".join("a" * 15_000) + "=1": "a.toml cannot be read: reading it takes more than",
    "a = 1\n" * 10_000: "a.toml has 60,000 bytes; the limit",
    "a": "a.toml is not TOML: ",
    f"[{'.'.join('a' * 985)}]": "a.toml is not TOML: its tables are nested too deeply",
    f"[{'.'.join('a' * 60)}]": "a.toml is not TOML: its tables are nested too deeply",
    f"a = {'9' * 5000}": "a.toml is not TOML: a number or a date in it is impossible",
    f"a = 0x{'f' * 20_000}": "a.toml is not TOML: a number or a date in it is impossible",
    "a = 2026-02-31": "a.toml is not TOML: ",
}


@pytest.mark.parametrize("text", TOML, ids=range(len(TOML)))
def test_toml_that_cannot_be_read_is_a_line(text: str) -> None:
    with pytest.raises(NoPoints) as why:
        reading.toml(text, "a.toml")
    assert str(why.value).startswith(TOML[text]), why.value


def test_toml() -> None:
    table = reading.toml("a = 1.5\nb = inf\n[c]\nd = 2026-02-03\n", "a.toml")
    assert table == {"a": 1.5, "b": float("inf"), "c": {"d": "2026-02-03"}}


def test_a_byte_order_mark_is_no_mistake() -> None:
    assert reading.toml("\ufeffa = 1", "answers.toml") == {"a": 1}


def test_the_only_file_may_have_the_students_name(tmp_path: Path) -> None:
    (tmp_path / "ada.c").write_text("text")
    file = tmp_path / "ada.c"
    assert reading.read(file, ["mine.c"], LIMIT, renamed=True).files == {"mine.c": b"text"}
    assert not reading.read(file, ["mine.c"], LIMIT).files
    assert not reading.read(file, ["mine.toml"], LIMIT, renamed=True).files
    assert not reading.read(file, NAMES, LIMIT, renamed=True).files


def test_a_folder_that_is_too_deep(tmp_path: Path) -> None:
    (tmp_path / "a" / "1" / "2" / "3" / "4" / "5").mkdir(parents=True)
    (tmp_path / "a" / "1" / "2" / "3" / "4" / "sstf.c").write_text("text")
    (tmp_path / "a" / "1" / "2" / "3" / "4" / "5" / "clook.c").write_text("text")
    found = reading.read(tmp_path / "a", NAMES, LIMIT)
    assert found.files == {"sstf.c": b"text"}
    assert found.refused["clook.c"] == (
        "clook.c was not handed in; folders more than 4 deep are not looked into"
    )


def test_no_such_submission(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="name a submission"):
        reading.read(tmp_path / "nobody", NAMES, LIMIT)


def test_an_unreadable_name(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / os.fsdecode(b"bad\xff\x1b[31m.c")).write_text("x")
    found = reading.read(tmp_path / "a", NAMES, LIMIT)
    assert "\x1b" not in "".join(found.notes)
    assert found.digest == reading.read(tmp_path / "a", NAMES, LIMIT).digest
