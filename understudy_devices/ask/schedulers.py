# SPDX-License-Identifier: MIT
"""The schedulers that a run can use: those of this project (one file each in core/schedulers/),
those in users' files, and the kernel's."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from understudy_devices.base.catalog import refuse_twice, unknown
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.device.profile import DiskProfile
from understudy_devices.native import descriptions, registry

Tunables = tuple[tuple[str, int], ...]

# The kernel's own schedulers, each with the module that contains it; None means that it is built
# into the kernel.
KERNEL = {"none": None, "mq-deadline": None, "bfq": "bfq", "kyber": "kyber-iosched"}

# The simulator's substitutes for the kernel's schedulers: deadline makes the same decisions as
# mq-deadline, and "none" serves requests in order of arrival.
SIMULATED = {"mq-deadline": "deadline", "none": "fcfs"}

DEFAULTS = {"sim": "cats,deadline,cfq,fcfs", "vm": "cats,mq-deadline,bfq,none"}

# More names that a user's scheduler can't have: words of the command line, and names of this
# project's other kernel modules.
RESERVED = ("all", "base", "iosched", "iprobe", "iprobe_selftest", "vdisk", "vgpu", "vpcib", "vpt")


@dataclass(frozen=True)
class Choice:
    """A scheduler and its tunables that differ from their defaults; the values are not scaled by
    k."""

    name: str
    tunables: Tunables = ()


def core() -> list[str]:
    """Return the names of this project's schedulers: every file in core/schedulers/."""
    return registry.ours()


def declarations() -> dict[str, descriptions.Scheduler]:
    """Return the declarations of this project's schedulers, by name."""
    return descriptions.schedulers()


def on(platform: str) -> list[str]:
    """Return the project's and the kernel's schedulers that the platform can run; no users'
    files."""
    return [*core(), *(SIMULATED if platform == "sim" else KERNEL)]


def runs_on(platform: str, name: str) -> bool:
    """Return whether the platform can run the scheduler."""
    return registry.known(name) or name in on(platform)


def parse(names: str, disk: DiskProfile | None = None) -> list[str]:
    """Parse a comma-separated list of known schedulers, none of them twice.

    "all" means all of this project's schedulers that can run on that disk.  A word that ends in
    .c or has a slash is a file; the file itself declares the scheduler's name.
    """
    words = [name.strip() for name in names.split(",")]
    if words == ["all"]:
        words = _all(disk)
    if "all" in words:
        raise UserError("--schedulers: all can't be combined with other names")
    chosen = [_from_file(word) if _is_file(word) else word for word in words]
    known = [*core(), *KERNEL]
    for name in chosen:
        if name not in known and not registry.known(name):
            raise UserError(unknown("scheduler", name, [*known, "all"]) + ", or a file ./NAME.c")
    refuse_twice("--schedulers", chosen)
    return chosen


def _all(disk: DiskProfile | None) -> list[str]:
    """Return all of this project's schedulers; on an array, only those that need no disk model."""
    if not disk or not disk.array:
        return core()
    return [name for name in core() if not descriptions.scheduler(name).needs_model]


def check_model(name: str, disk: DiskProfile) -> None:
    """Refuse a scheduler that needs a model of the disk if the device has no such model."""
    if disk.array and registry.known(name) and descriptions.scheduler(name).needs_model:
        raise UserError(
            f"--schedulers: {name} needs a disk's model, but {disk.name} is an array; leave {name} "
            "out, or take a disk"
        )


def taken() -> list[str]:
    """Return the names that a user's scheduler can't have."""
    policies = (*registry.ours(registry.PREFETCH), *registry.ours(registry.REPLACEMENT))
    return [*core(), *KERNEL, *RESERVED, *policies]


def unfit(names: Iterable[str]) -> dict[str, str]:
    """Return the schedulers whose declarations can't be read, each with the reason.

    All schedulers are compiled first, so that a file that does not compile is refused at once.
    """
    reasons = {}
    for name in filter(registry.known, dict.fromkeys(names)):
        try:
            descriptions.scheduler(name)
        except RunFailed as error:
            reasons[name] = str(error)
    return reasons


def warnings(names: Iterable[str]) -> str:
    """Return the compiler's warnings about users' files that were compiled successfully."""
    files = [registry.source(name) for name in dict.fromkeys(names) if registry.known(name)]
    return "".join(registry.warnings(file) for file in files if file.stranger)


def _is_file(word: str) -> bool:
    return word.endswith(".c") or "/" in word


def _from_file(word: str) -> str:
    """Return the scheduler's name that a file declares, or the file's name if its code crashes."""
    path = Path(word).expanduser()
    if path.exists() and not path.is_file():
        raise UserError(f"--schedulers: {word} is not a file")
    try:
        file = registry.Source(word, registry.read(path))
    except OSError as error:
        raise UserError(f"--schedulers: {word}: {error.strerror}") from None
    return add(file, f"--schedulers: {word}")


def add(file: registry.Source, said: str) -> str:
    """Register a user's file; return the name that it declares, or the file's if its code crashes.

    Messages begin with `said`.
    """
    try:
        name = descriptions.describe(file).name
    except RunFailed:
        name = file.stem
    if name in taken():
        raise UserError(f"{said} calls itself {name}, which is taken; change .name")
    if registry.known(name) and registry.source(name).shown != file.shown:
        raise UserError(
            f"{said} calls itself {name}, as {registry.source(name).shown} does; change .name"
        )
    registry.add(name, file)
    return name
