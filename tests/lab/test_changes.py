# SPDX-License-Identifier: MIT
"""Snapshots, undo, reset, a new base, quotas and maintenance."""

import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import lab_images
import pytest
from lab_class import NAME, Class, running_lab, understudy

from understudy_devices.base.errors import RunFailed
from understudy_devices.lab import (
    changes,
    disk_use,
    locks,
    maintenance,
    memory,
    qcow2,
    qemu_process,
    quota,
    store,
)
from understudy_devices.lab.base_image import Source
from understudy_devices.lab.hardware import Hardware

pytestmark = pytest.mark.thorough


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Class]:
    with running_lab(tmp_path) as made:
        yield made


def run(lab: Class, keys: str, *answers: str) -> None:
    """Start the VM, type keys, and power it off."""
    lab.start()
    lab.type(keys, answers)
    lab.do("stop", "team01")


def suspended(lab: Class) -> None:
    """Pretend that the VM is suspended."""
    path = memory.new_file(lab.team())
    path.write_bytes(b"memory")
    memory.commit(lab.team(), path, Hardware(lab.team().lab.settings, "tcg").identity())


def test_a_disk_goes_back_and_forth(lab: Class) -> None:
    run(lab, "w", "wrote 0001")
    assert "understudy lab undo os822 team01 one" in lab.do("snapshot", "team01", "one")
    run(lab, "w", "wrote 0002")
    lab.do("snapshot", "team01", "two")
    assert lab.do("snapshot", "team01") == "one\ntwo\n"
    assert "as at the snapshot one" in lab.do("undo", "team01", "one")
    run(lab, "w", "wrote 0002")
    assert "as at the snapshot one" in lab.do("undo", "team01")
    assert "as at the snapshot two" in lab.do("undo", "team01", "two")
    run(lab, "w", "wrote 0003")
    lab.do("reset", "team01")
    assert lab.do("snapshot", "team01") == "one\ntwo\n"
    run(lab, "w", "wrote 0001")

    second = lab_images.guest(lab.folder, "second.qcow2", mib=32)
    assert "2 teams have a clone of second.qcow2" in lab.do("rebase", "--base", str(second))
    assert lab.team().base().virtual_bytes == 32 * 2**20
    run(lab, "w", "wrote 0001")
    assert "0 teams" in lab.do("rebase")
    assert changes.has_old(lab.team())
    lab.do("undo", "team01", "one")
    run(lab, "w", "wrote 0002")
    lab.do("drop", "team01")
    assert "has no clone of an earlier base" in lab.refuses("drop", "team01")


def test_a_running_vm_is_left_alone(lab: Class) -> None:
    lab.start()
    (process,) = lab.qemus()
    assert locks.is_written(lab.team().disk)
    assert locks.is_image_locked(lab.team().base().disk)
    assert not locks.is_written(lab.team().base().disk)
    for command, words in (
        ("snapshot", ("team01", "one")),
        ("undo", ("team01",)),
        ("reset", ("team01",)),
        ("drop", ("team01",)),
    ):
        line = lab.refuses(command, *words)
        assert "team01 runs, by" in line
        assert "understudy lab stop os822 team01 first" in line
    second = lab_images.guest(lab.folder, "second.qcow2")
    done = lab.lab("rebase", "--base", str(second))
    assert done.exit_code == 1
    assert "1 teams have a clone" in done.stderr
    assert "1 teams stay where they are:\n  team01 runs" in done.stderr
    assert list(lab.qemus()) == [process]
    assert "none runs" not in lab.do("maintenance", "on", "--reason", "new headers")
    assert lab.do("stop", "team01", "--now")
    assert "os822 is in maintenance, by" in lab.start(code=1)
    assert "new headers" in lab.do("status")
    lab.do("maintenance", "off")
    lab.start()


