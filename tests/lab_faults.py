# SPDX-License-Identifier: MIT
"""Rounds of faults against a lab: something is killed, damaged or full at a random instant.

After each round the VM has to start, exactly one QEMU may be left, and the guest's counter must be
larger than each one that it has printed: the guest prints a number after the disk has confirmed it.
(A BIOS cannot flush, so QEMU flushes each of its writes.)  A memory that met another state of the
disk would show as a smaller number.

    python tests/lab_faults.py --rounds 1000 --seed 1
"""

import argparse
import collections
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import lab_images
from lab_class import NAME, Class
from terminal import COMMAND

from understudy_devices.base.errors import RunFailed
from understudy_devices.lab import changes, memory, start, stop
from understudy_devices.lab.hardware import Hardware

WROTE = re.compile(r"(?:wrote|counter) ([0-9a-f]{4})\r?\n")
DELAY_SECONDS = 2.0
ROOM_BYTES = 64 * 2**20
SNAPSHOTS_MAX = 10
BASES_MAX = 20
STATE_FILES = ("running.json", "memory.json", "memory-*", "console.log", "qemu.log", "team.json")


class Faults:
    """A lab, and the largest number that its guest has printed."""

    def __init__(self, lab: Class, seed: int) -> None:
        self.lab = lab
        self.random = random.Random(seed)
        self.largest = 0
        self.before = 0
        """How long the console's log was at the last check."""
        self.former: int | None = None
        """The number that the disk has if a killed command has changed it."""
        self.kinds: dict[str, Callable[[], None]] = {
            "QEMU is killed": self.kill_qemu,
            "a start is killed": lambda: self.kill_command("start"),
            "a suspend is killed": lambda: self.kill_command("stop", "--suspend"),
            "a power cut is killed": lambda: self.kill_command("stop", "--now"),
            "QEMU is killed in a suspend": lambda: self.kill_qemu_in("stop", "--suspend"),
            "QEMU is killed in a start": lambda: self.kill_qemu_in("start"),
            "starts at one instant": self.start_at_once,
            "state files are damaged": self.damage,
            "a snapshot is killed": self.kill_snapshot,
            "an undo is killed": self.kill_undo,
            "a reset is killed": self.kill_reset,
            "a rebase is killed": self.kill_rebase,
            "a flatten is killed": self.kill_flatten,
            "the disk is full": self.fill,
        }

    def round(self) -> str:
        """Do one round; return its kind.  AssertionError if something is wrong."""
        kind = self.random.choice(list(self.kinds))
        if runs := self.random.random() < 0.7:
            self.recover()
        if self.random.random() < 0.3:
            with nullcontext() if runs else suppress(RunFailed):
                stop.suspend(self.lab.team())
        self.kinds[kind]()
        self.recover()
        return kind

    def recover(self) -> None:
        """Start the VM, and check it."""
        team = self.lab.team()
        try:
            start.start(team, Hardware(team.lab.settings, "tcg"))
        except RunFailed as error:
            if "runs already" not in str(error):
                raise
        assert len(self.lab.qemus()) == 1, self.lab.qemus()
        text = self.lab.log()
        self.before = len(text)
        self.lab.type("w", ["wrote"])
        self.lab.until(lambda: self.lab.log().endswith("\n"))
        now = [int(number, 16) for number in WROTE.findall(self.lab.log()[len(text) :])]
        assert now, text[-200:]
        if self.former is not None and max(now) <= self.largest:
            self.largest = self.former
        assert min(now) >= self.largest, (now, self.largest)
        assert max(now) > self.largest, (now, self.largest)
        self.largest, self.former = max(now), None

    def note(self) -> None:
        """Note the largest number that the guest has printed since the last check."""
        numbers = [int(number, 16) for number in WROTE.findall(self.lab.log()[self.before :])]
        self.largest = max([self.largest, *numbers])

    def kill_qemu(self) -> None:
        with suppress(AssertionError, OSError):
            for _ in range(self.random.randrange(4)):
                self.lab.type("w", ["wrote"])
        self.lab.kill()
        self.note()

    def begin(self, *words: str, team: str = "team01") -> "subprocess.Popen[bytes]":
        """Begin a command for a team, or for the lab if the team's name is empty."""
        command, *options = words
        where = [NAME, team] if team else [NAME]
        line = [str(COMMAND), "lab", command, *where, *options, "--folder", str(self.lab.labs)]
        return subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def kill_command(self, *words: str) -> None:
        """Kill a command at a random instant; its worker notices that, and dies too."""
        command = self.begin(*words)
        time.sleep(self.random.random() * DELAY_SECONDS)
        command.send_signal(signal.SIGKILL)
        command.wait()
        self.note()

    def kill_qemu_in(self, *words: str) -> None:
        command = self.begin(*words)
        deadline = time.monotonic() + self.random.random() * DELAY_SECONDS
        while time.monotonic() < deadline and command.poll() is None:
            time.sleep(0.01)
        for process in self.lab.qemus():
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        command.wait()
        self.note()

    def start_at_once(self) -> None:
        was_running = bool(self.lab.qemus())
        commands = [self.begin("start") for _ in range(2)]
        codes = sorted(command.wait() for command in commands)
        assert codes == ([1, 1] if was_running else [0, 1]), codes
        assert len(self.lab.qemus()) == 1

    def damage(self) -> None:
        """Cut some state files short, or overwrite them, while no VM runs."""
        self.lab.kill()
        self.note()
        for pattern in STATE_FILES:
            for path in self.lab.team().folder.glob(pattern):
                what = self.random.randrange(4)
                size = path.stat().st_size
                if what == 0 and size:
                    os.truncate(path, self.random.randrange(size))
                elif what == 1:
                    path.write_bytes(self.random.randbytes(size))
                elif what == 2:
                    path.unlink()

    def off(self) -> None:
        """End the VM, also a suspended one, with few snapshots left."""
        team = self.lab.team()
        if memory.exists(team):
            start.start(team, Hardware(team.lab.settings, "tcg"))
        with suppress(RunFailed):
            stop.cut_power(team)
        self.note()
        labels = changes.snapshots(team)
        for label in reversed(labels if len(labels) > SNAPSHOTS_MAX else []):
            with suppress(RunFailed):  # the clone may need it
                changes.forget(team, label)

    def kill(self, *words: str, team: str = "team01") -> None:
        """Kill a command at a random instant."""
        command = self.begin(*words, team=team)
        time.sleep(self.random.random() * DELAY_SECONDS)
        command.send_signal(signal.SIGKILL)
        command.wait()

    def kill_snapshot(self) -> None:
        self.off()
        self.kill("snapshot", f"s{self.random.randrange(10**9)}")

    def kill_flatten(self) -> None:
        self.off()
        team = self.lab.team()
        if len(changes.snapshots(team)) <= SNAPSHOTS_MAX:
            changes.take(team, f"f{self.random.randrange(10**9)}")
        self.kill("flatten")

    def kill_undo(self) -> None:
        """The disk is as before, or as at the snapshot, from where the guest counts again."""
        self.recover()
        self.off()
        if len(changes.snapshots(self.lab.team())) > SNAPSHOTS_MAX:
            changes.reset(self.lab.team())  # so that the snapshots can be removed
            self.off()
            self.largest = 0
        label, former = f"u{self.random.randrange(10**9)}", self.largest
        changes.take(self.lab.team(), label)
        self.recover()
        self.off()
        self.former = former
        self.kill("undo", label)

    def kill_reset(self) -> None:
        """The disk is as before, or as that of the base."""
        self.off()
        self.former = 0
        self.kill("reset")

    def kill_rebase(self) -> None:
        """The disk is as before, or as that of the new base; the old one is kept."""
        self.off()
        for team in (self.lab.team(), self.lab.team("team02")):
            if changes.has_old(team):
                changes.drop_old(team)
        bases = self.lab.team().lab.bases()
        if len(bases) > BASES_MAX:
            self.kill("rebase", team="")
        else:
            self.kill("rebase", "--base", str(bases[0].disk), team="")
        team = self.lab.team()
        if (
            changes.has_old(team)
            and team.disk.stat().st_ino != (team.folder / changes.OLD).stat().st_ino
        ):
            self.former = 0

    def fill(self) -> None:
        """Let the disk be full during a start and a suspend; what fails has to work afterwards."""
        place = self.lab.folder
        if not place.is_mount():
            return
        filler = place / "filler"
        status = os.statvfs(place)
        left = self.random.choice([0, 4096, 65536, 300_000])
        with filler.open("wb") as file, suppress(OSError):
            os.posix_fallocate(file.fileno(), 0, max(1, status.f_bavail * status.f_frsize - left))
        try:
            for words in (("start",), ("stop", "--suspend")):
                self.begin(*words).wait()
        finally:
            filler.unlink()
        self.note()


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """Yield a small file system of its own, if this user may mount one, or the folder."""
    place = folder / "disk"
    place.mkdir()
    size = f"size={ROOM_BYTES}"
    command = ["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(place)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        yield place
        return
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


def campaign(folder: Path, rounds: int, seed: int, say: Callable[[str], None]) -> dict[str, int]:
    """Do so many rounds; return how many there were of each kind."""
    counts: dict[str, int] = collections.Counter()
    with small_disk(folder) as place:
        lab = Class(place)
        try:
            lab.create(lab_images.guest(place, mib=8))
            faults = Faults(lab, seed)
            for number in range(rounds):
                kind = faults.round()
                counts[kind] += 1
                say(f"round {number + 1}: {kind}: {faults.largest}")
        finally:
            lab.kill()
    return dict(counts)


def main() -> None:
    """Run the campaign that the command line asks for."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=1000)
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    with TemporaryDirectory(prefix="lab-faults-") as folder:
        counts = campaign(
            Path(folder),
            chosen.rounds,
            chosen.seed,
            lambda line: print(line, file=sys.stderr, flush=True),
        )
    for kind, count in sorted(counts.items()):
        print(f"{count:5} {kind}")


if __name__ == "__main__":
    main()
