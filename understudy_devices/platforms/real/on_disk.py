# SPDX-License-Identifier: MIT
"""Experiments on disks of this machine: the "real" platform of understudy_devices.platforms.

As in a VM, the first N requests to arrive are measured, and the workload continues until all of
them are complete.  An instrument records the requests; the records are checked against the
processes' own log.
"""

import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import polars as pl

from understudy_devices.ask.experiment import Experiment, Outcome
from understudy_devices.ask.workloads.workload import SECTOR_BYTES, HostCache
from understudy_devices.base.errors import RunFailed
from understudy_devices.base.progress import Report
from understudy_devices.measure import metrics, records
from understudy_devices.platforms import witness
from understudy_devices.platforms.reads import Entries
from understudy_devices.platforms.real import disk as disks
from understudy_devices.platforms.real import group, queue, stamps, tracepoints, workload
from understudy_devices.platforms.real.tracepoints import Tracepoints, Unavailable

LOOK_SECONDS = 0.02
LOOK_AGAIN_SECONDS = 0.5  # interval of checks whether the first N requests are complete
SILENT_SECONDS = 60.0
DRAIN_SECONDS = 600.0
READS, WRITES = 0, 4  # fields of a disk's stat: completed requests


def check(experiments: Sequence[Experiment]) -> None:
    """Refuse experiments with a page cache if this machine can't limit one.

    queue.chosen checks the schedulers, and disk.find checks that nobody uses the disk.
    """
    if _cache(experiments[0]):
        group.check()


def prepare(experiments: Sequence[Experiment], report: Report) -> None:
    """Compile the programs that the workload needs, and make its files."""
    first = experiments[0]
    workload.build(first, report)
    if first.workload.reads_files:
        disk = disks.named(first.device.disk.name)
        report(f"making a file system on {disk.path}", 0.0)
        with disks.locked(disk, claimed=True):
            workload.make_files(first, disk)


def put_back_left() -> Iterator[str]:
    """Restore settings that killed commands have left changed; yield a line for each disk."""
    for name in queue.left():
        tracepoints.clear(name)
        group.clear(name)
        yield queue.put_back_left(name)


def dry_run(experiment: Experiment) -> list[str]:
    """Return the command that plays the workload."""
    disk = disks.named(experiment.device.disk.name)
    return workload.command(experiment, disk, Path("files"), Path("group"), Path("reads.bin"))


def summarise(
    experiment: Experiment, report: Report, *, stop: threading.Event | None = None
) -> metrics.Summary:
    """Run one experiment, check its records, and keep the figures."""
    answer = run(experiment, report, stop=stop)
    records.check(answer.requests, answer.unseen)
    return metrics.summarise(answer)


def run(experiment: Experiment, report: Report, *, stop: threading.Event | None = None) -> Outcome:
    """Run one experiment; restore the disk's settings afterwards.

    Raises RunFailed if the disk goes away, fails, or does not answer, or if the processes' log and
    the records disagree.
    """
    return _Run(experiment, report, stop or threading.Event()).outcome()


