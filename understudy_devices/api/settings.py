# SPDX-License-Identifier: MIT
"""The settings of a call that carries out runs, checked; they make the experiments.

A value that was not given is absent until its slot inserts the default.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from understudy_devices.api import options
from understudy_devices.api.options import DECLARED, OF_WORKLOADS, declared_by
from understudy_devices.ask import policies, schedulers, tunables
from understudy_devices.ask.device import Device
from understudy_devices.ask.experiment import Experiment, Run, asked
from understudy_devices.ask.parameters import only_on
from understudy_devices.ask.policies import Policy
from understudy_devices.ask.setting import SETTINGS
from understudy_devices.ask.workloads import WORKLOADS
from understudy_devices.ask.workloads.workload import Workload
from understudy_devices.base import catalog
from understudy_devices.base.errors import UserError
from understudy_devices.device.profile import DiskProfile
from understudy_devices.platforms import PLATFORMS

MOST = 1000  # seeds, and runs at a time


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The values of all options; `given` has the values of the slots' parameters, by field."""

    on: str
    seeds: int
    tunables: tuple[str, ...]
    jobs: int | None = None
    given: dict[str, Any]

    def experiments(
        self, disk: DiskProfile, workload: type[Workload], names: Sequence[str], platform: str
    ) -> list[Experiment]:
        """Return an experiment for each scheduler and seed; every value is checked."""
        self._refuse_useless(workload)
        slots = (workload, Device, SETTINGS[platform], Run)
        values = {name: self.given[name] for name in self.given if name in declared_by(slots)}
        used = self._policies(workload, names) if platform == "sim" else {}
        chosen = tunables.parse(self.tunables, names, used)
        values |= {
            field: replace(policy, tunables=chosen[policy.name])
            for field, policy in used.items()
            if policy.name in chosen
        }
        first = Run.of(values).seed
        return [
            asked(
                workload,
                schedulers.Choice(name, chosen.get(name, ())),
                disk,
                platform,
                **values | {"seed": seed},
            )
            for name in names
            for seed in range(first, first + self.seeds)
        ]

    def or_else(self, **defaults: Any) -> "Settings":
        """Return the same settings, with other defaults for values not given."""
        return replace(self, given=defaults | self.given)

    def without(self, workload: type[Workload]) -> "Settings":
        """Return the same settings without the options that this workload does not have."""
        useful = {name: self.given[name] for name in self.given if not _is_useless(name, workload)}
        others = {
            (self.given.get(field) or kind.of_ours(kind.default)).name
            for field, kind in policies.KINDS.items()
            if field not in workload.declared()
        }
        tuned = (text for text in self.tunables if text.partition(".")[0] not in others)
        return replace(self, given=useful, tunables=tuple(tuned))

    def _policies(self, workload: type[Workload], names: Sequence[str]) -> dict[str, Policy]:
        """Return the policies of the workload's page cache, given or default; their names differ
        from each other's and from those of schedulers, since --set takes any of them.
        """
        used: dict[str, Policy] = {}
        for field, kind in policies.KINDS.items():
            if field not in workload.declared():
                continue
            policy = self.given.get(field) or kind.of_ours(kind.default)
            taken = [*names, *(other.name for other in used.values())]
            if policy.file.stranger and policy.name in taken:
                raise UserError(
                    f"{kind.option}: {policy} calls itself {policy.name}, as another policy or "
                    "scheduler of this command does; change .name"
                )
            used[field] = policy
        return used

    def _refuse_useless(self, workload: type[Workload]) -> None:
        """Refuse options that would have no effect in this call."""
        for name in self.given:
            if _is_useless(name, workload):
                raise UserError(_useless(name, workload))
            holders = [key for key, entry in SETTINGS.items() if name in entry.declared()]
            if holders and not set(holders) & set(self.platforms):
                raise UserError(only_on(DECLARED[name].option, holders[0]))

    @property
    def platforms(self) -> list[str]:
        """Return the platforms of --on, in the given order."""
        names = [name.strip() for name in self.on.split(",")]
        for name in names:
            catalog.pick("platform", name, PLATFORMS)
        if len(set(names)) < len(names):
            raise UserError(f"--on: {self.on} names a platform twice")
        return names

    @property
    def jobs_at_once(self) -> int:
        """Return the value of --jobs or its default."""
        return self.jobs or (1 if self.given.get("clock") == "wall" else os.cpu_count() or 1)


def settings(on: Any, seeds: Any, tunables: Any, jobs: Any, given: Mapping[str, Any]) -> Settings:
    """Check a call's values; `given` has the slots' parameters by keyword."""
    values = options.parsed(given)
    platforms = options.names("--on", on)
    if "real" in platforms.split(","):
        raise UserError(
            "--on: real: to measure a real disk, use understudy measure --device /dev/sdX"
        )
    return Settings(
        on=platforms,
        seeds=options.within("--seeds", seeds, 1, MOST),
        tunables=options.tunables(tunables),
        jobs=None if jobs is None else options.within("--jobs", jobs, 1, MOST),
        given=values,
    )


def workload_of(text: str, settings: Settings) -> tuple[type[Workload], Settings]:
    """Return the workload for a name, for a C file (.c, or a path), or for a job file of fio.

    Also return the settings, with the file inserted.
    """
    if text.endswith((".fio", ".job", ".ini")):
        jobs = OF_WORKLOADS["job_file"].parse
        assert jobs
        return WORKLOADS["fio"], settings.or_else(job_file=jobs(text))
    if not (text.endswith(".c") or "/" in text):
        return catalog.pick("workload", text, WORKLOADS), settings
    file = OF_WORKLOADS["file"].parse
    assert file
    return WORKLOADS["own"], settings.or_else(file=file(text))


def losses_of(settings: Settings) -> str | None:
    """Return which requests of a replayed trace are left out; None if none are."""
    trace = settings.given.get("trace")
    return f"{trace.name}: {trace.losses}" if trace and trace.losses else None


def _is_useless(name: str, workload: type[Workload]) -> bool:
    return name in OF_WORKLOADS and name not in workload.declared()


def _useless(name: str, workload: type[Workload]) -> str:
    users = [entry.name for entry in WORKLOADS.values() if name in entry.declared()]
    return (
        f"{DECLARED[name].option}: {workload.name} does not use it; it goes with --workload "
        + " or ".join(users)
    )
