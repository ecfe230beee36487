# SPDX-License-Identifier: MIT
"""How fast binary block traces are read."""

import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import numpy.typing as npt

from bench.part import Column, Rows
from understudy_devices.base.errors import RunFailed
from understudy_devices.traces.formats import blktrace

TITLE = "How fast traces are read"
TEXT = """
The traces are the kernel's binary block traces, version 7, with one file for each of four CPUs.
Each request has seven records (queued, allocated, plugged, inserted, unplugged, issued, completed).
Requests are at random locations, and 32 are outstanding at a time. The benchmark reads the files,
which are already in the page cache, into tables of Polars. MB are 10^6 bytes; CPU seconds are user
and system together.

{{ traces }}
"""
TABLES = {
    "traces": (
        Column("MB", "{mb:,.1f}"),
        Column("records", "{records:,}"),
        Column("requests", "{requests:,}"),
        Column("CPU s", "{cpu_s:,.3f}"),
        Column("MB / CPU s", "{mb_per_s:,.0f}"),
        Column("records / CPU s", "{records_per_s:,.0f}"),
    )
}
SIZES = {
    "full": {"requests": [300_000, 1_500_000]},
    "quick": {"requests": [300_000]},
    "tiny": {"requests": [1000]},
}
IN_VM = False

CPUS = 4
OUTSTANDING = 32
SECTORS = 8
GAP_NS = 1000
ACTIONS = np.array([0x00100001, 0x00100004, 0x00100009, 0x0010000C, 0x0010000A, 0x00400007])
COMPLETE = 0x00800008
RECORD = np.dtype(
    [
        *((name, np.uint32) for name in ("magic", "sequence")),
        *((name, np.uint64) for name in ("time", "sector")),
        *((name, np.uint32) for name in ("bytes", "action", "pid", "device", "cpu")),
        *((name, np.uint16) for name in ("error", "payload")),
    ]
)


def measure(requests: list[int]) -> Rows:
    """Yield a row for each number of requests."""
    for number in requests:
        with TemporaryDirectory(dir="/var/tmp") as folder:
            records = _write(Path(folder), number)
            yield "traces", _read(Path(folder) / "x.blktrace.0", records, number)


def _write(folder: Path, requests: int) -> int:
    """Write the files of a trace, and return the number of records."""
    records = _records(requests)
    for cpu in range(CPUS):
        of_cpu = records[records["cpu"] == cpu]
        of_cpu["sequence"] = np.arange(1, len(of_cpu) + 1)
        (folder / f"x.blktrace.{cpu}").write_bytes(of_cpu.tobytes())
    return len(records)


def _records(requests: int) -> npt.NDArray[np.void]:
    """Return all records in order of time; a new request starts every GAP_NS."""
    draw = np.random.default_rng(1)
    life = np.zeros((requests, len(ACTIONS) + 1), RECORD)
    life["magic"] = 0x65617407
    life["device"] = 8 << 20
    life["sector"] = (draw.permutation(requests) * SECTORS)[:, None]
    life["bytes"] = SECTORS * 512
    life["pid"] = draw.integers(100, 108, requests)[:, None]
    life["cpu"] = draw.integers(0, CPUS, life.shape)
    begin_ns = (np.arange(requests, dtype=np.uint64) * GAP_NS)[:, None]
    life["time"] = begin_ns + np.arange(len(ACTIONS) + 1, dtype=np.uint64)
    life["time"][:, -1] += OUTSTANDING * GAP_NS
    life["action"][:, :-1] = ACTIONS
    life["action"][:, -1] = COMPLETE
    flat = life.reshape(-1)
    return flat[np.argsort(flat["time"], kind="stable")]


def _read(path: Path, records: int, requests: int) -> dict[str, float]:
    before_s = time.process_time()
    with path.open("rb") as file:
        pieces = list(blktrace.read(file))
    cpu_s = time.process_time() - before_s
    rows = sum(piece.frame.height for piece in pieces)
    if rows != requests or any(piece.left_out or piece.broken for piece in pieces):
        raise RunFailed(f"{rows} of {requests} requests were read")
    mb = records * RECORD.itemsize / 1e6
    return {
        "mb": mb,
        "records": records,
        "requests": requests,
        "cpu_s": cpu_s,
        "mb_per_s": mb / cpu_s,
        "records_per_s": records / cpu_s,
    }
