# SPDX-License-Identifier: MIT
"""Reads a trace from a file in any format, into the columns of requests.parquet (docs/method.md).

A run folder's requests.parquet contains several runs; FILE:SCHEDULER or FILE:SCHEDULER:SEED
selects one run.  The times in requests.parquet are those of a disk that was k times slower.  They
are divided by k, which result.json in the same folder contains.  NAME.blktrace.0, or NAME alone,
is the trace of all CPUs that blktrace has written (per_cpu.py).

A file may contain requests of several volumes, each with its own sectors; FILE:VOLUME selects one.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl

from understudy_devices.base.errors import UserError
from understudy_devices.traces import faults, formats, rows
from understudy_devices.traces.assembly import Gathered
from understudy_devices.traces.form import Form
from understudy_devices.traces.formats import ANY
from understudy_devices.traces.per_cpu import largest
from understudy_devices.traces.reading import NO_TRANSFER, Reading
from understudy_devices.traces.runs import Choice, Run, has_runs, listed, runs_in
from understudy_devices.traces.trace import Trace

REQUESTS = "requests.parquet"


def load(text: str, form: Form = ANY) -> Trace:
    """Return the trace that --trace names; UserError if it can't be read completely."""
    try:
        return replayable(recorded(text, form))
    except UserError as error:
        raise UserError(f"--trace: {error}") from error


def whole(trace: Trace) -> Trace:
    """Return the trace; UserError if it is not the whole load of one disk."""
    try:
        return replayable(trace)
    except UserError as error:
        raise UserError(f"--trace: {error}") from error


def replayable(trace: Trace) -> Trace:
    """Return the trace; UserError if it is not usable, or does not say where requests were."""
    if not usable(trace).placed:
        raise UserError(
            f"{trace.name}: does not say where on the disk requests were, so only understudy "
            "consolidate and place can use it; record their sectors (fio: log_offset=1)"
        )
    return trace


def usable(trace: Trace) -> Trace:
    """Return the trace; UserError if it lacks requests, or has several volumes."""
    if len(trace.volumes) > 1:
        raise UserError(
            f"{trace.name}: holds {len(trace.volumes):,} volumes, each with its own sectors; name "
            f"one, as {trace.name}:{trace.volumes[0]}; there are: {listed(trace.volumes)}"
        )
    if reason := faults.fault(trace):
        raise UserError(
            f"{trace.name}: {reason}; understudy trace convert {trace.name} "
            "OUT.parquet keeps what can be read"
        )
    return trace


def recorded(text: str, form: Form = ANY) -> Trace:
    """Return the readable part of a trace; `text` is FILE, FILE:VOLUME, FILE:SCHEDULER or
    FILE:SCHEDULER:SEED.
    """
    path, scheduler, seed = parts(text)
    slowdown, choice = 1, Choice(text, scheduler, seed)
    gathered, left_out = Gathered(), Counter[str]()
    broken: str | None = None
    assumed: str | None = None
    since_ns = 0
    for piece in _pieces(path, form):
        assumed = piece.assumed or assumed
        if choice.counts(piece.volume):
            left_out.update(piece.left_out)
        broken = piece.broken or broken
        if not piece.frame.height:
            continue
        ours = has_runs(piece.frame)
        if ours:
            slowdown = _slowdown(path)
        chosen = choice.of(piece.frame, path)
        frame = rows.transfers(chosen, path)
        left_out[NO_TRANSFER] += chosen.height - frame.height
        if frame.height:
            columns = rows.columns(frame, path, piece.relative, ours)
            gathered.put(columns, rows.owners(frame, path), rows.volumes(frame, path))
            since_ns = piece.origin_ns
    choice.check()
    if not gathered.requests:
        raise UserError(f"{path}: {_empty(left_out, broken)}")
    trace = gathered.trace(text, slowdown, dict(+left_out), broken, since_ns)
    return replace(trace, assumed=assumed)


def every_run(text: str) -> list[str]:
    """Return a name FILE:SCHEDULER:SEED for each run that the text names.

    If the file is not in a run folder, return only the text.  UserError if the text names runs of
    several schedulers.
    """
    path, scheduler, seed = parts(text)
    if seed or path.name != REQUESTS or not path.is_file():
        return [text]
    runs: dict[Run, None] = {}
    for frame in (piece.frame for piece in _pieces(path) if piece.frame.height):
        if not has_runs(frame):
            return [text]
        runs |= dict.fromkeys(runs_in(frame))
    names = list(dict.fromkeys(name for name, _ in runs))
    if not scheduler and len(names) > 1:
        raise UserError(
            f"{text}: name one scheduler, as {text}:{names[0]}; there are: {', '.join(names)}"
        )
    return [f"{path}:{name}:{number}" for name, number in runs if scheduler in (None, name)] or [
        text
    ]


def parts(text: str) -> tuple[Path, str | None, str | None]:
    """Return the file, scheduler and seed that the text names."""
    if os.access(text, os.F_OK) or ":" not in text:
        return Path(text), None, None
    path, _, rest = text.partition(":")
    scheduler, _, seed = rest.partition(":")
    return Path(path), scheduler, seed or None


def _pieces(path: Path, form: Form = ANY) -> Iterator[Reading]:
    """Yield the file in blocks with the needed columns and numbered rows; UserError if it has no
    rows.
    """
    requests, left_out, broken = 0, Counter[str](), None
    try:
        with largest(path).open("rb") as file:
            for piece in formats.read(file, form):
                left_out.update(piece.left_out)
                broken = piece.broken or broken
                if piece.frame.height:
                    piece = replace(piece, frame=_numbered(piece.frame, requests, path))
                    requests += piece.frame.height
                yield piece
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from error
    except ValueError as error:
        raise UserError(f"{path}: {error}") from error
    if not requests:
        raise UserError(f"{path}: {_empty(left_out, broken)}")


def _empty(left_out: Counter[str], broken: str | None) -> str:
    """Return in one line why there is no request."""
    reasons = [f"{count:,} {why}" for why, count in (+left_out).items()]
    return "; ".join(["no request in it", *reasons, *filter(None, [broken])])


def _numbered(frame: pl.DataFrame, before: int, path: Path) -> pl.DataFrame:
    for name in rows.NEEDED:
        if name not in frame.columns and not (
            name == "sector" and "completion_ns" in frame.columns
        ):
            has = ", ".join(frame.columns)
            raise UserError(f"{path}: no column {name}; it has {has}")
    return frame.with_row_index(rows.ROW, offset=before + 1)


def _slowdown(path: Path) -> int:
    """Return k, the slowdown of the disk in the runs of a run folder."""
    beside = path.with_name("result.json")
    try:
        scale = float(json.loads(beside.read_text(encoding="utf-8"))["inputs"]["scale"])
    except (OSError, ValueError, LookupError, TypeError):
        scale = 0.0
    if scale < 1 or not scale.is_integer():
        raise UserError(
            f"{path}: {beside} should say by how much its disk was slowed down, but does not; "
            "keep the files of a run folder together"
        )
    return int(scale)
