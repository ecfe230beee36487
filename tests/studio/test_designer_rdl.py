# SPDX-License-Identifier: MIT
"""SystemRDL in the designer: a card is downloaded and opened again, and mistakes are shown."""

from pathlib import Path

import pytest
from browser_page import LONG
from designer_page import created
from playwright.sync_api import Page, expect

from understudy_devices.base.errors import RunFailed
from understudy_devices.cards import specification
from understudy_devices.cards.rdl_export import rdl
from understudy_devices.cards.yaml_text import yaml_text
from understudy_devices.studio import rdl_file

pytestmark = pytest.mark.thorough

WRONG = "addrmap x {\n  reg { field { counter; } c; } d;\n  reg { foo } e;\n};\n"


def test_a_card_is_downloaded_and_opened_again(designer: Page, tmp_path: Path) -> None:
    page = designer
    created(page, "copier", "copier")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download copier.rdl").click()
    file = tmp_path / "mine.rdl"
    download.value.save_as(file)
    page.reload()
    with page.expect_file_chooser() as chooser:
        page.get_by_label("open SystemRDL").focus()
        page.keyboard.press("Enter")
    chooser.value.set_files(file)
    expect(page.get_by_role("status")).to_have_text("no mistakes, not saved", timeout=LONG)
    page.keyboard.press("Control+s")
    expect(page.get_by_role("status")).to_have_text("no mistakes", timeout=LONG)
    card = specification.load(tmp_path / "cards" / "copier.yaml")
    assert card == specification.load("copier")


def test_mistakes_are_at_their_lines(designer: Page, tmp_path: Path) -> None:
    file = tmp_path / "wrong.rdl"
    file.write_text(WRONG)
    designer.get_by_label("open SystemRDL").set_input_files(file)
    mistakes = designer.get_by_role("alert")
    expect(mistakes).to_contain_text("wrong.rdl:3: missing ';'", timeout=LONG)
    expect(mistakes).to_contain_text("reg { foo } e;")
    file.write_bytes(b"x" * (2**20 + 1))
    designer.get_by_label("open SystemRDL").set_input_files(file)
    expect(designer.get_by_role("alert")).to_have_text(
        "wrong.rdl: longer than 1048576 bytes: no card"
    )


def test_the_text_is_the_commands() -> None:
    card = specification.load("zach1")
    assert rdl_file.imported(rdl(card)) == rdl_file.Imported(yaml_text(card), ())


def test_other_files_are_not_read() -> None:
    """Neither by an include nor by Perl."""
    include = rdl_file.imported('\naddrmap x {}; `include "/etc/passwd"\n')
    assert [line for line, _ in include.mistakes] == [2]
    assert "another file" in include.mistakes[0][1]
    assert "Perl" in rdl_file.imported("<% print 1 %>").mistakes[0][1]


def test_a_file_without_an_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rdl_file, "SECONDS_MOST", 0)
    with pytest.raises(RunFailed, match="not converted in 0 s"):
        rdl_file.imported(rdl(specification.load("zach1")))
