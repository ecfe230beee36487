# SPDX-License-Identifier: MIT
"""The journal of a run is copied to a file while the VM runs, and its files say what it was."""

import json
import time
from pathlib import Path

import numpy as np
import pytest

from understudy_devices.base.errors import UserError
from understudy_devices.cards import specification
from understudy_devices.cards.journal import ACCESS, PAGE_BYTES, bytes_outside
from understudy_devices.platforms.vm import qemu
from understudy_devices.referee import kept_files
from understudy_devices.referee.events import Finding
from understudy_devices.referee.recording import RECORDS, Recording

MACHINE = qemu.Machine()
AT = qemu.wire_bytes(MACHINE) - bytes_outside(RECORDS)
WAIT_SECONDS = 60


def records(count: int) -> bytes:
    accesses = np.zeros(count, ACCESS)
    accesses["number"] = np.arange(count)
    return accesses.tobytes()


def write(wire: Path, count: int) -> None:
    """Write a journal as the guest does: records first, then their number."""
    with wire.open("r+b") as file:
        file.seek(AT + PAGE_BYTES)
        file.write(records(count))
        file.flush()
        file.seek(AT)
        file.write(count.to_bytes(8, "little"))


@pytest.fixture
def wire(tmp_path: Path) -> Path:
    wire = tmp_path / "wire"
    with wire.open("wb") as file:
        file.truncate(qemu.wire_bytes(MACHINE))
    return wire


def test_the_copy_grows_while_the_guest_runs(wire: Path, tmp_path: Path) -> None:
    copy = tmp_path / "demo.journal"
    recording = Recording(MACHINE, copy)
    assert recording.parameters() == {
        "journal_records": RECORDS,
        "journal_at": qemu.wire_address(MACHINE) + AT,
    }
    recording.begin(wire)
    try:
        for count in (3, 5):
            write(wire, count)
            end = time.monotonic() + WAIT_SECONDS
            while not copy.exists() or copy.read_bytes() != records(count):
                assert time.monotonic() < end, f"{count} records have not come"
                time.sleep(0.01)
        write(wire, 9)
    finally:
        recording.end(wire)
    assert copy.read_bytes() == records(9)
    assert len(recording.kept().accesses) == 9


def test_a_guest_that_is_started_again_has_a_new_journal(wire: Path, tmp_path: Path) -> None:
    recording = Recording(MACHINE, tmp_path / "demo.journal")
    for count in (4, 2):
        write(wire, count)
        recording.begin(wire)
        recording.end(wire)
    assert (tmp_path / "demo.journal").read_bytes() == records(2)


def test_a_copy_that_cannot_be_written(wire: Path, tmp_path: Path) -> None:
    recording = Recording(MACHINE, tmp_path)
    recording.begin(wire)
    recording.end(wire)
    with pytest.raises(UserError, match="Is a directory: name another --out"):
        recording.kept()


def test_the_files_of_a_run(tmp_path: Path) -> None:
    out = tmp_path / "out"
    kept_files.begin("zach1", out, ["demo"])
    kept_files.begin(str(out / "zach1.yaml"), out, ["demo"])  # its own folder
    assert specification.load(out / "zach1.yaml") == specification.load("zach1")
    kept_files.judge(out, "demo", [Finding("leak", 3, "a buffer")], [], 2)
    assert json.loads((out / "demo-findings.json").read_text()) == {
        "findings": [{"rule": "leak", "access": 3, "text": "a buffer"}],
        "notes": [],
        "missed": 2,
    }
    with pytest.raises(UserError, match="name another --out"):
        kept_files.begin("zach1", out / "zach1.yaml" / "below", ["demo"])


def test_a_second_run_has_none_of_the_files_of_the_first(tmp_path: Path) -> None:
    """The studio takes a journal with findings for a run that has ended."""
    kept_files.begin("zach1", tmp_path, ["demo", "more"])
    for stem in ("demo", "other"):
        (tmp_path / f"{stem}.journal").write_bytes(records(1))
        kept_files.judge(tmp_path, stem, [Finding("leak", 3, "a buffer")], [], 2)
    kept_files.begin("zach1", tmp_path, ["demo", "more"])
    left = sorted(file.name for file in tmp_path.iterdir())
    assert left == ["other-findings.json", "other.journal", "zach1.yaml"]
