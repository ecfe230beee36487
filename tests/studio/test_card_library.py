# SPDX-License-Identifier: MIT
"""The studio's library of cards, and a card while it is designed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.cards import specification
from understudy_devices.cards.difference import difference
from understudy_devices.cards.document import BYTES_MAX
from understudy_devices.cards.header import header
from understudy_devices.cards.output_files import marked
from understudy_devices.studio import draft
from understudy_devices.studio.cards import ConflictError, Library, Saved

ZACH = specification.catalogue()["zach1"].read_text()


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path)


# The library.


def test_each_save_is_a_commit(library: Library) -> None:
    assert (library.names(), library.read("zach1"), library.history("zach1")) == ([], None, [])
    assert not library.folder.exists()
    first = library.save("zach1", ZACH, None)
    second = library.save("zach1", ZACH + "# more\n", first.revision, "A  remark\nin two lines")
    assert library.names() == ["zach1"]
    assert library.read("zach1") == second
    later, earlier = library.history("zach1")
    assert (later.message, earlier.message) == ("A remark in two lines", "Save zach1")
    assert library.at("zach1", earlier.commit) == ZACH
    assert library.at("zach1", later.commit) == ZACH + "# more\n"
    assert library.at("zach1", "0" * 40) is None
    assert library.at("zach1", "HEAD") is None
    assert library.at("other", later.commit) is None
    assert library.save("zach1", second.text, second.revision) == second
    assert len(library.history("zach1")) == 2


def test_the_second_to_save_is_told_and_nothing_is_lost(library: Library) -> None:
    base = library.save("a", "one\n", None).revision
    library.save("a", "two\n", base)
    with pytest.raises(ConflictError) as told:
        library.save("a", "three\n", base)
    assert told.value.theirs
    assert told.value.theirs.text == "two\n"
    with pytest.raises(ConflictError):
        library.save("a", "new\n", None)
    assert library.read("a") == told.value.theirs
    with pytest.raises(ConflictError) as gone:
        library.save("b", "text\n", base)
    assert gone.value.theirs is None
    assert library.names() == ["a"]


def test_a_change_from_outside_is_committed_first(library: Library) -> None:
    library.save("a", "one\n", None)
    (library.folder / "a.yaml").write_text("edited\n")
    edited = library.read("a")
    assert edited
    library.save("a", "three\n", edited.revision)
    last, outside, _ = library.history("a")
    assert outside.message == "Changed outside the studio"
    assert library.at("a", outside.commit) == "edited\n"
    assert library.at("a", last.commit) == "three\n"


SAVE = """
import sys
from pathlib import Path
from understudy_devices.studio.cards import Library
library, texts = Library(Path(sys.argv[1])), ["one\\n" * 20000, "two\\n" * 20000]
base = library.save("a", texts[0], None).revision
print("ready", flush=True)
for number in range(1, 10**6):
    base = library.save("a", texts[number % 2], base).revision
