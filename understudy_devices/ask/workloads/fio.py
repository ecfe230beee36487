# SPDX-License-Identifier: MIT
"""A job file of fio: the VM runs the real fio; the simulator runs only jobs that it can model."""

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

from understudy_devices.ask import fio_jobs
from understudy_devices.ask.fio_jobs import JobFile
from understudy_devices.ask.parameters import parameter
from understudy_devices.ask.workloads.workload import (
    SECTOR_BYTES,
    InGuest,
    Simulated,
    Surroundings,
    Workload,
)
from understudy_devices.base.errors import UserError
from understudy_devices.base.progress import Report
from understudy_devices.native.simulation import Rows

MIB = 2**20
MEMORY_MIB = 256
BYTES_MAX = 2**20
MORE_STEPS = 1000

# The script prints "ready" before fio starts: fio's start is not part of the measurement.
PROGRAM = """\
fio --parse-only /jobs.fio || exit 1
trap 'kill -INT $pid; wait $pid; exit 0' TERM
echo ready
read -r _
fio --output=/tmp/fio.said /jobs.fio &
pid=$!
wait $pid
echo "fio ended: $(tail -n 1 /tmp/fio.said)"
exit 1
"""


def load(text: str) -> JobFile:
    """Read the job file of that name."""
    path = Path(text).expanduser()
    try:
        with path.open("rb") as file:
            content = file.read(BYTES_MAX + 1)
    except OSError as error:
        raise UserError(f"--workload: {text}: {error.strerror}") from None
    if len(content) > BYTES_MAX:
        raise UserError(f"--workload: {text} is too large for a job file")
    job_file = JobFile(text, content.decode(errors="replace"))
    job_file.jobs()
    return job_file


@dataclass(frozen=True, kw_only=True)
class Fio(Workload):
    """The file's jobs run side by side until the measurement ends."""

    name: ClassVar[str] = "fio"
    summary: ClassVar[str] = "a job file of fio: --workload ./jobs.fio"
    order: ClassVar[int] = 11
    processes: int = 1
    job_file: JobFile = parameter(
        option="--fio-jobs",
        help="The job file of fio; --workload ./jobs.fio does the same.",
        metavar="FILE.fio",
        kind=str,
        parse=load,
        column=None,
    )

    @property
    def sharers(self) -> int:
        """Return the number of jobs."""
        return len(self.job_file.jobs())

    @property
    def shared_among(self) -> str:
        """Return the number of processes in words, for messages."""
        return f"{self.sharers} jobs"

    def simulated(self, around: Surroundings, report: Report) -> Simulated:
        """Return the parameters of sim/workloads/rows.c, which plays the jobs' requests."""
        sectors = around.virtual_bytes // SECTOR_BYTES
        rows = _rows(self.job_file, sectors, around.seed, around.requests + MORE_STEPS)
        return Simulated("rows-closed", len(rows.first) - 1, rows=rows)

    def in_guest(self, around: Surroundings) -> InGuest:
        """Return the command that runs the real fio."""
        files = {"jobs.fio": self.job_file.on_device(around.device), "fio-jobs": PROGRAM}
        return InGuest(
            ["sh", "/fio-jobs"],
            reads_a_request=0,
            packages=("fio",),
            files=files,
            memory_bytes=MEMORY_MIB * MIB,
        )

    def told(self) -> list[str]:
        """Return the job file's name, for the heading."""
        return [self.job_file.shown, *super().told()]

    def columns(self) -> dict[str, Any]:
        """Return the file's name and digest, as columns of a result."""
        return {
            **super().columns(),
            "workload_file": self.job_file.shown,
            "workload_digest": hashlib.sha256(self.job_file.text.encode()).hexdigest()[:16],
        }


@lru_cache(maxsize=8)
def _rows(jobs: JobFile, capacity_sectors: int, seed: int, steps: int) -> Rows:
    """Return the jobs' requests, cached: they are the same for each scheduler."""
    return fio_jobs.rows(fio_jobs.processes(jobs, capacity_sectors), seed, steps)
