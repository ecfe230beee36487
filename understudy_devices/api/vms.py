# SPDX-License-Identifier: MIT
"""What `consolidate` and `place` have in common: VMs, each with its traces, and their options."""

import fcntl
import itertools
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from understudy_devices.api import options
from understudy_devices.api.call import Out
from understudy_devices.base import scratch
from understudy_devices.base.errors import UserError
from understudy_devices.base.progress import Report
from understudy_devices.consolidation import vm
from understudy_devices.consolidation.arrivals import NO_SPLIT, UNSPLIT
from understudy_devices.consolidation.fit import Fitted
from understudy_devices.consolidation.fits import fit_each
from understudy_devices.consolidation.scenario import Tenant
from understudy_devices.consolidation.source import by_direction
from understudy_devices.engine import Engine
from understudy_devices.engine.cluster import Cluster, Request
from understudy_devices.engine.local import Local
from understudy_devices.engine.spool import writing
from understudy_devices.traces.form import Form

ARRIVALS: tuple[vm.Arrival, ...] = ("issue", "queue")
SEED_MOST = 2**63 - 1
JOBS_MOST = 1000
LENGTHS_MOST = 100  # of a run that is longer, less than 1 % would be simulated
MERGE_MOST = 10_000.0
EXAMINED = 200_000  # requests of a VM, for the difference between reads and writes


@dataclass(frozen=True)
class Reading:
    """The options for reading traces and fitting service times.

    `check` is called with all VMs before the fit, and may raise a UserError.
    """

    reduction: vm.Reduction
    accept_poor_fit: bool
    jobs: int | None
    say: Callable[[str], None]
    check: Callable[[Sequence[vm.VirtualMachine]], None] = lambda machines: None

    def tenants(
        self, vms: Mapping[str, Path], weights: Mapping[str, int], folder: Path, report: Report
    ) -> list[Tenant]:
        """Read and fit all VMs; return them in the given order, with their data in files in
        `folder`.

        Say which requests are left out.
        """
        machines = [
            self._read(name, path, folder / str(rank), rank / len(vms), report)
            for rank, (name, path) in enumerate(vms.items())
        ]
        if not self.reduction.window:
            check_lengths([(run.name, run.span_ns) for one in machines for run in one.runs])
        self.check(machines)
        count = itertools.count(1)

        def advance(name: str) -> None:
            report("fit service times", next(count) / len(vms))

        try:
            jobs = self.jobs or os.cpu_count() or 1
            fits = fit_each(machines, self.accept_poor_fit, jobs, advance)
        except ValueError as error:
            raise UserError(str(error)) from error
        if not self.accept_poor_fit:
            fits = [_by_direction(*each) for each in zip(machines, fits, strict=True)]
        for one, fitted in zip(machines, fits, strict=True):
            for line in _about(fitted):
                self.say(f"{one.name}: {line}")
        return [
            Tenant(one, fitted, weights.get(one.name, 1))
            for one, fitted in zip(machines, fits, strict=True)
        ]

    def _read(
        self, name: str, path: Path, folder: Path, fraction: float, report: Report
    ) -> vm.VirtualMachine:
        report("read traces", fraction)
        machine = vm.read(name, path, folder, self.reduction)
        for run in machine.runs:
            for note in run.notes:
                self.say(f"{run.name}: {note}")
        return machine


def check_lengths(runs: Sequence[tuple[str, int]]) -> None:
    """Refuse runs (name and length in ns) of such different lengths that most of one would not be
    simulated, since all end where the shortest does; usually the unit of one clock is wrong."""
    (short, short_ns), (long, long_ns) = (end(runs, key=lambda run: run[1]) for end in (min, max))
    if long_ns > LENGTHS_MOST * short_ns:
        raise UserError(
            f"{short} lasts {short_ns / 1e9:.4g} s and {long} {long_ns / 1e9:.4g} s, "
            f"{long_ns / short_ns:,.0f} times as long: check the units of their times, or give "
            "runs of similar length"
        )