class _Run:
    """One experiment on its disk."""

    def __init__(self, experiment: Experiment, report: Report, stop: threading.Event) -> None:
        self._experiment = experiment
        self._report = report
        self._stop = stop
        self._disk = disks.named(experiment.device.disk.name)
        self._unavailable = ""

    def outcome(self) -> Outcome:
        began = time.monotonic()
        with ExitStack() as held:
            held.enter_context(disks.locked(self._disk, claimed=self._is_raw))
            held.enter_context(queue.kept(self._disk))
            self._set_up()
            settings = queue.settings(self._disk)
            program = held.enter_context(workload.ready(self._experiment, self._disk))
            traced = self._instrument(held)
            ready = time.monotonic()
            program.go()
            self._wait(program, traced)
            entries = program.end()
            measured = time.monotonic()
        requests, facts = self._read(entries, traced)
        facts |= {"settings": settings, "measure_wall_seconds": measured - ready}
        facts |= {"boot_wall_seconds": ready - began, "wall_seconds": time.monotonic() - began}
        return self._outcome(requests, facts, traced is not None)

    @property
    def _is_raw(self) -> bool:
        """Return whether the workload reads the disk itself, not a file system on it."""
        return not self._experiment.workload.reads_files

    def _set_up(self) -> None:
        chosen = self._experiment.scheduler
        depth = self._experiment.device.at_once
        cache = _cache(self._experiment)
        ahead = cache.read_ahead_kib if cache else None
        queue.set_up(self._disk, chosen.name, depth, dict(chosen.tunables), ahead)

    def _instrument(self, held: ExitStack) -> Tracepoints | None:
        """Return a recorder of the kernel's events, or None if the events can't be used."""
        try:
            return held.enter_context(tracepoints.recording(self._disk, self._experiment.requests))
        except Unavailable as error:
            if _cache(self._experiment):
                raise RunFailed(f"reads of a page cache are no requests, and {error}") from error
            self._unavailable = str(error)
            return None

    def _wait(self, program: workload.Workload, traced: Tracepoints | None) -> None:
        """Wait until all measured requests are complete."""
        requests = self._experiment.requests
        beyond = 0 if traced else 2 * self._experiment.workload.processes
        before, done, taken, heard = self._completed(), 0, 0, time.monotonic()
        while done < requests + beyond:
            self._pause(LOOK_SECONDS, program)
            now = self._completed() - before
            heard = time.monotonic() if now > done else heard
            done = now
            if time.monotonic() > heard + SILENT_SECONDS:
                raise RunFailed(f"no request completed for {SILENT_SECONDS:.0f} s; see dmesg")
            if traced and done > taken + traced.room // 4:
                traced.take()
                taken = done
            self._report("measuring", min(1.0, done / requests))
        patience = time.monotonic() + DRAIN_SECONDS
        while traced and not self._drained(traced):
            self._pause(LOOK_AGAIN_SECONDS, program)
            if time.monotonic() > patience:
                raise RunFailed(f"a request has waited for {DRAIN_SECONDS:.0f} s; see dmesg")

    def _drained(self, traced: Tracepoints) -> bool:
        """Return whether the trace has the completions of the first N requests to arrive."""
        traced.take()
        return traced.answered_first(self._experiment.requests)

    def _pause(self, seconds: float, program: workload.Workload) -> None:
        if self._stop.wait(seconds):
            raise RunFailed("stopped")
        program.check()

    def _completed(self) -> int:
        """Return the number of requests that the disk has completed since it was attached."""
        try:
            fields = (self._disk.folder / "stat").read_text().split()
        except OSError as error:
            raise RunFailed(f"{self._disk.path} is gone: was it unplugged?") from error
        return int(fields[READS]) + int(fields[WRITES])

    def _read(
        self, entries: Entries, traced: Tracepoints | None
    ) -> tuple[pl.DataFrame, dict[str, Any]]:
        """Return the measured requests, from the first arrival on, and facts about the
        measurement.
        """
        left_out: dict[str, int] = {}
        if traced:
            rows, left_out = traced.requests()
        else:
            rows = stamps.requests(entries, raw=self._is_raw)
        requests = self._experiment.requests
        if rows.height < requests:
            raise RunFailed(f"only {rows.height} of {requests} requests were seen; run it again")
        rows = rows.head(requests)
        facts: dict[str, Any] = {
            "instrument": tracepoints.NAME if traced else stamps.NAME,
            "instrument_missing": self._unavailable,
            "left_out": left_out,
            "witness": {"processes": None},
        }
        if traced:
            facts["witness"] = {"processes": self._witness(rows, entries)}
        else:
            last = int(rows["arrival_ns"][-1])
            stamps.check_drained(entries, last, self._experiment.workload.processes)
        return _from_first(rows).select(*records.SCHEMA), facts

    def _witness(self, rows: pl.DataFrame, entries: Entries) -> dict[str, Any] | None:
        """Compare the rows with the processes' log. Return None if the kernel's process numbers are
        not those in the log.
        """
        pids = set(entries["owner"].tolist())
        mine = rows.filter(pl.col("owner").is_in(pids))
        if mine.is_empty():
            return None
        if _cache(self._experiment):
            return witness.compare_arrivals(mine, entries)
        return witness.compare_requests(mine, entries)

    def _outcome(self, requests: pl.DataFrame, facts: dict[str, Any], traced: bool) -> Outcome:
        unseen = tracepoints.UNSEEN if traced else stamps.UNSEEN
        span_ns = int(requests["completion_ns"].max() or 0)  # type: ignore[arg-type]
        facts |= {
            "capacity_sectors": self._experiment.device.virtual_bytes // SECTOR_BYTES,
            "unseen": sorted(unseen),
            "kernel_version": os.uname().release,
            "virtual_seconds": span_ns / metrics.NS_PER_S,
        }
        return Outcome(self._experiment, requests, facts, unseen=unseen)


def _cache(experiment: Experiment) -> HostCache | None:
    """Return the page cache that the workload reads through, if any."""
    return experiment.workload.cache(experiment.device.virtual_bytes)


def _from_first(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with all times relative to the first arrival."""
    first = pl.col("arrival_ns").min()
    return rows.with_columns(pl.col(name) - first for name in reversed(records.INSTANTS))
