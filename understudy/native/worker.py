# SPDX-License-Identifier: MIT
"""Run a scheduler in a process of its own, so that its code can harm nobody.

Each job is one process (sim/worker/): it shares a piece of memory with this one, in which
the question lies and then the answer.  Its memory and what it prints are limited there; here
it is ended when it does not get on.
"""

import os
import select
import signal
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt

from understudy._core import ffi, lib
from understudy.base.errors import RunFailed
from understudy.native import program_file, registry
from understudy.native.shared_memory import Room as Room
from understudy.native.shared_memory import Shared

DESCRIBE: int = lib.JOB_DESCRIBE
SIMULATE: int = lib.JOB_SIMULATE
REPLAY: int = lib.JOB_REPLAY

MEMORY_BYTES = 2 * 2**30
MOST_OF_MEMORY = 0.9 * MEMORY_BYTES
MORE_MEMORY = MEMORY_BYTES // 64  # new memory can take long on a busy host: it is progress
OUTPUT_BYTES = 2**20
LOOK_SECONDS = 0.1
PATIENCE_SECONDS = 3.0  # of processor time without progress
PATIENCE_LOOKS = 50  # asleep each time
LAST_SECONDS = 1.0  # to say where it is
LAST_WORDS = 80

LOOPS = f"endless loop, or so: no progress in {PATIENCE_SECONDS:g} s of processor time"
SLEEPS = f"sleeps, which no scheduler may: no progress in {PATIENCE_LOOKS * LOOK_SECONDS:g} s"

JOB_DESCRIPTOR = 3
TARGET_DESCRIPTOR = 0
QUESTION_BYTES = ffi.sizeof("struct question")

ENDINGS = {
    signal.SIGSEGV: "segmentation fault",
    signal.SIGBUS: "bus error",
    signal.SIGFPE: "division by zero, or an overflow of one",
    signal.SIGILL: "illegal instruction",
    signal.SIGABRT: "aborted",
    signal.SIGXFSZ: f"printed more than {OUTPUT_BYTES:,} bytes, and was stopped",
    signal.SIGKILL: "killed from outside; perhaps the memory of this machine ran out",
}

Ask = Callable[[bytes], bytes]
"""Told a struct question (sim/worker/target.h), says when the request completes."""

Look = Callable[[int], None]
"""Told now and then how many requests are done; what it raises ends the job."""


class Job(Shared):
    """A struct job in shared memory, and the arrays that it points to."""

    def __init__(self, kind: int, arrays: Mapping[str, npt.NDArray[Any] | Room]) -> None:
        """Copy what is there to be read, and make room for the rest."""
        super().__init__("struct job", arrays)
        self.structure.kind = kind
        self.structure.starter = os.getpid()
        self.structure.memory_bytes = MEMORY_BYTES
        self.structure.output_bytes = OUTPUT_BYTES


def run(
    job: Job,
    file: registry.Source,
    name: str,
    look: Look = lambda done: None,
    ask: Ask | None = None,
) -> str:
    """Carry the job out with the scheduler in the file; what it printed.

    Raises RunFailed if the scheduler ended the process, or did not come back; whatever
    `look` and `ask` raise ends it as well.
    """
    code = registry.compiled(file)
    output = os.memfd_create("output")
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        process = _spawn(job, str(code), output, its.fileno())
        its.close()
        status, largest, stopped = _end_of(process, job, look, _Answering(ours, ask))
        printed = os.pread(output, OUTPUT_BYTES, 0).decode(errors="replace")
    finally:
        its.close()
        ours.close()
        os.close(output)
    broken = text(job.structure.summary.broken)
    if broken:
        raise RunFailed(f"{name}: {broken}")
    if not job.structure.ended:
        ending = stopped or _ending(status)
        memory = _memory(job, largest)
        raise RunFailed(f"{name}: {ending}{_place(job, file)}{memory}{_last_words(printed)}")
    return printed


def text(characters: Any) -> str:
    """A C string."""
    return str(ffi.string(characters).decode(errors="replace"))


def no_memory(job: Job) -> str:
    """What it did not get, in words."""
    refused = int(job.structure.refused_bytes)
    return f"it asked for {refused:,} bytes, and may have {MEMORY_BYTES:,} in all"


