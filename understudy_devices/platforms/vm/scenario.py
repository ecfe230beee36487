# SPDX-License-Identifier: MIT
"""An experiment's settings for the VM: guest/measure's variables, the modules, the memory."""

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import replace

from understudy_devices.ask import schedulers, tunables
from understudy_devices.ask.experiment import Experiment
from understudy_devices.ask.setting import OnVm
from understudy_devices.ask.workloads.surge import KEPT_FILES_MAX
from understudy_devices.ask.workloads.workload import InGuest
from understudy_devices.base import programs
from understudy_devices.base.errors import UserError
from understudy_devices.base.paths import ROOT
from understudy_devices.base.progress import Report
from understudy_devices.device.profile import Servers
from understudy_devices.device.timing import Timing, flat
from understudy_devices.files import image, partitions
from understudy_devices.platforms import guest_programs
from understudy_devices.platforms.vm import debian_programs, kvm, machine, qemu
from understudy_devices.platforms.vm.controllers import Controller, controller
from understudy_devices.platforms.vm.stages import Content, Stage

CORE_MODULES = ("iprobe", "vpt")
FILE_SYSTEM_MODULES = ("crc32c_generic", "ext4")
FILES_BYTES_MIN = 64 * 2**20

BASE_MEMORY_MIB = 512
RECORD_BYTES = 600  # of guest memory for each request: record, trace, copies
LOG_BYTES = 64  # for each read of a process: log entry and copy
READS_AFTER = 10_000  # reads until the guest notices that all is recorded, up to a second
AFTER_OF_ARRAY = 100_000  # reads and requests: as many as the guest's processor can issue
INODE_BYTES = 2048  # for each file whose inode stays in memory
BLOCK_TRACE_BYTES = 640  # for each bio, which causes five to ten actions
BLOCK_TRACE_AFTER = 10_000  # bios until the guest notices that all is recorded
BLOCK_TRACE_COPIES = 3
MEMORY_STEP = 256 * 2**20
BASE_SECONDS = 300
SECONDS_PER_REQUEST = 0.05
WARM_UP_SECONDS = 1800


def setting_of(experiment: Experiment) -> OnVm:
    """Return the settings of an experiment in the VM."""
    assert isinstance(experiment.platform, OnVm)
    return experiment.platform


def controller_of(experiment: Experiment) -> Controller:
    """Return the virtual disk of the experiment."""
    return controller(setting_of(experiment).controller)


def played(experiment: Experiment) -> InGuest:
    """Return the program that plays the workload in the guest."""
    around = replace(experiment.around, device=f"/dev/{controller_of(experiment).disk}")
    return experiment.workload.in_guest(around)


def image_of(experiment: Experiment, report: Report) -> image.Image | None:
    """Return the file system that the workload reads, if any."""
    if not experiment.workload.reads_files:
        return None
    return image.build(experiment.device.virtual_bytes, report)


def partitions_of(experiment: Experiment, report: Report) -> partitions.Image | None:
    """Return the partitions and file systems of the VMs that the workload plays, if any."""
    virtual_bytes = experiment.device.virtual_bytes
    partitioned = experiment.workload.partitioned(virtual_bytes)
    return partitions.build(virtual_bytes, partitioned, report) if partitioned else None


def _cache_bytes(experiment: Experiment) -> int:
    cache = experiment.workload.cache(experiment.device.virtual_bytes)
    return cache.bytes if cache else 0


def _log_entries(experiment: Experiment) -> int:
    """Return the number of entries that the processes' log needs, including those of reads that the
    page cache serves.
    """
    if not keeps_log(experiment):
        return 0
    after = AFTER_OF_ARRAY if experiment.device.disk.array else READS_AFTER
    return played(experiment).reads_a_request * experiment.requests + after


def keeps_log(experiment: Experiment) -> bool:
    """Return whether the processes log their own I/O; stock programs do not."""
    return played(experiment).reads_a_request > 0