def test_a_disk_keeps_to_its_bandwidth(tmp_path: Path) -> None:
    """The guest writes 512 bytes 256 times, which takes it 16 s, until it may be faster."""
    lab = Class(tmp_path)
    try:
        lab.create(lab_images.guest(tmp_path, mib=16), "--bandwidth", "8KiB")
        lab.start()
        lab.type("d", ["d"])
        time.sleep(3)
        assert "full" not in lab.log()
        grown = lab.team().disk.stat().st_size
        lab.do("stop", "team01", "--suspend")
        lab.start()
        time.sleep(3)
        assert "full" not in lab.log()
        assert grown < lab.team().disk.stat().st_size < 14 * 2**20
        assert "team01: 1,073.7 MB a second" in lab.do("bandwidth", "1GiB", "--team", "team01")
        lab.wait_for("full")
        assert "--bandwidth: 1 is" in lab.refuses("bandwidth", "1")
    finally:
        lab.kill()


def test_a_full_clone_pauses_and_goes_on(tmp_path: Path) -> None:
    """The guest notices nothing but the time."""
    lab = Class(tmp_path)
    try:
        lab.create(lab_images.guest(tmp_path, mib=16), "--quota", "3MiB")
        lab.start()
        lab.type("w", ["wrote 0001"])
        lab.type("d", ["d"])
        wait_for_state(lab, "no room")
        assert lab.team().disk.stat().st_size <= 3 * 2**20
        assert lab.log().count("full") == 0
        lab.do("stop", "team01", "--now")
        assert "team01 has reached its quota of 3 MB" in lab.start(code=1)
        lab.do("quota", "4MiB", "--team", "team01")
        lab.start()
        lab.wait_for("counter 0001")
        lab.type("d", ["d"])
        wait_for_state(lab, "no room")
        assert "team01 has reached its quota of 4 MB" in lab.start(code=1)
        lab.do("quota", "100MiB", "--team", "team01")
        assert "team01: continued" in lab.start()
        lab.wait_for("full")
        lab.do("quota", "200MiB")
        settings = [each["quota_bytes"] for each in teams(lab)]
        assert settings == [100 * 2**20, 200 * 2**20]
        lab.do("reset", "team02")
    finally:
        lab.kill()


def teams(lab: Class) -> list[dict[str, object]]:
    every: list[dict[str, object]] = json.loads(lab.do("status", "--json"))["teams"]
    return every


def wait_for_state(lab: Class, state: str) -> None:
    """Wait until the first team's VM is in a state."""
    lab.until(lambda: teams(lab)[0]["state"] == state)


def test_names_of_snapshots_are_checked(lab: Class) -> None:
    assert 'snapshot "../x": write 1 to 32' in lab.refuses("snapshot", "team01", "../x")
    lab.do("snapshot", "team01", "one")
    assert "has a snapshot one" in lab.refuses("snapshot", "team01", "one")
    assert 'unknown snapshot "two"' in lab.refuses("undo", "team01", "two")
    assert "no snapshot below its clone" in lab.refuses("undo", "team02")
    assert "--drop: name the snapshot" in lab.refuses("snapshot", "team01", "--drop")
    assert "the clone needs it" in lab.refuses("snapshot", "team01", "one", "--drop")
    lab.do("snapshot", "team01", "two")
    assert "two needs it" in lab.refuses("snapshot", "team01", "one", "--drop")
    lab.do("reset", "team01")
    lab.do("snapshot", "team01", "two", "--drop")
    lab.do("snapshot", "team01", "one", "--drop")
    assert [path.name for path in lab.team().folder.glob("*.qcow2")] == ["disk.qcow2"]


def test_no_snapshot_makes_a_clone_that_cannot_start(
    lab: Class, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "IMAGES_MAX", 4)
    lab.do("snapshot", "team01", "one")
    lab.do("snapshot", "team01", "two")
    assert "based on 2 snapshots, and cannot be on more" in lab.refuses(
        "snapshot", "team01", "three"
    )
    assert changes.snapshots(lab.team()) == ["one", "two"]
    assert lab.team().base().folder.name == "1"
    lab.do("undo", "team01", "one")
    lab.do("snapshot", "team01", "three")


