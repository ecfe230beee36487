# SPDX-License-Identifier: MIT
"""The platforms that an Experiment can run on, and what each must offer.

A platform is a module with the functions of the Platform protocol. A platform is imported on first
use, so machines that cannot run it can still show profiles and reports.
"""

import threading
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from understudy_devices.ask.experiment import Experiment, Outcome
from understudy_devices.base.progress import Report

if TYPE_CHECKING:
    from understudy_devices.measure.metrics import Summary  # imports Polars

PLATFORMS = {
    "sim": "understudy_devices.platforms.sim.in_simulator",
    "vm": "understudy_devices.platforms.vm.in_vm",
    "real": "understudy_devices.platforms.real.on_disk",
}


class Platform(Protocol):
    """What every platform's module offers."""

    def check(self, experiments: Sequence[Experiment]) -> None:
        """Refuse at once experiments that the platform can't run."""

    def prepare(self, experiments: Sequence[Experiment], report: Report) -> None:
        """Fetch and build everything that the runs need, before the first run."""

    def run(self, experiment: Experiment, report: Report, *, stop: threading.Event) -> Outcome:
        """Run one experiment; end soon, with RunFailed, once `stop` is set."""

    def summarise(
        self, experiment: Experiment, report: Report, *, stop: threading.Event
    ) -> "Summary":
        """Run one experiment like `run`, but return only its figures."""

    def dry_run(self, experiment: Experiment) -> list[str]:
        """Return what `run` would do: in a VM, the command that it would start."""


def load(name: str) -> Platform:
    """Return the platform called `name`, a key of PLATFORMS."""
    return cast(Platform, import_module(PLATFORMS[name]))
