# SPDX-License-Identifier: MIT
"""What the compiled schedulers declare of themselves: names, tunables, counters.

core/scheduler.h has the contract; workloads of the simulator declare their parameters the same way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from understudy._core import ffi, lib
from understudy.native.arrays import U64, u64


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
    """One figure that a scheduler keeps."""

    name: str
    help: str


@dataclass(frozen=True)
class Scheduler:
    """What a scheduler says of itself."""

    name: str
    summary: str
    tunables: tuple[Tunable, ...]
    counters: tuple[Counter, ...]


@cache
def schedulers() -> dict[str, Scheduler]:
    """Every scheduler in core/schedulers/, by name."""
    found = (_describe(lib.registry_get(i)) for i in range(lib.registry_count()))
    return {scheduler.name: scheduler for scheduler in sorted(found, key=lambda s: s.name)}


def text(pointer: Any) -> str:
    """A C string."""
    return str(ffi.string(pointer).decode())


def _describe(scheduler: Any) -> Scheduler:
    counters = (scheduler.counters[i] for i in range(scheduler.nr_counters))
    return Scheduler(
        name=text(scheduler.name),
        summary=text(scheduler.summary),
        tunables=fields(scheduler.tunables, scheduler.nr_tunables),
        counters=tuple(Counter(text(field.name), text(field.help)) for field in counters),
    )


def fields(first: Any, count: int) -> tuple[Tunable, ...]:
    """A C array of struct sched_field."""
    return tuple(
        Tunable(text(field.name), text(field.help), field.initial, field.min, field.max)
        for field in (first[i] for i in range(count))
    )


def find_scheduler(name: str) -> Any:
    """The C structure of a scheduler that there is."""
    found = (lib.registry_get(i) for i in range(lib.registry_count()))
    return next(scheduler for scheduler in found if text(scheduler.name) == name)


def tunable_values(scheduler: Scheduler, chosen: Mapping[str, int]) -> U64:
    """A value for each tunable, chosen or initial."""
    return field_values(scheduler.name, scheduler.tunables, chosen)


def field_values(owner: str, known: Sequence[Tunable], chosen: Mapping[str, int]) -> U64:
    """A value for each field, chosen or initial; ValueError for one that can't be."""
    by_name = {field.name: field for field in known}
    for name, value in chosen.items():
        if name not in by_name:
            raise ValueError(f"{owner} has no tunable {name}; it has: {', '.join(by_name)}")
        if not by_name[name].min <= value <= by_name[name].max:
            field = by_name[name]
            raise ValueError(f"{name} is {value}, not from {field.min} to {field.max}")
    return u64([chosen.get(field.name, field.initial) for field in known])
