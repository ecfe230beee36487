# SPDX-License-Identifier: MIT
"""The catalogue of disks, what is said of one, and its picture."""

import json
from pathlib import Path

import matplotlib as mpl
import pytest
from click.testing import CliRunner, Result

from understudy.cli.disks import command
from understudy.device import profile

DISKS = list(profile.catalogue())


def disks(*words: str) -> Result:
    """The command in this process; errors come through."""
    return CliRunner().invoke(command, words)


def test_all_of_them_with_what_matters() -> None:
    said = disks().output
    for name in DISKS:
        assert f" {name} " in said
    assert "line, 9.5 ms" in said
    assert "3 timed, write-back" in said
    assert "array, 32 x 10 ms" in said
    assert max(map(len, said.splitlines())) <= 80


def test_as_json_they_are_whole_profiles() -> None:
    documents = json.loads(disks("--json").output)
    assert [document["name"] for document in documents] == DISKS
    cheetah = documents[DISKS.index("cheetah-15k4")]
    assert cheetah["model"]["intercept_ms"] == 4.25
    assert "buffer" not in cheetah


@pytest.mark.parametrize("name", DISKS)
def test_one_says_where_its_figures_are_from(name: str) -> None:
    said = disks("show", name).output
    disk = profile.load(name)
    assert said.startswith(f"{name}: {disk.summary}\n")
    assert "source" in said
    assert not disk.limits or disk.limits in said


@pytest.mark.parametrize("name", ["cheetah-15k4", "cheetah-9lp", "vesper-zoned"])
@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_one_is_drawn(name: str, ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"disk.{ending}"
    assert disks("show", name, "--out", str(file)).exit_code == 0
    beginning = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    assert file.read_bytes().startswith(beginning[ending])
    assert file.stat().st_size > 5_000


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_picture_is_the_same_to_the_byte(ending: str, tmp_path: Path) -> None:
    """Whenever it is drawn, and whatever the reader's matplotlibrc says."""
    first, again = (tmp_path / f"{name}.{ending}" for name in ("first", "again"))
    assert disks("show", "cheetah-9lp", "--out", str(first)).exit_code == 0
    with mpl.rc_context({"lines.linewidth": 9, "svg.hashsalt": None, "font.size": 20}):
        assert disks("show", "cheetah-9lp", "--out", str(again)).exit_code == 0
    assert first.read_bytes() == again.read_bytes()
    assert b"CreationDate" not in first.read_bytes()
    assert b"<dc:date>" not in first.read_bytes()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("show", "cheeta"), 'unknown disk "cheeta": did you mean'),
        (("show", "vesper-flat", "--out", "x.gif"), "x.gif: a picture's name ends in .png, .svg"),
        (("show", "vesper-flat", "--out", "no/x.png"), "no/x.png: no: no such folder"),
        (("show", "array-32", "--out", "x.png"), "array-32 is an array: it has no head to draw"),
    ],
)
def test_what_can_not_be_shown(words: tuple[str, ...], message: str) -> None:
    assert message in str(disks(*words).exception)
