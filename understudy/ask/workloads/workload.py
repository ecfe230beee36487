# SPDX-License-Identifier: MIT
"""What a workload is, and the parameters that several workloads share."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from understudy.ask.parameters import Parameters, parameter
from understudy.base.errors import UserError
from understudy.base.progress import Report
from understudy.files.partitions import Partitioning
from understudy.native.simulation import Layout, Rows

KIB = 2**10
HOUR_MS = 3_600_000
WEIGHT_MAX = 10_000
SECTOR_BYTES = 512


@dataclass(frozen=True)
class Surroundings:
    """What a workload may know of the rest of its experiment."""

    virtual_bytes: int
    requests: int
    think_scale: float
    seed: int
    device: str = ""  # where the raw disk is, if it is not simulated
    folder: str = "/mnt"  # and its file system, if it has one
    group: str = "/sys/fs/cgroup/workload"  # the control group that bounds its page cache


@dataclass(frozen=True)
class HostCache:
    """The page cache between a workload and the disk."""

    bytes: int
    read_ahead_kib: int
    page_bytes: int = 4096


@dataclass(frozen=True)
class Simulated:
    """What plays it in the simulator: a file of sim/workloads/ with its parameters."""

    engine: str
    processes: int
    parameters: dict[str, int] = field(default_factory=dict)
    layout: Layout | None = None
    rows: Rows | None = None


@dataclass(frozen=True)
class InGuest:
    """What plays it in the VM: a program of guest/ with its own options.

    How many reads a request to the disk may stand for says how long its log gets; 0: it keeps
    none.  `packages` are Debian's whose programs it starts, `files` what these read, by place in
    the guest, and `memory_bytes` what they need of it.  For the first `settling_seconds` after it
    starts nothing is recorded.
    """

    command: list[str]
    reads_a_request: int = 2
    packages: tuple[str, ...] = ()
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    memory_bytes: int = 0
    settling_seconds: int = 0


@dataclass(frozen=True, kw_only=True)
class Workload(Parameters):
    """What processes do.  `processes` is how many, `weights` their shares of the disk."""

    name: ClassVar[str] = ""
    chosen_by: ClassVar[str] = "--workload"
    summary: ClassVar[str] = ""
    order: ClassVar[int] = 0  # where people see it listed
    reads_files: ClassVar[bool] = False  # of the SURGE file system; else the raw disk
    on_real: ClassVar[bool] = False  # its program runs on any Linux as it is
    is_open: ClassVar[bool] = False  # requests come whether or not others are answered

    processes: int
    weights: tuple[int, ...] = parameter(
        (),
        option="--weights",
        help="Shares of the processes, or of a trace's owners as they appear, for sfq (sim).",
        metavar="3,1,1",
        kind=str,
        parse=lambda text: _weights(text),
        platforms=("sim",),
    )

    def __post_init__(self) -> None:
        """Refuse what no platform can run."""
        super().__post_init__()
        if self.weights and len(self.weights) != self.sharers:
            raise UserError(f"--weights: {len(self.weights)} for {self.shared_among}")
        for weight in self.weights:
            if not 1 <= weight <= WEIGHT_MAX:
                raise UserError(f"--weights: {weight} is outside 1 to {WEIGHT_MAX}")

    @property
    def sharers(self) -> int:
        """Among how many the disk is shared."""
        return self.processes

    @property
    def shared_among(self) -> str:
        """The same in words."""
        return f"{self.processes} processes"

    @classmethod
    def platforms(cls) -> tuple[str, ...]:
        """Where it can be played."""
        in_simulator = cls.simulated is not Workload.simulated
        in_vm = cls.in_guest is not Workload.in_guest
        return ("sim",) * in_simulator + ("vm",) * in_vm + ("real",) * cls.on_real

    @classmethod
    def check_platform(cls, platform: str) -> None:
        """Refuse a platform on which nothing plays it."""
        if platform == "real" and not cls.on_real:
            raise UserError(f"--workload: {cls.name} runs only where the disk is not real")
        if platform not in cls.platforms():
            raise UserError(f"--workload: {cls.name} runs only on {cls.platforms()[0]}")

    def measured(self, requests: int) -> int:
        """How many requests a measurement has, if so many are asked for."""
        return requests

    def check_fits(self, virtual_bytes: int) -> None:
        """Refuse a disk that is too small."""

    def partitioned(self, virtual_bytes: int) -> Partitioning | None:
        """How the disk is divided, if it is."""

    def cache(self, virtual_bytes: int) -> HostCache | None:
        """The page cache that it reads through, if any."""

    def simulated(self, around: Surroundings, report: Report) -> Simulated:
        """What plays it in the simulator."""
        raise NotImplementedError

    def in_guest(self, around: Surroundings) -> InGuest:
        """What plays it in the VM."""
        raise NotImplementedError

    def columns(self) -> dict[str, Any]:
        """Its name and its parameters, as results show them."""
        shares = ",".join(map(str, self.weights)) or None
        return {"workload": self.name, **super().columns(), "weights": shares}


def processes(default: int) -> Any:
    """The field that says how many."""
    return parameter(
        default,
        option="--processes",
        help="How many [default: the workload's own].",
        low=1,
        high=10_000,
    )


def _weights(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(word) for word in text.split(","))
    except ValueError:
        raise UserError(f"--weights: {text} is not like 3,1,1") from None


@dataclass(frozen=True, kw_only=True)
class Writes(Parameters):
    """A share of the requests are writes."""

    writes_percent: int = parameter(
        0,
        option="--writes",
        help="Percent of writes.",
        metavar="PERCENT",
        low=0,
        high=100,
        told="{} % writes",
    )


@dataclass(frozen=True, kw_only=True)
class Thinks(Parameters):
    """Processes think between an answer and the next request."""

    think_ms: float = parameter(
        0.0,
        option="--think-ms",
        help="Milliseconds between an answer and the next request.",
        kind=float,
        metavar="MS",
        unit="ms",
        low=0,
        high=HOUR_MS,
        told="{:g} ms between",
    )

    def think_ns(self) -> int:
        """The same in the engine's unit."""
        return round(1e6 * self.think_ms)