def test_a_suspended_vm_keeps_its_memory(lab: Class) -> None:
    """Unless the user goes back, which is meant to lose it."""
    suspended(lab)
    assert "team01 is suspended" in lab.refuses("snapshot", "team01", "one")
    second = lab_images.guest(lab.folder, "second.qcow2")
    assert "team01 is suspended" in lab.lab("rebase", "--base", str(second)).stderr
    assert memory.exists(lab.team())
    lab.do("reset", "team01")
    assert not memory.exists(lab.team())
    lab.do("rebase")
    suspended(lab)
    assert "team01 is suspended" in lab.refuses("drop", "team01")


def test_a_killed_change_leaves_one_name(lab: Class) -> None:
    """Between the two steps of a snapshot, or of a rebase, the clone has two names."""
    team = lab.team()
    (team.folder / "snapshot-one.qcow2").hardlink_to(team.disk)
    (team.folder / changes.OLD).hardlink_to(team.disk)
    lab.do("snapshot", "team01", "one")
    assert changes.snapshots(team) == ["one"]
    assert not changes.has_old(team)
    assert qcow2.backing_of(team.disk) == "snapshot-one.qcow2"


def test_a_damaged_clone_is_made_anew(lab: Class) -> None:
    for spoil in spoilers():
        spoil(lab.team().disk)
        lab.do("reset", "team01")
        assert lab.team().base().folder.name == "1"


def test_a_damaged_clone_can_go_back_to_a_snapshot(lab: Class) -> None:
    disk = lab.team().disk
    os.truncate(disk, 10)
    assert "or understudy lab reset os822 team01 makes a new clone" in lab.start(code=1)
    lab.do("reset", "team01")
    lab.do("snapshot", "team01", "one")
    os.truncate(disk, 10)
    assert "or understudy lab undo os822 team01 LABEL goes back" in lab.start(code=1)
    lab.do("undo", "team01", "one")
    assert qcow2.backing_of(disk) == "snapshot-one.qcow2"


