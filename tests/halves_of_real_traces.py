# SPDX-License-Identifier: MIT
"""Print which traces in folders `consolidate` predicts without an option, and whether each half of
a trace predicts the other half's mean response time.

    PYTHONPATH=tests python tests/halves_of_real_traces.py FOLDER...

A trace is split at the middle of its requests, or of its time (--by time).  Each half alone is
given to `consolidate`, as a VM without neighbours.  The trace passes if the other half's measured
mean is inside the 95 % interval, in both directions.
"""

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from understudy_devices.api.consolidate import consolidate
from understudy_devices.api.consolidated import Consolidated
from understudy_devices.base.errors import UserError
from understudy_devices.consolidation import vm
from understudy_devices.traces.form import Form
from understudy_devices.traces.read import recorded
from understudy_devices.traces.trace import Trace

FEWEST = 20


def traces(folder: Path) -> Iterator[str]:
    """Yield each trace in a folder and its folders."""
    folders = sorted(each for each in folder.iterdir() if each.is_dir())
    yield from vm.runs_of(folder) if any(each.is_file() for each in folder.iterdir()) else ()
    for each in folders:
        yield from traces(each)


def issued_ns(trace: Trace) -> np.ndarray:
    return trace.arrival_ns if trace.dispatch_ns is None else trace.dispatch_ns


def half(trace: Trace, chosen: np.ndarray, file: Path) -> tuple[Path, float]:
    """Write these requests; return the file, and their mean response time in ms."""
    begin_ns, end_ns = issued_ns(trace)[chosen], trace.completed_ns()[chosen]
    columns = {"arrival_ns": begin_ns - begin_ns.min(), "completion_ns": end_ns - begin_ns.min()}
    columns |= {"sector": trace.sector[chosen], "sectors": trace.sectors[chosen]}
    op = np.where(trace.op[chosen] == 0, "read", "write")
    pl.DataFrame({**columns, "op": op}).write_parquet(file)
    return file, float((end_ns - begin_ns).mean() / vm.NS_PER_MS)


def halves(trace: Trace, by_time: bool) -> Iterator[np.ndarray]:
    begin_ns = issued_ns(trace)
    middle = (begin_ns.min() + begin_ns.max()) / 2 if by_time else np.median(begin_ns)
    yield begin_ns <= middle
    yield begin_ns > middle


def short(error: UserError, name: str) -> str:
    return str(error).removeprefix(f"{name}: ")[:150]


def limits(answer: Consolidated) -> tuple[float, float]:
    low, high = answer.document["vms"][0]["together"]["ci95_ms"]
    return low, np.inf if high is None else high


def crossed(trace: Trace, by_time: bool) -> tuple[bool, str]:
    """Return whether both halves predict each other's mean, and the figures."""
    with tempfile.TemporaryDirectory() as folder:
        chosen = list(halves(trace, by_time))
        if min(part.sum() for part in chosen) < FEWEST:
            return False, f"a half has {min(part.sum() for part in chosen)} requests"
        parts = [half(trace, part, Path(folder, f"{k}.parquet")) for k, part in enumerate(chosen)]
        inside, words = [], []
        for (file, own_ms), (_, other_ms) in (parts, parts[::-1]):
            try:
                low, high = limits(consolidate({"half": file}))
            except UserError as error:
                return False, f"half refused: {short(error, 'half')}"
            inside.append(low <= other_ms <= high)
            words.append(f"{own_ms:.4g} ({low:.4g} to {high:.4g}) {'yes' if inside[-1] else 'NO'}")
        return all(inside), "; ".join(words)


def main() -> None:
    """Print a line for each trace, then the totals."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--by", choices=("requests", "time"), default="requests")
    parser.add_argument("--only", default="", help="part of a name")
    given = parser.parse_args()
    predicted = passed = count = 0
    for text in (text for folder in given.folders for text in traces(folder)):
        name = Path(text).name
        if given.only not in text:
            continue
        try:
            trace = recorded(text, Form())
            trace.completed_ns()
        except UserError as error:
            print(f"{name:40} no trace: {short(error, text)}", flush=True)
            continue
        count += 1
        try:
            answer = consolidate({"vm": text})
        except UserError as error:
            print(f"{name:40} {len(trace):7,} REFUSED {short(error, text)}", flush=True)
            continue
        predicted += 1
        one = answer.document["vms"][0]
        low, high = limits(answer)
        alone, together = one["alone"]["mean_response_ms"], one["together"]["mean_response_ms"]
        print(
            f"{name:40} {len(trace):7,} D {answer.document['device']['servers']} alone "
            f"{alone:.4g} predicted {together:.4g} ({low:.4g} to {high:.4g}) {answer.trusted}",
            flush=True,
        )
        both, words = crossed(trace, given.by == "time")
        passed += both
        print(f"{'':40} {'PASSED' if both else 'failed'}: {words}", flush=True)
    print(f"{count} traces with response times, {predicted} predicted, {passed} halves passed")


if __name__ == "__main__":
    main()
