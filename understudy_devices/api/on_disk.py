# SPDX-License-Identifier: MIT
"""`consolidate` on a disk with a head: the recorded requests of all VMs go to the simulated disk.

The simulation is that of `predict` with the workload `trace`.  So one VM on the disk has the
response times that `predict` has for its trace.
"""

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from understudy_devices import platforms
from understudy_devices.api import options
from understudy_devices.api.vms import check_lengths
from understudy_devices.ask import device, schedulers
from understudy_devices.ask.experiment import asked
from understudy_devices.ask.schedulers import Choice
from understudy_devices.ask.workloads.trace import TraceReplay
from understudy_devices.base import sizes
from understudy_devices.base.errors import UserError
from understudy_devices.base.progress import Report, silent
from understudy_devices.consolidation import disk_answer, disk_prediction, shared_disk
from understudy_devices.consolidation.alignment import Window
from understudy_devices.consolidation.disk_prediction import DiskPrediction, Served
from understudy_devices.consolidation.prediction import Effort
from understudy_devices.consolidation.shared_disk import Guest
from understudy_devices.consolidation.source import LEAST
from understudy_devices.consolidation.vm import Arrival
from understudy_devices.device.profile import DiskProfile
from understudy_devices.engine.local import Local
from understudy_devices.measure import records
from understudy_devices.traces.form import Form
from understudy_devices.traces.trace import Trace

SHARES = "sfq"  # the default scheduler, and the only one that knows weights
SECTOR = sizes.SECTOR


@dataclass(frozen=True)
class SimulatedDisk:
    """A disk to be simulated.

    virtual_bytes: its size; None: that of the real disk, or, if its profile does not say it, that
    of all VMs' parts. useless: options that were given and have no effect on a simulated disk.
    """

    profile: DiskProfile
    schedulers: Sequence[str]
    virtual_bytes: int | None
    by: Arrival
    useless: Sequence[str]
    is_chosen: bool  # whether an option was given that only a simulated disk has

    def guests(
        self,
        vms: Mapping[str, Path],
        weights: Mapping[str, int],
        form: Form,
        window: Window | None,
        report: Report,
    ) -> tuple[Guest, ...]:
        """Read the traces of all VMs, and check them; they may lack positions."""
        guests = []
        for rank, (name, path) in enumerate(vms.items()):
            report("read traces", rank / len(vms))
            weight = weights.get(name, 1)
            guests.append(shared_disk.read(name, path, form, self.by, weight, window))
        return tuple(guests)

    def is_possible(
        self, guests: Sequence[Guest], on_cluster: bool, say: Callable[[str], None]
    ) -> bool:
        """Return whether these VMs can be simulated; say why, if their traces have no positions.

        Raise a UserError for options and VMs that do not go with a simulated disk.
        """
        if names := shared_disk.unplaced(guests):
            why = f"{names[0]}: does not say where on the disk requests were"
            if self.is_chosen:
                raise UserError(
                    f"{why}, so {self.profile.name} can't be simulated; record sectors (fio: "
                    "log_offset=1), or leave out --schedulers and --virtual-size"
                )
            say(
                f"{why}, so {self.profile.name} is not simulated: it counts as a device that "
                "serves one request at a time, as fast as the device on which the traces were "
                "recorded"
            )
            return False
        self._check(guests, on_cluster)
        return True

    def _check(self, guests: Sequence[Guest], on_cluster: bool) -> None:
        useless = [*self.useless, *(["--on-cluster"] if on_cluster else [])]
        if useless:
            raise UserError(
                f"{useless[0]}: not with {self.profile.name}, which is simulated with the recorded "
                "requests; leave it out, or give --queue-depth 1 instead of --disk"
            )
        runs = [run for guest in guests for run in guest.runs]
        for run in runs:
            if len(run) < LEAST:
                raise UserError(
                    f"{run.name}: {len(run)} requests: at least {LEAST} are needed; give a longer "
                    "trace"
                )
        if not guests[0].aligned:
            check_lengths([(run.name, int(run.arrival_ns[-1]) + 1) for run in runs])
        self.bytes_for(guests)

    def bytes_for(self, guests: Sequence[Guest]) -> int:
        """Return the size of the virtual disk; raise a UserError if the VMs do not fit."""
        needed = sum(guest.sectors for guest in guests) * SECTOR
        facts = self.profile.facts
        real = facts.capacity_sectors * SECTOR if facts else needed
        size = self.virtual_bytes or real
        if needed > size:
            given = self.virtual_bytes is not None
            raise UserError(
                f"{'--virtual-size' if given else '--disk'}: the VMs' traces reach over "
                f"{needed:,} bytes together, and {self.profile.name} has {size:,}; "
                f"--virtual-size {needed // SECTOR}s has room for them"
            )
        return size

    def predictions(
        self,
        guests: Sequence[Guest],
        effort: Effort,
        seed: int,
        jobs: int | None,
        report: Report,
    ) -> list[DiskPrediction]:
        """Simulate the VMs with each scheduler."""
        engine = Local(jobs or os.cpu_count() or 1)
        return [
            disk_prediction.predict(
                name, guests, self._simulation(name, guests), engine, effort, seed, report
            )
            for name in self.schedulers
        ]

    def shown(
        self, command: str, seed: int, effort: Effort, predictions: Sequence[DiskPrediction]
    ) -> dict[str, Any]:
        """Return the fields of the result."""
        from understudy_devices.show import on_disk  # Matplotlib takes half a second

        name = self.profile.name
        inputs = {
            "command": command,
            "seed": seed,
            "disk": name,
            "virtual_bytes": self.bytes_for(predictions[0].guests),
            "schedulers": list(self.schedulers),
            "arrivals": self.by,
            "precision": effort.precision,
        }
        document = disk_answer.document(inputs, predictions)
        return {
            "document": document,
            "replications": disk_answer.replications(predictions),
            "show": partial(on_disk.show, name, predictions),
            "text": on_disk.text(name, predictions),
            "html": on_disk.html(command, name, predictions),
            "page": on_disk.render(document, predictions),
            "notices": tuple(disk_answer.doubts(predictions)),
        }

    def _simulation(self, scheduler: str, guests: Sequence[Guest]) -> disk_prediction.Simulate:
        virtual_bytes = self.bytes_for(guests)
        weights = [guest.weight for guest in guests]
        weighted = scheduler == SHARES and len(set(weights)) > 1

        def simulate(trace: Trace, seed: int, stop: threading.Event) -> Served:
            shares = tuple(weights[: trace.owners]) if weighted else ()
            return _served(self.profile, scheduler, trace, virtual_bytes, shares, seed, stop)

        return simulate


