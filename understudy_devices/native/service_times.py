# SPDX-License-Identifier: MIT
"""Converts Markovian arrival processes to integers, from which the simulator samples service times.
The input is a process: rates per ns, cumulative probabilities, and the probabilities of the start
(`consolidate.map.Tables`). The integers are those of sim/service_times.h: mean times in a phase in
units of 2^-16 ns, probabilities in units of 2^-64. Phases of equal rate that always follow one
another become stages of one phase; a single random number then gives the time in all these stages.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from understudy_devices._core import ffi, lib
from understudy_devices.native.arrays import U64, buffer, dtype_of, pointer_to

TICKS = 2**lib.SERVICE_TICK_BITS  # per ns
MOVES_MAX = 10_000  # phases that a time goes through, on average
ORDER_MAX = 1000

Floats = npt.NDArray[np.float64]


class ServiceTables(Protocol):
    """A process of n phases, with rates per ns, as in consolidate.map.Tables."""

    @property
    def rates(self) -> Floats:
        """The rates, (n,)."""

    @property
    def cumulative(self) -> Floats:
        """The cumulative probabilities, (n, 2n)."""

    @property
    def start(self) -> Floats:
        """The start's probabilities, (n,)."""


@dataclass(frozen=True, eq=False)
class ServiceTimes:
    """A process in integers: the rows of struct service_phase and struct service_outcome.

    The process begins in phase 0, which it leaves at once.
    """

    phases: npt.NDArray[np.void]
    outcomes: npt.NDArray[np.void]

    @classmethod
    def of(cls, tables: ServiceTables) -> "ServiceTimes":
        """Convert a process to integers; ValueError names the first impossible entry."""
        return _Process(tables).rows()

    def draw(self, count: int, seed: int, stream: int = 0) -> U64:
        """Return the first `count` service times, ns, of class number `stream` in a simulation."""
        arrays = side_by_side([self])
        times = ffi.new("struct service_times *")
        times.phases, times.outcomes = len(self.phases), len(self.outcomes)
        for name, array in arrays.items():
            setattr(times, name, pointer_to(array, times, name))
        wrong = lib.service_times_check(times, 1)
        if wrong != ffi.NULL:
            raise ValueError(ffi.string(wrong).decode())
        values = np.empty(count, np.uint64)
        chain = ffi.new("struct service_chain *")
        lib.service_chain_begin(chain, times, 0, seed, stream)
        lib.service_chain_draw_all(chain, times, count, buffer(values))
        return values


def side_by_side(classes: Sequence[ServiceTimes]) -> dict[str, npt.NDArray[Any]]:
    """Join the processes of all classes; return the arrays of struct service_times by name."""
    starts = np.cumsum([0] + [len(one.phases) for one in classes])
    firsts = np.cumsum([0] + [len(one.outcomes) for one in classes])
    phases = np.concatenate([one.phases for one in classes])
    outcomes = np.concatenate([one.outcomes for one in classes])
    phases["first"] += np.repeat(firsts[:-1], np.diff(starts)).astype(np.uint32)
    outcomes["phase"] += np.repeat(starts[:-1], np.diff(firsts)).astype(np.uint32)
    return {"start": starts[:-1].astype(np.uint32), "phase": phases, "outcome": outcomes}


