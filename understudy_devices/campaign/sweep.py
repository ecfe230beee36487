# SPDX-License-Identifier: MIT
"""Many runs in one Parquet file: a row for each run, with its inputs and its figures.

Two columns identify a row: `key` is a digest of the run's inputs, and `version` is a digest of the
code that ran.  A command carries out only the runs that have no row yet; rows of other commands
stay.  If a scheduler, policy, disk or trace has changed, the rows of its old version are removed
when the command ends, so that no mean mixes two versions.  Rows are sorted, so the file's bytes do
not depend on the order of the runs (except for the column of wall seconds).

Each run that ends is saved immediately in FILE.partial, as a line of JSON, so that an interrupted
sweep can be resumed.  Rows of runs on a cluster are first in FILE.cluster (engine/spool.py); they
count as saved, even if no command has seen them yet.

A run whose requests arrive faster than the disk can serve them also has a row.  The `status` of
such a row is "unstable", its `utilisation` is the offered load, and the figures are empty.
"""

import fcntl
import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, fields
from functools import cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from understudy_devices import platforms
from understudy_devices.ask import schedulers
from understudy_devices.ask.device import Device
from understudy_devices.ask.experiment import Experiment, Run
from understudy_devices.ask.parameters import columns_of
from understudy_devices.ask.policies import KINDS
from understudy_devices.ask.setting import SETTINGS
from understudy_devices.ask.workloads import WORKLOADS
from understudy_devices.base import parquet, scratch
from understudy_devices.base.cache import digest
from understudy_devices.base.errors import RunFailed, Unstable, UserError
from understudy_devices.campaign import second_run
from understudy_devices.campaign.failures import Failures
from understudy_devices.engine import Answer, Engine
from understudy_devices.engine.spool import Spool
from understudy_devices.measure.metrics import Summary
from understudy_devices.native import registry
from understudy_devices.native.version import code_version
from understudy_devices.platforms import Platform
from understudy_devices.recommend.verdict import sentences, verdict

Row = dict[str, Any]
Column = type[str] | type[int] | type[float] | type[bool]
Report = Callable[[int, int], None]
"""Called with the number of finished runs and the number of all runs."""

STABLE, UNSTABLE = "stable", "unstable"

TYPES: dict[Any, Column] = {str: str, int: int, float: float, float | None: float}
INPUTS: dict[str, Column] = {
    "key": str,
    "version": str,
    "platform": str,
    "disk": str,
    "disk_digest": str,
    **columns_of([Device]),
    "depth": int,
    "workload": str,
    **columns_of(WORKLOADS.values()),
    "trace_digest": str,
    "workload_file": str,
    "workload_digest": str,
    "workload_parameters": str,
    **{f"{field}{part}": str for field in KINDS for part in ("", "_digest", "_tunables")},
    "scheduler": str,
    "tunables": str,
    **columns_of([Run]),
    "clock": str,
    "scale": float,
    "controller": str,
    **columns_of(SETTINGS.values()),
}
FIGURES = {field.name: TYPES[field.type] for field in fields(Summary) if field.type in TYPES}
VERDICT: dict[str, Column] = {"trusted": bool, "because": str}
SCHEMA: dict[str, Column] = {
    **INPUTS,
    "status": str,
    "utilisation": float,
    **VERDICT,
    **FIGURES,
}
CONTENT = {
    "scheduler": "version",
    "disk": "disk_digest",
    "trace": "trace_digest",
    **{field: f"{field}_digest" for field in KINDS},
}
"""For each column with a name, the column with the digest of the named object."""
NAMES: dict[str, Column] = {
    name: SCHEMA[name] for name in ("key", "version", *CONTENT, *CONTENT.values())
}
ORDER = ("platform", "disk", "workload", "scheduler", "seed", "key", "version")
TABLE_ROWS = 10_000  # rows that become a table together
LINE_BEGINS = b'{"key": '  # the beginning of every line in the journal


