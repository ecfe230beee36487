# SPDX-License-Identifier: MIT
"""A first start resumes the machine that was booted once for all, and makes it the team's own."""

import json
import os
import random
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import lab_images
import lab_linux
import pytest
from lab_class import PATIENCE_SECONDS, Class

from understudy_devices.lab import disk_use, first_start, memory, overlay
from understudy_devices.lab.base_image import read
from understudy_devices.lab.hardware import LOG

pytestmark = pytest.mark.thorough

IDENTITY = re.compile(r"identity (\S+) ([0-9a-f]{32}) (\d+)")
CLOCK_SECONDS_MAX = 600
"""How wrong a guest's clock may be on a busy machine."""
YEAR_2001_ENDS = 1_010_000_000


@contextmanager
def linux_lab(folder: Path, *, has_agent: bool = True) -> Iterator[Class]:
    """Yield a lab whose VMs run the tests' Linux; none is left at the end."""
    lab = Class(folder)
    try:
        disk = lab_images.image(folder / "linux.qcow2", b"0".ljust(10), mib=8)
        lab.create(disk, *lab_linux.options(folder, has_agent=has_agent))
        yield lab
    finally:
        lab.kill()


def identity(lab: Class, team: str = "team01") -> tuple[str, str, int]:
    """Return the guest's machine-id, some random bytes and its clock."""
    lab.type("i", ["identity"], team)
    lab.until(lambda: lab.log(team).rstrip(" ").endswith("\n"))
    number, random, seconds = IDENTITY.findall(lab.log(team))[-1]
    return number, random, int(seconds)


def booted_disk(lab: Class, team: str = "team01") -> bool:
    """Return whether the clone is an overlay of the saved machine's disk."""
    return "booted-" in lab.team(team).backing()


def test_a_first_start_resumes_and_shares_nothing(tmp_path: Path) -> None:
    with linux_lab(tmp_path) as lab:
        assert "base 1 has booted" in lab.do("boot-once")
        assert lab.qemus() == {}
        base = read(lab.team().folder / "../../bases/1")
        assert not list(base.folder.glob(".booting*"))
        assert "unchanged" in lab.do("check")
        use = disk_use.of(lab.team().lab)
        assert use.saved_bytes == use.base_bytes[1], "the saved machine saves nothing"
        assert use.machine_bytes > 2**20
        assert "booted once for all: " in lab.do("disk")

        assert "team01: resumed" in lab.start()
        assert booted_disk(lab)
        first = identity(lab)
        assert "team02: resumed" in lab.start("team02")
        second = identity(lab, "team02")
        assert len({first[0], second[0], lab_linux.MACHINE_ID, ""}) == 4
        assert first[1] != second[1]
        for seconds in (first[2], second[2]):
            assert abs(time.time() - seconds) < CLOCK_SECONDS_MAX
        for team in ("team01", "team02"):
            assert "up 0" not in lab.log(team), "it has not booted"
            assert not first_start.is_unfinished(lab.team(team))

        # What a team has written is its own: it never meets the saved machine again.
        lab.type("w", ["wrote 1"])
        assert not overlay.is_empty(lab.team().disk)
        lab.kill()
        assert "team01: booted" in lab.start()
        lab.wait_for("up 1")
        lab.do("stop", "team01", "--now")

        # A saved machine that does not fit is not used, and neither is its disk.
        lab.do("reset", "team01")
        manifest = base.folder / "booted-1" / "manifest.json"
        content = manifest.read_text()
        manifest.write_text(content.replace('"qemu": "', '"qemu": "0.'))
        assert "is not resumed: QEMU 0." in (words := lab.start())
        assert "team01: booted" in words
        assert not booted_disk(lab)
        lab.do("stop", "team01", "--now")
        manifest.write_text(content)


