# SPDX-License-Identifier: MIT
"""Hosts that share a lab's folder.

NFS 4 carries locks of bytes between hosts, but no `flock` on a folder.  So a process for which that
does nothing is another host.
"""

import errno
import fcntl
import json
import os
import re
import socket
import stat
from collections.abc import Iterator
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from lab_class import NAME, Class, running_lab

from understudy_devices.base.errors import RunFailed
from understudy_devices.lab import holder, locks, qemu_process, remote, start
from understudy_devices.lab.hardware import MONITOR, QEMU_LOG, Hardware

FLOCK = fcntl.flock


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Class]:
    """Yield a lab whose VMs run the tests' guest."""
    with running_lab(tmp_path) as made:
        yield made


def flock_on_nfs(file: Any, how: int) -> None:
    """Lock a file; do nothing with a folder, whose lock no other host sees."""
    if not stat.S_ISDIR(os.fstat(file if isinstance(file, int) else file.fileno()).st_mode):
        FLOCK(file, how)


def begin_on(host: str, lab: Class) -> str:
    """Start the VM as on another host; return how it came to run, or why it does not."""
    fcntl.flock = flock_on_nfs
    socket.gethostname = lambda: host
    team = lab.team()
    try:
        return start.start(team, Hardware(team.lab.settings, "tcg")).how
    except start.Held as error:
        return str(error)


def test_of_two_starts_on_two_hosts_one_wins(lab: Class) -> None:
    """And the other one says where the VM is."""
    hosts = ("blade30", "blade31")
    for _ in range(3):
        with get_context("fork").Pool(2) as pool:
            begun = [pool.apply_async(begin_on, (host, lab)) for host in hosts]
            said = dict(zip(hosts, [each.get(60) for each in begun], strict=True))
        assert len(lab.qemus()) == 1
        (winner,) = (host for host, words in said.items() if words == "booted")
        (words,) = (words for host, words in said.items() if host != winner)
        assert words.startswith(f"team01 runs already: root on {winner} since")
        lab.kill()


def test_a_folder_is_locked_on_all_hosts(lab: Class, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fcntl, "flock", flock_on_nfs)
    for folder in (lab.team().folder, lab.labs / NAME):
        assert not locks.is_folder_locked(folder)
        with locks.folder(folder, 0):
            assert locks.is_folder_locked(folder)
            for shared in (False, True):
                with pytest.raises(locks.Busy), locks.folder(folder, 0, shared=shared):
                    pass
        with (
            locks.folder(folder, 0, shared=True),
            locks.folder(folder, 0, shared=True),
            pytest.raises(locks.Busy),
            locks.folder(folder, 0),
        ):
            pass


def test_who_may_not_make_the_file_still_locks_the_folder(
    lab: Class, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A student, in a lab of an earlier version: on one host, that keeps a drop away."""

    def not_yours(*_: object, **__: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    folder = lab.labs / NAME
    with ExitStack() as held:
        with monkeypatch.context() as student:
            student.setattr(locks, "_file", not_yours)
            held.enter_context(locks.folder(folder, 0, shared=True))
        with pytest.raises(locks.Busy), locks.folder(folder, 0):
            pass


def test_a_file_system_without_locks_is_named(lab: Class, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object) -> bytes:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "fcntl", none)
    words = "its file system has no locks (No locks available): a lab needs a local one, or NFS 4"
    with (
        pytest.raises(RunFailed, match=re.escape(words)),
        locks.folder(lab.team().folder, 0),
    ):
        pass


def test_a_start_takes_no_socket_from_a_qemu_that_lives(lab: Class) -> None:
    """Not even if it was not noticed before, as after a lock that a host has lost."""
    lab.start()
    team = lab.team()
    log = (team.folder / QEMU_LOG).read_bytes()
    with pytest.raises(RunFailed, match="team01: another QEMU, here or on another host, has its"):
        qemu_process.launch(
            team.folder, "os822/team01", Hardware(team.lab.settings, "tcg"), team.base(), False
        )
    assert (team.folder / MONITOR).is_socket()
    assert (team.folder / QEMU_LOG).read_bytes() == log
    lab.do("stop", "team01", "--now")


def test_a_qemu_that_has_lost_the_clone_is_ended(lab: Class) -> None:
    """This host was cut off, and another one has started the VM, which has ended since."""
    lab.start()
    team = lab.team()
    record = team.folder / holder.FILE
    content = json.loads(record.read_text())
    (team.folder / MONITOR).unlink()
    elsewhere = {**content, "host": "blade30", "pid": 1}
    for living in ({**content, "host": "renamed"}, {**elsewhere, "since": content["since"] - 3600}):
        record.write_text(json.dumps(living))
        assert f"team01 runs already: root on {living['host']}" in lab.start(code=1)
        assert list(lab.qemus()) == [content["pid"]]
    record.write_text(json.dumps(elsewhere))
    assert "team01: booted" in lab.start()
    assert content["pid"] not in lab.qemus()


def test_what_a_server_stores_is_written_past_the_cache(
    lab: Class, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel may accept more than the server has room for, and lose it.  O_DIRECT is tried on
    this file system, which is local."""
    mounts = lab.folder / "mountinfo"
    folder = lab.team().folder
    device = folder.stat().st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    for kind, expected in (("nfs4", True), ("ext4", False)):
        mounts.write_text(f"22 1 0:99 / /x rw - nfs4 a:/ rw\n23 1 {number} / / rw - {kind} b rw\n")
        monkeypatch.setattr(remote, "MOUNTS", mounts)
        assert remote.is_remote(folder) == expected
    mounts.write_text("")
    assert not remote.is_remote(folder)
    monkeypatch.setattr(remote, "is_remote", lambda _: True)
    assert start.start(lab.team(), Hardware(lab.team().lab.settings, "tcg")).how == "booted"
    lab.type("w", ["wrote 0001"])
    (process,) = lab.qemus()
    flags = [
        opened_with(process, each)
        for each in Path(f"/proc/{process}/fd").iterdir()
        if each.readlink().name == "disk.qcow2"
    ]
    assert flags
    assert all(each & os.O_DIRECT for each in flags)


def opened_with(process: int, descriptor: Path) -> int:
    """Return the flags with which a process has opened a file."""
    (line,) = (
        each
        for each in Path(f"/proc/{process}/fdinfo/{descriptor.name}").read_text().splitlines()
        if each.startswith("flags:")
    )
    return int(line.split()[1], 8)
