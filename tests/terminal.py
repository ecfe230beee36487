# SPDX-License-Identifier: MIT
"""A real command in its own terminal, and everything that it may leave behind.

The command has its own home (cache, temporary folder, working folder), runs in the foreground of a
pseudo-terminal, and has a mark that all its descendants inherit.
"""

import os
import pty
import select
import sys
import termios
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path

from understudy_devices.base.paths import cache_dir

COMMAND = Path(sys.executable).parent / "understudy"
CTRL_C = b"\x03"
PATIENCE_SECONDS = 300
STOP_SECONDS = 2
LAST_WORDS_SECONDS = 3  # if a process that can't end keeps the terminal open
INTERRUPTED = "understudy: interrupted: "


class Home:
    """Folders for one command: cache, temporary folder, working folder."""

    def __init__(self, folder: Path) -> None:
        self.cache = folder / "cache"
        self.temporary = folder / "tmp"
        self.work = folder / "work"
        for place in (self.cache / "understudy", self.temporary, self.work):
            place.mkdir(parents=True)
        self.mark = f"UNDERSTUDY_TEST={uuid.uuid4()}"

    def with_what_is_made(self) -> "Home":
        """Share all of this machine's cache, including saved machines."""
        return self.ready_to_boot()._sharing("machines")

    def ready_to_boot(self) -> "Home":
        """Share modules, programs and images."""
        return self._sharing("kernel", "modules", "programs", "images", "schedulers", "kvm")

    def with_kernel(self) -> "Home":
        """Share only the kernel, so that the command makes everything else."""
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
        """List the names of the processes with the mark."""
        commands = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() in (process / "environ").read_bytes().split(b"\0"):
                    commands.append((process / "comm").read_text().strip())
            except OSError:
                continue
        return commands

    def left_overs(self) -> list[Path]:
        """List half-made folders of the cache, and all files in the temporary and
        working folders.
        """
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
        """Wait until the command handles signals; the shell that starts it takes some
        milliseconds.
        """
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            if self._hears():
                return
            time.sleep(0.002)
        raise AssertionError("it never began")

    def _hears(self) -> bool:
        """Return whether the interpreter runs or has ended.

        The interpreter starts with signals blocked.
        """
        command = Path(f"/proc/{self.pid}/cmdline").read_bytes().split(b"\0")
        return command[1:2] == [b"-P"] or command == [b""]

    def press(self, keys: bytes) -> None:
        """Type keys on the terminal."""
        try:
            os.write(self._terminal, keys)
        except OSError:  # the command has ended
            assert self.ended

    def wait_for(self, text: str) -> None:
        """Wait until the command prints the text, or ends."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while text not in self.said and not self.ended:
            assert time.monotonic() < deadline, f"it never said {text}:\n{self.said[-2000:]}"
            self._read()

    def pass_time(self, seconds: float) -> None:
        """Read output for some seconds, so that the command never blocks on its terminal."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and not self.ended:
            self._read()

    def end(self) -> int:
        """Wait for the end and return the exit code."""
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

    def stop(self, more_seconds: float = 0) -> int:
        """Wait for the end after a signal, and return the exit code.

        The command has STOP_SECONDS and `more_seconds`, and more if it has to share the processors.
        """
        wait_until_stopped(self._read_until_ended, lambda: self.said, more_seconds)
        return self.end()

    def _read_until_ended(self) -> bool:
        self._read()
        return self.ended

    @property
    def ended(self) -> bool:
        if self._code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._code = os.waitstatus_to_exitcode(status)
        return self._code is not None

    def lines(self) -> list[str]:
        """Return the lines of output, without the keys that the terminal echoes."""
        text = self.said.replace("^C", "").replace("\r", "\n")
        return [line.strip() for line in text.split("\n") if line.strip()]

    def _read(self) -> bool:
        """Read available output; return whether more may come.

        The kernel may deliver the last output after the writer has ended.
        """
        if not select.select([self._terminal], [], [], 0.02)[0]:
            return True
        try:
            data = os.read(self._terminal, 65536)
        except OSError:  # no process has the terminal open
            return False
        self.said += data.decode(errors="replace")
        return bool(data)


def _keep_what_is_said() -> None:
    """Keep output that is still pending at Ctrl-C.

    Otherwise a second Ctrl-C discards the command's last lines.
    """
    modes = termios.tcgetattr(pty.STDIN_FILENO)
    modes[3] |= termios.NOFLSH
    termios.tcsetattr(pty.STDIN_FILENO, termios.TCSANOW, modes)


def wait_until_stopped(
    has_ended: Callable[[], bool], output: Callable[[], str], more_seconds: float = 0
) -> None:
    """Wait until what was stopped has ended; call `has_ended` again and again.

    It has STOP_SECONDS and `more_seconds`, and more if it has to share the processors.
    """
    began, most = time.monotonic(), _waiting_for_a_processor()
    while not has_ended():
        most = max(most, _waiting_for_a_processor())
        allowed = (STOP_SECONDS + more_seconds) * max(1, most / len(os.sched_getaffinity(0)))
        elapsed = time.monotonic() - began
        assert elapsed < allowed, f"{elapsed:.1f} s after it was stopped:\n{output()[-2000:]}"


def _waiting_for_a_processor() -> int:
    """Return how many processes and threads of this machine run or could run."""
    return int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0])
