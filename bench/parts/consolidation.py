# SPDX-License-Identifier: MIT
"""The cost of predicting consolidated VMs: requests per CPU second, and memory."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

from bench.part import Column, Row, Rows
from bench.runs import used
from understudy_devices.consolidation.branches import Branches
from understudy_devices.native.arrivals import write_arrivals
from understudy_devices.native.open_queue import CustomerClass, OpenQueue, simulate
from understudy_devices.native.service_times import ServiceTimes

TITLE = "What a prediction of consolidated VMs costs"
TEXT = """
Three VMs share a device of 32 servers. Arrivals are Poisson, and are read from files. Service times
are sampled during the simulation from a fitted process of 16 phases (Erlang branches of 1, 4 and 11
stages). *Load* is the share of the servers that would be busy without merging. Rates are millions
of requests per CPU second (user and system, including the check of the files), in the fastest of
several simulations. *An hour* is the time that 50 replications of 15 million requests take at that
rate, on two otherwise idle processors.

{{ rates }}

Memory is the peak of the simulating process: its own memory, and the mapped pages of the files of
arrivals (10 bytes for each request). All processes share one copy of these pages in the kernel's
cache, and the kernel drops the pages if memory runs out.
"""
TABLES = {
    "rates": (
        Column("run", "{name}"),
        Column("requests", "{requests:,}"),
        Column("pieces a request", "{pieces:.2f}"),
        Column("load", "{load:.2f}"),
        Column("M requests/s", "{rate:.2f}"),
        Column("M pieces/s", "{piece_rate:.2f}"),
        Column("an hour (min)", "{hour_minutes:.1f}"),
        Column("own memory (MB)", "{own_mb:.1f}"),
        Column("files (MB)", "{files_mb:.0f}"),
    ),
}
SIZES = {
    "full": {"requests": 15_000_000, "repeats": 3},
    "quick": {"requests": 1_500_000, "repeats": 3},
    "tiny": {"requests": 600_000, "repeats": 1},
}
IN_VM = False

SERVERS = 32
CLASSES = 3
WEIGHTS = (1, 2, 4)
PIECES = (1, 1, 1, 1, 1, 1, 1, 1, 2, 4)  # all equally frequent
HOUR_REQUESTS = 15_000_000
HOUR_NS = 3600 * 10**9
REPLICATIONS = 50
PROCESSORS = 2
CASES = (
    ("whole, not merged", (1,), 0.8, 1.0),
    ("split, not merged", PIECES, 0.8, 1.0),
    ("split, two or three as one", PIECES, 1.1, 2.5),
)


def measure(requests: int, repeats: int) -> Rows:
    """Measure a prediction of `requests` requests in all, at a rate of HOUR_REQUESTS an hour."""
    for name, pieces, load, merge in CASES:
        with tempfile.TemporaryDirectory() as folder:
            queue = _queue(Path(folder), requests, pieces, load, merge)
            rows = [_once(queue, seed) for seed in range(1, repeats + 1)]
        best = max(rows, key=lambda one: float(one["rate"]))
        yield "rates", {"name": name, "load": load, **best}


def _queue(
    folder: Path, requests: int, pieces: tuple[int, ...], load: float, merge: float
) -> OpenQueue:
    draw = np.random.default_rng(1)
    gap_ns = CLASSES * HOUR_NS / HOUR_REQUESTS
    mean_ns = load * SERVERS * gap_ns / CLASSES * len(pieces) / sum(pieces)
    classes = []
    for weight in WEIGHTS:
        at = np.cumsum(draw.exponential(gap_ns, requests // CLASSES).astype(np.int64))
        part = folder / str(weight)
        part.mkdir()
        arrivals = write_arrivals(part, at, draw.choice(pieces, len(at)))
        classes.append(CustomerClass(arrivals, _service(mean_ns), weight, merge))
    return OpenQueue(tuple(classes), SERVERS)


def _service(mean_ns: float) -> ServiceTimes:
    change = np.array([[0.8, 0.15, 0.05], [0.1, 0.7, 0.2], [0.02, 0.08, 0.9]])
    branches = Branches(np.array([1.0, 4.0, 11.0]), np.array([0.3, 4.0, 30.0]), change)
    return ServiceTimes.of(branches.process(mean_ns / branches.mean()).tables())


def _once(queue: OpenQueue, seed: int) -> Row:
    peak = _Peak()
    before = sum(used())
    figures = simulate(queue, seed, look=peak.look)
    spent = sum(used()) - before
    requests = sum(each.requests for each in figures.each)
    pieces = sum(each.pieces for each in figures.each)
    return {
        "requests": requests,
        "pieces": pieces / requests,
        "rate": requests / spent / 1e6,
        "piece_rate": pieces / spent / 1e6,
        "hour_minutes": spent / requests * REPLICATIONS * HOUR_REQUESTS / PROCESSORS / 60,
        "own_mb": peak.own_mb,
        "files_mb": peak.files_mb,
    }


class _Peak:
    """The peak memory of this process's children, sampled; None if no child was seen."""

    own_mb: float | None = None
    files_mb: float | None = None

    def look(self, done: int) -> None:
        """Sample the memory that the children use now."""
        for child in _children():
            with suppress(OSError, KeyError):  # the child may end at this time
                status = Path(f"/proc/{child}/status").read_text(encoding="ascii")
                fields = dict(line.split(":", 1) for line in status.splitlines())
                kb = {name: int(fields[name].split()[0]) for name in KINDS}
                own = (kb["RssAnon"] + kb["RssShmem"]) / 1000
                self.own_mb = max(self.own_mb or 0, own)
                self.files_mb = max(self.files_mb or 0, kb["RssFile"] / 1000)


KINDS = ("RssAnon", "RssShmem", "RssFile")


def _children() -> Iterator[int]:
    for thread in Path(f"/proc/{os.getpid()}/task").iterdir():
        yield from map(int, (thread / "children").read_text(encoding="ascii").split())
