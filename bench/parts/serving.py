# SPDX-License-Identifier: MIT
"""How accurately a served disk keeps the modelled times, and how many requests per second it
serves.
"""

import json
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.part import Column, Row, Rows
from understudy_devices.base.errors import RunFailed

TITLE = "How well a served disk keeps its time"
TEXT = """
fio's NBD engine reads 4 KiB at random from `understudy serve-disk --disk NAME`, over a socket of
this host. Times are wall times, so the figures include the effect of other work on the machine.
*Lateness* is the time from a request's due time to the server's answer. *Error* is the mean
lateness as a percentage of the mean service time, for requests that take a millisecond or more.
*fio saw* is the response time that fio measures, including the transfer over the socket. In the
first row this is the transfer time alone, since the disk's service time is zero. With several
requests outstanding, *fio saw* is left out.

{{ kept }}

The next table has the requests per second from a disk with a service time of zero, and from
nbdkit's memory disk without Understudy's filter. The two are measured alternately, and the figures
are medians of the runs. *Depth* is the queue depth of each connection.

{{ passed }}
"""
TABLES = {
    "kept": (
        Column("disk", "{disk}"),
        Column("depth", "{depth}"),
        Column("requests", "{requests:,}"),
        Column("mean service (ms)", "{service_ms:.3f}"),
        Column("error (%)", "{error_percent:.2f}"),
        Column("lateness (us): mean", "{mean_us:.1f}"),
        Column("p50", "{p50_us:.1f}"),
        Column("p99", "{p99_us:.0f}"),
        Column("most", "{max_us:.0f}"),
        Column("fio saw (ms)", "{seen_ms:.3f}"),
    ),
    "passed": (
        Column("connections", "{connections}"),
        Column("depth", "{depth}"),
        Column("bytes", "{block}"),
        Column("requests/s", "{timed:,.0f}"),
        Column("without our filter", "{alone:,.0f}"),
        Column("share", "{share:.2f}"),
    ),
}
SIZES = {
    "full": {"requests": 2000, "seconds": 5, "repeats": 5},
    "quick": {"requests": 1000, "seconds": 3, "repeats": 3},
    "tiny": {"requests": 20, "seconds": 0.1, "repeats": 1},
}
IN_VM = False

MODEL = 'summary = "bench"\n[model]\nintercept_ms = {ms}\nfull_seek_ms = 0\n'
NO_TIME = MODEL.format(ms=0.000001)
DISKS: Mapping[str, tuple[str, int]] = {
    "no time": (NO_TIME, 1),
    "1 ms": (MODEL.format(ms=1.0), 1),
    "3 ms": (MODEL.format(ms=3.0), 1),
    "cheetah-15k4": ("", 1),
    "cheetah-9lp": ("", 1),
    "cheetah-15k4, busy": ("", 8),
    "array-32": ("", 16),
}
PASSED = ((1, 16, "4k"), (4, 16, "4k"), (4, 64, "4k"), (4, 64, "512"))
BYTES = 1 << 30
COMMAND = Path(sys.executable).parent / "understudy"
READY = "Ctrl-C ends it"

Seen = dict[str, Any]


def measure(requests: int, seconds: float, repeats: int) -> Rows:
    """Measure the lateness first, then the throughput."""
    for name, (profile, depth) in DISKS.items():
        yield "kept", _kept(name, profile, depth, requests)
    for connections, depth, block in PASSED:
        jobs = (f"--numjobs={connections}", f"--iodepth={depth}", f"--bs={block}")
        limit = ("--time_based", f"--runtime={round(1000 * seconds)}ms")
        both = [
            (_served("no time", NO_TIME, *jobs, *limit)[0], _in_memory(*jobs, *limit))
            for _ in range(repeats)
        ]
        timed, alone = (
            statistics.median(seen["iops"] for seen in each) for each in zip(*both, strict=True)
        )
        row = {"connections": connections, "depth": depth, "block": block}
        yield "passed", row | {"timed": timed, "alone": alone, "share": timed / alone}


def _kept(name: str, profile: str, depth: int, requests: int) -> Row:
    limit = (f"--iodepth={depth}", "--bs=4k", f"--number_ios={requests}")
    seen, report = _served(name, profile, *limit)
    error, late = report["service_error"], report["lateness_us"]
    return {
        "disk": name,
        "depth": depth,
        "requests": report["requests"],
        "service_ms": report["mean_service_ms"],
        "error_percent": None if error is None else 100 * error,
        **{f"{key}_us": late[key] for key in ("mean", "p50", "p99", "max")},
        "seen_ms": seen["clat_ns"]["mean"] / 1e6 if depth == 1 else None,
    }


def _served(name: str, profile: str, *load: str) -> tuple[Seen, Seen]:
    """Return fio's figures for a disk under `load`, and the figures that the disk reports."""
    with tempfile.TemporaryDirectory() as folder:
        file, place = Path(folder) / "bench.toml", Path(folder) / "disk.sock"
        file.write_text(profile)
        disk = str(file) if profile else name.partition(",")[0]
        words = ("serve-disk", "--json", "--disk", disk, "--socket", str(place))
        process = subprocess.Popen(
            [str(COMMAND), *words, "--size", str(BYTES)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stderr
            if not any(line.startswith(READY) for line in process.stderr):
                raise RunFailed("serve-disk did not begin")
            seen = _fio(place, *load)
        finally:
            process.send_signal(signal.SIGINT)
            report, _ = process.communicate()
    return seen, json.loads(report)


def _in_memory(*load: str) -> Seen:
    """Return fio's figures for nbdkit's own memory disk."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "disk.sock"
        words = ("nbdkit", "--foreground", "--unix", str(place), "memory", str(BYTES))
        with subprocess.Popen(words) as process:
            try:
                while not place.exists() and process.poll() is None:
                    time.sleep(0.01)
                return _fio(place, *load)
            finally:
                process.kill()


def _fio(place: Path, *load: str) -> Seen:
    """Run fio, and return the figures for its reads."""
    out = place.with_name("fio.json")
    uri = f"--uri=nbd+unix:///?socket={place}"
    command = ["fio", "--name=bench", "--ioengine=nbd", uri, "--rw=randread", "--randrepeat=1"]
    command += ["--group_reporting", "--output-format=json", f"--output={out}", *load]
    done = subprocess.run(command, cwd=place.parent, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunFailed(f"fio failed: {done.stderr.strip() or done.stdout.strip()}")
    return dict(json.loads(out.read_text())["jobs"][0]["read"])