@dataclass
class Book:
    """A sweep's file and its rows.

    `rows` are first read from the file and its journal; later they are the rows to be written.
    """

    file: Path
    rows: pl.DataFrame
    found: pl.DataFrame | None = None

    @property
    def journal(self) -> Path:
        """Return the path of the file for the runs of an unfinished sweep."""
        return _journal(self.file)

    @property
    def on_cluster(self) -> Path:
        """Return the folder for the runs of an unfinished sweep on a cluster."""
        return _on_cluster(self.file)


@contextmanager
def opened(file: Path) -> Iterator[Book]:
    """Open a sweep's file, which may be new, and lock it against other sweeps.

    The file is written when the block ends, after the caller has shown the results.
    """
    if not file.name or file.is_dir():
        raise UserError(f"--out: {file} is not a sweep: it is a folder; name a file")
    with _writing(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        lock = file.with_name(f".{file.name}.lock").open("w")
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(
                f"--out: another sweep is using {file}; wait for it, or name another file"
            ) from None
        book = Book(file, _read(file))
        yield book
        if book.found is not None:
            _put(book.found, book)
        elif _is_unfinished(book):
            _put(_read(file).sort(ORDER), book)


def run(
    experiments: Sequence[Experiment], book: Book, engine: Engine, report: Report
) -> tuple[pl.DataFrame, dict[str, str]]:
    """Carry out the runs that have no row in the book yet.

    Return the rows of these experiments, and the failures by scheduler.  If one run of a scheduler
    fails, all runs and rows of that scheduler are left out.
    """
    names = _names(experiments)
    done = set(book.rows.select("key", "version").rows())
    keys: list[tuple[str, str]] = names.select("key", "version").rows()
    missing = {
        " ".join(name): Cell(*name, place, experiment)
        for place, (name, experiment) in enumerate(zip(keys, experiments, strict=True))
        if name not in done
    }
    failures = Failures()
    _say_how_to_go_on(book, engine)

    def rows(answers: Iterator[tuple[str, Answer]]) -> Iterator[Row]:
        """Yield the rows as they arrive, and save each; without rows, no journal is made."""
        saved, is_room, is_said = names.height - len(missing), True, False
        report(saved, names.height)
        for finished, (key, answer) in enumerate(answers, start=saved + 1):
            if isinstance(answer, str):
                cell = missing[key]
                failures.add(cell.experiment.scheduler.name, cell.place, answer)
            else:
                is_room = is_room and _is_noted(answer, book.journal)
                if is_room and not is_said:
                    is_said = True
                    _say_how_to_go_on(book, engine)
                yield answer
            report(finished, names.height)

    with closing(engine.run(Runs(failures), missing)) as answers:
        new = _table(rows(answers))
    old = _current(book.rows, names)
    whole = pl.concat([old, new]).sort(ORDER)
    if new.height or _is_unfinished(book) or old.height < book.rows.height:
        book.found = whole
    ours = whole.join(names, on=["key", "version"], how="semi", maintain_order="left")
    failed = failures.first()
    return ours.filter(~pl.col("scheduler").is_in(list(failed))), failed


def _table(rows: Iterator[Row]) -> pl.DataFrame:
    """Return the rows as a table, which needs a tenth of their memory."""
    parts = iter(lambda: list(islice(rows, TABLE_ROWS)), [])
    tables = [pl.DataFrame(part, schema=SCHEMA) for part in parts]
    return pl.concat([pl.DataFrame(schema=SCHEMA), *tables])


def _say_how_to_go_on(book: Book, engine: Engine) -> None:
    """Make a later interruption print how to resume the sweep."""
    kept = f"finished runs are kept in {book.journal}" if book.journal.exists() else ""
    if kept or engine.notice:
        words = ", and ".join(filter(None, (engine.notice, kept)))
        scratch.say_if_interrupted(f"{words}; give the same command again to go on")


def outdated(book: Book, experiments: Sequence[Experiment]) -> int:
    """Return how many rows have an outdated digest of these experiments' schedulers, disks or
    traces."""
    return book.rows.height - _current(book.rows, _names(experiments)).height


def _current(rows: pl.DataFrame, names: pl.DataFrame) -> pl.DataFrame:
    """Return the rows whose digests of scheduler, disk and trace do not contradict those in
    `names`."""
    for name, content in CONTENT.items():
        now = dict(names.select(name, content).drop_nulls().unique().rows())
        same = pl.col(name).replace_strict(now, default=pl.col(content), return_dtype=pl.String)
        rows = rows.filter(pl.col(content).eq_missing(same)) if now else rows
    return rows


def summaries(rows: pl.DataFrame) -> list[Summary]:
    """Return the figures of stable rows; rows do not keep the reasons for a verdict."""
    return [Summary(**row, reasons={}) for row in rows.select(*FIGURES).to_dicts()]


def _key(inputs: Row) -> str:
    """Return a digest of all inputs of a run."""
    return digest([json.dumps(inputs, sort_keys=True).encode()])


def _names(experiments: Sequence[Experiment]) -> pl.DataFrame:
    """Return the key of each experiment, and the digests of its scheduler, disk and trace."""
    runs = [experiment.columns() for experiment in experiments]
    named = [one | {"key": _key(one), "version": version(one["scheduler"])} for one in runs]
    return pl.DataFrame([{name: one.get(name) for name in NAMES} for one in named], schema=NAMES)


def version(scheduler: str) -> str:
    """Return a digest of the code that runs: the scheduler's own code, and the code of all runs."""
    name = schedulers.SIMULATED.get(scheduler, scheduler)
    return _version(registry.source(name) if registry.known(name) else name)


@cache
def _version(code: registry.Source | str) -> str:
    text = code if isinstance(code, str) else registry.content(code)
    return digest([text.encode(), code_version().encode()])


class Cell(NamedTuple):
    """A run, and what identifies its row."""

    key: str
    version: str
    place: int  # among all runs of the command
    experiment: Experiment


@dataclass(frozen=True)
class Runs:
    """Carries out runs, here or on a node of a cluster; leaves out those of failed schedulers."""

    failures: Failures

    def __call__(self, cell: Cell, stop: threading.Event) -> Row | str:
        """Return the row of a run, or why its scheduler failed."""
        experiment = cell.experiment
        name = experiment.scheduler.name
        if why := self.failures.before(name, cell.place):
            return why
        if version(name) != cell.version:
            raise RunFailed(
                f"{name}: the compiled code differs from that of the command; all nodes must have "
                "the same compiler"
            )
        try:
            figures = _figures(platforms.load(experiment.platform.name), experiment, stop)
        except RunFailed as error:
            self.failures.add(name, cell.place, str(error))
            return str(error)
        return _row(cell, figures)


def _figures(platform: Platform, experiment: Experiment, stop: threading.Event) -> Row:
    """Return the figures of a run; for an unstable run, only the offered load."""
    try:
        summary = platform.summarise(experiment, _silent, stop=stop)
        second_run.check(experiment, lambda: summary)
    except Unstable as error:
        return {"status": UNSTABLE, "utilisation": error.load}
    device = experiment.device
    is_open = experiment.workload.is_open
    trust = verdict(device.disk, device.at_once, [summary], is_open=is_open)
    trust &= second_run.trust(experiment)
    believed = {"trusted": trust.trusted, "because": "; ".join(sentences(trust))}
    return {"status": STABLE, **believed, **asdict(summary)}


def _silent(phase: str, fraction: float) -> None:
    """Ignore the progress of a single run, since the sweep has one bar for all runs."""


def _row(cell: Cell, figures: Row) -> Row:
    """Return a value for every column; None if the run does not have this value."""
    values = {**cell.experiment.columns(), "key": cell.key, "version": cell.version, **figures}
    return {column: values.get(column) for column in SCHEMA}


def _journal(file: Path) -> Path:
    return file.with_name(file.name + ".partial")


def _on_cluster(file: Path) -> Path:
    return file.with_name(file.name + ".cluster")


def _is_unfinished(book: Book) -> bool:
    """Return whether an earlier command has left rows outside the file."""
    return book.journal.exists() or book.on_cluster.exists()


def _read(file: Path) -> pl.DataFrame:
    """Return all rows of the file, its journal and its tasks on a cluster, without duplicates."""
    rows = _read_parquet(file) if file.exists() else pl.DataFrame(schema=SCHEMA)
    noted = _table(chain(_read_journal(_journal(file)), _read_cluster(_on_cluster(file))))
    return pl.concat([rows, noted]).unique(["key", "version"], maintain_order=True)


def _read_parquet(file: Path) -> pl.DataFrame:
    try:
        with file.open("rb") as content:
            frame = pl.read_parquet(content)
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"--out: {file} is not a sweep: {reason}; name another file") from None
    if frame.schema != pl.Schema(SCHEMA):
        raise UserError(
            f"--out: {file} is not a sweep: its columns are not those of this version; "
            "name another file"
        )
    return frame


