# SPDX-License-Identifier: MIT
"""One experiment in a VM: the "vm" platform of understudy.platforms.

The scenario is guest/measure; this module fills in what is measured, and holds
what comes back against the witnesses before anybody may call it a result.
"""

import shlex
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from understudy.ask import page_cache, tunables
from understudy.ask.experiment import Experiment, Outcome, option_of
from understudy.ask.workload import Kind
from understudy.base.cache import digest
from understudy.base.errors import RunFailed, UserError
from understudy.base.paths import ROOT, cache_dir
from understudy.device.timing import Curve, Timing
from understudy.files import image
from understudy.measure import metrics, records
from understudy.native import declared
from understudy.platforms import Report
from understudy.platforms.vm import kvm, machine, packages, qemu, reads, witness
from understudy.platforms.vm.controllers import controller

CORE_MODULES = ("iprobe", "vpt")
KERNEL_SCHEDULERS = {"none": None, "mq-deadline": None, "bfq": "bfq", "kyber": "kyber-iosched"}
FILE_SYSTEM_MODULES = ("crc32c_generic", "ext4")
IMAGE_SEED = 1
SECTORS_PER_BLOCK = 8

FILES_BYTES_MIN = 64 * 2**20
ONLY_SIMULATED = ("depth", "gap_us", "ask_us", "read_ahead_kib", "weights")

BASE_MEMORY_MIB = 512
RECORD_BYTES = 600  # of guest memory for each request: record, trace, copies
LOG_BYTES = 64  # for each read of a process: entry and copy
BASE_SECONDS = 300
SECONDS_PER_REQUEST = 0.05


def _image(experiment: Experiment, report: Report) -> image.Image | None:
    if experiment.workload.kind is Kind.RANDOM:
        return None
    return image.build(experiment.virtual_bytes, IMAGE_SEED, report)