def keeps_block_trace(experiment: Experiment) -> bool:
    """Return whether the kernel's own block trace is kept; stock programs need it, since they keep
    no log.
    """
    return not keeps_log(experiment)


def _block_trace_kib(experiment: Experiment) -> int:
    if not keeps_block_trace(experiment):
        return 0
    return (experiment.requests + BLOCK_TRACE_AFTER) * BLOCK_TRACE_BYTES // 1024


def _traced(experiment: Experiment) -> int:
    """Return the number of requests for which the kernel's trace needs space."""
    return experiment.requests + (AFTER_OF_ARRAY if experiment.device.disk.array else 0)


def _workload(experiment: Experiment) -> str:
    """Return the shell function `workload`."""
    command = list(played(experiment).command)
    if keeps_log(experiment):
        command += ["--processes", str(experiment.workload.processes)]
        command += ["--seed", str(experiment.seed)]
        if not setting_of(experiment).to_find:
            command += ["--log", "/out/reads.bin", "--log-max", str(_log_entries(experiment))]
    return f"workload() {{\n\texec {shlex.join(command)}\n}}\n"


def _ahead(
    experiment: Experiment, built: image.Image | None, parted: partitions.Image | None
) -> Stage:
    """Return the stage common to all schedulers and seeds: the throttled disk and its file
    system.
    """
    names = dict.fromkeys(CORE_MODULES, "")
    names |= controller_of(experiment).module_parameters(
        experiment.device.virtual_bytes, divided=parted is not None
    )
    if built or parted:
        names |= dict.fromkeys(FILE_SYSTEM_MODULES, "")
    settings: dict[str, str | int] = {
        "DISK": controller_of(experiment).disk,
        "FILES": built.facts.files if built else 0,
        "PARTITIONS": parted.facts.partitions if parted else 0,
        "LOOK_UP": _kept_files(built),
    }
    return Stage(
        script=_shell(settings) + (ROOT / "guest" / "prepare").read_text(),
        modules=names,
        files=_image_file(built or parted) | _programs(experiment),
    )


def _image_file(built: image.Image | partitions.Image | None) -> dict[str, Content]:
    return {"image": built.blocks} if built else {}


def _programs(experiment: Experiment) -> dict[str, Content]:
    """Return the workload's programs that are not part of the project: Debian's programs, and the
    script that starts them.
    """
    packages = played(experiment).packages
    files: dict[str, Content] = {"bin/vms": ROOT / "guest" / "vms"} if packages else {}
    if keeps_block_trace(experiment):
        files["bin/blocktrace"] = programs.compiled_for_guest(guest_programs.program("blocktrace"))
    for package in packages:
        files |= debian_programs.files(package)
    return files


def _kept_files(built: image.Image | None) -> int:
    """Return the number of files whose inode and extents stay in the machine's memory: all or
    none.
    """
    return built.facts.files if built and built.facts.files <= KEPT_FILES_MAX else 0


def _shell(settings: Mapping[str, str | int]) -> str:
    return "".join(f"{name}={value}\n" for name, value in settings.items())


def _settings(experiment: Experiment) -> dict[str, str | int]:
    scale = setting_of(experiment).scale
    chosen = _following(experiment) | dict(experiment.scheduler.tunables)
    return {
        "TASK": "warm_up" if setting_of(experiment).to_find else "measurement",
        "DISK": controller_of(experiment).disk,
        "SCHEDULER": experiment.scheduler.name,
        "REQUESTS": experiment.requests,
        "TRACED": _traced(experiment),
        "QUEUE_DEPTH": experiment.device.at_once,
        "SCALE_MILLI": round(1000 * scale),
        "SUBTRACT_OVERHEAD": int(subtracts_overhead(experiment)),
        "TIME_SCALE": round(scale),
        "CACHE_BYTES": _cache_bytes(experiment),
        "SETTLING_SECONDS": played(experiment).settling_seconds,
        "BLOCK_TRACE_KIB": _block_trace_kib(experiment),
        "TUNABLES": shlex.quote(" ".join(f"{name}={value}" for name, value in chosen.items())),
    }