def _by_direction(machine: vm.VirtualMachine, fitted: Fitted) -> Fitted:
    step = max(1, machine.requests // EXAMINED)
    service_ns = np.concatenate([run.service_ns[::step] for run in machine.runs])
    write = np.concatenate([run.arrivals.write[::step] for run in machine.runs])
    return by_direction(fitted, service_ns, write.astype(bool))


def _about(fitted: Fitted) -> Iterator[str]:
    """Yield what to say about where a VM's service times come from."""
    if fitted.recorded:
        yield f"service times are taken from the trace: {fitted.recorded}"
    else:
        yield from (f"fitted poorly: {reason}" for reason in fitted.report.poor)


@dataclass(frozen=True)
class Where:
    """What carries out simulations, how many at a time if known, and the folder for their input."""

    engine: Engine
    at_once: int
    folder: Path


@contextmanager
def opened(
    out: Out, nodes: Request | None, jobs: int | None, say: Callable[[str], None]
) -> Iterator[Where]:
    """Yield where simulations are carried out: here, or on a cluster.

    On a cluster, the folder OUT.cluster is kept until everything is done, so that the same command,
    given again, goes on.
    """
    if nodes is None:
        with scratch.folder("understudy-vms-") as folder:
            yield Where(Local(jobs or os.cpu_count() or 1), 1, folder)
        return
    if not out or out is True:
        raise UserError("cluster: needs --out (out), a folder on a disk that all nodes share")
    shared = Path(f"{Path(out)}.cluster").absolute()
    cluster = Cluster(shared, replace(nodes, jobs=jobs or 1), keeps=True, say=say)
    with _locked(shared), cluster.until_done():
        with writing(shared):
            folder = Path(tempfile.mkdtemp(prefix="vms-", dir=shared))
        try:
            yield Where(cluster, nodes.workers * cluster.request.jobs, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Make the folder, and refuse one that another command uses; remove it if nothing is in it."""
    lock = folder / ".lock"
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        opened = lock.open("w")
    with opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(
                f"--out: another command is using {folder}; wait for it, or name another --out"
            ) from None
        try:
            yield
        finally:
            with suppress(OSError):
                lock.unlink()
                folder.rmdir()


Vms = Mapping[str, str | os.PathLike[str]] | Sequence[str | os.PathLike[str]] | str
"""VMs: a dictionary from name to trace or folder, or texts NAME=TRACE."""


def arguments(vms: Any) -> list[str]:
    """Return VMs as a person would type them."""
    if isinstance(vms, Mapping):
        return [f"{name}={os.fspath(path)}" for name, path in vms.items()]
    if isinstance(vms, str | os.PathLike):
        return [os.fspath(vms)]
    try:
        return [os.fspath(each) for each in vms]
    except TypeError:
        raise UserError(
            f"no VM: a {type(vms).__name__} is no list of traces and no dictionary of them"
        ) from None


@dataclass(frozen=True)
class Common:
    """The options of both functions; `typed` has those that are not the defaults."""

    limit: int
    arrivals: vm.Arrival
    seed: int
    jobs: int | None
    form: Form
    typed: Mapping[str, Any]


def common(
    split: Any, arrivals: Any, seed: Any, jobs: Any, columns: Any = None, format: Any = None
) -> Common:
    """Check the options of both functions; `arrivals` may be None, the default."""
    by: vm.Arrival = ARRIVALS[0] if arrivals is None else arrivals
    options.choice("--arrivals", by, ARRIVALS)
    form = options.form(columns, format)
    typed = {
        "split": None if split == NO_SPLIT else split,
        "arrivals": arrivals,
        "seed": None if seed == 1 else seed,
        "jobs": jobs,
        "columns": form.columns,
        "format": form.format,
    }
    return Common(
        limit_blocks(options.text(split) or ""),
        by,
        options.within("--seed", seed, 0, SEED_MOST),
        options.optional("--jobs", jobs, 1, JOBS_MOST),
        form,
        typed,
    )


def limit_blocks(text: str) -> int:
    """Return the value of --split in blocks."""
    if text == NO_SPLIT:
        return UNSPLIT
    return whole(text, UNSPLIT, f"--split: {text} is not a number of blocks, such as 128, or none")


def pairs(option: str, text: str) -> dict[str, str]:
    """Parse NAME=VALUE,... into a dictionary in the same order.

    Raise a UserError for a word without "=", or for a repeated name.
    """
    values: dict[str, str] = {}
    for word in filter(None, text.split(",")):
        name, equals, value = word.partition("=")
        if not name or not equals or not value:
            raise UserError(f"{option}: {word}: write NAME=VALUE,...")
        if name in values:
            raise UserError(f"{option}: {name} is named twice")
        values[name] = value
    return values


def whole(text: str, most: int, wrong: str) -> int:
    """Parse a whole number from 1 to `most`; raise a UserError for any other text."""
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:10]) <= most):
        raise UserError(wrong)
    return int(text)


def number(text: str, least: float, most: float, wrong: str) -> float:
    """Parse a number from `least` to `most`; raise a UserError for any other text."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not least <= value <= most:
        raise UserError(wrong)
    return value