@pytest.mark.slow
def test_a_base_may_be_booted_again(tmp_path: Path) -> None:
    """Only the newest memory stays; clones stay on the disk that they began with."""
    with linux_lab(tmp_path) as lab:
        lab.do("boot-once")
        lab.start("team02")
        lab.do("boot-once")
        base = read(lab.team().folder / "../../bases/1")
        assert not (base.folder / "booted-1" / "memory").exists()
        assert Path(lab.team("team02").backing()).parent.name == "booted-1"
        lab.do("check")
        lab.start()
        assert Path(lab.team().backing()).parent.name == "booted-2"


@pytest.mark.slow
def test_a_first_start_that_was_killed_begins_anew(tmp_path: Path) -> None:
    """At each instant: nobody reaches a VM that is not renewed, and the next start renews it."""
    with linux_lab(tmp_path) as lab:
        lab.do("boot-once")
        marker = lab.team().folder / first_start.FILE
        command = lab.begin()
        lab.until(lambda: marker.exists() and bool(lab.qemus()))
        command.send_signal(signal.SIGKILL)
        command.communicate()
        if marker.exists():
            assert "is at its first start" in lab.refuses("stop", "team01", "--suspend")
            assert "is at its first start" in lab.refuses("console", "team01")
        assert "team01: resumed" in lab.start()
        assert len(lab.qemus()) == 1
        assert not marker.exists()
        assert identity(lab)[0] not in ("", lab_linux.MACHINE_ID)

        # QEMU is killed in the middle, and then the clone is changed.
        lab.kill()
        lab.do("reset", "team01")
        marker.write_text("{}")
        lab.do("snapshot", "team01", "one")
        assert not marker.exists()
        assert "team01: booted" in lab.start(), "a clone of a snapshot is no first start"


def kill_first_starts(lab: Class, rounds: int, seed: int) -> None:
    """Kill a first start, or its QEMU, at random instants; the next start gives a VM of its own."""
    chance = random.Random(seed)
    known = {lab_linux.MACHINE_ID, ""}
    for _ in range(rounds):
        lab.kill()
        (lab.team().folder / LOG).unlink(missing_ok=True)
        lab.do("reset", "team01")
        command = lab.begin()
        time.sleep(chance.random() * 2)
        if chance.random() < 0.5:
            command.send_signal(signal.SIGKILL)
        else:
            for process in lab.qemus():
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
        command.communicate(timeout=PATIENCE_SECONDS)
        again = lab.begin()
        _, errors = again.communicate(timeout=PATIENCE_SECONDS)
        assert again.returncode == 0 or "team01 runs already" in errors
        assert not first_start.is_unfinished(lab.team())
        assert len(lab.qemus()) == 1
        if booted_disk(lab):
            number = identity(lab)[0]
            assert number not in known
            known.add(number)
        else:  # QEMU was killed while it resumed, so the command has booted it
            lab.wait_for("up 0")


@pytest.mark.slow
def test_a_first_start_is_killed_at_random_instants(tmp_path: Path) -> None:
    with linux_lab(tmp_path) as lab:
        lab.do("boot-once")
        kill_first_starts(lab, rounds=5, seed=1)


@pytest.mark.slow
def test_a_guest_without_an_agent_boots(tmp_path: Path) -> None:
    with linux_lab(tmp_path, has_agent=False) as lab:
        words = lab.refuses("boot-once", "--seconds", "2")
        assert "no agent has answered in 2 s" in words
        assert "qemu-guest-agent" in words
        assert lab.qemus() == {}
        assert "team01: booted" in lab.start()
        lab.wait_for("up 0")


def test_a_resumed_guest_is_told_the_time(tmp_path: Path) -> None:
    with linux_lab(tmp_path) as lab:
        lab.start()
        lab.wait_for("up 0")
        assert identity(lab)[2] < YEAR_2001_ENDS
        lab.do("stop", "team01", "--suspend")
        assert memory.exists(lab.team())
        file = lab.team().folder / memory.FILE
        assert json.loads(file.read_text())["hardware"]["accelerator"]
        assert "team01: resumed" in (words := lab.start())
        assert "clock" not in words
        assert abs(time.time() - identity(lab)[2]) < CLOCK_SECONDS_MAX
