# SPDX-License-Identifier: MIT
"""Detects from outside that a scheduler breaks a rule, crashes the guest or never returns, and
reports the scheduler and the function.

A broken rule is a line on the console.  After a crash the console shows where the kernel was.  A
guest that hangs with interrupts off prints nothing, so a non-maskable interrupt makes it print its
location in the code.
"""

import contextlib
import os
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from understudy_devices.base.errors import RunFailed
from understudy_devices.platforms.vm import qemu

# kernel/iosched/iosched.c writes it.
_RULE = re.compile(r"understudy: (\S+: rule broken: .*)")
_CAUSE = re.compile(r"((?:BUG: |kernel BUG|divide error|general protection fault|Oops).*)")
_WHY = re.compile(r"Kernel panic|#PF: error_code|vpcib: misuse")
_PLACE = re.compile(r"RIP: [0-9a-f]+:(\S+?)/0x[0-9a-f]+( \[\w+\])?")

# After a line that begins with one of these words, guest/measure prints another line within a
# second of the guest's clock. QEMU uses half a second of processor time for that, or four seconds
# if the guest is busy. The guest is stuck if QEMU has used _STUCK_CPU_SECONDS since the line, or
# the longer time on a kernel that checks each memory access. The guest is halted for ever if QEMU
# uses hardly any processor time and is seldom ready to, even if one of the guest's processors still
# handles timer ticks.
_TALKATIVE = ("choosing", "settling", "measuring", "progress", "measured")
_STUCK_CPU_SECONDS = 10
_STUCK_CPU_SECONDS_LOOKED_AT = 150
_HALTED_SECONDS = 8
_HALTED_CPU_SHARE = 0.1
_HALTED_READY = 0.5  # of the checks
_PANIC_SECONDS = 10


def broken_rule(console: str) -> str | None:
    """Return the first rule that a scheduler broke: "NAME: rule broken: WHAT"."""
    match = _RULE.search(console)
    return match.group(1).rstrip() if match else None


def place(console: str) -> str:
    """Return the first code location that the kernel prints, such as " in mine_next+0x12 [mine]";
    empty if there is none.
    """
    match = _PLACE.search(console)
    return f" in {match.group(1)}{match.group(2) or ''}" if match else ""


def _place_in_a_module(console: str) -> str:
    """Return the first location in a module, of the locations that the guest's processors print."""
    places = (match.group() for match in _PLACE.finditer(console) if match.group(2))
    return place(next(places, ""))


def cause(console: str) -> str:
    """Return the cause, such as ": BUG: kernel NULL pointer dereference"; empty if there is
    none.
    """
    match = _CAUSE.search(console)
    return f": {match.group(1).rstrip()}" if match else ""


class Watch:
    """Watches a running guest. QEMU must read monitor commands from its standard input.

    Time is QEMU's processor time, which does not depend on the host's other work. While QEMU is
    idle, time is that of the host's clock.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        console: Callable[[], str],
        *,
        keeps_rules: bool,
        looked_at: bool,
    ) -> None:
        self._process = process
        self._console = console
        self._keeps_rules = keeps_rules
        self._patience = _STUCK_CPU_SECONDS_LOOKED_AT if looked_at else _STUCK_CPU_SECONDS
        self._talks = False
        self._since = 0.0
        self._checks, self._ready = 0, 0
        self._heard_seconds = time.monotonic()

    def heard(self, line: str) -> None:
        """Note a line that the guest has written."""
        self._talks = line.split(" ")[0] in _TALKATIVE
        self._since = self._cpu_seconds()
        self._checks, self._ready = 0, 0
        self._heard_seconds = time.monotonic()

    def check(self) -> None:
        """Raise RunFailed for a broken rule, or if the guest hangs."""
        rule = broken_rule(self._console()) if self._keeps_rules else None
        if rule:
            raise RunFailed(rule)
        if self._talks and self._is_stuck():
            before = len(self._console())
            self._ask_where()
            words = self._console()
            where = _place_in_a_module(words[before:]) or place(words[before:])
            raise RunFailed(f"the VM is stuck{where}; its last words:\n{last_words(words)}")

    def _is_stuck(self) -> bool:
        worked = self._cpu_seconds() - self._since
        rested = time.monotonic() - self._heard_seconds
        self._checks += 1
        self._ready += self._is_ready()
        sleeps = worked < _HALTED_CPU_SHARE * rested and self._ready < _HALTED_READY * self._checks
        return (rested > _HALTED_SECONDS and sleeps) or worked > self._patience

    def _cpu_seconds(self) -> float:
        try:
            stat = Path(f"/proc/{self._process.pid}/stat").read_text()
        except OSError:  # QEMU has ended
            return self._since
        fields = stat.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _is_ready(self) -> bool:
        """Return whether one of QEMU's threads runs or waits for the host: a processor, a disk."""
        for path in Path(f"/proc/{self._process.pid}/task").glob("*/stat"):
            with contextlib.suppress(OSError):
                if path.read_text().rpartition(")")[2].split()[0] in ("R", "D"):
                    return True
        return False

    def _ask_where(self) -> None:
        qemu.tell(self._process, qemu.WHERE)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_PANIC_SECONDS)


_CONSOLE_LINES = 40


def last_words(console: str) -> str:
    """Return the last lines of a console, for an error message; a line that says why the kernel
    died is included even if it is further up.
    """
    lines = [line for line in console.splitlines() if line.strip()]
    why = [line for line in lines[:-_CONSOLE_LINES] if _WHY.search(line)]
    words = [*why, *lines[-_CONSOLE_LINES:]]
    return "\n".join(f"  | {line}" for line in words) or "  | (silence)"


def of_death(console: str) -> str:
    """Return the error for a guest that died; warnings before its death are ignored."""
    match = _CAUSE.search(console)
    where = place(console[match.start() :] if match else console)
    return (
        f"the VM died{where}{cause(console)} (a kernel panic resets it); its last words:\n"
        + last_words(console)
    )
