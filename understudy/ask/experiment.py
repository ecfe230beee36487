# SPDX-License-Identifier: MIT
"""The sentence that every platform understands, and what it answers with.

"Run this workload through this scheduler on this device, on this platform, and record every
request".  An Experiment is that sentence, checked, a slot for each of its nouns; an Outcome is
the record of every bio plus the facts of the run.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from understudy.ask.device import Device
from understudy.ask.parameters import Parameters, parameter
from understudy.ask.schedulers import Choice
from understudy.ask.setting import SETTINGS, Setting, setting
from understudy.ask.workloads.workload import Surroundings, Workload
from understudy.device.profile import DiskProfile


@dataclass(frozen=True, kw_only=True)
class Run(Parameters):
    """Which draws, and how much is measured."""

    seed: int = parameter(
        1, option="--seed", help="First seed [default: 1].", low=0, high=2**63 - 1
    )
    requests: int = parameter(
        5000,
        option="--requests",
        help="Requests to measure (papers: 50000) [default: 5000].",
        low=1,
        high=10**8,
    )


@dataclass(frozen=True, kw_only=True)
class Experiment(Run):
    """One run of one scheduler."""

    workload: Workload
    scheduler: Choice
    device: Device
    platform: Setting

    def __post_init__(self) -> None:
        """Refuse what no platform can run, or not this one."""
        super().__post_init__()
        self.workload.check_platform(self.platform.name)
        self.workload.refuse_elsewhere(self.platform.name)
        self.device.refuse_elsewhere(self.platform.name)

    @property
    def around(self) -> Surroundings:
        """What the workload may know of the rest."""
        return Surroundings(
            virtual_bytes=self.device.virtual_bytes,
            requests=self.requests,
            think_scale=self.platform.think_scale,
            seed=self.seed,
        )

    def columns(self) -> dict[str, Any]:
        """All that was asked, as results show it."""
        cache = self.workload.cache(self.device.virtual_bytes)
        pages = (
            {"page_cache_bytes": cache.bytes, "read_ahead_kib": cache.read_ahead_kib}
            if cache
            else {}
        )
        return {
            "platform": self.platform.name,
            **self.device.columns(),
            "depth": self.device.at_once,
            **self.workload.columns(),
            **pages,
            "scheduler": self.scheduler.name,
            "tunables": " ".join(f"{name}={value}" for name, value in self.scheduler.tunables),
            **super().columns(),
            "requests": self.workload.measured(self.requests),
            "clock": self.platform.clock,
            "scale": self.platform.scale,
            "controller": self.platform.controller,
            **self.platform.columns(),
        }


def asked(
    workload: type[Workload],
    scheduler: Choice,
    disk: DiskProfile,
    platform: str = "sim",
    **given: Any,
) -> Experiment:
    """The sentence from plain words: `given` are parameters of any slot, by field."""
    slots = (workload, Device, SETTINGS[platform], Run)
    unknown = set(given) - {name for slot in slots for name in slot.declared()}
    if unknown:
        raise TypeError(f"{workload.name} on {platform} has no {', '.join(sorted(unknown))}")
    workload.check_platform(platform)
    return Experiment.of(
        given,
        workload=workload.of(given),
        scheduler=scheduler,
        device=Device.of(given, disk=disk),
        platform=setting(platform, given),
    )


@dataclass(frozen=True)
class Outcome:
    """What a platform returns.

    `requests` has one row a bio (the columns of understudy.measure.records); `facts` is
    everything else that the run said about itself, ready for JSON; `block_trace` has the files of a
    kernel's own block trace, by name, if it was taken; `unseen` are columns of `requests` of
    which nobody there knows anything.
    """

    experiment: Experiment
    requests: pl.DataFrame
    facts: dict[str, Any]
    block_trace: Mapping[str, bytes] = field(default_factory=dict)
    unseen: frozenset[str] = frozenset()
