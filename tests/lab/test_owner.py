# SPDX-License-Identifier: MIT
"""A folder that is a team's own: root works in it as the team, and nobody else does."""

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import lab_images
import pytest
from display_client import Client, display_of
from lab_class import Class, running_lab

from understudy_devices.lab import holder, owner, viewers

pytestmark = pytest.mark.thorough
STRANGER = 54321


@pytest.fixture
def lab() -> Iterator[Class]:
    """Yield a lab in which the first team's folder belongs to another user than root."""
    assert os.geteuid() == 0, "only root can give a folder away: run the tests as root"
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        with running_lab(Path(folder)) as made:
            place = made.team().folder
            for path in (place, *place.iterdir()):
                os.chown(path, STRANGER, STRANGER)
            yield made


def owners(lab: Class) -> set[tuple[int, int]]:
    """Return who owns the team's folder and the files in it."""
    place = lab.team().folder
    return {(path.stat().st_uid, path.stat().st_gid) for path in (place, *place.iterdir())}


def test_root_works_in_a_folder_as_its_owner(lab: Class) -> None:
    lab.do("snapshot", "team01", "one")
    lab.start()
    lab.type("w", ["wrote 0001"])
    (process,) = lab.qemus()
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    identities = [line.split()[1:] for line in lines if line.startswith(("Uid:", "Gid:"))]
    assert identities == [[str(STRANGER)] * 4] * 2
    who = holder.of(lab.team())
    assert who
    assert who.user == "root"
    lab.do("quota", "100MiB", "--team", "team01")
    lab.do("disk")
    lab.do("stop", "team01", "--suspend")
    assert "team01: resumed" in lab.start()
    lab.do("stop", "team01")
    second = lab_images.guest(lab.folder, "second.qcow2")
    assert "2 teams have a clone" in lab.do("rebase", "--base", str(second))
    assert owners(lab) == {(STRANGER, STRANGER)}
    assert os.getresuid() == (0, 0, 0)
    assert os.getresgid() == (0, 0, 0)


def visits(lab: Class) -> list[str]:
    """Return what root has done, as the team's log says."""
    lines = (lab.team().folder / viewers.LOG).read_text().splitlines()
    return [line.partition(" root ")[2] for line in lines]


def test_a_teacher_who_looks_is_seen(lab: Class, page_folder: Path) -> None:
    lab.start()
    with display_of(lab) as link:
        teacher = Client(link)
        assert teacher.next()
        assert lab.do("display", "team01", "--viewers").startswith("root (not of the team) since ")
        assert owners(lab) == {(STRANGER, STRANGER)}
        teacher.close()
        lab.until(lambda: viewers.now(lab.team()) == [])
    lab.do("screenshot", "team01", "--out", str(lab.folder / "screen.png"))
    assert visits(lab) == [
        "lab start",
        "joined",
        "left",
        "took a picture",
    ]
    lab.do("log", "team01")
    lab.do("stop", "team01", "--now")
    assert visits(lab)[-2:] == ["lab log", "lab stop"]
    assert owners(lab) == {(STRANGER, STRANGER)}


def test_a_link_leads_root_to_no_other_file(lab: Class) -> None:
    secret = lab.folder / "secret"
    secret.write_text("root's")
    secret.chmod(0o600)
    for name in ("qemu.log", "console.log"):
        link = lab.team().folder / name
        link.symlink_to(secret)
        assert "Permission denied" in lab.start(code=1)
        link.unlink()
    assert secret.read_text() == "root's"
    (lab.team().folder / "console.log").symlink_to(secret)
    assert "a link, and not a file" in lab.refuses("log", "team01")


def test_a_rebase_goes_on_after_a_team_that_it_cannot_move(lab: Class) -> None:
    lab.team().folder.chmod(0o500)
    second = lab_images.guest(lab.folder, "second.qcow2")
    done = lab.lab("rebase", "--base", str(second))
    assert done.exit_code == 1
    assert "1 teams have a clone of second.qcow2" in done.stderr
    assert "1 teams stay where they are:" in done.stderr
    assert "Permission denied" in done.stderr


def test_somebody_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running_lab(tmp_path) as made:
        name = owner.name_of(os.geteuid())
        monkeypatch.setattr(os, "geteuid", lambda: STRANGER)
        words = f"only its owner, {name}, and root may use it"
        for command in ("stop", "reset", "log"):
            assert words in made.refuses(command, "team01")
        second = lab_images.guest(tmp_path, "second.qcow2")
        assert made.lab("rebase", "--base", str(second)).stderr.count(words) == 2
