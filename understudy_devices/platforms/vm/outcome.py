# SPDX-License-Identifier: MIT
"""Reads the results of a VM, and checks them against counters and witnesses."""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import polars as pl

from understudy_devices.ask.experiment import Experiment, Outcome
from understudy_devices.base.errors import RunFailed
from understudy_devices.base.progress import silent
from understudy_devices.files import image, partitions
from understudy_devices.measure import records
from understudy_devices.native import descriptions, registry
from understudy_devices.platforms import reads, witness
from understudy_devices.platforms.vm import (
    debian_programs,
    machine,
    packages,
    qemu,
    scenario,
    versions,
)

SECTORS_PER_BLOCK = image.BLOCK_BYTES // 512
BLOCK_TRACE = "disk.blktrace."


def _pairs(text: bytes) -> dict[str, int | str]:
    """Parse lines "name value"."""
    pairs = (line.split(" ", 1) for line in text.decode().splitlines() if " " in line)
    return {name: int(value) if value.isdigit() else value for name, value in pairs}


def _scheduler_fields(scheduler: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the scheduler's sysfs fields, with counters and tunables separated."""
    ours = descriptions.scheduler(scheduler) if registry.known(scheduler) else None
    counters = {counter.name for counter in ours.counters} if ours else set()
    return {
        "tunables": {name: value for name, value in fields.items() if name not in counters},
        "scheduler_counters": {name: fields[name] for name in sorted(counters)},
    }


def _check_counters(experiment: Experiment, counters: Mapping[str, Any]) -> None:
    """Check that no request escaped: each issued request completed or failed under the throttle.
    Stale picks, which are made while the disk is busy, make the run invalid if the disk's
    controller guarantees that there are none. On other disks stale picks are normal, and are
    reported.
    """
    refused = {
        "missed": "requests completed past the throttle",
        "untracked": "requests were too many to track",
        "lost": "bios ended without being seen",
    }
    if scenario.controller_of(experiment).budget:
        refused["stale"] = "picks were made while the disk was busy"
    for name, meaning in refused.items():
        if counters[name]:
            raise RunFailed(f"{counters[name]} {meaning}: the run does not count")
    if counters["requests"] != counters["completed"] + counters["failed"]:
        raise RunFailed(
            f"{counters['requests']} requests were issued, but {counters['completed']} completed "
            f"and {counters['failed']} failed"
        )


def mark_metadata(rows: pl.DataFrame, layout: image.Layout) -> pl.DataFrame:
    """Mark rows outside all files' extents as metadata, whatever flag their bio had.

    The file system reads ahead in its inode tables without setting the metadata flag.
    """
    order = np.argsort(layout.start)
    start = layout.start[order] * SECTORS_PER_BLOCK
    end = start + layout.length[order] * SECTORS_PER_BLOCK
    sector = rows["sector"].to_numpy()
    extent = np.searchsorted(start, sector, side="right") - 1
    is_data = (extent >= 0) & (sector < end[extent])
    return rows.with_columns(meta=pl.Series(~is_data))


def _rows(experiment: Experiment, data: bytes, origin_ns: int | None) -> pl.DataFrame:
    rows = records.from_bytes(data, origin_ns, expected=experiment.requests)
    built = scenario.image_of(experiment, silent)
    if built:
        return mark_metadata(rows, built.layout)
    parted = scenario.partitions_of(experiment, silent)
    return name_vms(rows, experiment.device.virtual_bytes, parted) if parted else rows


def name_vms(rows: pl.DataFrame, virtual_bytes: int, parted: partitions.Image) -> pl.DataFrame:
    """Set each request's owner to the number of the VM whose partition contains the request, from
    1.

    Raises RunFailed if a request is outside all partitions.
    """
    placed = partitions.places(virtual_bytes, parted.facts.partitions)
    first = np.array([start for start, _ in placed])
    sector = rows["sector"].to_numpy()
    owner = np.searchsorted(first, sector, side="right")
    outside = (owner == 0) | (sector >= first[-1] + placed[-1][1])
    if outside.any():
        raise RunFailed(f"sector {sector[outside][0]} is on no VM's partition")
    return rows.with_columns(owner=pl.Series(owner, dtype=pl.Int64))


def _tolerance(experiment: Experiment, kernel: packages.Kernel) -> witness.Tolerance:
    if experiment.platform.clock == "wall":
        return witness.WALL
    if kernel.looks_at_each_access:
        return witness.LOOKED_AT
    if scenario.keeps_log(experiment) and experiment.device.at_once == 1:
        return witness.VIRTUAL
    return witness.BUSY


def _witnesses(
    experiment: Experiment, kernel: packages.Kernel, out: Mapping[str, bytes]
) -> dict[str, Any]:
    rows = _rows(experiment, out["records"], 0)
    tolerance = _tolerance(experiment, kernel)
    answer: dict[str, Any] = {
        "trace": witness.compare_trace(rows, out["trace"], out["formats"].decode(), tolerance)
    }
    if not scenario.keeps_log(experiment):
        return answer
    entries = reads.parse_log(out["reads.bin"], "the VM's reads.bin")
    if experiment.workload.cache(experiment.device.virtual_bytes):
        answer["processes"] = witness.compare_arrivals(rows, entries)
    else:
        answer["processes"] = witness.compare_processes(rows, entries, tolerance)
    return answer


def _programs(experiment: Experiment) -> dict[str, str]:
    packages_used = scenario.played(experiment).packages
    return {package: debian_programs.version(package) for package in packages_used}


def block_trace(experiment: Experiment, out: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the kernel's own trace, a file per processor; RunFailed if records are missing."""
    if not scenario.keeps_block_trace(experiment):
        return {}
    dropped = _pairs(out["block_trace"])["block_trace_dropped"]
    if dropped:
        raise RunFailed(f"the kernel's block trace lost {dropped} records: the run does not count")
    return {name: content for name, content in out.items() if name.startswith(BLOCK_TRACE)}


def measured(out: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the bytes that show whether two runs were identical: records, and the processes'
    log.
    """
    log = {"log": out["reads.bin"]} if "reads.bin" in out else {}
    return {"records": out["records"], **log}


def read(
    experiment: Experiment, kernel: packages.Kernel, vm: machine.Vm, result: machine.Result
) -> Outcome:
    """Return the run's records and facts; RunFailed if a check fails."""
    counters = _pairs(result.out["counters"])
    _check_counters(experiment, counters)
    requests = _rows(experiment, result.out["records"], None)
    cache = experiment.workload.cache(experiment.device.virtual_bytes)
    held = max(1, int(counters["held"]))
    built = scenario.image_of(experiment, silent) or scenario.partitions_of(experiment, silent)
    span_ns = int(requests["completion_ns"].max() or 0)  # type: ignore[arg-type]
    facts: dict[str, Any] = {
        "capacity_sectors": int(result.out["capacity_sectors"]),
        "scheduler_in_kernel": result.out["scheduler"].decode().strip(),
        **_scheduler_fields(experiment.scheduler.name, _pairs(result.out["scheduler_fields"])),
        "counters": counters,
        "overshoot_mean_ns": int(counters["overshoot_ns"]) / held,
        "subtracted_mean_ns": int(counters["overhead_ns"]) / held,  # 0: nothing is subtracted
        "issued": counters["requests"],
        "completed": counters["completed"],
        "failed": counters["failed"],
        "late_permille": counters["late_permille"],
        "stale_picks": counters["stale"],
        "witness": _witnesses(experiment, kernel, result.out),
        "page_cache_bytes": cache.bytes if cache else 0,
        "file_system": asdict(built.facts) if built else None,
        "kernel_version": f"{kernel.release}, package {kernel.version}",
        "qemu_version": qemu.version(),
        "versions": versions.of_guest() | _programs(experiment),
        "sha256": {
            name: hashlib.sha256(content).hexdigest()
            for name, content in measured(result.out).items()
        },
        "qemu": result.command,
        "memory_mib": vm.machine.memory_mib,
        "modules": sorted([*vm.ahead.modules, *vm.modules]),
        "start": asdict(result.start),
        "virtual_seconds": span_ns / 1e9,
        "boot_wall_seconds": result.boot_seconds,
        "measure_wall_seconds": result.notified["measured"] - result.notified["measuring"],
        "wall_seconds": result.boot_seconds + result.run_seconds,
    }
    return Outcome(experiment, requests, facts, block_trace(experiment, result.out))
