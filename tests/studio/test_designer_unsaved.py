# SPDX-License-Identifier: MIT
"""The designer loses no change: another card, a reload, a studio that ends, a disk that is full."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_page import LONG
from designer_page import created
from playwright.sync_api import Page, Route, expect

from understudy_devices.base.errors import RunFailed
from understudy_devices.cards import specification
from understudy_devices.studio.cards import Library

pytestmark = pytest.mark.thorough

COPIER = specification.catalogue()["copier"].read_text()


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """Return the studio's folder, in which the cards are on a small file system."""
    assert os.geteuid() == 0, "only root can mount a small file system: run the tests as root"
    cards = tmp_path / "cards"
    cards.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "none", cards], check=True)
    try:
        yield tmp_path
    finally:
        subprocess.run(["umount", cards], check=True)


def retitled(page: Page, title: str) -> None:
    field = page.get_by_role("group", name="the card").get_by_label("title", exact=True)
    field.fill(title)
    field.press("Tab")


def expect_title(page: Page, title: str) -> None:
    field = page.get_by_role("group", name="the card").get_by_label("title", exact=True)
    expect(field).to_have_value(title, timeout=LONG)


def test_changes_are_kept_until_they_are_saved_or_discarded(designer: Page, tmp_path: Path) -> None:
    page = designer
    status, cards = page.get_by_role("status"), page.get_by_role("region", name="cards")
    library = Library(tmp_path)
    library.save("one", COPIER.replace("name: copier", "name: one"), None)
    page.reload()
    cards.get_by_role("button", name="one").click()
    retitled(page, "Changed")
    created(page, "two", "copier")
    retitled(page, "Never saved")
    cards.get_by_role("button", name="one, changed").click()
    expect_title(page, "Changed")
    page.reload()
    cards.get_by_role("button", name="two, changed").click()
    expect_title(page, "Never saved")
    expect(status).to_have_text("no mistakes, not saved", timeout=LONG)
    page.get_by_label("name", exact=True).first.fill("one")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("alert")).to_contain_text(
        "one has changes that are not saved", timeout=LONG
    )
    cards.get_by_role("button", name="one, changed").click()
    expect_title(page, "Changed")
    page.get_by_role("button", name="Discard changes").click()
    expect_title(page, "Copier, a DMA copy engine")
    expect(cards.get_by_role("button", name="one, changed")).to_have_count(0)
    page.keyboard.press("Control+z")
    expect_title(page, "Changed")
    expect(status).to_have_text("no mistakes, not saved", timeout=LONG)
    page.keyboard.press("Control+s")
    expect(status).to_have_text("no mistakes", timeout=LONG)
    saved = library.read("one")
    assert saved
    assert "title: Changed" in saved.text


def test_a_change_during_a_save_is_kept(designer: Page, tmp_path: Path) -> None:
    page = designer
    created(page, "one", "copier")
    retitled(page, "Saved")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(re.compile("/api/cards/one$"), hold)
    with page.expect_request(re.compile("/api/cards/one$")):
        page.keyboard.press("Control+s")
    retitled(page, "Changed meanwhile")
    with page.expect_response(re.compile("/api/cards/one$")):
        held[0].continue_()
    page.unroute_all()
    expect(page.get_by_role("status")).to_have_text("no mistakes, not saved", timeout=LONG)
    saved = Library(tmp_path).read("one")
    assert saved
    assert "title: Saved" in saved.text
    page.reload()
    page.get_by_role("button", name="one, changed").click()
    expect_title(page, "Changed meanwhile")


def test_a_folder_that_cannot_be_written(designer: Page, tmp_path: Path) -> None:
    """One line; the change stays, and is saved when the reason is gone."""
    (tmp_path / "cards").write_text("in the way")
    created(designer, "mine", "copier")
    designer.get_by_role("button", name="Save").click()
    expect(designer.get_by_role("alert")).to_contain_text("cards: File exists", timeout=LONG)
    expect(designer.get_by_role("status")).to_contain_text("not saved")
    (tmp_path / "cards").unlink()
    designer.get_by_role("button", name="Save").click()
    expect(designer.get_by_role("status")).to_have_text("no mistakes", timeout=LONG)
    expect(designer.get_by_role("alert")).to_have_count(0)


# Without a browser.


def test_a_full_disk(full: Path) -> None:
    """The card is the old one, and the same save works when there is room."""
    library = Library(full)
    old = library.save("mine", "old: 1\n", None)
    filler = full / "cards" / "filler"
    subprocess.run(["dd", "if=/dev/zero", f"of={filler}"], stderr=subprocess.DEVNULL)
    with pytest.raises(
        RunFailed, match=r"^[^\n]*(No space left on device|Out of diskspace)[^\n]*$"
    ):
        library.save("mine", "new: 2\n" * 1000, old.revision)
    assert library.read("mine") == old
    filler.unlink()
    library.save("mine", "new: 2\n" * 1000, old.revision)
    assert [version.message for version in library.history("mine")] == ["Save mine", "Save mine"]


def test_a_save_whose_commit_failed_is_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = Library(tmp_path)
    old = library.save("mine", "old: 1\n", None)
    commit, messages = library._commit, []

    def fail(name: str, message: str) -> None:
        messages.append(message)
        if message == "mine again":
            raise RunFailed("git commit: No space left on device")
        commit(name, message)

    monkeypatch.setattr(library, "_commit", fail)
    with pytest.raises(RunFailed, match="No space"):
        library.save("mine", "new: 2\n", old.revision, "mine again")
    monkeypatch.undo()
    library.save("mine", "new: 2\n", old.revision, "mine again")
    assert [version.message for version in library.history("mine")] == ["mine again", "Save mine"]
