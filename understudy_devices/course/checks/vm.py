# SPDX-License-Identifier: MIT
"""The same file in a stock Linux kernel: the scheduler becomes a kernel module, and runs in a VM.

A scheduler in a kernel can forge what the kernel measures, so a run counts only if the simulator,
with the same file, confirms it (docs/strangers.md).  A kernel that the scheduler crashes or hangs
is the VM's, and costs this check's points.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from understudy_devices import platforms
from understudy_devices.ask.experiment import Experiment
from understudy_devices.base.errors import RunFailed
from understudy_devices.base.progress import silent
from understudy_devices.campaign import parallel
from understudy_devices.course.check import Check, Options
from understudy_devices.course.references import MEASURES, measure_mistake, workload_mistake
from understudy_devices.course.result import Found, NoPoints
from understudy_devices.course.work import NotRun, Work, experiments, steady
from understudy_devices.measure.metrics import summarise


class Kind(Check):
    """The scheduler runs in a stock kernel; a figure is at most `at_most` times another's."""

    file: str
    against: str = "none"
    """The reference: a scheduler of the project or of the kernel."""
    workload: str
    options: Options
    measure: str = "mean_service_ms"
    at_most: Annotated[float, Field(gt=0, le=1000)]

    def files(self) -> Sequence[str]:
        """Return the file."""
        return (self.file,)

    def mistakes(self, folder: Path) -> Iterator[str]:
        """Yield what is wrong with names and options."""
        yield from measure_mistake("measure", self.measure)
        yield from workload_mistake(self.workload, self.options)

    def run(self, work: Work) -> Found:
        """Run the scheduler and the reference in one VM after the other, with the same seed."""
        if not work.vms:
            raise NotRun("needs a VM; run without --no-vm")
        name = work.scheduler(self.file)
        seed = work.draws(self.name, hidden=self.hidden).seed("vm")
        mine, reference = (self._figure(work, each, seed) for each in (name, self.against))
        ratio = mine / reference
        measure = MEASURES[self.measure]
        words = (
            f"in Linux: {measure.label} {mine:.4g} {measure.unit}, {self.against}'s "
            f"{reference:.4g}; ratio {ratio:.3f}, expected at most {self.at_most:g}"
        )
        return Found(float(ratio <= self.at_most), (words,))

    def _figure(self, work: Work, scheduler: str, seed: int) -> float:
        vm = platforms.load("vm")
        options = {**self.options, "seed": seed}
        found = experiments(work.disk, self.workload, options, scheduler, "vm")
        vm.check(found)
        vm.prepare(found, silent)
        outcomes, failures = parallel.run_all(vm, found, 1, _silent)
        if scheduler in failures and scheduler != self.against:
            raise NoPoints(steady(failures[scheduler]))
        if not outcomes:
            raise RunFailed("; ".join(failures.values()))
        return summarise(outcomes[0]).value(MEASURES[self.measure])


def _silent(experiment: Experiment, phase: str, fraction: float) -> None:
    """Report nothing."""
