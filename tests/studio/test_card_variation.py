# SPDX-License-Identifier: MIT
"""A card of equal difficulty from a seed: in the designer, and with `understudy card vary`."""

from pathlib import Path

import pytest
from browser_page import LONG
from click.testing import CliRunner
from playwright.sync_api import Page, expect

from understudy_devices.base.errors import UserError
from understudy_devices.cards import specification
from understudy_devices.cli.card import command

pytestmark = pytest.mark.thorough


def varied(name: str, seed: int, out: Path) -> dict[str, bytes]:
    """Run the command; return the files that it writes."""
    words = ["vary", name, "--seed", str(seed), "--out", str(out)]
    CliRunner().invoke(command, words, catch_exceptions=False, standalone_mode=False)
    files = sorted(file for file in out.rglob("*") if file.is_file())
    return {str(file.relative_to(out)): file.read_bytes() for file in files}


def test_the_page_opens_the_commands_card(designer: Page, tmp_path: Path) -> None:
    designer.get_by_label("variation of").select_option("copier")
    designer.get_by_label("seed").fill("7")
    expect(designer.get_by_text("card vary copier --seed 7 --out copier-7")).to_be_visible()
    designer.get_by_label("seed").press("Enter")
    expect(designer.get_by_role("status")).to_have_text("no mistakes, not saved", timeout=LONG)
    designer.keyboard.press("Control+s")
    expect(designer.get_by_role("status")).to_have_text("no mistakes", timeout=LONG)
    saved = tmp_path / "cards" / "copier.yaml"
    assert saved.read_bytes() == varied("copier", 7, tmp_path / "copier-7")["copier.yaml"]
    assert specification.load(saved) != specification.load("copier")


@pytest.mark.parametrize("name", ["copier", "zach1"])
def test_a_seed_gives_one_card_of_equal_size(name: str, tmp_path: Path) -> None:
    first = varied(name, 1, tmp_path / "1")
    assert first == varied(name, 1, tmp_path / "again")
    assert first[f"{name}.yaml"] != varied(name, 2, tmp_path / "2")[f"{name}.yaml"]
    assert {f"{name}.yaml", f"{name}.c", f"drivers/{name}_driver.c"} <= set(first)
    one, original = specification.load(tmp_path / "1" / f"{name}.yaml"), specification.load(name)
    assert len(one.registers) == len(original.registers)
    bits = [sum(len(register.fields) for register in card.registers) for card in (one, original)]
    assert bits[0] == bits[1]


@pytest.mark.parametrize(
    ("name", "out", "words"),
    [
        ("doubler", "new", 'unknown card with variants "doubler"'),
        ("zach1", ".", "exists; --out takes a new folder"),
        ("zach1", "file/below", "name another --out"),
    ],
)
def test_bad_input(name: str, out: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=words):
        varied(name, 1, tmp_path / out)
