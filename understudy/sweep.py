# SPDX-License-Identifier: MIT
"""Many runs, one Parquet file: a row for each, with its inputs and its figures.

What is done is kept at once in FILE.partial, a line of JSON for each run, so that a sweep
that was interrupted goes on where it stopped; a finished one runs only what is new.  Rows
are in the order of the experiments, so the file repeats to the byte for one that was
interrupted and one that was not (but for the wall seconds).
"""

import json
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from understudy.errors import RunFailed, UserError
from understudy.experiment import OF_WORKLOADS, Experiment
from understudy.metrics import Summary
from understudy.platforms import Platform
from understudy.vm.cached import digest

Row = dict[str, Any]
Report = Callable[[int, int], None]
"""Told how many runs are done, of how many."""

AHEAD = 4  # runs that wait for each one that is running: a sweep may have millions


def run(
    platform: Platform,
    name: str,
    experiments: Sequence[Experiment],
    file: Path,
    jobs: int,
    report: Report,
) -> pl.DataFrame:
    """Run what the file does not have yet, `jobs` at a time; return all of it."""
    keys = [key(experiment, name) for experiment in experiments]
    done = _known(file)
    missing = [index for index, one in enumerate(keys) if one not in done]
    finished = len(keys) - len(missing)
    report(finished, len(keys))
    with _partial(file).open("a", encoding="utf-8") as journal:
        for index, summary in _figures(platform, experiments, missing, jobs):
            row = _row(keys[index], experiments[index], summary)
            journal.write(json.dumps(row) + "\n")
            journal.flush()
            done[keys[index]] = row
            finished += 1
            report(finished, len(keys))
    frame = pl.DataFrame([done[one] for one in keys], infer_schema_length=None)
    _put(frame, file)
    return frame


def key(experiment: Experiment, platform: str) -> str:
    """Name of everything that decides on a run's figures."""
    return digest([json.dumps(_inputs(experiment), sort_keys=True).encode(), platform.encode()])


def _inputs(experiment: Experiment) -> dict[str, Any]:
    trace = experiment.trace
    plain = {
        name: getattr(experiment, name)
        for name in experiment.__dataclass_fields__
        if name not in ("disk", "workload", "trace")
    }
    return {
        **plain,
        "disk": experiment.disk.model_dump(mode="json"),
        "workload": experiment.workload.name,
        "trace": trace.digest if trace else None,
    }


def _figures(
    platform: Platform, experiments: Sequence[Experiment], missing: Sequence[int], jobs: int
) -> Iterator[tuple[int, Summary]]:
    """Each run's figures as soon as they are there; the first failure ends all."""
    stop = threading.Event()
    waiting = iter(missing)
    running: dict[Future[Summary], int] = {}

    def fill(pool: ThreadPoolExecutor) -> None:
        while len(running) < AHEAD * jobs and (index := next(waiting, None)) is not None:
            task = pool.submit(platform.summarise, experiments[index], _silent, stop=stop)
            running[task] = index

    with ThreadPoolExecutor(max_workers=jobs) as pool:
        try:
            fill(pool)
            while running:
                for task in wait(running, return_when=FIRST_COMPLETED).done:
                    yield running.pop(task), task.result()
                fill(pool)
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _silent(phase: str, fraction: float) -> None:
    """One bar for the sweep is enough."""


def _row(name: str, experiment: Experiment, summary: Summary) -> Row:
    figures = {field: value for field, value in asdict(summary).items() if field != "reasons"}
    of_workload = {field: getattr(experiment, field) for field in OF_WORKLOADS if field != "trace"}
    return {
        "key": name,
        "disk": experiment.disk.name,
        "workload": experiment.workload.name,
        "processes": experiment.processes,
        "depth": experiment.depth,
        **of_workload,
        **figures,
    }


def _partial(file: Path) -> Path:
    return file.with_name(file.name + ".partial")


def _known(file: Path) -> dict[str, Row]:
    """What the file and its journal hold; a last line that was cut off does not count."""
    rows: list[Row] = []
    if file.exists():
        rows += _read(file)
    if _partial(file).exists():
        rows += _read_journal(_partial(file))
    return {row["key"]: row for row in rows}


def _read(file: Path) -> list[Row]:
    try:
        frame = pl.read_parquet(file)
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"--out: {file} is no sweep: {reason}; name another file") from None
    if "key" not in frame.columns:
        raise UserError(f"--out: {file} is no sweep: it has no column key; name another file")
    return frame.to_dicts()


def _read_journal(file: Path) -> list[Row]:
    lines = file.read_text(encoding="utf-8").split("\n")
    whole, cut = lines[:-1], lines[-1]
    if cut:
        file.write_text("".join(line + "\n" for line in whole), encoding="utf-8")
    try:
        return [json.loads(line) for line in whole]
    except ValueError:
        raise UserError(f"{file} is damaged; remove it to begin again") from None


def _put(frame: pl.DataFrame, file: Path) -> None:
    """The whole file or none; then the journal has done its work."""
    scratch = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        frame.write_parquet(scratch)
        scratch.rename(file)
    except OSError as error:
        scratch.unlink(missing_ok=True)
        raise RunFailed(f"cannot write {file}: {error.strerror}; try another --out") from error
    _partial(file).unlink()
