# SPDX-License-Identifier: MIT
"""A team's VM: start, console, suspend, stop, and what a crash leaves."""

import errno
import json
import os
import pty
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from lab_class import NAME, Class, running_lab
from terminal import COMMAND

from understudy_devices.base import processors
from understudy_devices.lab import (
    console,
    first_start,
    holder,
    locks,
    memory,
    monitor,
    pinning,
    start,
    state_file,
)
from understudy_devices.lab.hardware import Hardware
from understudy_devices.lab.settings import Settings

pytestmark = pytest.mark.thorough


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Class]:
    with running_lab(tmp_path) as made:
        yield made


def state(lab: Class, team: str = "team01") -> str:
    """Return the state that `status` prints."""
    every = json.loads(lab.do("status", "--json"))["teams"]
    (word,) = (each["state"] for each in every if each["team"] == team)
    return str(word)


def test_a_vm_lives_through_suspend_and_power_off(lab: Class) -> None:
    assert state(lab) == "off"
    assert "team01 is off; understudy lab start os822 team01" in lab.refuses("stop", "team01")
    assert "team01: booted" in lab.start()
    lab.wait_for("counter 0000")
    lab.type("wwp", ("wrote 0001", "wrote 0002", "memory 0001"))
    words = lab.start(code=1)
    assert f"team01 runs already: {holder.me()} on {os.uname().nodename} since" in words
    (process,) = lab.qemus()
    assert os.getsid(process) == process  # so Linux gives each VM the same share of the processors
    assert f"(process {process})" in words
    assert state(lab) == "running"

    assert "team01: suspended" in lab.do("stop", "team01", "--suspend")
    assert state(lab) == "suspended"
    assert lab.qemus() == {}
    assert "team01 is suspended" in lab.refuses("stop", "team01")
    assert "team01: resumed" in lab.start()
    lab.type("pw", ("memory 0002", "wrote 0003"))
    assert not memory.exists(lab.team())

    assert "team01: powered off" in lab.do("stop", "team01")
    assert lab.qemus() == {}
    assert "team01: booted" in lab.start()
    lab.wait_for("counter 0003")
    assert lab.do("log", "team01", "--lines", "1") == "counter 0003\n"
    assert lab.log().count("counter 0000") == 1


def test_a_crash_leaves_nothing_that_keeps_a_vm_from_starting(lab: Class) -> None:
    """QEMU is killed, and then a command that was starting it: its QEMU waits, without a guest."""
    lab.start()
    lab.wait_for("counter 0000")
    lab.kill()
    assert (lab.team().folder / holder.FILE).exists()
    assert holder.of(lab.team()) is None
    assert state(lab) == "off"
    lab.start()
    lab.wait_for("counter 0000", 2)
    with monitor.Monitor(lab.team().folder) as qemu:
        qemu.do("stop")
        assert state(lab) == "silent"
        with locks.folder(lab.team().folder, 0):
            assert state(lab) == "busy"
    assert state(lab) == "paused"
    assert "cannot power off: understudy lab start" in lab.refuses("stop", "team01")
    assert "team01: continued" in lab.start()
    lab.type("w", ["wrote 0001"])
    assert "team01: ended" in lab.do("stop", "team01", "--now")
    assert lab.qemus() == {}


def test_of_two_starts_at_one_instant_one_wins(lab: Class) -> None:
    commands = [lab.begin() for _ in range(3)]
    errors = [command.communicate(timeout=120)[1] for command in commands]
    assert sorted(command.returncode for command in commands) == [0, 1, 1], errors
    assert sum("team01 runs already" in words for words in errors) == 2
    assert len(lab.qemus()) == 1


