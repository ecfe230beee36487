# SPDX-License-Identifier: MIT
"""The steps of a user's workload: a sandbox runs its C file, which lists all steps in advance.

A workload knows neither time nor completions (sim/workload.h).  So its steps can be generated
before the simulation, which plays them as a table.
"""

import io
import math
import os
import select
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Any

import numpy as np

from understudy_devices._core import ffi, lib
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.base.once import once
from understudy_devices.base.plain import one_line, plain
from understudy_devices.native import registry
from understudy_devices.native.arrays import dtype_of
from understudy_devices.native.cell import (
    LOOPS,
    OUTPUT_BYTES,
    PATIENCE_ASLEEP_SECONDS,
    PATIENCE_SECONDS,
    SLEEPS,
    Cell,
    circumstances,
    ending,
    start,
)
from understudy_devices.native.descriptions import fields
from understudy_devices.native.processes import Processes, awake_seconds, sleeps, used_seconds
from understudy_devices.native.simulation import Rows, WorkloadKind

STEPS_MAX = 5_000_000
LOOK_SECONDS = 0.1
SOME_BYTES = 4096  # fewer bytes are no progress: steps arrive in hundreds
LONGEST_SECONDS = 15.0  # for all steps, whatever the progress, without waiting for a processor
DAWDLES = f"its steps take more than {LONGEST_SECONDS:g} s in all"
SECTORS_MAX = 1 << 15
STEP = dtype_of("struct step")


class _Left(Exception):  # noqa: N818 - nobody but us sees it
    """The process has ended, or has to be stopped."""

    def __init__(self, why: str = "", last: bytes = b"") -> None:
        """Keep the reason to stop the process, if any, and its last bytes, which may report a
        signal.
        """
        super().__init__(why)
        self.why = why
        self.last = last


@once
def describe(file: registry.Source) -> WorkloadKind:
    """Return the workload's declarations.  RunFailed if they can't be read."""
    _, kind = _asked(file, None, 0)
    return kind


def rows(
    file: registry.Source,
    *,
    capacity_sectors: int,
    processes: int,
    seed: int,
    values: Sequence[int],
    steps: int,
) -> Rows:
    """Return the first `steps` steps of each process, or all its steps if there are fewer.

    UserError if there would be more than STEPS_MAX steps. RunFailed if the code does not return, or
    if a step reads a file, has an impossible length or ends past the end of the disk.
    """
    if steps * processes > STEPS_MAX:
        raise UserError(
            f"{file.shown}: {steps * processes:,} steps are more than {STEPS_MAX:,}: take fewer "
            "--requests or --processes"
        )
    ask = ffi.new("struct steps_ask *")
    ask.capacity_sectors, ask.seed = capacity_sectors, seed
    ask.processes, ask.steps = processes, steps
    ask.values[0 : len(values)] = list(values)
    table, _ = _asked(file, ask, steps * processes)
    table = table.reshape(processes, steps)
    there = np.logical_and.accumulate(table["op"] < lib.IO_OPS, axis=1)
    entries = table[there]
    _check(file, entries, capacity_sectors)
    if not there.any():
        raise RunFailed(f"{file.stem}: no process has a step")
    first = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    each = {name: entries[name] for name in ("think_ns", "sector", "sectors", "op", "cost_ns")}
    return Rows(first=first, owner=np.repeat(np.arange(processes), there.sum(axis=1)), **each)


def _check(file: registry.Source, entries: Any, capacity_sectors: int) -> None:
    end = entries["sector"] + entries["sectors"]
    for wrong, words in (
        (entries["file"] != lib.NO_FILE, "wants a file: .file has to be NO_FILE"),
        (
            entries["more"] != 0,
            "has .more, which only our own workloads may have",
        ),
        (
            (entries["sectors"] < 1) | (entries["sectors"] > SECTORS_MAX),
            f"has no length that a disk takes: .sectors is from 1 to {SECTORS_MAX:,}",
        ),
        (
            (end > capacity_sectors) | (end < entries["sector"]),
            f"is behind the end of the disk, {capacity_sectors:,} sectors",
        ),
    ):
        if wrong.any():
            number = int(np.argmax(wrong))
            raise RunFailed(f"{file.stem}: step {number + 1:,} {words}")


