# SPDX-License-Identifier: MIT
"""Write checks into the files of those profiles that can be compared with their drives.

PYTHONPATH=. .venv/bin/python scripts/disk_checks.py

cheetah-9lp is compared with a trace that was timed on the drive (bench/drives/README.md). Only the
cost of writes was fitted to that trace. detailed-10k is compared with the simulated drive
(oracle/detailed) on which it was measured.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import polars as pl

from oracle.detailed.drive import random_drive
from understudy_devices.device import profile
from understudy_devices.device.profile import DiskProfile
from understudy_devices.profiler import checks
from understudy_devices.profiler.checks import Compared
from understudy_devices.profiler.from_trace import fit
from understudy_devices.profiler.from_trace.services import WRITE, Served
from understudy_devices.profiler.targets.bench import Bench
from understudy_devices.profiler.targets.model import ModelTarget

ROOT = Path(__file__).parents[1]
DETAILED = 104
SEED = 20261127
BEGIN = "\n# Checks: scripts/disk_checks.py\n"


def of_trace(disk: DiskProfile) -> Iterable[Compared]:
    """Compare the profile with the trace of the drive."""
    trace = pl.read_parquet(ROOT / "bench" / "drives" / disk.name / "trace.parquet")
    op = np.where(trace["op"].to_numpy() == "write", WRITE, 0)
    service_ns = (trace["service_us"].to_numpy() * 1000).astype(np.int64)
    idle_ns = (trace["idle_before_next_us"].to_numpy() * 1000).astype(np.int64)
    begin_ns = np.concatenate([[0], np.cumsum(service_ns + idle_ns)[:-1]])
    sector, sectors = (trace[name].to_numpy().astype(np.int64) for name in ("sector", "sectors"))
    served = Served(op, sector, sectors, begin_ns, begin_ns + service_ns)
    assert disk.facts
    return fit.replayed(disk, disk.facts.capacity_sectors, served)


def of_drive(disk: DiskProfile) -> Iterable[Compared]:
    """Compare the profile with the drive on which it was measured."""
    drive = random_drive(DETAILED)
    model = Bench(ModelTarget.of(disk, drive.capacity_sectors, SEED), SEED)
    return checks.compare(Bench(drive, SEED), model, SEED, checks.WORKLOADS)


def write(name: str, compared: Iterable[Compared]) -> None:
    """Replace the checks in the profile's file."""
    file = ROOT / "profiles" / f"{name}.toml"
    before = file.read_text().partition(BEGIN)[0].rstrip()
    lines = [line for each in compared for line in each.check.toml_lines()]
    file.write_text(f"{before}\n{BEGIN}" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    write("cheetah-9lp", of_trace(profile.load("cheetah-9lp")))
    write("detailed-10k", of_drive(profile.load("detailed-10k")))
