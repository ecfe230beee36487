# SPDX-License-Identifier: MIT
"""`understudy card generate` in a folder with the user's own files: it destroys none of them."""

from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner

from understudy_devices.base.errors import UserError
from understudy_devices.cli.card import command
from understudy_devices.show.card import pdf

pytestmark = pytest.mark.thorough

GENERATED = ["copier.rdl", "copier_registers.h", "copier_selftest.c"]
GENERATED += ["programmer.html", "programmer.pdf", "reference.html", "reference.pdf"]
BEGUN = ["Makefile", "copier_driver.c"]


typeset = cache(pdf.pdf)


@pytest.fixture(autouse=True)
def _each_page_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Typeset each page only once; a test below checks that repeated typesetting returns equal
    bytes."""
    monkeypatch.setattr(pdf, "pdf", typeset)


def generate(card: str, out: Path) -> str:
    """Run the command in this process and return its output; exceptions propagate."""
    words = ["generate", card, "--out", str(out)]
    run = CliRunner().invoke(command, words, standalone_mode=False, catch_exceptions=False)
    return run.output


def contents(folder: Path) -> dict[str, bytes]:
    """Return the contents of all files in a folder."""
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_the_same_card_gives_the_same_bytes(tmp_path: Path) -> None:
    typeset.cache_clear()
    generate("copier", tmp_path / "one")
    typeset.cache_clear()
    generate("copier", tmp_path / "two")
    output = generate("copier", tmp_path / "two")
    assert sorted(contents(tmp_path / "one")) == sorted([*GENERATED, *BEGUN])
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert output.count("wrote ") == len(GENERATED) + len(BEGUN)


@pytest.mark.parametrize("name", GENERATED)
def test_what_a_person_changed_is_kept(name: str, tmp_path: Path) -> None:
    generate("copier", tmp_path)
    before = contents(tmp_path)
    file = tmp_path / name
    for mine, message in (
        (before[name] + b"\n", "changed by hand" if file.suffix != ".pdf" else "not generated"),
        (before[name][:1000] + b" " + before[name][1000:], "changed by hand"),
        (b"mine\n", "not generated"),
        (b"", "not generated"),
    ):
        file.write_bytes(mine)
        with pytest.raises(UserError, match=f"^{file}: {message}: move it away"):
            generate("copier", tmp_path)
        assert contents(tmp_path) == before | {name: mine}


@pytest.mark.parametrize("name", BEGUN)
def test_what_a_person_goes_on_with_is_theirs(name: str, tmp_path: Path) -> None:
    generate("copier", tmp_path)
    before = contents(tmp_path)
    for mine in (before[name] + b"/* mine */\n", b"mine\n", b""):
        (tmp_path / name).write_bytes(mine)
        (tmp_path / "copier_registers.h").unlink()
        output = generate("copier", tmp_path)
        assert f"kept {tmp_path / name}, which you have changed\n" in output
        assert contents(tmp_path) == before | {name: mine}


def test_a_skeleton_that_nobody_changed_follows_the_card(tmp_path: Path) -> None:
    generate("copier", tmp_path)
    card = tmp_path / "copier.yaml"
    text = (Path(__file__).parents[2] / "cards" / "copier.yaml").read_text()
    card.write_text(text.replace("title: Copier", "title: Xerox"))
    generate(str(card), tmp_path)
    assert b"Xerox" in (tmp_path / "copier_driver.c").read_bytes()


def test_what_is_no_file_stays(tmp_path: Path) -> None:
    (tmp_path / "reference.html").mkdir()
    with pytest.raises(UserError, match=r"reference.html: not a file that was generated"):
        generate("copier", tmp_path)
    (tmp_path / "reference.html").rmdir()
    (tmp_path / "reference.html").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match=r"reference.html: not a file that was generated"):
        generate("copier", tmp_path)
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(UserError, match="not a folder"):
        generate("copier", file)
