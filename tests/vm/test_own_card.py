# SPDX-License-Identifier: MIT
"""The card that docs/cards.md prints: two files in any folder, a driver, and a C program as its
exercise."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from guests import group
from printed_files import printed_files

from understudy_devices.base.errors import UserError
from understudy_devices.cards.journal import journal
from understudy_devices.cli.card import command

pytestmark = group("own-card")

PRINTED = printed_files("cards.md")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with card, driver and exercise, each in a subfolder of its own."""
    for name, text in {
        "cards/doubler.yaml": PRINTED["doubler.yaml"],
        "cards/doubler.c": PRINTED["doubler.c"],
        "mine/my-driver.c": PRINTED["doubler_driver.c"],
        "mine/doubler_driver.h": PRINTED["doubler_driver.h"],
        "try/it.c": PRINTED["doubler_exercise.c"],
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def refereed(folder: Path, *more: str) -> dict[str, Any]:
    """Return the answer of `card test` on one processor."""
    arguments = ["test", str(folder / "cards" / "doubler.yaml"), "--cpus", "1", "--json"]
    arguments += ["--driver", str(folder / "mine" / "my-driver.c"), *more]
    result = CliRunner().invoke(command, arguments, standalone_mode=False)
    if isinstance(result.exception, Exception):
        raise result.exception
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


def rules(answer: dict[str, Any]) -> set[str]:
    return {finding["rule"] for run in answer["runs"] for finding in run["findings"]}


def changed(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_it_works(folder: Path) -> None:
    """The driver passes its exercise."""
    answer = refereed(folder, "--exercise", str(folder / "try" / "it.c"))
    assert answer["passed"], answer
    assert answer["card"] == "doubler"


def test_a_mistake_is_named(folder: Path) -> None:
    """Findings use the names of this card's registers, and are kept beside the journal."""
    changed(folder / "mine" / "my-driver.c", "writel(number,", "writel(number | 0x10000,")
    out = folder / "out"
    answer = refereed(folder, "--exercise", str(folder / "try" / "it.c"), "--out", str(out))
    [run] = answer["runs"]
    kept = json.loads((out / "1-cpus-seed-1-findings.json").read_text())
    assert kept == {name: run[name] for name in ("findings", "notes", "missed")}
    assert len(journal((out / "1-cpus-seed-1.journal").read_bytes())) == run["accesses"]
    assert rules(answer) == {"reserved bits", "exercise failed"}
    texts = [one["text"] for run in answer["runs"] for one in run["findings"]]
    assert "IN: 0x10000 is reserved" in texts
    assert any("21 became 131114" in text for text in texts)


def test_without_a_behaviour(folder: Path) -> None:
    """The card has registers but no behaviour, so the exercise fails."""
    (folder / "cards" / "doubler.c").unlink()
    answer = refereed(folder, "--exercise", str(folder / "try" / "it.c"))
    assert rules(answer) == {"exercise failed"}


def test_without_an_exercise(folder: Path) -> None:
    """The driver is only loaded and unloaded."""
    assert refereed(folder)["passed"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("cards/doubler.c", r"cards/doubler\.c does not build:\n.*doubler\.c:1:\d+: error: "),
        ("mine/my-driver.c", r"mine/my-driver\.c does not build:\n.*my-driver\.c:1:\d+: error: "),
        ("try/it.c", r"try/it\.c does not build:\n.*it\.c:1:\d+: error: "),
    ],
)
def test_what_does_not_build(folder: Path, name: str, reason: str) -> None:
    """The error has the compiler's message, and the file's name as it was given."""
    (folder / name).write_text("int x = y;\n")
    with pytest.raises(UserError, match=reason):
        refereed(folder, "--exercise", str(folder / "try" / "it.c"))


def test_no_exercise_there(folder: Path) -> None:
    """The error says what an exercise is."""
    with pytest.raises(UserError, match="a shell script, or a C program"):
        refereed(folder, "--exercise", str(folder / "none"))
