# SPDX-License-Identifier: MIT
"""The input of a platform (an Experiment) and its result (an Outcome).

An Experiment describes a run: a workload through a scheduler on a device, on a platform, with a
record of every request.  Each of these four parts is a field, called a slot in this package.  All
values are checked.  An Outcome is the record of every bio and the facts of the run.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from understudy_devices.ask.device import Device
from understudy_devices.ask.parameters import Parameters, parameter
from understudy_devices.ask.policies import KINDS, Policy
from understudy_devices.ask.schedulers import Choice
from understudy_devices.ask.setting import SETTINGS, Setting, setting
from understudy_devices.ask.workloads.workload import Surroundings, Workload
from understudy_devices.base.errors import UserError
from understudy_devices.device.profile import DiskProfile

if TYPE_CHECKING:
    import polars as pl  # a tenth of a second, at each TAB


@dataclass(frozen=True, kw_only=True)
class Run(Parameters):
    """The seed, and the number of requests to measure."""

    seed: int = parameter(
        1, option="--seed", help="First seed [default: 1].", low=0, high=2**63 - 1
    )
    requests: int = parameter(
        5000,
        option="--requests",
        help="Number of requests to measure (papers: 50000) [default: 5000].",
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
        """Refuse an experiment that this platform can't run."""
        super().__post_init__()
        self.workload.check_platform(self.platform.name)
        self.workload.refuse_elsewhere(self.platform.name)
        self.device.refuse_elsewhere(self.platform.name)
        self._check_policies()

    @property
    def around(self) -> Surroundings:
        """Return the parts of the experiment on which the workload may depend."""
        return Surroundings(
            virtual_bytes=self.device.virtual_bytes,
            requests=self.requests,
            think_scale=self.platform.think_scale,
            seed=self.seed,
        )

    def _check_policies(self) -> None:
        """Refuse policies that would have no effect."""
        prefetch, replacement = (getattr(self.workload, kind, None) for kind in KINDS)
        cache = self.workload.cache(self.device.virtual_bytes)
        is_given = getattr(self.workload, "read_ahead_kib", None) is not None
        if prefetch and not (cache and (is_given or cache.read_ahead_kib)):
            raise UserError(
                f"--prefetch: {prefetch} may prefetch nothing: {self.workload.name} has a "
                "read-ahead of 0; add --read-ahead KIB, the longest prefetch"
            )
        if replacement and not cache:
            raise UserError(
                f"--replacement: {self.workload.name} has no page cache unless its size is given; "
                "add --page-cache SIZE"
            )

    def policies(self) -> dict[str, Policy]:
        """Return the policies of the page cache, by the names of their fields; none if there is no
        page cache, or if it is a kernel's."""
        if self.platform.name != "sim" or not self.workload.cache(self.device.virtual_bytes):
            return {}
        return self.workload.policies()

    def columns(self) -> dict[str, Any]:
        """Return all parameters, as columns of a result."""
        cache = self.workload.cache(self.device.virtual_bytes)
        pages: dict[str, Any] = (
            {"page_cache_bytes": cache.bytes, "read_ahead_kib": cache.read_ahead_kib}
            if cache
            else {}
        )
        for kind, policy in self.policies().items():
            pages |= policy.columns(kind)
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
    **parameters: Any,
) -> Experiment:
    """Make an Experiment; `parameters` holds those of all slots, by the names of their fields."""
    slots = (workload, Device, SETTINGS[platform], Run)
    unknown = set(parameters) - {name for slot in slots for name in slot.declared()}
    if unknown:
        raise TypeError(f"{workload.name} on {platform} has no {', '.join(sorted(unknown))}")
    workload.check_platform(platform)
    return Experiment.of(
        parameters,
        workload=workload.of(parameters),
        scheduler=scheduler,
        device=Device.of(parameters, disk=disk),
        platform=setting(platform, parameters),
    )


@dataclass(frozen=True)
class Outcome:
    """The result of a run on a platform.

    `requests` has one row per bio (with the columns of measure.records).  `facts` is
    everything else that the run reported, as values that JSON supports.  `block_trace` has the
    files of the kernel's own block trace, by name, if a trace was recorded.  `unseen` names the
    columns of `requests` that the platform cannot observe.
    """

    experiment: Experiment
    requests: "pl.DataFrame"
    facts: dict[str, Any]
    block_trace: Mapping[str, bytes] = field(default_factory=dict)
    unseen: frozenset[str] = frozenset()
