# SPDX-License-Identifier: MIT
"""SIGCSE 2006 Table 1: the error of the model that the profiler fits to a drive.

The drives are throttled virtual disks that are measured from inside a VM, or their model.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from understudy_devices.device.profile import DiskProfile, load
from understudy_devices.device.target import Target
from understudy_devices.papers.sigcse_2006 import SEEK, TABLE_1, TRANSFER
from understudy_devices.platforms.vm import target as vm_target
from understudy_devices.profiler import checks, methods, profile_fit
from understudy_devices.profiler.targets.bench import Bench
from understudy_devices.profiler.targets.model import ModelTarget
from understudy_devices.reproduce import SIM, VM, Asked
from understudy_devices.show.grid import Grid

DISKS = ("detailed-10k", "cheetah-9lp")  # these know when each sector passes the head
PAPERS, OURS = "sigcse-2006", methods.FULL
METHODS = {SIM: (PAPERS, OURS), VM: (PAPERS,)}
HOW = {PAPERS: "the paper's method", OURS: "all probes"}
WHERE = {SIM: "the model of each disk", VM: "throttled virtual disks, measured in a VM"}
TIMED = 1000  # requests of a workload
REQUESTS = {checks.SEEK: TIMED, checks.TRANSFER: 5 * TIMED}  # a fifth of these are timed
NAMES = {checks.SEEK: SEEK, checks.TRANSFER: TRANSFER}
SEED, PHASE_SEED, CHECK_SEED = 1, 5, 2
PAGE_SECTORS, SECTOR_BYTES = 8, 512

Errors = dict[str, float]


def measured(asked: Asked) -> dict[str, dict[str, Errors]]:
    """Return the errors in % by disk, method and workload."""
    wanted = [(disk, method) for disk in DISKS for method in METHODS[asked.platform]]
    errors: dict[str, dict[str, Errors]] = {disk: {} for disk in DISKS}
    for number, (disk, method) in enumerate(wanted):
        asked.report(f"Table 1: {disk}, {HOW[method]}", number / len(wanted))
        errors[disk][method] = _errors(load(disk), method, asked.platform)
    return errors


def grid(errors: Mapping[str, Mapping[str, Errors]], platform: str) -> Grid:
    """Return the paper's rows and ours."""
    paper = [(f"{drive} (paper)", _cells(row, "{:.1f}")) for drive, row in TABLE_1.items()]
    ours = [
        (f"{disk}, {HOW[method]}", _cells(row, "{:+.2f}"))
        for disk, by_method in errors.items()
        for method, row in by_method.items()
    ]
    title = f"Table 1: error of {TIMED:,} requests' predicted run time, %; {WHERE[platform]}"
    return Grid(tuple(NAMES.values()), [paper, ours], title)


def _cells(row: Errors, form: str) -> tuple[str, ...]:
    return tuple(form.format(row[name]) for name in NAMES.values())


def _errors(disk: DiskProfile, method: str, platform: str) -> Errors:
    """Profile a disk, and let the disk and the profile serve the paper's two workloads."""
    with _drive(disk, platform) as opened:
        fitted = profile_fit.profile(opened(), SEED, method=method)
        model = ModelTarget.of(fitted.disk(), fitted.capacity_sectors)
        both = Bench(opened(), SEED), Bench(model, SEED)
        return {NAMES[each.name]: _error(*both, each) for each in checks.SIGCSE_2006}


@contextmanager
def _drive(disk: DiskProfile, platform: str) -> Iterator[Callable[[], Target]]:
    """Yield a function that returns the drive for a clock that begins at 0."""
    assert disk.facts
    sectors = disk.facts.capacity_sectors // PAGE_SECTORS * PAGE_SECTORS
    if platform == VM:
        with vm_target.in_vm(disk, sectors * SECTOR_BYTES, PHASE_SEED) as target:
            yield lambda: target  # has its own clock, so it sends what is overdue at once
    else:
        yield lambda: ModelTarget.of(disk, sectors, PHASE_SEED)


def _error(target: Bench, model: Bench, workload: checks.Workload) -> float:
    """Return the predicted run time minus the measured one, in % of the measured one."""
    [compared] = checks.compare(
        target, model, CHECK_SEED, [workload], requests=REQUESTS[workload.name]
    )
    measured_ms = float(compared.target_times_ms.sum())
    return 100 * (float(compared.model_times_ms.sum()) / measured_ms - 1)
