# SPDX-License-Identifier: MIT
"""VMs on a device that is faster, or slower, than the one on which they were traced.

A device K times as fast serves each request in 1 / K of the time.  Requests arrive when they did in
the trace.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

from understudy_devices.base import file_arrays
from understudy_devices.consolidation.map import MarkovianArrivalProcess
from understudy_devices.consolidation.scenario import Tenant
from understudy_devices.consolidation.vm import SHORTEST_NS, Run
from understudy_devices.native.arrivals import SERVICE_MAX_NS, write_arrivals

LEAST, MOST = 0.01, 100.0


def sped_up(tenant: Tenant, speed: float, folder: Path) -> Tenant:
    """Return the VM with its service times divided by the speed, from LEAST to MOST.

    Its files are written to `folder`.  Response times alone remain those of the trace.
    """
    process = tenant.fitted.process
    faster = MarkovianArrivalProcess(process.d0 * speed, process.d1 * speed)
    runs = tuple(_run(run, speed, folder / str(rank)) for rank, run in enumerate(tenant.vm.runs))
    return replace(
        tenant,
        vm=replace(tenant.vm, runs=runs),
        fitted=replace(tenant.fitted, process=faster),
    )


def _run(run: Run, speed: float, folder: Path) -> Run:
    def divided(part: np.ndarray) -> np.ndarray:
        return np.clip(np.rint(part / speed), SHORTEST_NS, SERVICE_MAX_NS).astype(np.int64)

    folder.mkdir(parents=True)
    arrivals = run.arrivals
    times = file_arrays.each(divided, run.service_ns)
    written = write_arrivals(folder, arrivals.arrival_ns, arrivals.pieces, times, arrivals.write)
    return replace(run, arrivals=written)
