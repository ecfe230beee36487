# SPDX-License-Identifier: MIT
"""The schedulers that a run can use: ours, one file each in core/, and the kernel's own."""

from dataclasses import dataclass

from understudy.base.catalog import refuse_twice, unknown
from understudy.base.errors import UserError
from understudy.base.paths import ROOT

Tunables = tuple[tuple[str, int], ...]

KERNEL = ("none", "mq-deadline", "bfq", "kyber")

# Whom the simulator runs for a scheduler of the kernel: deadline makes mq-deadline's
# decisions, and without a scheduler requests go in order of arrival.
SIMULATED = {"mq-deadline": "deadline", "none": "fcfs"}

DEFAULTS = {"sim": "cats,deadline,cfq,fcfs", "vm": "cats,mq-deadline,bfq,none"}


@dataclass(frozen=True)
class Choice:
    """A scheduler, and those of its tunables that differ from their defaults, unscaled."""

    name: str
    tunables: Tunables = ()


def core() -> list[str]:
    """Ours: a file in core/schedulers/ is all it takes to be listed."""
    return sorted(file.stem for file in (ROOT / "core" / "schedulers").glob("*.c"))


def on(platform: str) -> list[str]:
    """Those that the platform can run."""
    return [*core(), *(SIMULATED if platform == "sim" else KERNEL)]


def parse(names: str) -> list[str]:
    """A comma-separated list, each one known and none twice; "all" is all of ours."""
    chosen = core() if names.strip() == "all" else [name.strip() for name in names.split(",")]
    known = [*core(), *KERNEL]
    for name in chosen:
        if name not in known:
            raise UserError(unknown("scheduler", name, [*known, "all"]))
    refuse_twice("--schedulers", chosen)
    return chosen