"""


def _is_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def _save_after_removing_locks(library: Library, left: Saved) -> None:
    """A Git that was killed may leave the lock of the index, of HEAD and of the branch."""
    for _ in range(4):
        try:
            library.save("a", "three\n", left.revision)
        except RunFailed as failure:
            Path(str(failure).partition("if no Git is running, rm ")[2]).unlink()
        else:
            return
    pytest.fail("more than three locks")


@pytest.mark.thorough
@pytest.mark.parametrize("after_s", [0.0, 0.05, 0.11, 0.2])
def test_killed_while_it_saves_the_card_is_the_old_or_the_new(
    library: Library, tmp_path: Path, after_s: float
) -> None:
    """The next studio goes on with it."""
    command = [sys.executable, "-c", SAVE, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as saving:
        assert saving.stdout
        saving.stdout.readline()
        try:
            saving.wait(after_s)
        except subprocess.TimeoutExpired:
            os.killpg(saving.pid, signal.SIGKILL)
    while _is_alive(saving.pid):  # its Git, too
        time.sleep(0.01)
    left = library.read("a")
    assert left
    assert left.text in ("one\n" * 20000, "two\n" * 20000)
    _save_after_removing_locks(library, left)
    assert library.at("a", library.history("a")[1].commit) == left.text


@pytest.mark.parametrize("name", ["", "../x", "a/b", "A", "1a", "a" * 32, "a.yaml", "a\n", ".git"])
def test_other_names_are_refused(library: Library, name: str) -> None:
    for ask in (library.read, library.history, lambda name: library.save(name, "", None)):
        with pytest.raises(UserError, match="no name of a card"):
            ask(name)


def test_spoiled_files_are_named(library: Library, tmp_path: Path) -> None:
    library.save("a", "one\n", None)
    (library.folder / "b.yaml").symlink_to("/etc/passwd")
    with pytest.raises(UserError, match="a link"):
        library.read("b")
    (library.folder / "c.yaml").write_bytes(b"\xff")
    with pytest.raises(RunFailed, match="not UTF-8"):
        library.read("c")
    (library.folder / "d.yaml").write_bytes(b" " * (BYTES_MAX + 1))
    with pytest.raises(RunFailed, match="longer than"):
        library.read("d")
    with pytest.raises(UserError, match="longer than"):
        library.save("e", " " * (BYTES_MAX + 1), None)
    (tmp_path / "other" / "cards").parent.mkdir()
    (tmp_path / "other" / "cards").write_text("")
    with pytest.raises(RunFailed, match="File exists"):
        Library(tmp_path / "other").save("a", "", None)


def test_a_strangers_repository_runs_nothing(library: Library, tmp_path: Path) -> None:
    """Filters run programs when a file is added; hooks, when it is committed."""
    base = library.save("a", "one\n", None).revision
    ran = tmp_path / "ran"
    hook = library.folder / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {ran}\n")
    hook.chmod(0o755)
    base = library.save("a", "two\n", base).revision
    (library.folder / ".gitattributes").write_text("*.yaml filter=evil\n")
    config = library.folder / ".git" / "config"
    config.write_text(config.read_text() + f'[filter "evil"]\n\tclean = touch {ran}\n')
    with pytest.raises(RunFailed, match=r"setting filter.evil.clean, which may run a program"):
        library.save("a", "three\n", base)
    assert not ran.exists()
    assert library.read("a")


def program(tmp_path: Path) -> tuple[Path, Path]:
    """Return a program, and the file that shows that it has run."""
    ran, file = tmp_path / "ran", tmp_path / "program"
    file.write_text(f"#!/bin/sh\ntouch {ran}\n")
    file.chmod(0o755)
    return file, ran


def git(folder: Path, *words: str, text: str = "") -> str:
    """Return what Git prints, as the stranger uses it."""
    command = ["git", "-C", str(folder), *words]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_strangers_signed_commit_runs_nothing(library: Library, tmp_path: Path) -> None:
    """`git log` runs gpg.program for each signature that it shows."""
    library.save("a", "one\n", None)
    file, ran = program(tmp_path)
    folder = library.folder
    commit = git(folder, "cat-file", "commit", "HEAD").replace(
        "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n -----END PGP SIGNATURE-----\n\n", 1
    )
    signed = git(folder, "hash-object", "-t", "commit", "-w", "--stdin", text=f"{commit}\n")
    git(folder, "update-ref", "HEAD", signed)
    git(folder, "config", "gpg.program", str(file))
    git(folder, "config", "log.showSignature", "true")
    with pytest.raises(RunFailed, match=r"setting gpg.program, which may run a program"):
        library.history("a")
    assert not ran.exists()
    git(folder, "log")
    assert ran.exists(), "no attack"


def test_strangers_settings_of_a_work_tree_run_nothing(library: Library, tmp_path: Path) -> None:
    """`git config --local` does not list config.worktree."""
    base = library.save("a", "one\n", None).revision
    file, ran = program(tmp_path)
    folder = library.folder
    git(folder, "config", "extensions.worktreeConfig", "true")
    git(folder, "config", "--worktree", "filter.e.clean", str(file))
    (folder / ".git" / "info").mkdir(exist_ok=True)
    (folder / ".git" / "info" / "attributes").write_text("*.yaml filter=e\n")
    with pytest.raises(RunFailed, match=r"setting extensions.worktreeconfig, which may run"):
        library.save("a", "two\n", base)
    assert not ran.exists()
    (folder / "a.yaml").write_text("three\n")
    git(folder, "add", "a.yaml")
    assert ran.exists(), "no attack"


def test_a_strangers_missing_object_runs_nothing(library: Library, tmp_path: Path) -> None:
    """Git asks the remote of a partial clone for an object that is missing."""
    library.save("a", "one\n", None)
    file, ran = program(tmp_path)
    folder, [version] = library.folder, library.history("a")
    blob = git(folder, "rev-parse", "HEAD:a.yaml")
    (folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    git(folder, "config", "core.repositoryFormatVersion", "1")
    git(folder, "config", "remote.origin.url", str(tmp_path))
    git(folder, "config", "remote.origin.uploadpack", f"{file};")
    git(folder, "config", "remote.origin.promisor", "true")
    with pytest.raises(RunFailed, match=r"setting remote.origin.uploadpack, which may run"):
        library.at("a", version.commit)
    git(folder, "config", "--unset", "remote.origin.uploadpack")
    git(folder, "config", "--unset", "remote.origin.promisor")
    git(folder, "config", "extensions.partialClone", "origin")
    with pytest.raises(RunFailed, match=r"setting extensions.partialclone, which may run"):
        library.at("a", version.commit)
    assert not ran.exists()
    git(folder, "config", "remote.origin.uploadpack", f"{file};")
    with pytest.raises(subprocess.CalledProcessError):
        git(folder, "cat-file", "-t", f"{version.commit}:a.yaml")
    assert ran.exists(), "no attack"


def test_a_clone_of_ones_own_cards_is_read(library: Library, tmp_path: Path) -> None:
    base = library.save("a", "one\n", None).revision
    other = tmp_path / "other"
    git(tmp_path, "clone", str(library.folder), str(other / "cards"))
    clone = Library(other)
    clone.save("a", "two\n", base)
    assert [clone.at("a", version.commit) for version in clone.history("a")] == ["two\n", "one\n"]


def test_without_git_the_command_that_mends_it_is_said(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(RunFailed, match="no git here: apt-get install git"):
        library.save("a", "one\n", None)


# Drafts.


def test_a_card_without_mistakes_has_its_files() -> None:
    checked = draft.checked(ZACH)
    card = specification.load("zach1")
    assert (checked.card, checked.mistakes) == (card, ())
    shown = checked.as_json()["files"]
    assert shown["zach1_registers.h"] == marked("zach1", ".h", header(card).encode()).decode()
    assert {"zach1.rdl", "zach1_driver.c", "reference.html", "programmer.html"} <= set(shown)


def test_mistakes_are_at_their_places() -> None:
    document = draft.checked(ZACH).document
    assert document
    document["registers"][3]["offset"] = document["registers"][2]["offset"]
    document["registers"][1]["fields"][0]["bits"] = "1:5"
    document["bars"][0]["bytes"] = "many"
    wrong = draft.checked(draft.edited(ZACH, document))
    places = {mistake.place for mistake in wrong.mistakes}
    assert wrong.card is None
    assert {("registers", 1, "fields", 0, "bits"), ("bars", 0, "bytes")} <= places
    lines = ZACH.splitlines()
    by_place = {mistake.place: mistake.line for mistake in wrong.mistakes}
    text = draft.edited(ZACH, document).splitlines()
    assert "bits: 1:5" in text[by_place["registers", 1, "fields", 0, "bits"] - 1]
    assert len(text) == len(lines)


def test_comments_and_order_stay() -> None:
    """An edit changes one line."""
    document = draft.checked(ZACH).document
    assert document
    assert draft.edited(ZACH, document) == ZACH
    document["config"]["device"] = 0x2A02
    before, after = ZACH.splitlines(), draft.edited(ZACH, document).splitlines()
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert changed == [("  device: 0x2a01", "  device: 0x2a02")]
    del document["registers"][0]
    document["registers"].append({"name": "LAST", "bar": 0, "offset": 0x200, "width": 32,
                                  "access": "ro", "reset": 0, "description": "Last."})  # fmt: skip
    text = draft.edited(ZACH, document)
    assert "# display controller, other" in text
    assert "offset: 0x200" in text
    assert draft.checked(text).card


@pytest.mark.parametrize(
    "text", ["", "a: [", "- 1\n", "a: &b 1\nc: *b\n", "\0", "x: !!python/x 1\n"]
)
def test_what_is_no_card_is_shown_as_text(text: str) -> None:
    wrong = draft.checked(text)
    assert (wrong.document, wrong.card) == (None, None)
    assert wrong.mistakes
    document = draft.checked(ZACH).document
    assert document
    assert draft.checked(draft.edited(text, document)).card == specification.load("zach1")


def test_versions_differ_in_terms_of_registers() -> None:
    old, new = (draft.checked(ZACH).document for _ in range(2))
    assert old
    assert new
    assert difference(old, new) == []
    new["title"] = "Zach 2"
    new["registers"][1]["fields"][0]["bits"] = "2:0"
    del new["registers"][1]["fields"][1]
    new["registers"].append({"name": "LAST", "bar": 0})
    del new["registers"][4]
    del new["interrupts"]
    new["bars"].reverse()
    assert difference(old, new) == [
        "title: Zach 1, a graphics card, now Zach 2",
        "bars: in another order",
        "registers CONTROL, fields MODE, bits: 1:0, now 2:0",
        "registers CONTROL, fields RESET: gone",
        "registers LAST: new",
        "registers DRAW_BASE: gone",
        *(f"interrupts {name}: gone" for name in ("dma_done", "fence", "fifo_low", "failed")),
    ]


def test_numbers_of_64_bits_are_exact() -> None:
    """JavaScript would round them."""
    document = draft.checked(ZACH).document
    assert document
    document["registers"][0] |= {"width": 64, "reset": 2**64 - 1}
    text = draft.edited(ZACH, document)
    shown = draft.checked(text).as_json()["document"]
    assert shown["registers"][0]["reset"] == "0xffffffffffffffff"
    assert draft.edited(text, shown) == text