def _served(
    disk: DiskProfile,
    scheduler: str,
    trace: Trace,
    virtual_bytes: int,
    weights: tuple[int, ...],
    seed: int,
    stop: threading.Event,
) -> Served:
    """Simulate a trace as `predict` does."""
    experiment = asked(
        TraceReplay,
        Choice(scheduler),
        disk,
        trace=trace,
        virtual_bytes=virtual_bytes,
        weights=weights,
        seed=seed,
    )
    platform = platforms.load("sim")
    platform.check([experiment])
    outcome = platform.run(experiment, silent, stop=stop)
    rows = outcome.requests.sort("arrival_ns", "owner", maintain_order=True)
    return Served(
        rows["owner"].to_numpy(),
        (rows["op"] == records.OPS.categories[1]).to_numpy().astype(np.int64),
        (rows["completion_ns"] - rows["arrival_ns"]).to_numpy(),
        rows["model_service_ns"].to_numpy(),
        float(outcome.facts["offered_load"] or 0.0),
    )


def simulated_disk(
    profile: DiskProfile | None,
    names: Any,
    virtual_size: Any,
    arrivals: Arrival | None,
    weights: Mapping[str, int],
    useless: Sequence[str],
) -> SimulatedDisk | None:
    """Check the options of a simulated disk; return None if there is no disk with a head.

    `useless` has the options that were given and that only an array has.
    """
    of_a_disk = {"--schedulers": names, "--virtual-size": virtual_size}
    given = [option for option, value in of_a_disk.items() if value is not None]
    if profile is None or profile.array:
        if given:
            which = f"not with {profile.name}, which is an array" if profile else "needs --disk"
            raise UserError(
                f"{given[0]}: {which}: only a disk with a head is simulated, as --disk cheetah-15k4"
            )
        return None
    words = SHARES if names is None else options.names("--schedulers", names)
    listed = schedulers.parse(words, profile)
    if weights and SHARES not in listed:
        raise UserError(f"--weights: only {SHARES} uses them; add it to --schedulers")
    if failures := schedulers.unfit(listed):
        raise UserError(next(iter(failures.values())))
    size = None
    if virtual_size is not None:
        text = options.text(virtual_size) or ""
        size = sizes.parse("--virtual-size", text, device.SMALLEST, device.LARGEST)
    by: Arrival = arrivals or "queue"
    return SimulatedDisk(profile, listed, size, by, useless, bool(given))