def subtracts_overhead(experiment: Experiment) -> bool:
    """Return whether the software's overhead is subtracted from service times: only in the wall
    clock, and only with one request at a time.
    """
    return setting_of(experiment).clock == "wall" and experiment.device.at_once == 1


def _following(experiment: Experiment) -> dict[str, int]:
    """Return the tunables that describe the device to the scheduler."""
    array = experiment.device.disk.array
    if array:
        return tunables.following_array(experiment.scheduler.name, array)
    return tunables.following(experiment.scheduler.name, timing(experiment))


def timing(experiment: Experiment) -> Timing:
    """Return the disk's timing in the throttle's units, for the size that the guest sees."""
    capacity = controller_of(experiment).capacity_sectors(experiment.device.virtual_bytes)
    return experiment.device.timing(capacity)


def profile(drive: Timing, seed: int, name: str = "profile") -> str:
    """Return a shell function of that name, which writes the disk's description to the throttle's
    files.

    The files are written in order of their names, so rotation and tracks are written before the
    velocity, which depends on them. The file "buffered" is written last, since from then on the
    buffer's rules have to be consistent.
    """
    values: dict[str, int | str] = {
        **drive.settings(),
        "rotation_seed": seed,
        "seek_curve": _rows(drive.seek),
        "transfer_curve": _rows(drive.transfer),
        "tracks": _rows(map(flat, drive.tracks.zones)),
        "tracks_slips": _rows(drive.tracks.slips),
    }
    return _told(values, name)


def array_profile(array: Servers, at_once: int, seed: int) -> str:
    """Return the shell function `profile` for an array that serves up to `at_once` requests at the
    same time; servers beyond that number are left out.
    """
    return _told(
        {
            "array_servers": min(array.servers, at_once),
            "array_service_ns": array.service_ns,
            "array_exponential": int(array.distribution == "exponential"),
            "array_seed": seed,
            "queue_depth": at_once,
        },
        "profile",
    )


def _told(values: Mapping[str, int | str], name: str) -> str:
    ordered = sorted(values.items(), key=lambda item: (item[0] == "buffered", item[0]))
    words = ((file, shlex.quote(str(value))) for file, value in ordered)
    lines = (f"\tput {value} $vpt/{file}\n" for file, value in words)
    return f"{name}() {{\n{''.join(lines)}}}\n"


def _rows(rows: Iterable[Iterable[int]]) -> str:
    """Return a table in the format of kernel/vpt/sysfs_curves.c."""
    return " ".join(":".join(map(str, row)) for row in rows)


def write_cache(drive: Timing, disk: Controller) -> str:
    """Return shell commands that make the disk report a write cache; empty if the modelled drive
    has none.
    """
    if not disk.flushes or not drive.buffer.get("write_back_spans"):
        return ""
    return f"echo 'write back' > /sys/block/{disk.disk}/queue/write_cache\n"


def _device(experiment: Experiment) -> str:
    """Return shell commands that describe the disk or the array."""
    device, seed = experiment.device, experiment.seed
    if device.disk.array:
        return array_profile(device.disk.array, device.at_once, seed)
    drive = timing(experiment)
    return profile(drive, seed) + write_cache(drive, controller_of(experiment))


def _modules(experiment: Experiment) -> dict[str, str]:
    """Return the scheduler's module with its parameters."""
    name, depth = experiment.scheduler.name, experiment.device.at_once
    if name in schedulers.KERNEL:
        module = schedulers.KERNEL[name]
        return {module: ""} if module else {}
    depth_told = [f"queue_depth={depth}"] * (depth > 1)
    groups = ["cgroups=1"] * bool(experiment.workload.partitioned(experiment.device.virtual_bytes))
    return {name: " ".join(depth_told + groups)}


