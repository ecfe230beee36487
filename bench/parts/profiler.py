# SPDX-License-Identifier: MIT
"""How well measured profiles predict, by our method and by the papers'."""

from collections.abc import Iterator, Sequence

import numpy as np

from bench.part import Column, Row, Rows
from oracle.detailed.drive import random_drive
from understudy_devices.device import profile
from understudy_devices.device.check import Check
from understudy_devices.device.target import Target
from understudy_devices.profiler import checks, methods, profile_fit
from understudy_devices.profiler.checks import SEEK, TRANSFER, Compared
from understudy_devices.profiler.profile_fit import Fitted
from understudy_devices.profiler.targets.bench import Bench
from understudy_devices.profiler.targets.model import ModelTarget

TITLE = "How well a measured profile predicts"
TEXT = """
The profiler ([profiler.md](profiler.md)) measures drives that it knows nothing about, with its own
method and with the papers' methods. Each profile is then validated as in SIGCSE 2006, section 2.2.
The validation has 1,000 random seeks, and 1,000 random transfers of 512 bytes to 16 MB, each after
a seek to a track shortly before its data. The figures are errors of the model's mean. With 1,000
seeks part of the error is chance, since the rotational latency of each seek is random. So the
validation was repeated with 10,000 seeks and transfers, and ± is the 95 % interval of that error.
The last column is the demerit of 2,000 random reads of 4 KiB.

The first table has means over the detailed drives of `oracle/detailed`, of which the profiler sees
only response times. It also has the figures that the paper gives, without signs, for its two
drives:

{{ methods }}

The method `sigcse-2006` measures seek times that are too short on every drive. Its seeks begin
where tracks are longest, and there a distance in sectors is fewer cylinders than elsewhere. The
method `perform-2010` measures no throughput. Its seek times are a little too long, since it fits a
line to reads of pages, while the validation reads single blocks.

In the second table, Understudy's own models are the measured drives. Vesper's model, like the
paper's, adds the shortest seek and half a rotation to a request even if it begins at the head's
location. The transfer rates that `sigcse-2006` measures include this time, so its transfer times
are 1 % too long.

{{ targets }}
"""
TABLES = {
    "methods": (
        Column("method", "{method}"),
        Column("drives", "{drives}"),
        Column("10,000 seeks off by (%), mean", "{seek_mean:+.1f}"),
        Column("all", "{seeks}"),
        Column("10,000 transfers off by (%), mean", "{transfer_mean:+.1f}"),
        Column("all", "{transfers}"),
        Column("demerit (%), mean", "{demerit_mean:.1f}"),
    ),
    "targets": (
        Column("target", "{target}"),
        Column("method", "{method}"),
        Column("requests", "{requests:,}"),
        Column("seek (ms)", "{seek_ms:.2f}"),
        Column("1,000 off by (%)", "{seek_once:+.1f}"),
        Column("10,000 (%)", "{seek_percent:+.1f}"),
        Column("± (%)", "{seek_interval:.1f}"),
        Column("transfer (ms)", "{transfer_ms:.1f}"),
        Column("1,000 off by (%)", "{transfer_once:+.1f}"),
        Column("10,000 (%)", "{transfer_percent:+.1f}"),
        Column("± (%)", "{transfer_interval:.2f}"),
        Column("demerit (%)", "{demerit_percent:.1f}"),
    ),
}
MODELS = ["vesper-flat", "vesper-zoned", "cheetah-9lp"]
SIZES = {
    "full": {"drives": 8, "models": MODELS},
    "quick": {"drives": 3, "models": MODELS},
    "tiny": {"drives": 1, "models": ["vesper-flat"]},
}
IN_VM = False
TIMES = 10  # the same number as in the paper
THEIRS = {
    "method": "the paper's, 1,000 each",
    "drives": 2,
    "seek_mean": None,
    "seeks": "10.1, 8.9",
    "transfer_mean": None,
    "transfers": "1.1, 2.6",
    "demerit_mean": None,
}


def measure(drives: int, models: list[str]) -> Rows:
    """Validate every method on every target; the detailed drives share one row per method."""
    detailed = [row for seed in range(1, drives + 1) for row in _rows(f"drive {seed}")]
    for name in methods.names():
        yield "methods", _summary(name, [row for row in detailed if row["method"] == name])
    yield "methods", THEIRS
    yield from (("targets", row) for name in models for row in _rows(name))


def _rows(name: str) -> Iterator[Row]:
    for method in methods.names():
        fit = profile_fit.profile(_target(name), method=method)
        once = {check.workload: check for check in fit.checks}
        more = [_validated(name, fit, seed) for seed in range(1, TIMES + 1)]
        yield {
            "target": name,
            "method": method,
            "requests": fit.requests,
            **_figures("seek", once[SEEK], [each[SEEK] for each in more]),
            **_figures("transfer", once[TRANSFER], [each[TRANSFER] for each in more]),
            "demerit_percent": once["random reads"].demerit_percent,
        }


def _validated(name: str, fit: Fitted, seed: int) -> dict[str, Compared]:
    """Validate the profile with another seed, on a new target."""
    model = ModelTarget.of(fit.disk(), fit.capacity_sectors, seed)
    comparisons = checks.compare(
        Bench(_target(name), seed), Bench(model, seed), seed, checks.SIGCSE_2006
    )
    return {each.workload: each for each in comparisons}


def _figures(name: str, once: Check, more: Sequence[Compared]) -> Row:
    times = (
        np.concatenate([getattr(each, whose) for each in more])
        for whose in ("target_times_ms", "model_times_ms")
    )
    pooled = Compared(name, {"random": 1.0}, *times)
    return {
        f"{name}_ms": pooled.check.target_ms,
        f"{name}_once": once.difference_percent,
        f"{name}_percent": pooled.check.difference_percent,
        f"{name}_interval": _interval_percent(pooled),
    }


def _target(name: str) -> Target:
    """Return a new target: a detailed drive for "drive SEED", or the model of the named profile."""
    if name.startswith("drive "):
        return random_drive(int(name.removeprefix("drive ")))
    disk = profile.load(name)
    assert disk.facts
    return ModelTarget.of(disk, disk.facts.capacity_sectors, seed=5)


def _interval_percent(check: Compared) -> float:
    """Return half the width of the 95 % interval of the ratio of the means, in per cent."""
    target, model = check.target_times_ms, check.model_times_ms
    left = model - target * model.mean() / target.mean()
    return float(100 * 1.96 * left.std() / len(left) ** 0.5 / target.mean())


def _summary(method: str, rows: Sequence[Row]) -> Row:
    seeks, transfers, demerits = (
        np.array([row[key] for row in rows])
        for key in ("seek_percent", "transfer_percent", "demerit_percent")
    )
    return {
        "method": method,
        "drives": len(rows),
        "seek_mean": float(seeks.mean()),
        "seeks": f"{seeks.min():+.1f} to {seeks.max():+.1f}",
        "transfer_mean": float(transfers.mean()),
        "transfers": f"{transfers.min():+.1f} to {transfers.max():+.1f}",
        "demerit_mean": float(demerits.mean()),
    }