def _spawn(job: Job, code: str, output: int, questions: int) -> int:
    program = str(program_file())
    return os.posix_spawn(
        program,
        [program, code],
        {},
        file_actions=[
            (os.POSIX_SPAWN_DUP2, output, 1),
            (os.POSIX_SPAWN_DUP2, output, 2),
            (os.POSIX_SPAWN_DUP2, job.file, JOB_DESCRIPTOR),
            (os.POSIX_SPAWN_DUP2, questions, TARGET_DESCRIPTOR),
        ],
        setpgroup=0,
        setsigmask=(),
        setsigdef=(signal.SIGPIPE, signal.SIGXFSZ),
    )


@dataclass(frozen=True)
class _Answering:
    """This end of the line on which a job asks for its target."""

    line: socket.socket
    ask: Ask | None

    def answer(self) -> None:
        """One question that has come."""
        question = self.line.recv(QUESTION_BYTES)
        if question and self.ask:
            self.line.send(self.ask(question))


def _end_of(process: int, job: Job, look: Look, answering: _Answering) -> tuple[int, int, str]:
    """Once it has ended: its status, the most memory it had, and why if we ended it."""
    ended = False
    try:
        handle = os.pidfd_open(process)
        try:
            stopped = _wait(process, handle, job, look, answering)
        finally:
            os.close(handle)
        ended = True
    finally:
        if not ended:
            os.killpg(process, signal.SIGKILL)
        _, status, usage = os.wait4(process, 0)
    return status, 1024 * usage.ru_maxrss, stopped


def _wait(process: int, handle: int, job: Job, look: Look, answering: _Answering) -> str:
    """Until it has ended; a signal that tells where it is, if it must be ended."""
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    watch = job.structure.watch
    progress, since, asleep = (-1, 0), 0.0, 0
    stopped = ""
    while not stopped:
        if _ends(handle, answering):
            return ""
        look(int(watch.completed))
        asleep = asleep + 1 if _sleeps(process) else 0
        reached = (int(watch.events), _largest(process) // MORE_MEMORY)
        if reached != progress:
            progress, since, asleep = reached, _used_seconds(process), 0
        elif _used_seconds(process) - since > PATIENCE_SECONDS:
            stopped = LOOPS
        elif asleep > PATIENCE_LOOKS:
            stopped = SLEEPS
    os.kill(process, signal.SIGXCPU)
    if not poll.poll(1000 * LAST_SECONDS):
        os.killpg(process, signal.SIGKILL)
    return stopped


def _ends(handle: int, answering: _Answering) -> bool:
    """Whether it ends before it is time to look again; what it asks is answered meanwhile."""
    until = time.monotonic() + LOOK_SECONDS
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    if answering.ask:
        poll.register(answering.line, select.POLLIN)
    while (left := until - time.monotonic()) > 0:
        for descriptor, _ in poll.poll(1000 * left):
            if descriptor == handle:
                return True
            answering.answer()
    return False


def _used_seconds(process: int) -> float:
    """Processor time so far."""
    return time.clock_gettime(~process << 3 | 2)  # as clock_getcpuclockid(3) has it


def _largest(process: int) -> int:
    """Bytes of memory at most so far; 0 when it has just ended."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace")
    return 1024 * sum(int(line.split()[1]) for line in status.split("\n") if "VmHWM" in line)


def _sleeps(process: int) -> bool:
    """Nobody wakes it but its own code; who only waits for a processor does not sleep."""
    status = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
    return status.rpartition(")")[2].split()[0] == "S"


def _ending(status: int) -> str:
    """How the process ended, in words."""
    if os.WIFEXITED(status):
        return f"ended its process, with exit code {os.WEXITSTATUS(status)}"
    number = os.WTERMSIG(status)
    known = {int(one): words for one, words in ENDINGS.items()}
    return known.get(number) or signal.strsignal(number) or f"signal {number}"


def _place(job: Job, file: registry.Source) -> str:
    offset = int(job.structure.fault.offset)
    return f" in {registry.where(file, offset)}" if offset else ""


def _memory(job: Job, largest: int) -> str:
    """Was there too little of it before?"""
    if job.structure.refused_bytes:
        return f"; {no_memory(job)}"
    return "; it took all the memory that it may have" if largest > MOST_OF_MEMORY else ""


def _last_words(printed: str) -> str:
    lines = printed.split("\n")
    words = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f'; it last printed "{words[:LAST_WORDS]}"' if words else ""