def _surge(experiment: Experiment, files: int) -> list[str]:
    """The command that plays SURGE.  Each process looks up what it will read first,
    with room to spare, so that the measurement reads data and not inodes."""
    ahead = 4 * -(-experiment.requests // experiment.processes) + 64
    cache = ["--cgroup", "/sys/fs/cgroup/workload"] if page_cache.size_bytes(experiment) else []
    direct = ["--direct"] if experiment.workload.kind is Kind.SURGE_DIRECT else []
    return [
        *["surge", "--dir", "/mnt", "--files", str(files)],
        *["--think-scale-milli", str(round(1000 * experiment.think_scale))],
        *["--rehearse", str(ahead)],
        *direct,
        *cache,
    ]


def _random(experiment: Experiment) -> list[str]:
    disk = controller(experiment.controller).disk
    return [
        *["random", "--device", f"/dev/{disk}", "--writes", str(experiment.writes_percent)],
        *["--think-us", str(round(1000 * experiment.think_ms * experiment.think_scale))],
    ]


def _log_entries(experiment: Experiment) -> int:
    """Room for the reads of the processes, most of which a page cache answers."""
    reads_a_request = 20 if experiment.workload.kind is Kind.SURGE_BUFFERED else 2
    return reads_a_request * experiment.requests + 10_000


def _workload(experiment: Experiment, files: int | None) -> str:
    """Shell functions prepare_disk and workload."""
    command = _random(experiment) if files is None else _surge(experiment, files)
    command += ["--processes", str(experiment.processes), "--seed", str(experiment.seed)]
    command += ["--log", "/out/reads.bin", "--log-max", str(_log_entries(experiment))]
    disk = f"/dev/{controller(experiment.controller).disk}"
    prepare = (
        ":"
        if files is None
        else f"restore /image {disk} || fail 'no file system'; "
        f"mount -t ext4 -o ro {disk} /mnt || fail 'no file system'"
    )
    return f"prepare_disk() {{\n\t{prepare}\n}}\nworkload() {{\n\texec {shlex.join(command)}\n}}\n"


def _settings(experiment: Experiment) -> dict[str, str | int]:
    chosen = tunables.following(experiment.scheduler, _timing(experiment))
    chosen |= dict(experiment.tunables)
    return {
        "DISK": controller(experiment.controller).disk,
        "SCHEDULER": experiment.scheduler,
        "REQUESTS": experiment.requests,
        "SCALE_MILLI": round(1000 * experiment.scale),
        "TIME_SCALE": round(experiment.scale),
        "CACHE_BYTES": page_cache.size_bytes(experiment),
        "TUNABLES": shlex.quote(" ".join(f"{name}={value}" for name, value in chosen.items())),
    }


def _timing(experiment: Experiment) -> Timing:
    disk = controller(experiment.controller)
    return experiment.disk.timing(disk.capacity_sectors(experiment.virtual_bytes))


def _profile(experiment: Experiment) -> dict[str, str]:
    """What the throttle's files are to be told: the folder /profile in the guest."""
    timing = _timing(experiment)
    segments, segment_sectors, prefetch_sectors = timing.cache
    values: dict[str, int | str] = {
        "intercept_ns": timing.intercept_ns,
        "seek_curve": _points(timing.seek),
        "transfer_curve": _points(timing.transfer),
        "rotation_ns": timing.rotation_ns,
        "rotation_random": int(timing.random_phase),
        "rotation_seed": experiment.seed,
        "hit_ns": timing.hit_ns,
        "cache_segments": segments,
        "cache_segment_sectors": segment_sectors,
        "cache_prefetch_sectors": prefetch_sectors,
    }
    return {f"profile/{name}": f"{value}\n" for name, value in values.items()}


def _points(curve: Curve) -> str:
    return " ".join(f"{at}:{value}" for at, value in curve)


def _modules(experiment: Experiment) -> dict[str, str]:
    names = dict.fromkeys(CORE_MODULES, "")
    names |= controller(experiment.controller).module_parameters(experiment.virtual_bytes)
    scheduler = KERNEL_SCHEDULERS.get(experiment.scheduler, experiment.scheduler)
    if scheduler:
        names[scheduler] = ""
    if experiment.workload.kind is not Kind.RANDOM:
        names |= dict.fromkeys(FILE_SYSTEM_MODULES, "")
    return names


def _check(experiment: Experiment) -> None:
    needs_files = experiment.workload.kind is not Kind.RANDOM
    if needs_files and not controller(experiment.controller).holds_data:
        raise UserError(
            f"--controller: {experiment.controller} holds no data, so no file system for "
            f"{experiment.workload.name}; use vdisk, or --workload random"
        )
    if experiment.disk.array:
        raise UserError(
            f"--disk: {experiment.disk.name} is an array, only in the simulator; add --on sim"
        )
    if needs_files and experiment.virtual_bytes < FILES_BYTES_MIN:
        raise UserError(
            f"--virtual-size: {experiment.virtual_bytes} bytes is less than the 64MiB that the "
            f"files of {experiment.workload.name} need in a VM"
        )
    for field in ONLY_SIMULATED:
        if getattr(experiment, field) != Experiment.__dataclass_fields__[field].default:
            raise UserError(f"{option_of(field)}: only in the simulator; add --on sim")
    if experiment.virtual_bytes % 4096:
        raise UserError("--virtual-size: not a multiple of 4096 bytes")
    if experiment.scale != int(experiment.scale):
        raise UserError("--scale: the VM scales by whole factors; take 1, 2, ... 100")


def _accelerator(experiment: Experiment) -> qemu.Accelerator:
    return "kvm" if experiment.clock == "wall" and kvm.probe().works else "tcg"


def describe(experiment: Experiment, report: Report) -> machine.Vm:
    """The VM for an experiment."""
    _check(experiment)
    built = _image(experiment, report)
    settings = "".join(f"{key}={value}\n" for key, value in _settings(experiment).items())
    files = built.facts.files if built else None
    placed: dict[str, str | Path] = dict(_profile(experiment))
    if built:
        placed["image"] = built.blocks
    recorded = experiment.requests * RECORD_BYTES + _log_entries(experiment) * LOG_BYTES
    memory = BASE_MEMORY_MIB + recorded // 2**20
    if built:
        memory += 4 * built.blocks.stat().st_size // 2**20
    return machine.Vm(
        scenario=settings + _workload(experiment, files) + (ROOT / "guest" / "measure").read_text(),
        modules=_modules(experiment),
        files=placed,
        machine=qemu.Machine(
            clock=experiment.clock,
            accelerator=_accelerator(experiment),
            memory_mib=memory,
            devices=controller(experiment.controller).device_arguments(experiment.virtual_bytes),
        ),
        timeout_seconds=BASE_SECONDS + SECONDS_PER_REQUEST * experiment.requests * experiment.scale,
    )


def check(experiments: Sequence[Experiment]) -> None:
    """Refuse what no VM can do, or this machine."""
    for experiment in experiments:
        _check(experiment)
    qemu.binary()
    machine.busybox()


def prepare(experiments: Sequence[Experiment], report: Report) -> None:
    """Fetch and build all that the runs need, before any of them."""
    kernel = packages.fetch_kernel(report)
    for done, experiment in enumerate(experiments):
        report("building modules, programs and the file system", done / len(experiments))
        machine.make_initramfs(kernel, describe(experiment, report))


def dry_run(experiment: Experiment) -> list[str]:
    """The command that would run the experiment; it can be pasted into a shell."""
    kernel = packages.fetch_kernel()
    vm = describe(experiment, lambda phase, fraction: None)
    archive = machine.make_initramfs(kernel, vm)
    folder = cache_dir() / "dry-run" / digest([archive])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "initramfs").write_bytes(archive)
    with (folder / "out.tar").open("wb") as out:
        out.truncate(machine.OUT_BYTES)
    return qemu.command_line(vm.machine, kernel.image, folder / "initramfs", folder)


