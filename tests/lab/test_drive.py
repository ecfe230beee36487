# SPDX-License-Identifier: MIT
"""The shared drive: versions made from a folder, which a VM has from its next start on."""

import json
import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import lab_images
import lab_linux
import pytest
from lab_class import Class

from understudy_devices.lab import (
    disk_use,
    drive,
    drive_users,
    ext4,
    holder,
    locks,
    programs,
    state_file,
)
from understudy_devices.lab.hardware import Hardware
from understudy_devices.lab.settings import Settings

pytestmark = pytest.mark.thorough

SECONDS = 1_700_000_000


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Class]:
    made = Class(tmp_path)
    made.create(lab_images.guest(tmp_path))
    yield made
    made.kill()


def software(folder: Path, version: str = "1") -> Path:
    """Make a folder as a drive is made from."""
    place = folder / f"software-{version}"
    (place / "bin").mkdir(parents=True)
    (place / "bin" / "tool").write_text("#!/bin/sh\n")
    (place / "bin" / "tool").chmod(0o755)
    (place / "bin" / "link").symlink_to("/nowhere")
    (place / "bin" / "second").hardlink_to(place / "bin" / "tool")
    (place / "version").write_text(f"{version}\n")
    (place / "hole").touch()
    os.truncate(place / "hole", 2**20)
    for path in ext4.everything(place):
        os.utime(path, (SECONDS, SECONDS), follow_symlinks=False)
    return place


def versions(lab: Class) -> list[str]:
    """Return what is in the folder of the drives, beside its lock."""
    return sorted({path.name for path in (lab.labs / "os822/drives").iterdir()} - {locks.FILE})


