# SPDX-License-Identifier: MIT
"""The base class of workloads, and the parameters that several workloads share."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from understudy_devices.ask.parameters import Parameters, parameter
from understudy_devices.ask.policies import Policy
from understudy_devices.base.errors import UserError
from understudy_devices.base.progress import Report
from understudy_devices.files.partitions import Partitioning
from understudy_devices.native.simulation import Layout, Rows

KIB = 2**10
HOUR_MS = 3_600_000
WEIGHT_MAX = 10_000
SECTOR_BYTES = 512


@dataclass(frozen=True)
class Surroundings:
    """The values of an experiment on which its workload may depend."""

    virtual_bytes: int
    requests: int
    think_scale: float
    seed: int
    device: str = ""  # path of the raw disk, unless simulated
    folder: str = "/mnt"  # where the disk's file system is mounted, if there is one
    group: str = "/sys/fs/cgroup/workload"  # the control group that limits the page cache


@dataclass(frozen=True)
class HostCache:
    """The page cache between a workload and the disk."""

    bytes: int
    read_ahead_kib: int
    page_bytes: int = 4096


@dataclass(frozen=True)
class Simulated:
    """The simulator's version of a workload: a file of sim/workloads/ with parameters."""

    engine: str
    processes: int
    parameters: dict[str, int] = field(default_factory=dict)
    layout: Layout | None = None
    rows: Rows | None = None


@dataclass(frozen=True)
class InGuest:
    """The VM's version of a workload: a program of guest/ with its options.

    `reads_a_request` is the largest number of the program's reads per request to the disk.  The
    program's log has room for that many reads of each request; 0 means no log.  `packages` are
    the Debian packages whose programs are started, `files` the files that these programs read, by
    path in the guest, and `memory_bytes` the memory that the programs need.  Nothing is recorded
    in the first `settling_seconds` after the start.
    """

    command: list[str]
    reads_a_request: int = 2
    packages: tuple[str, ...] = ()
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    memory_bytes: int = 0
    settling_seconds: int = 0


@dataclass(frozen=True, kw_only=True)
class Workload(Parameters):
    """A workload of several processes; `weights` are the processes' shares of the disk."""

    name: ClassVar[str] = ""
    chosen_by: ClassVar[str] = "--workload"
    summary: ClassVar[str] = ""
    order: ClassVar[int] = 0  # workloads are listed in ascending order of this number
    reads_files: ClassVar[bool] = False  # reads SURGE's file system instead of the raw disk
    on_real: ClassVar[bool] = False  # its program runs unchanged on any Linux
    is_open: ClassVar[bool] = False  # requests arrive even if earlier ones are not answered

    processes: int
    weights: tuple[int, ...] = parameter(
        (),
        option="--weights",
        help="Shares of the processes, or of a trace's owners in the trace's order, for sfq (sim).",
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
        """Return the number of processes that share the disk."""
        return self.processes

    @property
    def shared_among(self) -> str:
        """Return the number of processes in words, for messages."""
        return f"{self.processes} processes"

    @classmethod
    def platforms(cls) -> tuple[str, ...]:
        """Return the platforms that can play the workload."""
        in_simulator = cls.simulated is not Workload.simulated
        in_vm = cls.in_guest is not Workload.in_guest
        return ("sim",) * in_simulator + ("vm",) * in_vm + ("real",) * cls.on_real

    @classmethod
    def check_platform(cls, platform: str) -> None:
        """Refuse a platform that can't play the workload."""
        if platform == "real" and not cls.on_real:
            raise UserError(f"--workload: {cls.name} does not run on a real disk")
        if platform not in cls.platforms():
            raise UserError(f"--workload: {cls.name} runs only on {cls.platforms()[0]}")

    def measured(self, requests: int) -> int:
        """Return how many requests are measured if --requests has the value `requests`."""
        return requests

    def check_fits(self, virtual_bytes: int) -> None:
        """Refuse a disk that is too small for the workload."""

    def partitioned(self, virtual_bytes: int) -> Partitioning | None:
        """Return the disk's partitions, if the workload needs any."""

    def cache(self, virtual_bytes: int) -> HostCache | None:
        """Return the page cache through which the workload reads, if any."""

    def policies(self) -> dict[str, Policy]:
        """Return the policies of the simulated page cache, by the names of their fields."""
        return {}

    def simulated(self, around: Surroundings, report: Report) -> Simulated:
        """Return the simulator's version of the workload."""
        raise NotImplementedError

    def in_guest(self, around: Surroundings) -> InGuest:
        """Return the VM's version of the workload."""
        raise NotImplementedError

    def columns(self) -> dict[str, Any]:
        """Return the workload's name and parameters, as columns of a result."""
        shares = ",".join(map(str, self.weights)) or None
        return {"workload": self.name, **super().columns(), "weights": shares}


def processes(default: int) -> Any:
    """Return the field for the number of processes."""
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
        """Return the think time in ns."""
        return round(1e6 * self.think_ms)
