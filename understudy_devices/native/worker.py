# SPDX-License-Identifier: MIT
"""Runs a job with a scheduler and policies: a simulation, or the replay of a tape.

A job is a process (sim/worker/). A job shares memory with this process for its input and its
results. Each part (the scheduler, the prefetcher, the replacement policy) that does not belong to
the project runs in a process of its own, in a sandbox; that process returns nothing but the part's
choices. All these processes limit their own memory and output; this module ends them if they make
no progress.
"""

import io
import math
import os
import select
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from understudy_devices._core import ffi, lib
from understudy_devices.base.errors import RunFailed
from understudy_devices.base.plain import one_line, plain
from understudy_devices.native import program_file, registry
from understudy_devices.native.cell import (
    LAST_SECONDS,
    LOOPS,
    MEMORY_BYTES,
    OUTPUT_BYTES,
    PATIENCE_ASLEEP_SECONDS,
    PATIENCE_SECONDS,
    SLEEPS,
    SLEEPS_OFTEN,
    TAKES,
    Cell,
    circumstances,
    ending,
    start,
)
from understudy_devices.native.processes import (
    Processes,
    awake_seconds,
    ends_within,
    largest_bytes,
    sleeps,
    used_seconds,
)
from understudy_devices.native.shared_memory import Room as Room
from understudy_devices.native.shared_memory import Shared

DESCRIBE: int = lib.JOB_DESCRIBE
SIMULATE: int = lib.JOB_SIMULATE
REPLAY: int = lib.JOB_REPLAY

MORE_MEMORY = MEMORY_BYTES // 64  # a large allocation needs much time on a busy host
PATIENCE_MEMORY_SECONDS = 2 * PATIENCE_SECONDS  # processor time, for all memory growth together
LOOK_SECONDS = 0.1
SLEEP_SECONDS = 20.0  # of a run, in which no process of it runs or waits for a processor
WAKE_SECONDS = 2e-4  # more than it takes to wake a process, for each event
SOME_EVENTS = 8  # fewer events are no progress

QUESTION_BYTES = ffi.sizeof("struct question")

Ask = Callable[[bytes], bytes]
"""Takes a struct question (sim/worker/target.h); returns the request's completion time."""

Look = Callable[[int], None]
"""Called repeatedly with the number of completed requests; an exception ends the job."""


class Job(Shared):
    """A struct job in shared memory, and the arrays that it points to."""

    def __init__(self, kind: int, arrays: Mapping[str, npt.NDArray[Any] | Room]) -> None:
        """Copy the input arrays, and reserve space for the results."""
        super().__init__("struct job", arrays)
        self.structure.kind = kind
        self.structure.starter = os.getpid()
        self.structure.memory_bytes = MEMORY_BYTES
        self.structure.output_bytes = OUTPUT_BYTES


@dataclass(frozen=True)
class Part:
    """A scheduler, a prefetcher or a replacement policy; `name` begins messages about it.

    `declared` is a digest of the declaration from which the job was made.
    """

    file: registry.Source
    name: str
    declared: int = 0


@dataclass
class Allowance:
    """The processor time that users' code may use: in a run, and in all runs together."""

    run_seconds: float = math.inf
    left_seconds: float = math.inf

    @property
    def used_up(self) -> bool:
        """Return whether nothing is left for a run."""
        return self.left_seconds <= 0


_allowance = Allowance()


@contextmanager
def allowing(allowance: Allowance) -> Iterator[None]:
    """Let the code of users use no more time than this, while the block runs."""
    global _allowance
    before, _allowance = _allowance, allowance
    try:
        yield
    finally:
        _allowance = before


def run(
    job: Job,
    parts: Sequence[Part],
    look: Look = lambda done: None,
    ask: Ask | None = None,
) -> str:
    """Run the job with these parts, at most one of each kind; return what they printed.

    Raises RunFailed if a part ended its process, or did not return.  Exceptions of `look` and `ask`
    end the job too.
    """
    known = {part.file.part: part for part in parts}
    for number, part in known.items():
        job.structure.declared[number] = part.declared
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, its, Processes() as processes, io.FileIO(os.memfd_create("output")) as printing:
        output = printing.fileno()
        started = _start(processes, job, known, [its.fileno(), output, output, job.file])
        its.close()
        stopped = _wait(started, job, look, _Answering(ours, ask))
        fault = job.structure.fault
        why = stopped or ending(processes, started.around(int(fault.part)), fault)
        printed = plain(os.pread(output, OUTPUT_BYTES, 0).decode(errors="replace"))
    structure = job.structure
    broken = text(structure.summary.broken)
    if broken:
        raise RunFailed(f"{known[int(structure.summary.part)].name}: {broken}")
    if not structure.ended:
        ended = known.get(int(structure.fault.part), parts[0])
        code, refused = registry.compiled(ended.file), int(structure.refused_bytes)
        more = circumstances(ended.file, code, structure.fault, refused, printed)
        raise RunFailed(f"{ended.name}: {why}{more}")
    return printed