def inside(image: Path, request: str) -> str:
    """Return what debugfs says of a drive."""
    command = ["debugfs", "-R", request, str(image)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_drive_is_made_from_a_folder(lab: Class, tmp_path: Path) -> None:
    """Equal folders give equal drives, in which root owns everything."""
    place = software(tmp_path)
    if not os.geteuid():
        os.chown(place / "version", 1000, 100_000)
    assert "os822: version 1, " in (words := lab.do("drive", str(place)))
    assert words.endswith(" MB, for VMs that are started from now on\n")
    lab.do("drive", str(software(tmp_path / "more")))
    first, second = drive.all_of(lab.team().lab)
    assert first.seal.sha256 == second.seal.sha256
    assert first.identity != second.identity
    assert first.disk_bytes < 2 * 2**20
    assert stat.S_IMODE(first.image.stat().st_mode) == 0o444
    assert stat.S_IMODE(first.folder.stat().st_mode) == 0o755
    assert stat.S_IMODE(first.folder.parent.stat().st_mode) == 0o755
    checked = subprocess.run(["e2fsck", "-fn", first.image], capture_output=True, check=False)
    assert checked.returncode == 0, checked.stdout
    listed = inside(first.image, "ls -p /bin").split()
    assert any("/100755/0/0/tool/" in each for each in listed), listed
    assert any("/120777/0/0/link/" in each for each in listed), listed
    names = inside(first.image, "ls -p /")
    assert "/100644/0/0/version/" in names
    assert "/040755/0/0/.//" in names
    assert "Links: 2" in inside(first.image, "stat /bin/second")


def test_a_version_is_chosen_and_removed(lab: Class, tmp_path: Path) -> None:
    assert json.loads(lab.do("drive", "--json"))["versions"] == []
    assert drive.current(lab.team().lab) is None
    for version in ("1", "2", "3"):
        lab.do("drive", str(software(tmp_path, version)))
    lines = lab.do("drive").splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["1", "2", "*"]
    assert max(map(len, lines)) <= 80
    assert "os822: version 1, for VMs" in lab.do("drive", "--use", "1")
    listed = json.loads(lab.do("drive", "--json"))["versions"]
    assert [(each["version"], each["current"], each["source"]) for each in listed] == [
        (1, True, "software-1"),
        (2, False, "software-2"),
        (3, False, "software-3"),
    ]
    use = disk_use.of(lab.team().lab)
    assert set(use.drive_bytes) == {1, 2, 3}
    assert use.total_bytes > sum(use.drive_bytes.values()) > 0
    assert "shared drive, version 3: " in lab.do("disk")
    assert "drives/2: unchanged" in lab.do("check")
    assert "version 1 is the one that VMs start with" in lab.refuses("drive", "--drop", "1")
    with locks.image(lab.labs / "os822/drives/2/drive.img"):
        assert "drive.img: a QEMU has it open" in lab.refuses("drive", "--drop", "2")
    assert "version 2 is removed" in lab.do("drive", "--drop", "2")
    assert versions(lab) == ["1", "3"]
    assert 'version "2"' in lab.refuses("drive", "--use", "2")
    assert "no drive, for VMs" in lab.do("drive", "--use", "none")
    assert drive.current(lab.team().lab) is None
    lab.do("drive", "--drop", "3")


def test_what_is_refused(lab: Class, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line each; nothing is made."""
    assert "nowhere: not a folder" in lab.refuses("drive", str(tmp_path / "nowhere"))
    place = software(tmp_path)
    assert "not a folder" in lab.refuses("drive", str(place / "version"))
    assert "the lab itself is in it" in lab.refuses("drive", str(tmp_path))
    odd = place / "odd"
    for kind in (stat.S_IFIFO, stat.S_IFSOCK, stat.S_IFCHR):
        os.mknod(odd, 0o600 | kind, os.makedev(1, 3))
        line = lab.refuses("drive", str(place))
        assert f"{odd}: a device, a pipe or a socket; a drive has only files" in line
        odd.unlink()
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda path, *_: place not in Path(path).parents)
        assert "you may not read it (and 4 more)" in lab.refuses("drive", str(place))
    with monkeypatch.context() as patch:
        patch.setattr(drive, "BYTES_MAX", 2**20)
        assert "18 MB; a drive may have 1" in lab.refuses("drive", str(place))
    with monkeypatch.context() as patch:
        full = SimpleNamespace(f_bavail=1, f_frsize=2**20)
        patch.setattr(os, "statvfs", lambda _: full)
        (place / "large").write_bytes(bytes(2**20))
        line = lab.refuses("drive", str(place))
        assert "are needed for a while, and the disk has 1.0 MB: make room there" in line
        (place / "large").unlink()
    with monkeypatch.context() as patch:
        patch.setattr(programs, "path", lambda _: None)
        line = lab.refuses("drive", str(place))
        assert "no mke2fs here: apt-get install -y --no-install-recommends e2fsprogs" in line
    for words in (("--use", "x"), ("--use", "-1"), ("--use", "²"), ("--use", "1" * 5000)):
        assert "is no version; write its number, or none" in lab.refuses("drive", *words)
    assert "give only one of them" in lab.refuses("drive", "--use", "1", "--drop", "2")
    assert 'version "1"' in lab.refuses("drive", "--drop", "1")
    assert not list((lab.labs / "os822").glob("drives/*"))
    (lab.labs / "os822/drive.json").write_text("{}")
    assert "drive.json: damaged" in lab.start(code=1)


@pytest.mark.parametrize("puts_time_back", [False, True])
def test_a_folder_that_changes_meanwhile(
    lab: Class, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, puts_time_back: bool
) -> None:
    """Also if the file's time stamp says nothing of the change."""
    place, write = software(tmp_path), ext4.write

    def changing(*arguments: object, **more: object) -> None:
        write(*arguments, **more)  # type: ignore[arg-type]
        (place / "version").write_text("2\n")
        if puts_time_back:
            os.utime(place / "version", (SECONDS, SECONDS))

    monkeypatch.setattr(ext4, "write", changing)
    assert "changed while it was read: give the command again" in lab.refuses("drive", str(place))
    assert not versions(lab)
    assert drive.current(lab.team().lab) is None


def test_two_vms_read_one_drive(lab: Class, tmp_path: Path) -> None:
    """Neither may write it, also if root started them."""
    lab.do("drive", str(software(tmp_path)))
    (made,) = drive.all_of(lab.team().lab)
    for name in ("team01", "team02"):
        lab.start(name)
    for name in ("team01", "team02"):
        who = holder.of(lab.team(name))
        assert who
        opened = [
            Path(f"/proc/{who.pid}/fdinfo/{each.name}").read_text()
            for each in Path(f"/proc/{who.pid}/fd").iterdir()
            if each.resolve() == made.image.resolve()
        ]
        assert opened
        for text in opened:
            flags = dict(line.split(":") for line in text.splitlines() if "lock" not in line)
            assert int(flags["flags"], 8) & os.O_ACCMODE == os.O_RDONLY
    lab.do("drive", "--use", "none")
    (lab.team().folder / "running.json").unlink()
    assert "team02 has version 1 until" in lab.refuses("drive", "--drop", "1")
    for name in ("team01", "team02"):
        ends(lab, name)
    lab.do("drive", "--drop", "1")


def test_what_a_team_does_to_its_folder_stops_no_drive(lab: Class, tmp_path: Path) -> None:
    """A pipe in the place of a disk, a disk that nobody may read, and wrong state files."""
    lab.do("drive", str(software(tmp_path)))
    lab.do("drive", "--use", "none")
    folder = lab.team().folder
    (folder / "memory.json").write_text("[]")
    (folder / "disk.qcow2").unlink()
    os.mkfifo(folder / "disk.qcow2")
    assert "1 " in lab.do("drive")
    assert "not a file" in lab.start(code=1)
    (folder / "disk.qcow2").unlink()
    (folder / "disk.qcow2").symlink_to("disk.qcow2")
    lab.do("drive", "--drop", "1")


def test_a_damaged_version_can_be_removed(lab: Class, tmp_path: Path) -> None:
    lab.do("drive", str(software(tmp_path)))
    (made,) = drive.all_of(lab.team().lab)
    lab.do("drive", "--use", "none")
    (made.folder / "manifest.json").write_text("{}")
    assert "manifest.json: damaged" in lab.lab("check").stderr
    lab.do("drive", "--drop", "1")
    assert not made.folder.exists()
    assert "bases/1: unchanged" in lab.do("check")


def test_a_drive_that_changed_is_not_started(lab: Class, tmp_path: Path) -> None:
    lab.do("drive", str(software(tmp_path)))
    (made,) = drive.all_of(lab.team().lab)
    made.image.chmod(0o600)
    os.utime(made.image)
    assert "understudy lab check os822 compares each byte" in lab.start(code=1)
    lab.do("check")
    lab.start()
    lab.do("stop", "team01", "--now")
    with made.image.open("r+b") as file:
        file.write(b"?")
    assert "changed since it was sealed" in lab.lab("check").stderr
    assert "understudy lab check os822 compares each byte" in lab.start(code=1)
    (made.folder / "manifest.json").write_text("{}")
    assert "manifest.json: damaged" in lab.start(code=1)


def test_a_drive_moves_no_other_device(lab: Class, tmp_path: Path) -> None:
    """A saved machine of a VM without a drive stays one of a VM without a drive."""
    lab.do("drive", str(software(tmp_path)))
    without = Hardware(Settings(), "tcg")
    having = Hardware(Settings(), "tcg", drive=drive.current(lab.team().lab))
    assert "drive" not in without.identity()
    words = without._words("tcg")
    assert having._words("tcg")[: len(words)] == words
    assert having.identity()["hardware"] != without.identity()["hardware"]


def ends(lab: Class, team: str = "team01") -> None:
    lab.do("stop", team, "--now")


@pytest.mark.slow
def test_a_vm_keeps_its_version_until_its_next_start(tmp_path: Path) -> None:
    """Also suspended, and after a first start from a machine that was booted once for all."""
    lab = Class(tmp_path)
    try:
        disk = lab_images.image(tmp_path / "linux.qcow2", b"0".ljust(10), mib=8)
        lab.create(disk, *lab_linux.options(tmp_path))
        lab.do("drive", str(software(tmp_path, "one")))
        lab.do("boot-once")
        assert "team01: resumed" in lab.start()
        lab.type("d", ["drive one"])

        words = lab.do("drive", str(software(tmp_path, "two")))
        assert "understudy lab boot-once os822 once more" in words
        assert drive_users.of(lab.team().lab) == {
            drive.all_of(lab.team().lab)[0].identity: ["team01"]
        }
        assert "team01 has version 1 until its VM ends" in lab.refuses("drive", "--drop", "1")
        lab.do("stop", "team01", "--suspend")
        assert "team01 has version 1 until its VM ends" in lab.refuses("drive", "--drop", "1")
        assert "team01" in lab.do("drive").splitlines()[1]
        assert "team01: resumed" in lab.start()
        lab.type("d", ["drive one"])
        ends(lab)

        assert "team01: booted" in lab.start()
        lab.wait_for("up 0")
        lab.type("d", ["drive two"])
        ends(lab)
        lab.do("drive", "--drop", "1")

        # The saved machine has the first version.
        assert "it has another version of the shared drive" in (words := lab.start("team02"))
        assert "team02: booted" in words
        lab.wait_for("up 0", team="team02")
        lab.type("d", ["drive two"], "team02")
        ends(lab, "team02")

        # A suspended VM whose version is gone boots.
        lab.start()
        lab.wait_for("up 0", 2)
        lab.do("stop", "team01", "--suspend")
        content = state_file.required(lab.team().folder / "memory.json")
        content["hardware"]["drive"] = "1 0123456789abcdef"
        state_file.write(lab.team().folder / "memory.json", content)
        assert "not resumed: it has another version of the shared drive" in lab.start()
        lab.wait_for("up 0", 3)
        lab.type("d", ["drive two"])
        ends(lab)

        lab.do("drive", "--use", "none")
        lab.start()
        lab.wait_for("up 0", 4)
        lab.type("d", ["drive none"])
    finally:
        lab.kill()