def _read_journal(file: Path) -> Iterator[Row]:
    """Yield the journal's rows; a last line that is incomplete after a kill is removed."""
    if not file.exists():
        return
    with _writing(file):
        lines = file.read_bytes().split(b"\n")
        cut = lines.pop()
        if cut.startswith(LINE_BEGINS):
            os.truncate(file, file.stat().st_size - len(cut))
        elif cut:
            lines.append(cut)
    for number, line in enumerate(lines, start=1):
        row = _parse(line)
        if row is None:
            raise UserError(
                f"{file}: line {number} is not a row of a sweep; remove the line, or move the "
                "file away to run its rows again"
            )
        yield row


def _read_cluster(folder: Path) -> Iterator[Row]:
    """Yield the rows of runs on a cluster, which may be going on; failures of runs are no rows."""
    for _, (_, answer, _) in Spool(folder).new():
        if row := _checked(answer):
            yield row


def _parse(line: bytes) -> Row | None:
    """Return the row in a line of the journal; None if the line is not a row."""
    try:
        return _checked(json.loads(line))
    except ValueError:
        return None


def _checked(row: Any) -> Row | None:
    """Return the row if it is one; else None."""
    if not isinstance(row, dict) or row.keys() != SCHEMA.keys():
        return None
    fits = all(_fits(row[column], kind) for column, kind in SCHEMA.items())
    return row if fits and row["key"] and row["version"] else None


