# SPDX-License-Identifier: MIT
"""A real command in a terminal of its own, with everything that it may leave behind.

The command gets a home of its own (cache, temporary folder, working folder), is the
foreground of a pseudo-terminal, and bears a mark that all its descendants inherit.
"""

import os
import pty
import select
import sys
import termios
import time
import uuid
from collections.abc import Mapping
from pathlib import Path

from understudy.base.paths import cache_dir

COMMAND = Path(sys.executable).parent / "understudy"
CTRL_C = b"\x03"
PATIENCE_SECONDS = 300
STOP_SECONDS = 2
LAST_WORDS_SECONDS = 3  # if somebody who can't end keeps the terminal
INTERRUPTED = "understudy: interrupted: "


class Home:
    """Folders for one command, on a cache that holds the kernel but nothing made of it."""

    def __init__(self, folder: Path) -> None:
        self.cache = folder / "cache"
        self.temporary = folder / "tmp"
        self.work = folder / "work"
        for place in (self.cache / "understudy", self.temporary, self.work):
            place.mkdir(parents=True)
        self.mark = f"UNDERSTUDY_TEST={uuid.uuid4()}"

    def with_what_is_made(self) -> "Home":
        """Share all with the cache of this machine, saved machines too."""
        return self.ready_to_boot()._sharing("machines")

    def ready_to_boot(self) -> "Home":
        """Share modules, programs and images."""
        return self._sharing("kernel", "modules", "programs", "images", "schedulers", "kvm")

    def with_kernel(self) -> "Home":
        """Share only the kernel: everything else is to be made."""
        return self._sharing("kernel")

    def _sharing(self, *names: str) -> "Home":
        for name in names:
            if (cache_dir() / name).is_dir():
                (self.cache / "understudy" / name).symlink_to(cache_dir() / name)
        return self

    def environment(self) -> dict[str, str]:
        name, _, value = self.mark.partition("=")
        places = {"XDG_CACHE_HOME": str(self.cache), "TMPDIR": str(self.temporary)}
        return {**os.environ, **places, name: value, "TERM": "xterm", "COLUMNS": "160"}

    def processes(self) -> list[str]:
        """Who bears the mark, by name."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() in (process / "environ").read_bytes().split(b"\0"):
                    found.append((process / "comm").read_text().strip())
            except OSError:
                continue
        return found

    def left_overs(self) -> list[Path]:
        """What is half made or should not be there; locks and what is whole may stay."""
        hidden = [
            path
            for folder in (self.cache / "understudy").iterdir()
            if not folder.is_symlink()
            for path in folder.glob(".*")
            if path.is_dir()
        ]
        return [*hidden, *self.temporary.iterdir(), *self.work.iterdir()]


class Running:
    """A command in the foreground of a terminal."""

    def __init__(self, home: Home, *words: str, extra: Mapping[str, str] | None = None) -> None:
        self.said = ""
        self._code: int | None = None
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            _keep_what_is_said()
            os.chdir(home.work)
            os.execve(COMMAND, [str(COMMAND), *words], home.environment() | dict(extra or {}))
        self._wait_until_it_hears()

    def _wait_until_it_hears(self) -> None:
        """The shell that starts it takes some milliseconds."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            if self._hears():
                return
            time.sleep(0.002)
        raise AssertionError("it never began")

    def _hears(self) -> bool:
        """It is the interpreter, which began with its signals held back, or is gone."""
        command = Path(f"/proc/{self.pid}/cmdline").read_bytes().split(b"\0")
        return command[1:2] == [b"-P"] or command == [b""]

    def press(self, keys: bytes) -> None:
        """Type on the terminal."""
        try:
            os.write(self._terminal, keys)
        except OSError:  # the command has ended
            assert self.ended

    def wait_for(self, text: str) -> None:
        """Until the command says so, or ends."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while text not in self.said and not self.ended:
            assert time.monotonic() < deadline, f"it never said {text}:\n{self.said[-2000:]}"
            self._read()

    def pass_time(self, seconds: float) -> None:
        """Keep reading, so that the command never waits for its terminal."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and not self.ended:
            self._read()

    def end(self) -> int:
        """Wait for the end; the exit code."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not self.ended:
            assert time.monotonic() < deadline, f"it does not end:\n{self.said[-2000:]}"
            self._read()
        last_words = time.monotonic() + LAST_WORDS_SECONDS
        while self._read() and time.monotonic() < last_words:
            pass
        os.close(self._terminal)
        assert self._code is not None
        return self._code

    def stop(self) -> int:
        """The end after a signal: in STOP_SECONDS, as long as the command's share of a processor
        is one; the exit code."""
        began, most = time.monotonic(), _waiting_for_a_processor()
        while not self.ended:
            self._read()
            most = max(most, _waiting_for_a_processor())
            allowed = STOP_SECONDS * max(1, most / len(os.sched_getaffinity(0)))
            taken = time.monotonic() - began
            assert taken < allowed, f"{taken:.1f} s after it was stopped:\n{self.said[-2000:]}"
        return self.end()

    @property
    def ended(self) -> bool:
        if self._code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._code = os.waitstatus_to_exitcode(status)
        return self._code is not None

    def lines(self) -> list[str]:
        """What was said, without the keys that the terminal shows."""
        text = self.said.replace("^C", "").replace("\r", "\n")
        return [line.strip() for line in text.split("\n") if line.strip()]

    def _read(self) -> bool:
        """Take what is there; whether more may come.  The kernel carries the last words over
        after their writer has ended, when it has time."""
        if not select.select([self._terminal], [], [], 0.02)[0]:
            return True
        try:
            data = os.read(self._terminal, 65536)
        except OSError:  # everyone on the other side has closed it
            return False
        self.said += data.decode(errors="replace")
        return bool(data)


def _keep_what_is_said() -> None:
    """Without this, Ctrl-C discards output that has not arrived yet: a second one, the command's
    last words."""
    modes = termios.tcgetattr(pty.STDIN_FILENO)
    modes[3] |= termios.NOFLSH
    termios.tcsetattr(pty.STDIN_FILENO, termios.TCSANOW, modes)


def _waiting_for_a_processor() -> int:
    """Processes and threads of this machine that run or could run."""
    return int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0])
