# SPDX-License-Identifier: MIT
"""Run a job with a scheduler: a simulation, or a tape that is played to it.

A job is a process (sim/worker/): it shares a piece of memory with this one, in which the
question lies and then the answer.  A scheduler that is not ours runs in a second process, in a
sandbox; of it the first learns its choices, and nothing else.  Their memory and what they print
are limited there; here they are ended when they do not get on.
"""

import io
import os
import select
import signal
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from understudy._core import ffi, lib
from understudy.base.errors import RunFailed
from understudy.base.plain import one_line, plain
from understudy.native import program_file, registry
from understudy.native.cell import (
    LAST_SECONDS,
    LOOPS,
    MEMORY_BYTES,
    OUTPUT_BYTES,
    PATIENCE_ASLEEP_SECONDS,
    PATIENCE_SECONDS,
    SLEEPS,
    circumstances,
    ending,
    start,
)
from understudy.native.processes import (
    Processes,
    ends_within,
    largest_bytes,
    sleeps,
    used_seconds,
)
from understudy.native.shared_memory import Room as Room
from understudy.native.shared_memory import Shared

DESCRIBE: int = lib.JOB_DESCRIBE
SIMULATE: int = lib.JOB_SIMULATE
REPLAY: int = lib.JOB_REPLAY

MORE_MEMORY = MEMORY_BYTES // 64  # new memory can take long on a busy host
PATIENCE_MEMORY_SECONDS = 2 * PATIENCE_SECONDS  # of processor time, for all of it
LOOK_SECONDS = 0.1
SOME_EVENTS = 8  # fewer are no progress

QUESTION_BYTES = ffi.sizeof("struct question")

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
        why = stopped or ending(processes, started.around, job.structure.fault)
        printed = plain(os.pread(output, OUTPUT_BYTES, 0).decode(errors="replace"))
    structure = job.structure
    broken = text(structure.summary.broken)
    if broken:
        raise RunFailed(f"{name}: {broken}")
    if not structure.ended:
        code, refused = registry.compiled(file), int(structure.refused_bytes)
        more = circumstances(file, code, structure.fault, refused, printed)
        raise RunFailed(f"{name}: {why}{more}")
    return printed


def text(characters: Any) -> str:
    """A C string, as one line."""
    return one_line(ffi.string(characters).decode(errors="replace"))


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
    _, output, *_ = descriptors
    with ExitStack() as stack:
        cell = start(processes, stack, file, code, output)
        joined = [*descriptors, cell.calls.fileno(), cell.replies.fileno()]
        return _Started(processes.start([str(program)], joined), cell.code, cell.around)


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
        with suppress(ProcessLookupError):
            os.kill(started.code, signal.SIGXCPU)
        ends_within(started.job, LAST_SECONDS)
    return stopped


def _watch(started: _Started, handle: int, job: Job, look: Look, answering: _Answering) -> str:
    """Progress is events, and for whoever uses the processor new memory too.  Who waits for a
    processor loses no patience."""
    watch, code = job.structure.watch, started.code
    events, memory, used, asleep = 0, 0, 0.0, 0
    moved = 0.0  # when events came last
    while not _ends(handle, answering):
        look(int(watch.completed))
        if int(watch.events) >= events + SOME_EVENTS:
            events, used, asleep = int(watch.events), used_seconds(code), 0
            moved = used
        if largest_bytes(code) // MORE_MEMORY > memory:
            memory, used = largest_bytes(code) // MORE_MEMORY, used_seconds(code)
        asleep += sleeps(code) and sleeps(started.job)
        now = used_seconds(code)
        if now - used > PATIENCE_SECONDS or now - moved > PATIENCE_MEMORY_SECONDS:
            return LOOPS
        if asleep * LOOK_SECONDS > PATIENCE_ASLEEP_SECONDS:
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
