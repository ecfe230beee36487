# SPDX-License-Identifier: MIT
"""The schedulers that a run can use: ours, one file each in core/, anybody's file, and the
kernel's own."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from understudy.base.catalog import refuse_twice, unknown
from understudy.base.errors import RunFailed, UserError
from understudy.device.profile import DiskProfile
from understudy.native import declared, registry

Tunables = tuple[tuple[str, int], ...]

# The kernel's own, each with its module; None: built in.
KERNEL = {"none": None, "mq-deadline": None, "bfq": "bfq", "kyber": "kyber-iosched"}

# Whom the simulator runs for a scheduler of the kernel: deadline makes mq-deadline's
# decisions, and without a scheduler requests go in order of arrival.
SIMULATED = {"mq-deadline": "deadline", "none": "fcfs"}

DEFAULTS = {"sim": "cats,deadline,cfq,fcfs", "vm": "cats,mq-deadline,bfq,none"}

# What a scheduler cannot be called, besides the kernel's: words of the command line, and
# our other kernel modules.
RESERVED = ("all", "base", "iosched", "iprobe", "iprobe_selftest", "vdisk", "vgpu", "vpcib", "vpt")


@dataclass(frozen=True)
class Choice:
    """A scheduler, and those of its tunables that differ from their defaults, unscaled."""

    name: str
    tunables: Tunables = ()


def core() -> list[str]:
    """Ours: a file in core/schedulers/ is all it takes to be listed."""
    return registry.ours()


def declarations() -> dict[str, declared.Scheduler]:
    """What each of ours says of itself, by name."""
    return declared.schedulers()


def on(platform: str) -> list[str]:
    """Those of ours and of the kernel's that the platform can run; it can run any file."""
    return [*core(), *(SIMULATED if platform == "sim" else KERNEL)]


def runs_on(platform: str, name: str) -> bool:
    """Can the platform run it?"""
    return registry.known(name) or name in on(platform)


def parse(names: str, disk: DiskProfile | None = None) -> list[str]:
    """A comma-separated list, each one known and none twice; "all" is all of ours that can do
    with that disk.

    What ends in .c or has a slash is a file; its scheduler goes by the name that it gives
    itself.
    """
    words = [name.strip() for name in names.split(",")]
    if words == ["all"]:
        words = _all(disk)
    if "all" in words:
        raise UserError("--schedulers: all means all of ours; write no other name beside it")
    chosen = [_from_file(word) if _is_file(word) else word for word in words]
    known = [*core(), *KERNEL]
    for name in chosen:
        if name not in known and not registry.known(name):
            raise UserError(unknown("scheduler", name, [*known, "all"]) + ", or a file ./NAME.c")
    refuse_twice("--schedulers", chosen)
    return chosen


def _all(disk: DiskProfile | None) -> list[str]:
    """An array has no model that a scheduler could ask."""
    if not disk or not disk.array:
        return core()
    return [name for name in core() if not declared.scheduler(name).needs_model]


def check_model(name: str, disk: DiskProfile) -> None:
    """Refuse a scheduler that asks a disk's model where there is none."""
    if disk.array and registry.known(name) and declared.scheduler(name).needs_model:
        raise UserError(
            f"--schedulers: {name} needs a disk's model: {disk.name} is an array; leave it out, "
            "or take a disk"
        )


def unfit(names: Iterable[str]) -> dict[str, str]:
    """Those that cannot even say what they are, and why.

    All of them are compiled first, so that what does not compile is refused at once.
    """
    found = {}
    for name in filter(registry.known, dict.fromkeys(names)):
        try:
            declared.scheduler(name)
        except RunFailed as error:
            found[name] = str(error)
    return found


def warnings(names: Iterable[str]) -> str:
    """What the compiler said of strangers' files that it took."""
    files = [registry.source(name) for name in dict.fromkeys(names) if registry.known(name)]
    return "".join(registry.warnings(file) for file in files if file.stranger)


def _is_file(word: str) -> bool:
    return word.endswith(".c") or "/" in word


@cache
def _from_file(word: str) -> str:
    """The name of the scheduler in a file; the file's, if it crashes before it says so."""
    path = Path(word).expanduser()
    if path.exists() and not path.is_file():
        raise UserError(f"--schedulers: {word} is not a file")
    try:
        file = registry.Source(word, registry.read(path))
    except OSError as error:
        raise UserError(f"--schedulers: {word}: {error.strerror}") from None
    try:
        name = declared.describe(file).name
    except RunFailed:
        name = file.stem
    if name in (*core(), *KERNEL, *RESERVED):
        raise UserError(f"--schedulers: {word} calls itself {name}, which is taken; change .name")
    if registry.known(name):
        raise UserError(
            f"--schedulers: {word} calls itself {name}, as {registry.source(name).shown} does"
        )
    registry.add(name, file)
    return name
