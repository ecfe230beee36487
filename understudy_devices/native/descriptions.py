# SPDX-License-Identifier: MIT
"""Declarations of schedulers, prefetchers and replacement policies: names, tunables, counters.

core/scheduler.h, prefetch.h and replacement.h have the contracts; the simulator's workloads declare
their parameters the same way.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from understudy_devices._core import ffi
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.base.once import once
from understudy_devices.base.plain import plain
from understudy_devices.native import registry, worker
from understudy_devices.native.arrays import U64, u64
from understudy_devices.native.cell import MEMORY_BYTES


@dataclass(frozen=True)
class Tunable:
    """One parameter of a scheduler."""

    name: str
    help: str
    initial: int
    min: int
    max: int


@dataclass(frozen=True)
class Counter:
    """A counter of a scheduler."""

    name: str
    help: str


@dataclass(frozen=True)
class Scheduler:
    """The declarations of a scheduler or a policy."""

    name: str
    summary: str
    needs_model: bool  # uses the disk's positioning times
    tunables: tuple[Tunable, ...]
    counters: tuple[Counter, ...]
    declared: int = 0  # a digest of all this, for worker.Part


def schedulers() -> dict[str, Scheduler]:
    """Return the declarations of every scheduler in core/schedulers/, by name."""
    names = registry.ours()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(names, pool.map(scheduler, names), strict=True))


def scheduler(name: str) -> Scheduler:
    """Return the declarations of a scheduler in the registry; RunFailed if they can't be read."""
    file = registry.source(name)
    described = describe(file)
    if described.name != name:
        raise UserError(
            f"{file.shown}: it calls itself {described.name}; its name and the file's have to be "
            "the same"
        )
    return described


@once
def describe(file: registry.Source) -> Scheduler:
    """Return the declarations of the scheduler or policy in a file; a separate process reads
    them.
    """
    job = worker.Job(worker.DESCRIBE, {})
    worker.run(job, [worker.Part(file, file.stem)])
    if job.structure.error:
        raise RunFailed(f"{file.stem}: {why_not_loaded(job)}")
    items = bytes(ffi.buffer(job.structure.text)).decode(errors="replace").split("\0")
    return replace(_scheduler(map(plain, items)), declared=job.structure.declared[file.part])


def why_not_loaded(job: worker.Job) -> str:
    """Return why a scheduler or a policy can't be loaded."""
    words = worker.text(job.structure.text)
    for kind in ("scheduler", "prefetcher", "replacer"):
        if f"module_{kind}" in words:
            return f"registers no {kind}: its file has to end with REGISTER_{kind.upper()}"
    if "zero-fill" in words or "map segment" in words:
        return f"cannot be loaded: it needs more memory than the {MEMORY_BYTES:,} bytes"
    return f"cannot be loaded: {words.rpartition(': ')[2] or 'its declarations are too long'}"


def _scheduler(items: Iterator[str]) -> Scheduler:
    """Parse the format of sim/worker/describe.h."""
    name, summary, needs_model = next(items), next(items), next(items) == "1"
    tunables = tuple(
        Tunable(next(items), next(items), int(next(items)), int(next(items)), int(next(items)))
        for _ in range(int(next(items)))
    )
    counters = tuple(Counter(next(items), next(items)) for _ in range(int(next(items))))
    return Scheduler(name, summary, needs_model, tunables, counters)


def text(pointer: Any) -> str:
    """Return a C string."""
    return str(ffi.string(pointer).decode(errors="replace"))


def fields(first: Any, count: int) -> tuple[Tunable, ...]:
    """Return the fields of a C array of struct sched_field."""
    return tuple(
        Tunable(text(field.name), text(field.help), field.initial, field.min, field.max)
        for field in (first[i] for i in range(count))
    )


def tunable_values(scheduler: Scheduler, chosen: Mapping[str, int]) -> U64:
    """Return each tunable's value, chosen or initial."""
    return field_values(scheduler.name, "tunable", scheduler.tunables, chosen)


def field_values(owner: str, kind: str, known: Sequence[Tunable], chosen: Mapping[str, int]) -> U64:
    """Return each field's value, chosen or initial; ValueError for an impossible value."""
    by_name = {field.name: field for field in known}
    for name, value in chosen.items():
        if name not in by_name:
            raise ValueError(f"{owner} has no {kind} {name}; it has: {', '.join(by_name)}")
        if not by_name[name].min <= value <= by_name[name].max:
            field = by_name[name]
            raise ValueError(f"{name} is {value}, not from {field.min} to {field.max}")
    return u64([chosen.get(field.name, field.initial) for field in known])