def test_a_memory_that_does_not_fit_is_not_used(lab: Class) -> None:
    """The VM is booted, and the command says why."""
    lab.start()
    lab.wait_for("counter 0000")
    lab.do("stop", "team01", "--suspend")
    os.utime(lab.team().disk)
    words = lab.start()
    assert "note: the suspended VM is not resumed: the clone has changed since" in words
    assert "team01: booted" in words
    lab.wait_for("counter 0000", 2)
    assert not list(lab.team().folder.glob("memory*"))
    lab.do("stop", "team01", "--suspend")
    (saved,) = lab.team().folder.glob("memory-*")
    with saved.open("r+b") as file:  # QEMU itself refuses it
        file.write(b"nothing")
    assert "team01: booted" in lab.start()


def test_the_console_is_for_one_at_a_time(lab: Class) -> None:
    assert "team01 is off" in lab.refuses("console", "team01")
    lab.start()
    ours, theirs = pty.openpty()
    words = [str(COMMAND), "lab", "console", NAME, "team01", "--folder", str(lab.labs)]
    terminal = subprocess.Popen(
        words, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert terminal.stderr
        assert "Ctrl-] leaves the console" in terminal.stderr.readline()
        lab.wait_for("counter 0000")
        os.write(ours, b"p")
        lab.wait_for("memory 0001")
        assert "its console is open elsewhere" in lab.refuses("console", "team01")
        os.write(ours, b"\x1d")
        output, errors = terminal.communicate(timeout=120)
        assert "team01: left by Ctrl-]" in errors
        assert output.replace("\r\n", "\n").endswith("memory 0001\n")
    finally:
        terminal.kill()
        os.close(ours)
        os.close(theirs)


def test_a_program_that_the_lab_does_not_know_is_noticed(lab: Class) -> None:
    """It holds the image's lock, as a QEMU would that somebody started by hand."""
    with locks.image(lab.team().disk):
        assert locks.is_image_locked(lab.team().disk)
        assert state(lab) == "locked"
        assert "locked by a program that this lab has not started" in lab.start(code=1)
        with pytest.raises(locks.Held), locks.image(lab.team().disk):
            pass
    assert state(lab) == "off"


def test_a_vm_on_another_host_is_asked_nothing(lab: Class) -> None:
    lab.start()
    file = lab.team().folder / holder.FILE
    content = file.read_text()
    record = {**json.loads(content), "host": "blade30", "node": "n7", "job": "12"}
    file.write_text(json.dumps(record))
    assert f"team01 runs already: {holder.me()} on n7 since" in lab.start(code=1)
    line = lab.refuses("stop", "team01", "--now")
    assert f"team01 runs elsewhere: {holder.me()} on n7 since" in line
    assert "; srun --jobid=12 --overlap understudy lab stop os822 team01" in line
    line = lab.refuses("console", "team01")
    assert f"team01 runs elsewhere: {holder.me()} on n7 since" in line
    assert "; srun --jobid=12 --overlap --pty understudy lab console os822 team01" in line
    assert "team01 runs, by" in lab.refuses("reset", "team01")
    note = f"note: team01 runs elsewhere: {holder.me()} on n7 since"
    for words in ((), ("--team", "team01")):
        said = lab.do("quota", "100MiB", *words)
        assert said.startswith(note)
        assert "; the quota counts at the VM's next start\n" in said
    assert len(lab.qemus()) == 1
    file.write_text(content)
    lab.do("stop", "team01", "--now")


def test_a_socket_that_one_may_not_use_is_no_vm_that_is_off(
    lab: Class, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.start()

    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(monitor, "connect", refuse)
    assert state(lab) == "running"
    assert "monitor.sock: Permission denied" in lab.refuses("stop", "team01", "--now")
    assert len(lab.qemus()) == 1


def test_a_base_that_changed_is_not_started(lab: Class) -> None:
    base = lab.team().base()
    base.disk.chmod(0o600)
    os.utime(base.disk)
    assert "understudy lab check os822 compares each byte" in lab.start(code=1)
    lab.do("check")
    lab.start()


def test_a_damaged_clone_is_named(lab: Class) -> None:
    os.truncate(lab.team().disk, 90)
    assert "truncated: it has 90 bytes" in lab.start(code=1)
    lab.team().disk.unlink()
    assert state(lab) == "damaged"


def test_a_damaged_clone_of_a_first_start_is_made_anew(lab: Class) -> None:
    state_file.write(lab.team().folder / first_start.FILE, {})
    os.truncate(lab.team().disk, 90)
    first_start.sweep(lab.team())
    assert lab.team().backing() == "../../bases/1/disk.qcow2"
    assert not first_start.is_unfinished(lab.team())


def test_a_log_has_no_colours(lab: Class) -> None:
    """A terminal's control sequences are left out, and what is left of them cannot harm one."""
    file = lab.team().folder / "console.log"
    file.write_bytes(b"[\x1b[0;32m  OK  \x1b[0m] up\r\r\n\x1b]0;title\x07\x1bctwo\x9b2J\rthree\x1b")
    assert lab.do("log", "team01") == "[  OK  ] up\ntwo\ufffd2J\nthree?\n"
    assert lab.do("log", "team01", "--lines", "0") == "\n"


def test_of_a_long_log_the_end_is_printed(lab: Class, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "LOG_BYTES_MAX", 12)
    file = lab.team().folder / "console.log"
    file.write_bytes(b"one\ntwo\nthree\nfour\n")
    assert lab.do("log", "team01") == "three\nfour\n"
    file.unlink()
    os.mkfifo(file)
    assert "console.log: not a file" in lab.refuses("log", "team01")
    assert lab.do("log", "--oopses") == ""


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda content: content["hardware"].update(qemu="8.0.0"), "QEMU 8.0.0 saved it, and this"),
        (lambda content: content["hardware"].update(build="?"), "another build of QEMU"),
        (lambda content: content["hardware"].update(hardware="?"), "the VM has other hardware now"),
        (lambda content: content.update(bytes=9), "its file is incomplete"),
        (lambda content: content.update(file="../../../lab.json"), "its file is missing"),
        (lambda content: content.clear(), "its file is missing"),
        (lambda content: content["clone"].update(mtime_ns=1), "the clone has changed since"),
    ],
)
def test_what_a_memory_needs(lab: Class, spoil: object, words: str) -> None:
    hardware = Hardware(Settings(), "tcg")
    path = memory.new_file(lab.team())
    path.write_bytes(b"memory")
    memory.commit(lab.team(), path, hardware.identity())
    saved = memory.find(lab.team(), hardware)
    assert saved == memory.Memory(path, "")
    file = lab.team().folder / memory.FILE
    content = json.loads(file.read_text())
    assert callable(spoil)
    spoil(content)
    file.write_text(json.dumps(content))
    saved = memory.find(lab.team(), hardware)
    assert saved
    assert words in saved.obstacle
    memory.drop(lab.team())
    assert not memory.exists(lab.team())
    assert not path.exists()


@pytest.mark.parametrize("options", [(), ("--pin",)])
def test_vms_are_pinned_to_the_set_with_the_fewest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    """As if no two processors shared a cache."""
    mine = os.sched_getaffinity(0)
    sets = [frozenset({number}) for number in sorted(mine)]
    assert len(sets) > 1
    taken = [*sets, sets[0]]
    monkeypatch.setattr(processors, "groups", lambda cores: sets)
    monkeypatch.setattr(pinning, "_taken", lambda: iter(taken))
    with running_lab(tmp_path, *options) as lab:
        team = lab.team()
        start.start(team, Hardware(team.lab.settings, "tcg"))
        who = holder.of(team)
        assert who
        assert os.sched_getaffinity(who.pid) == (sets[1] if options else mine)
    assert os.sched_getaffinity(0) == mine


def test_each_qemu_of_the_host_counts(lab: Class) -> None:
    lab.start()
    assert frozenset(os.sched_getaffinity(0)) in pinning._taken()
