# SPDX-License-Identifier: MIT
"""Run a job with a scheduler: a simulation, or a tape that is played to it.

A job is a process (sim/worker/): it shares a piece of memory with this one, in which the
question lies and then the answer.  A scheduler that is not ours runs in a second process, in a
sandbox; of it the first learns its choices, and nothing else.  Their memory and what they print
are limited there; here they are ended when they do not get on.
"""

import io
import json
import os
import select
import signal
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from understudy._core import ffi, lib
from understudy.base import sandbox
from understudy.base.errors import RunFailed
from understudy.base.plain import plain
from understudy.native import program_file, registry
from understudy.native.processes import (
    Processes,
    ends_within,
    largest_bytes,
    signal_of,
    sleeps,
    used_seconds,
)
from understudy.native.shared_memory import Room as Room
from understudy.native.shared_memory import Shared

DESCRIBE: int = lib.JOB_DESCRIBE
SIMULATE: int = lib.JOB_SIMULATE
REPLAY: int = lib.JOB_REPLAY

MEMORY_BYTES = 2 * 2**30
MOST_OF_MEMORY = 0.9 * MEMORY_BYTES
MORE_MEMORY = MEMORY_BYTES // 64  # new memory can take long on a busy host
OUTPUT_BYTES = 2**20
LOOK_SECONDS = 0.1
SOME_EVENTS = 8  # fewer are no progress
PATIENCE_SECONDS = 3.0  # of processor time without progress
PATIENCE_LOOKS = 50  # asleep, without progress
LAST_SECONDS = 1.0  # to say where it is
LAST_WORDS = 80

LOOPS = f"endless loop, or so: no progress in {PATIENCE_SECONDS:g} s of processor time"
SLEEPS = f"sleeps, which no scheduler may: no progress in {PATIENCE_LOOKS * LOOK_SECONDS:g} s"

QUESTION_BYTES = ffi.sizeof("struct question")