def text(characters: Any) -> str:
    """Return a C string, as one line."""
    return one_line(ffi.string(characters).decode(errors="replace"))


@dataclass(frozen=True)
class _Started:
    """The id of the process that runs the job, and the processes of the parts that are not in it,
    by the part's number. `inside` says whether the job has a part inside.
    """

    job: int
    cells: Mapping[int, Cell]
    inside: bool

    @property
    def codes(self) -> list[int]:
        """Return the ids of the processes that run the code of parts."""
        return [*(cell.code for cell in self.cells.values()), *([self.job] if self.inside else [])]

    @property
    def charged(self) -> list[int]:
        """Return the ids of the processes whose time users' code has to answer for: its own, and
        the job's, which it can keep busy.
        """
        return [*(cell.code for cell in self.cells.values()), *([self.job] if self.cells else [])]

    def around(self, part: int) -> int:
        """Return the id of the process that we started for a part, and that ends when the part
        ends.
        """
        return self.cells[part].around if part in self.cells else self.job

    def to_stop(self) -> list[int]:
        """Return the ids of the processes whose code probably does not return."""
        awake = [code for code in self.codes if not sleeps(code)]
        return awake or [cell.code for cell in self.cells.values()] or [self.job]


def _start(
    processes: Processes, job: Job, parts: Mapping[int, Part], descriptors: list[int]
) -> _Started:
    """Start the job, and a process for each part that does not belong to the project."""
    output, joined = descriptors[1], [*descriptors]
    words = [str(program_file()), "job"]
    cells: dict[int, Cell] = {}
    with ExitStack() as stack:
        for number in range(len(registry.PARTS)):
            if number not in parts:
                words.append("-")
                continue
            file = parts[number].file
            code = registry.compiled(file)
            if file.ours:
                words.append(str(code))
                continue
            cell = start(processes, stack, file, code, output, "serve", str(number))
            words.append(f"{len(joined)}:{len(joined) + 1}")
            joined += [cell.calls.fileno(), cell.replies.fileno()]
            cells[number] = cell
        return _Started(processes.start(words, joined), cells, len(cells) < len(parts))


@dataclass(frozen=True)
class _Answering:
    """Our end of the socket over which a job sends the requests for its target."""

    line: socket.socket
    ask: Ask | None

    def answer(self) -> None:
        """Answer one request."""
        question = self.line.recv(QUESTION_BYTES)
        if question and self.ask:
            self.line.send(self.ask(question))


def _wait(started: _Started, job: Job, look: Look, answering: _Answering) -> str:
    """Wait for the job's end. If the job has to be stopped, send it a signal, so that it reports
    its location in the code.

    Returns the reason why the job has to be stopped; empty if it ended.
    """
    handle = os.pidfd_open(started.job)
    try:
        stopped = _watch(started, handle, job, look, answering)
    finally:
        os.close(handle)
    if stopped:
        for code in started.to_stop():
            with suppress(ProcessLookupError):
                os.kill(code, signal.SIGXCPU)
        ends_within(started.job, LAST_SECONDS)
    return stopped


def _watch(started: _Started, handle: int, job: Job, look: Look, answering: _Answering) -> str:
    """Wait until the job ends or makes no progress.

    Progress is handled events or, for code that uses the processor, growing memory. The time that
    the code waits for a processor is not counted.
    """
    watch, codes = job.structure.watch, started.codes
    events, memory, used, asleep = 0, 0, 0.0, 0
    allowance, charged = _allowance, 0.0
    moved = 0.0  # when the last events were counted
    begin, awake = time.monotonic(), dict.fromkeys({*codes, started.job}, 0.0)
    while not _ends(handle, answering):
        look(int(watch.completed))
        now = sum(map(used_seconds, codes))
        spent = sum(map(used_seconds, started.charged))
        if spent > charged:
            allowance.left_seconds -= spent - charged
            charged = spent
        if charged > allowance.run_seconds or allowance.used_up:
            return f"{TAKES}: more than {allowance.run_seconds:g} s of processor time"
        if int(watch.events) >= events + SOME_EVENTS:
            events, used, asleep = int(watch.events), now, 0
            moved = used
        if (grown := sum(map(largest_bytes, codes)) // MORE_MEMORY) > memory:
            memory, used = grown, now
        asleep += all(map(sleeps, {*codes, started.job}))
        if now - used > PATIENCE_SECONDS or now - moved > PATIENCE_MEMORY_SECONDS:
            return LOOPS
        if asleep * LOOK_SECONDS > PATIENCE_ASLEEP_SECONDS:
            return SLEEPS
        for process, before in awake.items():
            awake[process] = max(before, awake_seconds(process))
        slept = time.monotonic() - begin - sum(awake.values())
        if slept > SLEEP_SECONDS + WAKE_SECONDS * int(watch.events) and not answering.ask:
            return SLEEPS_OFTEN
    return ""


def _ends(handle: int, answering: _Answering) -> bool:
    """Return whether the job ends before the next look; answer its requests meanwhile."""
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
