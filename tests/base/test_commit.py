# SPDX-License-Identifier: MIT
"""The commit that `understudy --version` prints: of a wheel, of a checkout, or none."""

import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from understudy_devices import __version__
from understudy_devices.base import commit
from understudy_devices.cli.main import main


def printed() -> str:
    return CliRunner().invoke(main, ["--version"], catch_exceptions=False).stdout


def test_a_wheel_has_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit, "INSTALLED", True)
    monkeypatch.setattr(commit, "FILE", tmp_path / "commit")
    assert printed() == f"understudy {__version__}\n"
    (tmp_path / "commit").write_text("0123456789ab\n")
    assert printed() == f"understudy {__version__} (0123456789ab)\n"


def test_a_checkout_has_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commit, "INSTALLED", False)
    monkeypatch.setattr(commit, "ROOT", tmp_path)
    assert printed() == f"understudy {__version__}\n"

    def git(*words: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
        command = ["git", *who, "-C", str(tmp_path), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    git("init", "-q")
    assert printed() == f"understudy {__version__}\n", "no commit yet"
    (tmp_path / "file").write_text("one")
    git("add", "file")
    git("commit", "-qm", "one")
    git("tag", "v1")
    head = git("rev-parse", "--short=12", "HEAD")
    assert printed() == f"understudy {__version__} ({head})\n"
    (tmp_path / "file").write_text("two")
    assert printed() == f"understudy {__version__} ({head}-dirty)\n"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert printed() == f"understudy {__version__}\n", "no git"
