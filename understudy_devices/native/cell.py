# SPDX-License-Identifier: MIT
"""A sandboxed process with a user's code, and the connection to it (sim/worker/line.h)."""

import io
import json
import os
import signal
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from understudy_devices._core import lib
from understudy_devices.base import sandbox
from understudy_devices.base.errors import RunFailed
from understudy_devices.native import program_file, registry
from understudy_devices.native.processes import Processes, signal_of

MEMORY_BYTES = 2 * 2**30
OUTPUT_BYTES = 2**20
PATIENCE_SECONDS = 3.0  # processor time without progress
PATIENCE_ASLEEP_SECONDS = 5.0
LAST_SECONDS = 1.0  # time for it to report where in its code it is
LAST_WORDS = 80

LOOPS = f"probably an endless loop: no progress in {PATIENCE_SECONDS:g} s of processor time"
SLEEPS_OFTEN = "sleeps, which is not allowed: it sleeps again and again"
SLEEPS = f"sleeps, which is not allowed: no progress in {PATIENCE_ASLEEP_SECONDS:g} s"
TAKES = "takes too long"  # an Allowance is used up

ENDINGS = {
    signal.SIGSEGV: "segmentation fault",
    signal.SIGBUS: "bus error",
    signal.SIGFPE: "division by zero, or an overflow of one",
    signal.SIGILL: "illegal instruction",
    signal.SIGABRT: "aborted",
    signal.SIGSYS: "made a forbidden system call",
    signal.SIGXFSZ: f"printed more than {OUTPUT_BYTES:,} bytes, and was stopped",
    signal.SIGKILL: "killed from outside; perhaps the memory of this machine ran out",
}
CAUSES = {
    lib.FAULT_CLOCK: "reads a clock, which is not allowed",
    lib.FAULT_SLEEP: "sleeps, which is not allowed",
    lib.FAULT_PIPE: "wrote into the pipe of its answers, which only the simulator's code may do",
}
"""Endings that are more than a signal: enum fault_cause."""


@dataclass(frozen=True)
class Cell:
    """The ids of the process that runs the code (`code`) and of the sandbox process that we started
    for it (`around`), and our ends of the pipes.
    """

    code: int
    around: int
    calls: io.FileIO
    replies: io.FileIO


def start(
    processes: Processes,
    stack: ExitStack,
    file: registry.Source,
    code: Path,
    output: int,
    *how: str,
) -> Cell:
    """Start a process that loads a user's code in a sandbox and prints to `output`; `how` are the
    first arguments of the program (sim/worker/main.c).
    """
    sandbox.require(file.shown)
    (called, calls), (heard, replies), (told, tells) = (_pipe(stack) for _ in range(3))
    answering = [called.fileno(), output, output, *map(io.FileIO.fileno, (called, replies, tells))]
    command = sandbox.program(
        {"/simulate": program_file(), "/code.so": code},
        ("--info-fd", str(len(answering) - 1)),
        ["/simulate", *how, "/code.so", str(MEMORY_BYTES), str(OUTPUT_BYTES)],
    )
    guard = [] if sandbox.is_open() else [str(program_file()), "guard"]
    around = processes.start([*guard, *command], answering)
    for theirs in (called, replies, tells):
        theirs.close()
    inside = around if sandbox.is_open() else _inside(told)
    return Cell(inside, around, calls, heard)


def _pipe(stack: ExitStack) -> tuple[io.FileIO, io.FileIO]:
    """Open a pipe; return its read end and its write end."""
    reads, writes = os.pipe()
    return stack.enter_context(io.FileIO(reads)), stack.enter_context(io.FileIO(writes, "w"))


def _inside(pipe: io.FileIO) -> int:
    """Return the id of the process inside the sandbox, which bwrap reports; RunFailed if bwrap
    could not make the sandbox.
    """
    report = b""
    while not report.endswith(b"}\n"):
        more = pipe.read(4096)
        if not more:
            raise RunFailed("the sandbox could not be made: bwrap ended before it ran anything")
        report += more
    return int(json.loads(report)["child-pid"])


def ending(processes: Processes, around: int, fault: Any) -> str:
    """Return a phrase that says how a process ended early; `fault` is a struct fault."""
    if fault.cause in CAUSES:
        return CAUSES[fault.cause]
    status = processes.status(around)
    if status is None or os.waitstatus_to_exitcode(status) == lib.EXIT_ALONE:
        return "does not answer any more"
    number = int(fault.signal) or signal_of(status)
    if not number:
        return f"ended its process, with exit code {os.waitstatus_to_exitcode(status)}"
    known = {int(one): words for one, words in ENDINGS.items()}
    if number not in signal.valid_signals():  # the code may report any number
        return f"ended by signal {number:,}, which does not exist"
    return known.get(number) or signal.strsignal(number) or f"signal {number}"


def circumstances(
    file: registry.Source, code: Path, fault: Any, refused_bytes: int, printed: str
) -> str:
    """Return where in its code the process ended, whether memory was short, and its last output."""
    place = f" in {registry.where(file, code, int(fault.offset))}" if fault.offset else ""
    if refused_bytes:
        memory = f"; {no_memory(refused_bytes)}"
    elif fault.cause == lib.FAULT_STACK:
        memory = "; its stack is used up, probably by an endless recursion"
    else:
        memory = "; it used all the memory it may have" if fault.full else ""
    return f"{place}{memory}{_last_words(printed)}"


def no_memory(refused_bytes: int) -> str:
    """Return a phrase about the allocation that was refused."""
    return f"it asked for {refused_bytes:,} bytes, and may have {MEMORY_BYTES:,} in all"


def _last_words(printed: str) -> str:
    lines = printed.split("\n")
    words = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f'; it last printed "{words[:LAST_WORDS]}"' if words else ""