class _Process:
    """One process, checked."""

    def __init__(self, tables: ServiceTables) -> None:
        self.rates = np.asarray(tables.rates, np.float64)
        self.cumulative = np.asarray(tables.cumulative, np.float64)
        self.start = np.asarray(tables.start, np.float64)
        self.order = len(self.rates) if self.rates.ndim == 1 else 0
        self._check_shapes()
        self._check_rates()
        for name, row in ("start", self.start), *self._rows():
            _check_cumulative(name, row)
        self._check_moves()
        self.stages, self.leaves = self._stages()
        self._check_stays()

    def rows(self) -> ServiceTimes:
        """Return all phases after an extra first phase, which the process leaves at once for a
        random phase of the start.
        """
        ticks = np.rint(TICKS / self.rates).astype(np.uint64)
        outcomes = [(last, 1 + place, 0) for last, place in _outcomes(self.start)]
        phases = [(0, 0, 0, len(outcomes), 0)]
        for mean, stages, leaves in zip(ticks, self.stages, self.leaves, strict=True):
            row = self._moves(leaves)
            phases.append((int(mean), stages, len(outcomes), len(row), 0))
            outcomes.extend(row)
        return ServiceTimes(
            np.array(phases, dtype_of("struct service_phase")),
            np.array(outcomes, dtype_of("struct service_outcome")),
        )

    def _rows(self) -> list[tuple[str, Floats]]:
        return [(f"cumulative[{i}]", row) for i, row in enumerate(self.cumulative)]

    def _moves(self, phase: int) -> list[tuple[int, int, int]]:
        return [
            (last, 1 + place % self.order, place // self.order)
            for last, place in _outcomes(self.cumulative[phase])
        ]

    def _check_shapes(self) -> None:
        n = self.order
        if not 1 <= n <= ORDER_MAX:
            raise ValueError(f"rates {self.rates.shape}: has to be (n,), n from 1 to {ORDER_MAX:,}")
        for name, actual, expected in (
            ("cumulative", self.cumulative.shape, (n, 2 * n)),
            ("start", self.start.shape, (n,)),
        ):
            if actual != expected:
                raise ValueError(
                    f"{name} is {actual}: has to be {expected}, as there are {n} rates"
                )

    def _check_rates(self) -> None:
        for place, rate in enumerate(self.rates):
            if not 0 < rate <= TICKS:
                raise ValueError(
                    f"rates[{place}] is {rate}: has to be above 0, and at most {TICKS:,}, per ns"
                )

    def _check_moves(self) -> None:
        """Check that each service time ends, after at most MOVES_MAX moves on average."""
        stays_inside = np.diff(self.cumulative[:, : self.order], prepend=0)
        try:
            moves = np.linalg.solve(np.eye(self.order) - stays_inside, np.ones(self.order))
        except np.linalg.LinAlgError:
            raise ValueError("from some phase a time never ends") from None
        if not (moves.min() >= 0 and moves.max() <= MOVES_MAX):
            raise ValueError(
                f"a time that begins in phase {int(np.argmax(np.abs(moves)))} goes through more "
                f"than {MOVES_MAX:,} phases, or never ends"
            )

    def _stages(self) -> tuple[list[int], list[int]]:
        """Return, for each phase, the number of its stages, and the last stage, whose moves leave
        the phase.
        """
        after = [self._certainly_after(i) for i in range(self.order)]
        stages, leaves = [], []
        for phase in range(self.order):
            count, last = 1, phase
            while (following := after[last]) is not None:
                count, last = count + 1, following
            stages.append(count)
            leaves.append(last)
        return stages, leaves

    def _certainly_after(self, phase: int) -> int | None:
        """Return the phase that always follows this phase within a service time; None if no phase
        does, or if its rate differs.
        """
        places = [place for _, place in _outcomes(self.cumulative[phase])]
        if len(places) > 1 or places[0] >= self.order:
            return None
        return places[0] if self.rates[places[0]] == self.rates[phase] else None

    def _check_stays(self) -> None:
        for phase, (rate, stages) in enumerate(zip(self.rates, self.stages, strict=True)):
            if stages * TICKS / rate >= lib.SERVICE_STAY_MAX / 2:
                raise ValueError(
                    f"rates[{phase}] is {rate}: a stay of {stages / rate:.3g} ns is far too long"
                )


def _check_cumulative(name: str, row: Floats) -> None:
    before = 0.0
    for place, value in enumerate(row):
        if not before <= value <= 1:
            raise ValueError(
                f"{name}[{place}] is {value}: has to be from {before:g}, the one before it, to 1"
            )
        before = float(value)
    if before != 1:
        raise ValueError(f"{name} ends in {before}: has to be 1")


def _outcomes(cumulative: Floats) -> list[tuple[int, int]]:
    """Return, for each possible outcome, the largest 64-bit random number that leads to the
    outcome, and the index of the outcome.
    """
    possible = np.flatnonzero(np.diff(cumulative, prepend=0) > 0)
    return [(int(np.ceil(cumulative[i] * 2.0**64)) - 1, int(i)) for i in possible]
