# SPDX-License-Identifier: MIT
"""The cost of a whole prediction, from traces to the run folder: CPU seconds, and memory."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

from bench.part import Column, Row, Rows
from bench.runs import used
from understudy_devices.base.errors import RunFailed

TITLE = "What a whole prediction of consolidated VMs costs"
TEXT = """
The figures are for `understudy consolidate web=web.parquet mail=mail.parquet db=db.parquet
--queue-depth 32 --merge common --replications 50`,
from the start of the command to its end. The command reads traces, fits service times, searches for
the merge value, simulates 50 replications, and writes the run folder. The traces together have 15
million requests an hour, at a load of 0.74 on 32 servers. About 500 requests arrive in each burst,
at four times the rate between bursts. Service times are log-normal, and stay similar for 50
requests at a time.

{{ predictions }}

CPU seconds and memory are sums over all processes of the command. Memory is the peak, sampled
twenty times a second, of the processes' own memory and of their mapped files. The kernel keeps as
many pages of mapped files as it has room for, and a page that two processes map counts twice.
"""
TABLES = {
    "predictions": (
        Column("requests", "{requests:,}"),
        Column("user CPU s", "{user_s:.0f}"),
        Column("system CPU s", "{system_s:.0f}"),
        Column("wall s", "{wall_s:.0f}"),
        Column("own memory (MB)", "{own_mb:.0f}"),
        Column("files (MB)", "{files_mb:.0f}"),
    ),
}
SIZES = {
    "full": {"requests": [1_500_000, 15_000_000]},
    "quick": {"requests": [1_500_000]},
    "tiny": {"requests": [30_000]},
}
IN_VM = False

MEAN_MS = {"web": 4.0, "mail": 7.0, "db": 6.0}  # mean service times
GAP_NS = 720_000  # 5 million requests an hour
BURST, ALIKE = 500, 50  # requests
REPLICATIONS = 50
LOOKS_A_SECOND = 20
OWN = ("RssAnon", "RssShmem")


def measure(requests: list[int]) -> Rows:
    """Yield a row for each number of requests, which counts the requests of all VMs together."""
    for number in requests:
        with TemporaryDirectory(dir="/var/tmp") as folder:
            figures = _predicted(Path(folder), number // len(MEAN_MS))
        yield "predictions", {"requests": number, **figures}


def _predicted(folder: Path, requests: int) -> Row:
    for seed, (name, mean_ms) in enumerate(MEAN_MS.items(), start=1):
        _trace(requests, mean_ms, seed).write_parquet(folder / f"{name}.parquet")
    vms = [f"{name}={name}.parquet" for name in MEAN_MS]
    options = ["--queue-depth", "32", "--merge", "common", "--replications", f"{REPLICATIONS}"]
    command = ["-m", "understudy_devices", "consolidate", *vms, *options]
    user_s, system_s = used()
    began_s = time.monotonic()
    with (folder / "said").open("w+", encoding="utf-8") as output:
        running = subprocess.Popen(
            [sys.executable, *command, "--out", "out"], cwd=folder, stdout=output, stderr=output
        )
        peak = _peak(running)
        if running.returncode:
            output.seek(0)
            raise RunFailed(output.read())
    now_s = used()
    return {
        "user_s": now_s[0] - user_s,
        "system_s": now_s[1] - system_s,
        "wall_s": time.monotonic() - began_s,
        **peak,
    }


def _trace(requests: int, mean_ms: float, seed: int) -> pl.DataFrame:
    """Return the trace of one VM."""
    draw = np.random.default_rng(seed)
    bursts = np.arange(requests) // BURST % 2
    gaps_ns = draw.exponential(GAP_NS, requests) * np.where(bursts, 0.4, 1.6)
    alike = np.repeat(draw.normal(0, 0.5, requests // ALIKE + 1), ALIKE)[:requests]
    service = np.exp(alike + draw.normal(0, 0.5, requests))
    service_ns = (service * (mean_ms * 1e6 / service.mean())).astype(np.int64) + 1000
    arrival_ns = np.cumsum(gaps_ns).astype(np.int64)
    return pl.DataFrame(
        {
            "arrival_ns": arrival_ns,
            "completion_ns": arrival_ns + service_ns,
            "sector": draw.integers(0, 2**30, requests) * 8,
            "sectors": draw.choice([8, 8, 8, 16, 32, 128, 256, 2048], requests),
            "op": np.where(draw.random(requests) < 0.3, "write", "read"),
        }
    )


def _peak(running: "subprocess.Popen[bytes]") -> dict[str, float]:
    """Wait until the process ends, and return the peak of the total memory of the process and its
    descendants.
    """
    own_mb = files_mb = 0.0
    while running.poll() is None:
        seen = [_memory(process) for process in _family(running.pid)]
        own_mb = max(own_mb, sum(own for own, _ in seen))
        files_mb = max(files_mb, sum(files for _, files in seen))
        time.sleep(1 / LOOKS_A_SECOND)
    return {"own_mb": own_mb, "files_mb": files_mb}


def _memory(process: int) -> tuple[float, float]:
    """Return the process's own memory and its mapped files, in MB; 0 for both if the process is
    just ending.
    """
    with suppress(OSError, KeyError):
        status = Path(f"/proc/{process}/status").read_text(encoding="utf-8", errors="replace")
        fields = dict(line.split(":", 1) for line in status.splitlines())
        mb = {name: int(fields[name].split()[0]) / 1000 for name in (*OWN, "RssFile")}
        return sum(mb[name] for name in OWN), mb["RssFile"]
    return 0.0, 0.0


def _family(process: int) -> Iterator[int]:
    """Yield the process and all its descendants."""
    yield process
    with suppress(OSError):
        for thread in Path(f"/proc/{process}/task").iterdir():
            for child in (thread / "children").read_text(encoding="ascii").split():
                yield from _family(int(child))
