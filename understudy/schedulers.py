# SPDX-License-Identifier: MIT
"""The schedulers that a run can use: ours, one file each in core/, and the kernel's own."""

from understudy.catalog import unknown
from understudy.errors import UserError
from understudy.paths import ROOT

KERNEL = ("none", "mq-deadline", "bfq", "kyber")


def core() -> list[str]:
    """Ours: a file in core/schedulers/ is all it takes to be listed."""
    return sorted(file.stem for file in (ROOT / "core" / "schedulers").glob("*.c"))


def parse(names: str) -> list[str]:
    """A comma-separated list, each one known and none twice."""
    chosen = [name.strip() for name in names.split(",")]
    known = [*core(), *KERNEL]
    for name in chosen:
        if name not in known:
            raise UserError(unknown("scheduler", name, known))
        if chosen.count(name) > 1:
            raise UserError(f"--schedulers: {name} is named twice; --seeds N repeats runs")
    return chosen
