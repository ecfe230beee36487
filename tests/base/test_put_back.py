# SPDX-License-Identifier: MIT
"""Settings are restored in order; failures are reported and kept for a later attempt.

Ordinary files stand in for the kernel's settings.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from understudy_devices.base import put_back, scratch
from understudy_devices.base.errors import RunFailed


@pytest.fixture
def queue(tmp_path: Path) -> Path:
    """The queue folder of a disk with a chosen scheduler."""
    folder = tmp_path / "queue"
    folder.mkdir()
    (folder / "scheduler").write_text("none [mq-deadline] bfq\n")
    (folder / "nr_requests").write_text("60\n")
    (tmp_path / "diskseq").write_text("7\n")
    return folder


def journal(queue: Path) -> Path:
    """Write a journal of both settings; return its path."""
    file = queue.parent / "run" / "sda.json"
    files = [queue / "scheduler", queue / "nr_requests"]
    put_back.write(file, queue.parent / "diskseq", files)
    return file


def test_what_is_chosen_is_in_brackets(queue: Path) -> None:
    assert put_back.held(queue / "scheduler") == "mq-deadline"
    assert put_back.held(queue / "nr_requests") == "60"


def test_only_what_differs_is_written(queue: Path) -> None:
    """Writing an unchanged value could have side effects in the kernel."""
    listed = journal(queue)
    (queue / "scheduler").write_text("bfq")
    (queue / "nr_requests").chmod(0o400)
    before = (queue / "nr_requests").stat().st_mtime_ns
    assert put_back.put_back(listed) == []
    assert (queue / "scheduler").read_text() == "mq-deadline"
    assert (queue / "nr_requests").stat().st_mtime_ns == before
    assert not listed.exists()
    assert put_back.put_back(listed) == []


def test_the_kernels_own_choice_comes_before_the_same_value(queue: Path) -> None:
    latency = queue / "wbt_lat_usec"
    latency.write_text("2000")
    listed = queue.parent / "sda.json"
    put_back.write(listed, queue.parent / "diskseq", [latency])
    latency.write_text("0")
    assert put_back.put_back(listed) == []  # a file keeps -1, which is reported
    assert latency.read_text() == "2000"


def test_another_disk_in_its_place_is_left_alone(queue: Path) -> None:
    listed = journal(queue)
    (queue / "nr_requests").write_text("256")
    (queue.parent / "diskseq").write_text("8\n")
    assert put_back.put_back(listed) == []
    assert (queue / "nr_requests").read_text() == "256"
    assert not listed.exists()


@pytest.mark.parametrize("gone", ["diskseq", "queue/scheduler"])
def test_of_a_disk_that_is_gone_nothing_is_left(gone: str, queue: Path) -> None:
    listed = journal(queue)
    (queue.parent / gone).unlink()
    assert put_back.put_back(listed) == []
    assert not listed.exists()


def test_what_does_not_go_back_is_said_and_kept(queue: Path) -> None:
    """The journal stays until every setting is restored."""
    listed = journal(queue)
    (queue / "nr_requests").unlink()
    (queue / "nr_requests").mkdir()
    (queue / "scheduler").write_text("bfq")
    (why,) = put_back.put_back(listed)
    assert why == f"{queue / 'nr_requests'}: 60 could not be put back: Is a directory"
    assert (queue / "scheduler").read_text() == "mq-deadline"
    assert listed.exists()
    (queue / "nr_requests").rmdir()
    (queue / "nr_requests").write_text("1")
    assert put_back.put_back(listed) == []
    assert (queue / "nr_requests").read_text() == "60"


def test_the_program_does_the_same(queue: Path) -> None:
    """The script runs in an interpreter that cannot import the package."""
    command = [sys.executable, "-I", "-S", put_back.__file__, str(journal(queue))]
    (queue / "nr_requests").unlink()
    (queue / "nr_requests").mkdir()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.endswith("60 could not be put back: Is a directory")
    (queue / "nr_requests").rmdir()
    (queue / "nr_requests").write_text("1")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    assert (queue / "nr_requests").read_text() == "60"


def test_settings_are_back_after_any_exception(queue: Path, tmp_path: Path) -> None:
    listed = tmp_path / "sda.json"
    files = [queue / "nr_requests"]

    def change_and_fail() -> None:
        with scratch.settings(listed, queue.parent / "diskseq", files):
            assert json.loads(listed.read_text())["settings"] == [[str(files[0]), "60"]]
            files[0].write_text("256")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        change_and_fail()
    assert files[0].read_text() == "60"
    assert not listed.exists()


def test_a_run_whose_settings_do_not_go_back_has_failed(queue: Path, tmp_path: Path) -> None:
    file = queue / "nr_requests"

    def spoil() -> None:
        with scratch.settings(tmp_path / "sda.json", queue.parent / "diskseq", [file]):
            file.unlink()
            file.mkdir()

    with pytest.raises(RunFailed, match="60 could not be put back"):
        spoil()
