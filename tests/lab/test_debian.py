# SPDX-License-Identifier: MIT
"""`--base debian`: what can be tried without a network.  Equal folders give equal images."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from lab_class import NAME, students, understudy

from understudy_devices.base.errors import UserError
from understudy_devices.lab import debian, ext4, from_raw

EPOCH = 1_000_000_000


def tree(folder: Path) -> Path:
    """Make a folder like a system's: files, folders, links, each with other time stamps."""
    (folder / "etc" / "ssh").mkdir(parents=True)
    (folder / "etc" / "fstab").write_text("/dev/vda\n")
    (folder / "bin").symlink_to("usr/bin")
    (folder / "etc" / "second").hardlink_to(folder / "etc" / "fstab")
    (folder / "old").write_text("old")
    os.utime(folder / "old", (5, 5))
    for number in range(50):
        (folder / f"file{number}").write_bytes(bytes([number]) * 5000)
    return folder


def test_equal_folders_give_equal_images(tmp_path: Path) -> None:
    images = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        root, raw = tree(tmp_path / name / "root"), tmp_path / name / "raw"
        debian._clamp(root, EPOCH)
        (root / "file1").read_bytes()
        ext4.write(root, raw, 32 * 2**20, "lab", EPOCH)
        from_raw.write(raw, tmp_path / name / "disk.qcow2")
        images.append((tmp_path / name / "disk.qcow2").read_bytes())
    assert images[0] == images[1]
    checked = subprocess.run(["e2fsck", "-fn", raw], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
    stat = subprocess.run(
        ["debugfs", "-R", "stat /etc/fstab", raw],
        env={**os.environ, "TZ": "UTC"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert stat.count("Sun Sep  9 01:46:40 2001") == 4, stat


def test_a_missing_tool_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    words = ("lab", "create", NAME, "--base", "debian", "--students", students(tmp_path))
    done = understudy(*words, "--folder", tmp_path / "labs")
    assert done.exit_code == 2
    assert "no mmdebstrap here: apt-get install -y --no-install-recommends" in done.stderr
    assert not (tmp_path / "labs").exists()
    done = understudy(*words, "--kernel", students(tmp_path))
    assert "it has its own kernel" in done.stderr


@pytest.mark.parametrize("text", ["x", "-1", "1.5", str(2**32)])
def test_an_odd_epoch_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", text)
    with pytest.raises(UserError, match=f"SOURCE_DATE_EPOCH: {text} is no number of seconds"):
        debian.check()


def test_an_empty_epoch_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "")
    assert debian._epoch() == debian.EPOCH


def test_only_root_can_make_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(UserError, match="run this as root"):
        debian.check()