def _pairs(text: bytes) -> dict[str, int | str]:
    """Lines "name value"."""
    pairs = (line.split(" ", 1) for line in text.decode().splitlines() if " " in line)
    return {name: int(value) if value.isdigit() else value for name, value in pairs}


def _scheduler_fields(scheduler: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """What the scheduler's sysfs folder held, its counters apart from its tunables."""
    ours = declared.schedulers().get(scheduler)
    counters = {counter.name for counter in ours.counters} if ours else set()
    return {
        "tunables": {name: value for name, value in fields.items() if name not in counters},
        "scheduler_counters": {name: fields[name] for name in sorted(counters)},
    }


def _check_counters(experiment: Experiment, counters: Mapping[str, Any]) -> None:
    """Nothing escaped: every request that was issued completed or failed, under us.

    Picks from an old queue spoil a run on a disk that promises there are none; on the
    others they are what the disk does, and are reported.
    """
    refused = {
        "missed": "requests completed past the throttle",
        "untracked": "requests were too many to track",
        "lost": "bios ended unseen",
    }
    if controller(experiment.controller).budget:
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
    """Rows outside every file's extents are metadata, whatever flag their bio bore.

    The file system reads ahead in its inode tables without saying so.
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
    built = _image(experiment, lambda phase, fraction: None)
    return mark_metadata(rows, built.layout) if built else rows


def _witnesses(experiment: Experiment, out: Mapping[str, bytes]) -> dict[str, Any]:
    rows = _rows(experiment, out["records"], 0)
    tolerance = witness.VIRTUAL if experiment.clock == "virtual" else witness.WALL
    answer: dict[str, Any] = {
        "trace": witness.compare_trace(rows, out["trace"].decode(errors="replace"), tolerance)
    }
    entries = reads.parse_log(out["reads.bin"], "the VM's reads.bin")
    if experiment.workload.kind is Kind.SURGE_BUFFERED:
        answer["processes"] = witness.compare_arrivals(rows, entries)
    else:
        answer["processes"] = witness.compare_processes(rows, entries, tolerance)
    return answer


def _outcome(
    experiment: Experiment, kernel: packages.Kernel, vm: machine.Vm, result: machine.Result
) -> Outcome:
    counters = _pairs(result.out["counters"])
    _check_counters(experiment, counters)
    requests = _rows(experiment, result.out["records"], None)
    held = max(1, int(counters["held"]))
    built = _image(experiment, lambda phase, fraction: None)
    span_ns = int(requests["completion_ns"].max() or 0)  # type: ignore[arg-type]
    facts: dict[str, Any] = {
        "capacity_sectors": int(result.out["capacity_sectors"]),
        "scheduler_in_kernel": result.out["scheduler"].decode().strip(),
        **_scheduler_fields(experiment.scheduler, _pairs(result.out["scheduler_fields"])),
        "counters": counters,
        "overshoot_mean_ns": int(counters["overshoot_ns"]) / held,
        "issued": counters["requests"],
        "completed": counters["completed"],
        "failed": counters["failed"],
        "late_permille": counters["late_permille"],
        "stale_picks": counters["stale"],
        "witness": _witnesses(experiment, result.out),
        "page_cache_bytes": page_cache.size_bytes(experiment),
        "file_system": asdict(built.facts) if built else None,
        "kernel_version": f"{kernel.release}, package {kernel.version}",
        "qemu_version": qemu.version(),
        "qemu": result.command,
        "memory_mib": vm.machine.memory_mib,
        "modules": sorted(vm.modules),
        "virtual_seconds": span_ns / 1e9,
        "boot_wall_seconds": result.boot_seconds,
        "measure_wall_seconds": result.notified["measured"] - result.notified["measuring"],
        "wall_seconds": result.boot_seconds + result.run_seconds,
    }
    return Outcome(experiment, requests, facts)


def summarise(
    experiment: Experiment, report: Report, *, stop: threading.Event | None = None
) -> metrics.Summary:
    """Run one experiment, hold it against the definitions, and keep the figures."""
    outcome = run(experiment, report, stop=stop)
    records.check(outcome.requests)
    return metrics.summarise(outcome, "vm")


def run(experiment: Experiment, report: Report, *, stop: threading.Event | None = None) -> Outcome:
    """Run one experiment.

    Raises RunFailed, with the guest's last words, on a panic, a hang, a failing
    workload, a witness that disagrees, or a request that escaped the throttle.
    """

    def heard(line: str) -> None:
        words = line.split()
        if words[0] == "progress":
            report("measuring", int(words[1]) / int(words[2]))
        else:
            report(line, 0.0)

    report("booting", 0.0)
    kernel = packages.fetch_kernel()
    vm = describe(experiment, report)
    result = machine.run(vm, kernel, heard, stop)
    if result.exit_code:
        raise RunFailed(
            f"{experiment.scheduler}: the guest gave up; its last words:\n"
            + machine.last_words(result.console)
        )
    return _outcome(experiment, kernel, vm, result)