ENDINGS = {
    signal.SIGSEGV: "segmentation fault",
    signal.SIGBUS: "bus error",
    signal.SIGFPE: "division by zero, or an overflow of one",
    signal.SIGILL: "illegal instruction",
    signal.SIGABRT: "aborted",
    signal.SIGSYS: "made a system call that no scheduler may",
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
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, its, Processes() as processes, io.FileIO(os.memfd_create("output")) as printing:
        output = printing.fileno()
        started = _start(processes, job, file, [its.fileno(), output, output, job.file])
        its.close()
        stopped = _wait(started, job, look, _Answering(ours, ask))
        ending = stopped or _ending(processes, started, job)
        printed = plain(os.pread(output, OUTPUT_BYTES, 0).decode(errors="replace"))
    broken = text(job.structure.summary.broken)
    if broken:
        raise RunFailed(f"{name}: {broken}")
    if not job.structure.ended:
        raise RunFailed(f"{name}: {ending}{_place(job, file)}{_memory(job)}{_last_words(printed)}")
    return printed


def text(characters: Any) -> str:
    """A C string."""
    return plain(ffi.string(characters).decode(errors="replace"))


def no_memory(job: Job) -> str:
    """What it did not get, in words."""
    refused = int(job.structure.refused_bytes)
    return f"it asked for {refused:,} bytes, and may have {MEMORY_BYTES:,} in all"


@dataclass(frozen=True)
class _Started:
    """The process of a job, the one that runs the scheduler's code, and the one of these two that
    we started and that ends with it."""

    job: int
    code: int
    around: int


def _start(
    processes: Processes, job: Job, file: registry.Source, descriptors: list[int]
) -> _Started:
    """Start the job, and beside it a scheduler that is not ours."""
    program, code = program_file(), registry.compiled(file)
    if file.ours:
        alone = processes.start([str(program), str(code)], descriptors)
        return _Started(alone, alone, alone)
    sandbox.require(file.shown)
    _, output, *_ = descriptors
    with ExitStack() as stack:
        (called, calls), (heard, replies), (told, tells) = (_pipe(stack) for _ in range(3))
        answering = [each.fileno() for each in (called, replies, tells)]
        answering[1:1] = (output, output, answering[0])
        command = sandbox.program(
            {"/simulate": program, "/scheduler.so": code},
            ("--info-fd", str(len(answering) - 1)),
            ["/simulate", "/scheduler.so", str(MEMORY_BYTES), str(OUTPUT_BYTES)],
        )
        around = processes.start(command, answering)
        joined = [*descriptors, calls.fileno(), heard.fileno()]
        simulating = processes.start([str(program)], joined)
        tells.close()
        inside = around if sandbox.is_open() else _inside(told)
    return _Started(simulating, inside, around)


def _pipe(stack: ExitStack) -> tuple[io.FileIO, io.FileIO]:
    """The ends to read and to write."""
    reads, writes = os.pipe()
    return stack.enter_context(io.FileIO(reads)), stack.enter_context(io.FileIO(writes, "w"))


def _inside(told: io.FileIO) -> int:
    """Which process the sandbox says that it runs; RunFailed if it cannot be made."""
    said = b""
    while not said.endswith(b"}\n"):
        more = told.read(4096)
        if not more:
            raise RunFailed("the sandbox could not be made: bwrap ended before it ran anything")
        said += more
    return int(json.loads(said)["child-pid"])


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


def _wait(started: _Started, job: Job, look: Look, answering: _Answering) -> str:
    """Until it has ended; why, if it must be ended: a signal asks where it is."""
    handle = os.pidfd_open(started.job)
    try:
        stopped = _watch(started, handle, job, look, answering)
    finally:
        os.close(handle)
    if stopped:
        os.kill(started.code, signal.SIGXCPU)
        ends_within(started.job, LAST_SECONDS)
    return stopped


def _watch(started: _Started, handle: int, job: Job, look: Look, answering: _Answering) -> str:
    """Progress is events, and for whoever uses the processor new memory too.  Who waits for a
    processor loses no patience."""
    watch, code = job.structure.watch, started.code
    events, memory, used, asleep = 0, 0, 0.0, 0
    while not _ends(handle, answering):
        look(int(watch.completed))
        if int(watch.events) >= events + SOME_EVENTS:
            events, used, asleep = int(watch.events), used_seconds(code), 0
        if largest_bytes(code) // MORE_MEMORY > memory:
            memory, used = largest_bytes(code) // MORE_MEMORY, used_seconds(code)
        asleep += sleeps(code) and sleeps(started.job)
        if used_seconds(code) - used > PATIENCE_SECONDS:
            return LOOPS
        if asleep > PATIENCE_LOOKS:
            return SLEEPS
    return ""


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


def _ending(processes: Processes, started: _Started, job: Job) -> str:
    """How the scheduler's process ended, in words."""
    status = processes.status(started.around)
    if status is None:
        return "does not answer any more"
    number = int(job.structure.fault.signal) or signal_of(status)
    if not number:
        return f"ended its process, with exit code {os.waitstatus_to_exitcode(status)}"
    known = {int(one): words for one, words in ENDINGS.items()}
    return known.get(number) or signal.strsignal(number) or f"signal {number}"


def _place(job: Job, file: registry.Source) -> str:
    offset = int(job.structure.fault.offset)
    return f" in {registry.where(file, offset)}" if offset else ""


def _memory(job: Job) -> str:
    """Was there too little of it before?"""
    if job.structure.refused_bytes:
        return f"; {no_memory(job)}"
    most = job.structure.fault.largest_bytes > MOST_OF_MEMORY
    return "; it took all the memory that it may have" if most else ""


def _last_words(printed: str) -> str:
    lines = printed.split("\n")
    words = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f'; it last printed "{words[:LAST_WORDS]}"' if words else ""
