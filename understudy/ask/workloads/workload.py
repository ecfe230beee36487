# SPDX-License-Identifier: MIT
"""The base class of workloads, and the parameters that several workloads share."""

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
    """The parts of its experiment that a workload may know."""

    virtual_bytes: int
    requests: int
    think_scale: float
    seed: int
    device: str = ""  # path of the raw disk, unless simulated
    folder: str = "/mnt"  # where its file system is mounted, if it has one
    group: str = "/sys/fs/cgroup/workload"  # the control group that limits its page cache


@dataclass(frozen=True)
class HostCache:
    """The page cache between a workload and the disk."""

    bytes: int
    read_ahead_kib: int
    page_bytes: int = 4096


@dataclass(frozen=True)
class Simulated:
    """How the simulator plays a workload: a file of sim/workloads/ with parameters."""

    engine: str
    processes: int
    parameters: dict[str, int] = field(default_factory=dict)
    layout: Layout | None = None
    rows: Rows | None = None


@dataclass(frozen=True)
class InGuest:
    """How the VM plays a workload: a program of guest/ with its options.

    `reads_a_request` is the most reads that one request to the disk may stand for, and gives the
    length of the program's log; 0: no log.  `packages` are the Debian packages whose programs it
    starts, `files` the files that these read, by path in the guest, and `memory_bytes` the memory
    that they need.  Nothing is recorded in the first `settling_seconds` after the start.
    """

    command: list[str]
    reads_a_request: int = 2
    packages: tuple[str, ...] = ()
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    memory_bytes: int = 0
    settling_seconds: int = 0


@dataclass(frozen=True, kw_only=True)
class Workload(Parameters):
    """What the processes do; `weights` are their shares of the disk."""

    name: ClassVar[str] = ""
    chosen_by: ClassVar[str] = "--workload"
    summary: ClassVar[str] = ""
    order: ClassVar[int] = 0  # position in lists
    reads_files: ClassVar[bool] = False  # reads SURGE's file system instead of the raw disk
    on_real: ClassVar[bool] = False  # its program runs on any Linux unchanged
    is_open: ClassVar[bool] = False  # requests arrive whether or not others are answered

    processes: int
    weights: tuple[int, ...] = parameter(
        (),
        option="--weights",
        help="Shares of the processes, or of a trace's owners in their order there, for sfq (sim).",
        metavar="3,1,1",
        kind=str,
        parse=lambda text: _weights(text),
        platforms=("sim",),
    )

    def __post_init__(self) -> None:
        """Refuse wrong weights."""
        super().__post_init__()
        if self.weights and len(self.weights) != self.sharers:
            raise UserError(f"--weights: {len(self.weights)} for {self.shared_among}")
        for weight in self.weights:
            if not 1 <= weight <= WEIGHT_MAX:
                raise UserError(f"--weights: {weight} is outside 1 to {WEIGHT_MAX}")

    @property
    def sharers(self) -> int:
        """The number of processes that share the disk."""
        return self.processes

    @property
    def shared_among(self) -> str:
        """The sharers in words."""
        return f"{self.processes} processes"

    @classmethod
    def platforms(cls) -> tuple[str, ...]:
        """The platforms that can play it."""
        in_simulator = cls.simulated is not Workload.simulated
        in_vm = cls.in_guest is not Workload.in_guest
        return ("sim",) * in_simulator + ("vm",) * in_vm + ("real",) * cls.on_real

    @classmethod
    def check_platform(cls, platform: str) -> None:
        """Refuse a platform that can't play it."""
        if platform == "real" and not cls.on_real:
            raise UserError(f"--workload: {cls.name} does not run on a real disk")
        if platform not in cls.platforms():
            raise UserError(f"--workload: {cls.name} runs only on {cls.platforms()[0]}")

    def measured(self, requests: int) -> int:
        """The number of requests measured when --requests asks for `requests`."""
        return requests

    def check_fits(self, virtual_bytes: int) -> None:
        """Refuse a disk that is too small."""

    def partitioned(self, virtual_bytes: int) -> Partitioning | None:
        """The disk's partitions, if any."""

    def cache(self, virtual_bytes: int) -> HostCache | None:
        """The page cache that the workload reads through, if any."""

    def simulated(self, around: Surroundings, report: Report) -> Simulated:
        """How the simulator plays it."""
        raise NotImplementedError

    def in_guest(self, around: Surroundings) -> InGuest:
        """How the VM plays it."""
        raise NotImplementedError

    def columns(self) -> dict[str, Any]:
        """The workload's name and parameters, as results show them."""
        shares = ",".join(map(str, self.weights)) or None
        return {"workload": self.name, **super().columns(), "weights": shares}


def processes(default: int) -> Any:
    """The field for the number of processes."""
    return parameter(
        default,
        option="--processes",
        help="Number of processes [default: the workload's own].",
        low=1,
        high=10_000,
    )


def _weights(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(word) for word in text.split(","))
    except ValueError:
        raise UserError(f"--weights: {text} is not of the form 3,1,1") from None


@dataclass(frozen=True, kw_only=True)
class Writes(Parameters):
    """Workloads in which a percentage of the requests are writes."""

    writes_percent: int = parameter(
        0,
        option="--writes",
        help="Percentage of writes.",
        metavar="PERCENT",
        low=0,
        high=100,
        told="{} % writes",
    )


@dataclass(frozen=True, kw_only=True)
class Thinks(Parameters):
    """Workloads whose processes think between an answer and the next request."""

    think_ms: float = parameter(
        0.0,
        option="--think-ms",
        help="Think time: milliseconds between an answer and the next request.",
        kind=float,
        metavar="MS",
        unit="ms",
        low=0,
        high=HOUR_MS,
        told="{:g} ms between",
    )

    def think_ns(self) -> int:
        """The think time in ns."""
        return round(1e6 * self.think_ms)