def test_a_clone_survives_a_power_cut_before_it_has_its_name(
    lab: Class, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the former clone is gone, and the new one is empty."""
    disk, former = lab.team().disk, lab.team().disk.stat().st_ino
    events: list[tuple[int, bool]] = []
    fsync = os.fsync

    def note(descriptor: int) -> None:
        events.append((os.fstat(descriptor).st_ino, disk.stat().st_ino == former))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    lab.do("reset", "team01")
    assert (disk.stat().st_ino, True) in events
    assert (disk.parent.stat().st_ino, False) in events


def spoilers() -> list[Callable[[Path], object]]:
    return [lambda path: os.truncate(path, 10), lambda path: path.unlink()]


def test_a_new_base_is_checked(lab: Class) -> None:
    raw = lab.folder / "raw.qcow2"
    raw.write_bytes(bytes(512))
    assert "no qcow2 image" in lab.refuses("rebase", "--base", str(raw))
    assert "go with --base" in lab.refuses("rebase", "--kernel", str(raw))
    assert [base.folder.name for base in lab.team().lab.bases()] == ["1"]
    assert [path.name for path in (lab.labs / NAME / "bases").glob("[!.]*")] == ["1"]


def test_no_two_commands_change_a_clone(lab: Class) -> None:
    folder = lab.team().folder
    with (
        locks.folder(folder, 0),
        pytest.raises(RunFailed, match="another command"),
        locks.folder(folder, 0, who="team01"),
    ):
        pass
    with locks.image(lab.team().disk):
        assert "team01 runs: " in lab.refuses("reset", "team01")


def test_maintenance_waits_for_starts(lab: Class, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "LOCK_SECONDS", 0)
    with locks.folder(lab.labs / NAME, 0, shared=True):
        with locks.folder(lab.labs / NAME, 0, shared=True):
            pass
        assert "another command is at work" in lab.refuses("maintenance", "on")
    assert "no VM starts; none runs" in lab.do("maintenance", "on")


def test_disk_counts_as_the_dissertation_does(lab: Class, tmp_path: Path) -> None:
    """Two teams save one installation; with a base for each of them, nothing."""
    words = ("lab", "disk", NAME, "--folder", lab.labs)
    figures = json.loads(understudy(*words, "--json").stdout)
    use = disk_use.of(lab.team().lab)
    base = use.base_bytes[1]
    assert figures["saved_bytes"] == use.saved_bytes == base
    assert figures["total_bytes"] == base + sum(team.total_bytes for team in use.teams)
    text = understudy(*words).stdout
    assert text.startswith("MB ")
    assert "an image for each team would take" in text
    assert max(map(len, text.splitlines())) <= 80
    lab.do("snapshot", "team01", "one")
    changes.add_base(lab.team().lab, Source(lab.folder / "guest.qcow2"))
    changes.rebase(lab.team(), lab.team().lab.bases()[-1])
    use = disk_use.of(lab.team().lab)
    assert [team.base for team in use.teams] == [2, 1]
    assert use.teams[0].snapshot_bytes > 0
    assert use.teams[0].old_bytes > 0
    assert use.saved_bytes == 0


def test_a_flat_clone_needs_no_snapshot(lab: Class) -> None:
    assert "it is flat already" in lab.refuses("flatten", "team01")
    for number in (1, 2):
        lab.start()
        lab.wait_for(f"counter {number - 1:04x}")
        lab.type("w", [f"wrote {number:04x}"])
        assert "team01 runs" in lab.refuses("flatten", "team01")
        lab.do("stop", "team01", "--now")
        lab.do("snapshot", "team01", f"s{number}")
    assert "needs no snapshot" in lab.do("flatten", "team01")
    assert lab.qemus() == {}
    assert lab.team().backing() == "../../bases/1/disk.qcow2"
    for number in (2, 1):
        lab.do("snapshot", "team01", f"s{number}", "--drop")
    lab.start()
    lab.wait_for("counter 0002")


def with_a_snapshot(lab: Class) -> None:
    """Let the guest write, and take a snapshot of that."""
    lab.start()
    lab.wait_for("counter 0000")
    lab.type("w", ["wrote 0001"])
    lab.do("stop", "team01", "--now")
    lab.do("snapshot", "team01", "one")


def test_a_flatten_without_room_is_refused(lab: Class, monkeypatch: pytest.MonkeyPatch) -> None:
    with_a_snapshot(lab)
    before = lab.team().disk.read_bytes()
    lab.do("quota", "1MiB", "--team", "team01")
    large = lab.team().folder / "snapshot-large.qcow2"
    large.write_bytes(bytes(2**20))
    assert "and its quota leaves 0.0 MB: understudy lab quota" in lab.refuses("flatten", "team01")
    large.unlink()
    monkeypatch.setattr(quota, "room", lambda _: None)
    full = os.statvfs_result((4096, 4096, *[0] * 8))
    monkeypatch.setattr(os, "statvfs", lambda _: full)
    assert "the disk has 0.0 MB: make room there" in lab.refuses("flatten", "team01")
    assert lab.team().disk.read_bytes() == before


def test_a_flatten_that_fails_leaves_a_clone_that_reads_as_before(
    lab: Class, monkeypatch: pytest.MonkeyPatch
) -> None:
    """QEMU may find no room, or be killed before its tables are in the file."""
    with_a_snapshot(lab)
    with monkeypatch.context() as patch:
        patch.setattr(quota, "enforce", lambda _, pid: quota.limit(pid, 2**18))
        words = lab.refuses("flatten", "team01")
        assert "team01 reads as before: QEMU has not copied it: File too large" in words
    with monkeypatch.context() as patch:
        patch.setattr(qemu_process, "finish", lambda monitor: qemu_process.kill(monitor.pid))
        words = lab.refuses("flatten", "team01")
        assert "team01 reads as before: QEMU has not written all of it" in words
    assert lab.team().backing() == "snapshot-one.qcow2"
    assert lab.qemus() == {}
    lab.start()
    lab.wait_for("counter 0001")
    lab.do("stop", "team01", "--now")
    lab.do("flatten", "team01")
    lab.do("snapshot", "team01", "one", "--drop")
    lab.start()
    lab.wait_for("counter 0001", 2)