def _fits(value: Any, kind: Column) -> bool:
    return value is None or isinstance(value, (int, float) if kind is float else kind)


def _is_noted(row: Row, journal: Path) -> bool:
    """Append a row to the journal; if that fails, say so when the command is interrupted, since the
    table is shown nevertheless."""
    try:
        _note(row, journal)
    except RunFailed as error:
        scratch.say_if_interrupted(f"{error}; later runs are lost")
        return False
    return True


def _note(row: Row, journal: Path) -> None:
    """Append a row to the journal, so that it survives a crash."""
    with _writing(journal), journal.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(row) + "\n")


def _put(frame: pl.DataFrame, book: Book) -> None:
    """Write the file, completely or not at all, then remove what kept its rows until then."""
    with scratch.replacing(book.file) as fresh:
        parquet.write(frame, fresh)
    with _writing(book.file):
        book.journal.unlink(missing_ok=True)
    shutil.rmtree(book.on_cluster, ignore_errors=True)
    scratch.say_if_interrupted("")


@contextmanager
def _writing(file: Path) -> Iterator[None]:
    """Turn an OSError of writing into a RunFailed with a message of one line."""
    try:
        yield
    except OSError as error:
        raise RunFailed(f"cannot write {file}: {error.strerror}; try another --out") from error