def _asked(file: registry.Source, ask: Any, count: int) -> tuple[Any, WorkloadKind]:
    code = registry.compiled(file)
    reply, own = ffi.new("struct line_reply *"), ffi.new("struct line_self *")
    table = np.zeros(count, STEP)
    with (
        ExitStack() as stack,
        Processes() as processes,
        io.FileIO(os.memfd_create("output")) as printing,
    ):
        cell = start(processes, stack, file, code, printing.fileno(), "steps")
        try:
            begin = time.monotonic()
            _read(cell, ffi.buffer(reply), begin)
            if reply.kind != lib.LINE_DONE:
                raise _Left
            _read(cell, ffi.buffer(own), begin)
            kind = _kind(file, own)
            if count:
                with suppress(BrokenPipeError):  # the process may have gone
                    cell.calls.write(ffi.buffer(ask))
                _read(cell, table.data, begin)
        except _Left as left:
            if len(left.last) == ffi.sizeof("struct line_reply"):
                answer = ffi.from_buffer("struct line_reply *", left.last)
                reply[0] = answer[0] if answer.kind == lib.LINE_FAULT else reply[0]
            why = left.why or ending(processes, cell.around, reply.fault)
            words = plain(os.pread(printing.fileno(), OUTPUT_BYTES, 0).decode(errors="replace"))
            more = circumstances(file, code, reply.fault, int(reply.refused_bytes), words)
            raise RunFailed(f"{file.stem}: {why}{more}") from None
    return table, kind


def _read(cell: Cell, into: Any, begin: float) -> None:
    """Fill the buffer with the process's output. Raise _Left if the code ends too early, makes no
    progress, or takes too long.
    """
    view, done, noted = memoryview(into).cast("B"), 0, 0
    used, asleep = used_seconds(cell.code), 0
    while done < len(view):
        awake = awake_seconds(cell.code)
        waited = awake - used_seconds(cell.code) if awake < math.inf else 0.0  # for a processor
        if time.monotonic() - begin - waited > LONGEST_SECONDS:
            raise _Left(DAWDLES)
        if select.select([cell.replies], [], [], LOOK_SECONDS)[0]:
            count = cell.replies.readinto(view[done:])
            if not count:
                begins = max(0, done - ffi.sizeof("struct line_reply"))
                raise _Left(last=bytes(view[begins:done]))
            done += count
            if done - noted >= SOME_BYTES:
                noted, used, asleep = done, used_seconds(cell.code), 0
            continue
        asleep += sleeps(cell.code)
        if used_seconds(cell.code) - used > PATIENCE_SECONDS:
            raise _Left(LOOPS)
        if asleep * LOOK_SECONDS > PATIENCE_ASLEEP_SECONDS:
            raise _Left(SLEEPS)


def _kind(file: registry.Source, own: Any) -> WorkloadKind:
    """Return the declarations; RunFailed if they are impossible."""
    words = one_line(ffi.string(own.words).decode(errors="replace"))
    if own.error:
        missing = "registers no workload: its file has to end with REGISTER_WORKLOAD"
        raise RunFailed(f"{file.stem}: {missing if 'module_workload' in words else words}")
    if own.nr_tunables > len(own.tunables):
        raise RunFailed(f"{file.stem}: it has more than {len(own.tunables)} parameters")
    known = fields(own.tunables, own.nr_tunables)
    parameters = tuple(
        replace(each, name=plain(each.name), help=plain(each.help)) for each in known
    )
    name = plain(ffi.string(own.name).decode(errors="replace"))
    summary = plain(ffi.string(own.summary).decode(errors="replace"))
    return WorkloadKind(name, summary, bool(own.needs_model), parameters)
