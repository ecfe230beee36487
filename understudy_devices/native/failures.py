# SPDX-License-Identifier: MIT
"""Messages for simulations that ended early, and the offered load when requests arrive too fast."""

import errno
import os

from understudy_devices._core import ffi, lib
from understudy_devices.base.errors import RunFailed, Unstable
from understudy_devices.native import worker
from understudy_devices.native.cell import no_memory
from understudy_devices.native.descriptions import why_not_loaded
from understudy_devices.native.figures import Figures
from understudy_devices.native.simulation import Array, Simulation, workloads


def failure(simulation: Simulation, job: worker.Job, figures: Figures) -> RunFailed:
    """Return the error of a job as an exception; Unstable if too many requests were pending."""
    code = -job.structure.error
    if job.structure.summary.init_error and not job.structure.refused_bytes:
        part = int(job.structure.summary.part)
        words = _other(code, "its") if part else _other(code)
        return RunFailed(f"{_part(simulation, part)}: {words}")
    if code == errno.ENOEXEC:
        name = _part(simulation, int(job.structure.fault.part))
        return RunFailed(f"{name}: {why_not_loaded(job)}")
    if code == errno.EOVERFLOW:
        load = offered_load(simulation, figures)
        how = "not one is served yet" if load is None else f"they arrive {arrive(load)}"
        advice = "part of the table" if simulation.rows else "a lower rate"
        return Unstable(
            f"{simulation.scheduler}: unstable: more than {simulation.max_pending:,} requests "
            f"wait or are served; {how}; take {advice}",
            load,
        )
    if code == errno.ENOMEM:
        words = f"no memory: {no_memory(int(job.structure.refused_bytes))}"
    else:
        words = _explained(job) or _other(code)
    return RunFailed(f"{simulation.scheduler}: {words}")


def _explained(job: worker.Job) -> str | None:
    """Return the words for an error of the engine."""
    structure = job.structure
    text = ffi.new("char[]", lib.EXPLAIN_BYTES)
    parts = (ffi.addressof(structure, "input"), ffi.addressof(structure, "summary"))
    words = lib.sim_explain(*parts, structure.error, text)
    return None if words == ffi.NULL else str(ffi.string(words).decode(errors="replace"))


def _part(simulation: Simulation, part: int) -> str:
    """Return the name of the scheduler or of a policy."""
    policies = list(simulation.cache.policies.values()) if simulation.cache else []
    return policies[part - 1].described.name if part else simulation.scheduler


def _other(code: int, whose: str = "the scheduler's or the workload's") -> str:
    """Return the message for any other error, such as one from the init of a user's scheduler."""
    return f"{whose} init failed: {_words(code)} (errno {code})"


def _words(code: int) -> str:
    known = code in errno.errorcode  # the code is whatever a user's init returned
    return os.strerror(code) if known else "an unknown error"


def offered_load(simulation: Simulation, figures: Figures) -> float | None:
    """Return the offered utilisation: if it is above 1, the queue grows without bound.

    The service time is the mean over the requests served before the failure. The arrival rate is
    the workload's parameter, or the mean rate of the table. Return None if no request was served,
    or if all arrivals of the table are at the same time.
    """
    device = simulation.device
    servers = device.servers if isinstance(device, Array) else 1
    gap_ns = _gap_ns(simulation, figures)
    if not figures.completed or not gap_ns:
        return None
    work_ns = figures.model.mean * figures.dispatched / figures.completed
    return work_ns / (servers * gap_ns)


def arrive(load: float) -> str:
    """Return a phrase about an offered load."""
    return f"{load:,.2f} times as fast as the device can serve them"


def _gap_ns(simulation: Simulation, figures: Figures) -> float:
    """Return the mean time between two arrivals."""
    if simulation.rows:
        arrived = min(figures.completed + simulation.max_pending, simulation.requests)
        return (figures.last_arrival_ns - figures.first_arrival_ns) / arrived
    known = {field.name: field.initial for field in workloads()[simulation.workload].parameters}
    return (known | dict(simulation.parameters)).get("mean_gap_ns", 0) / simulation.processes
