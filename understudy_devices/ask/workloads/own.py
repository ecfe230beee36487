# SPDX-License-Identifier: MIT
"""A user's own workload: one C file in any folder, in the same form as those of sim/workloads/."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from understudy_devices.ask.parameters import parameter
from understudy_devices.ask.workloads.workload import (
    SECTOR_BYTES,
    InGuest,
    Simulated,
    Surroundings,
    Workload,
    processes,
)
from understudy_devices.base.errors import UserError
from understudy_devices.base.progress import Report
from understudy_devices.native import registry, steps
from understudy_devices.native.descriptions import field_values
from understudy_devices.native.simulation import Rows, WorkloadKind

MORE_STEPS = 1000
"""Steps of each process beyond the measured steps: a process continues until the last measured
request of all processes is served."""

TABLE = "steps"
MAGIC = b"USSTEPS1"
ROW = np.dtype([("think_ns", "<u8"), ("sector", "<u8"), ("sectors", "<u4"), ("write", "<u4")])

Values = tuple[tuple[str, int], ...]


def load(text: str) -> registry.Source:
    """Read the source file of that name."""
    path = Path(text).expanduser()
    if not path.is_file():
        why = "is not a file" if path.exists() else "No such file or directory"
        raise UserError(f"--workload: {text}: {why}")
    try:
        return registry.Source(text, registry.read(path), folder=registry.WORKLOADS)
    except OSError as error:
        raise UserError(f"--workload: {text}: {error.strerror}") from None


def _values(text: str) -> Values:
    pairs = [pair.partition("=") for pair in text.split(",")]
    try:
        return tuple((name.strip(), int(value)) for name, _, value in pairs)
    except ValueError:
        raise UserError(f"--parameters: {text} is not of the form NAME=3,OTHER=5") from None


@dataclass(frozen=True, kw_only=True)
class OwnWorkload(Workload):
    """A workload whose steps the user's code generates before the run, in a sandbox
    (native/steps.py)."""

    name: ClassVar[str] = "own"
    summary: ClassVar[str] = "one of your own: --workload ./mine.c (docs/adding.md)"
    order: ClassVar[int] = 10
    processes: int = processes(1)
    file: registry.Source = parameter(
        option="--workload-file",
        help="The C file of a workload of your own; --workload ./mine.c does the same.",
        metavar="FILE.c",
        kind=str,
        parse=load,
        column=None,
    )
    values: Values = parameter(
        (),
        option="--parameters",
        help="Values for the parameters that the file declares.",
        metavar="NAME=VALUE,...",
        kind=str,
        parse=_values,
        column=None,
    )

    def __post_init__(self) -> None:
        """Refuse parameters that the file doesn't declare."""
        super().__post_init__()
        self._field_values()

    @property
    def kind(self) -> WorkloadKind:
        """The file's declaration."""
        return steps.describe(self.file)

    @property
    def is_open(self) -> bool:  # type: ignore[override]
        """Return whether requests arrive even if earlier requests are not answered."""
        return self.kind.open

    def simulated(self, around: Surroundings, report: Report) -> Simulated:
        """Return the parameters of sim/workloads/rows.c, which plays the steps."""
        engine = "rows-open" if self.is_open else "rows-closed"
        return Simulated(engine, self.processes, rows=self._rows(around))

    def in_guest(self, around: Surroundings) -> InGuest:
        """Return the command of guest/steps.c, which plays the same steps."""
        if self.is_open:
            raise UserError(
                f"--workload: {self.file.shown} is open: only the simulator has requests that wait "
                "for no answer"
            )
        words = ["steps", "--device", around.device, "--steps", f"/{TABLE}"]
        return InGuest(words, files={TABLE: _table(self._rows(around), around.think_scale)})

    def told(self) -> list[str]:
        """Return the file and the given parameters, for the heading."""
        parameters = [f"{name}={value}" for name, value in self.values]
        return [self.file.shown, *parameters, *super().told()]

    def columns(self) -> dict[str, Any]:
        """Return the file's name and digest and the values of its parameters, as columns."""
        named = zip((each.name for each in self.kind.parameters), self._field_values(), strict=True)
        return {
            **super().columns(),
            "workload_file": self.file.shown,
            "workload_digest": registry.content(self.file),
            "workload_parameters": ",".join(f"{name}={value}" for name, value in named),
        }

    def _rows(self, around: Surroundings) -> Rows:
        return _rows(
            self.file,
            around.virtual_bytes // SECTOR_BYTES,
            self.processes,
            around.seed,
            self._field_values(),
            around.requests + MORE_STEPS,
        )

    def _field_values(self) -> tuple[int, ...]:
        try:
            known = self.kind.parameters
            values = field_values(self.file.stem, "parameter", known, dict(self.values))
        except ValueError as error:
            raise UserError(f"--parameters: {error}") from None
        return tuple(map(int, values))


def _table(rows: Rows, think_scale: float) -> bytes:
    """Return the steps in the format that guest/steps.c reads."""
    table = np.zeros(len(rows.sector), ROW)
    table["think_ns"] = np.rint(rows.think_ns * think_scale)
    for name in ("sector", "sectors", "write"):
        table[name] = rows.op if name == "write" else getattr(rows, name)
    first = np.asarray(rows.first, "<u8")
    head = MAGIC + (len(first) - 1).to_bytes(8, "little")
    return head + first.tobytes() + table.tobytes()


@lru_cache(maxsize=8)
def _rows(
    file: registry.Source,
    capacity_sectors: int,
    processes: int,
    seed: int,
    values: tuple[int, ...],
    count: int,
) -> Rows:
    """Return the steps, cached: they are the same for each scheduler."""
    return steps.rows(
        file,
        capacity_sectors=capacity_sectors,
        processes=processes,
        seed=seed,
        values=values,
        steps=count,
    )