def check(experiment: Experiment) -> None:
    """Refuse experiments that no VM can run."""
    workload, device, setting = experiment.workload, experiment.device, setting_of(experiment)
    needs_files = workload.reads_files or workload.partitioned(device.virtual_bytes)
    if needs_files and not controller_of(experiment).holds_data:
        raise UserError(
            f"--controller: {setting.controller} holds no data, so no file system for "
            f"{workload.name}; use vdisk, or --workload random"
        )
    if workload.partitioned(device.virtual_bytes) and not controller_of(experiment).dividing:
        raise UserError(f"--controller: {setting.controller} has no partitions here; use vdisk")
    workload.check_fits(device.virtual_bytes)
    schedulers.check_model(experiment.scheduler.name, device.disk)
    most = controller_of(experiment).at_once_max
    if device.at_once > most:
        takes = "one request" if most == 1 else f"up to {most} requests"
        instead = "use vdisk" if most == 1 else "add --on sim"
        raise UserError(
            f"--queue-depth: {device.at_once}: {setting.controller} takes {takes} at a time here; "
            f"take --queue-depth {most}, or {instead}"
        )
    if needs_files and device.virtual_bytes < FILES_BYTES_MIN:
        raise UserError(
            f"--virtual-size: {device.virtual_bytes} bytes is less than the 64MiB that the "
            f"files of {workload.name} need in a VM"
        )
    if device.virtual_bytes % 4096:
        raise UserError("--virtual-size: not a multiple of 4096 bytes")
    if setting.scale != int(setting.scale):
        raise UserError("--scale: the VM scales by whole factors; take 1, 2, ... 100")


def _accelerator(experiment: Experiment) -> qemu.Accelerator:
    return "kvm" if experiment.platform.clock == "wall" and kvm.probe().works else "tcg"


def _memory_mib(
    experiment: Experiment, built: image.Image | None, parted: partitions.Image | None
) -> int:
    """Return the memory, rounded up in large steps, so that one saved machine serves runs of many
    lengths.
    """
    recorded = _traced(experiment) * RECORD_BYTES + _log_entries(experiment) * LOG_BYTES
    recorded += _kept_files(built) * INODE_BYTES
    recorded += played(experiment).memory_bytes
    recorded += _block_trace_kib(experiment) * 1024 * BLOCK_TRACE_COPIES
    for blocks in (each.blocks for each in (built, parted) if each):
        recorded += 4 * blocks.stat().st_size
    return BASE_MEMORY_MIB + -(-recorded // MEMORY_STEP) * MEMORY_STEP // 2**20


def _patience_seconds(experiment: Experiment) -> float:
    setting = setting_of(experiment)
    if setting.to_find:
        return WARM_UP_SECONDS
    return BASE_SECONDS + SECONDS_PER_REQUEST * experiment.requests * setting.scale


def describe(experiment: Experiment, report: Report) -> machine.Vm:
    """Return the VM for an experiment; if k is not known yet, the VM that finds it."""
    check(experiment)
    built, parted = image_of(experiment, report), partitions_of(experiment, report)
    settings = _shell(_settings(experiment))
    settings += _device(experiment)
    return machine.Vm(
        scenario=settings + _workload(experiment) + (ROOT / "guest" / "measure").read_text(),
        modules=_modules(experiment),
        files=played(experiment).files,
        ahead=_ahead(experiment, built, parted),
        machine=qemu.Machine(
            clock=experiment.platform.clock,
            accelerator=_accelerator(experiment),
            memory_mib=_memory_mib(experiment, built, parted),
            devices=controller_of(experiment).device_arguments(experiment.device.virtual_bytes),
        ),
        keeps_rules=True,
        timeout_seconds=_patience_seconds(experiment),
    )
