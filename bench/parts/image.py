# SPDX-License-Identifier: MIT
"""The papers' file system at full size: the cost of building it, and the effect of size."""

import gzip
import os
import subprocess
import tempfile
import time
from pathlib import Path

from bench.part import Column, Row, Rows
from bench.runs import DEFAULT_BYTES, PAPER_BYTES, cpu_seconds, empty_cache, experiment, run_all
from understudy_devices.base import programs
from understudy_devices.files import image
from understudy_devices.measure import metrics
from understudy_devices.platforms import guest_programs

TITLE = "The papers' full size"
TEXT = """
The papers' file system has a million files on 73.4 GB; smaller disks have proportionally fewer. The
image is built with an empty cache, and files get blocks but no data. Then the compact image is
unpacked to a sparse file, which e2fsck checks.

{{ image }}

`surge-direct` runs with mq-deadline in a VM, on the disk above and on the default disk:

{{ run }}
"""
TABLES = {
    "image": (
        Column("GB", "{gigabytes:.1f}"),
        Column("files", "{files:,}"),
        Column("GB of files", "{file_gigabytes:.1f}"),
        Column("files in pieces (%)", "{fragmented_percent:.1f}"),
        Column("image (MB)", "{image_mb:,.1f}"),
        Column("gzipped (MB)", "{gzipped_mb:,.1f}"),
        Column("build (CPU s)", "{build_cpu_seconds:.1f}"),
        Column("build (wall s)", "{build_wall_seconds:.1f}"),
        Column("e2fsck", "{e2fsck}"),
    ),
    "run": (
        Column("GB", "{gigabytes:.1f}"),
        Column("requests", "{requests:,}"),
        Column("mean response (ms)", "{mean_response_ms:.1f}"),
        Column("hits in the device's cache (%)", "{hit_percent:.1f}"),
        Column("memory of the guest (MiB)", "{memory_mib:,}"),
    ),
}
GB_10 = 10 * 10**9 // 4096 * 4096
MIB_64 = 64 * 2**20
SIZES = {
    "full": {"size": PAPER_BYTES, "run_on": [PAPER_BYTES, DEFAULT_BYTES], "requests": 3000},
    "quick": {"size": GB_10, "run_on": [GB_10, DEFAULT_BYTES], "requests": 2000},
    "tiny": {"size": MIB_64, "run_on": [MIB_64], "requests": 200},
}
IN_VM = True


def measure(size: int, run_on: list[int], requests: int) -> Rows:
    """Build a disk of `size` bytes, check it, and measure runs on it."""
    yield "image", _built(size)
    for virtual_bytes in run_on:
        run = experiment(
            "surge-direct", "mq-deadline", requests=requests, virtual_bytes=virtual_bytes
        )
        [outcome] = run_all([run])
        summary = metrics.summarise(outcome)
        yield (
            "run",
            {
                "gigabytes": virtual_bytes / 1e9,
                "requests": requests,
                "mean_response_ms": summary.mean_response_ms,
                "hit_percent": 100 * summary.hits / summary.dispatched,
                "memory_mib": outcome.facts["memory_mib"],
            },
        )


def _built(size: int) -> Row:
    with empty_cache(), tempfile.TemporaryDirectory() as scratch:
        began, used = time.monotonic(), cpu_seconds()
        file_system = image.build(size, lambda phase, fraction: None)
        built, used = time.monotonic(), cpu_seconds() - used
        return {
            "gigabytes": size / 1e9,
            "files": file_system.facts.files,
            "file_gigabytes": file_system.facts.file_bytes / 1e9,
            "fragmented_percent": 100 * file_system.facts.fragmented_share,
            "image_mb": file_system.blocks.stat().st_size / 1e6,
            "gzipped_mb": _gzipped_bytes(file_system.blocks) / 1e6,
            "build_cpu_seconds": used,
            "build_wall_seconds": built - began,
            "e2fsck": "clean" if _is_clean(file_system, Path(scratch) / "disk") else "NOT CLEAN",
        }


def _gzipped_bytes(path: Path) -> int:
    with path.open("rb") as content:
        chunks = iter(lambda: content.read(2**24), b"")
        return sum(len(gzip.compress(chunk, 6)) for chunk in chunks)


def _is_clean(file_system: image.Image, disk: Path) -> bool:
    with disk.open("wb") as empty:
        empty.truncate(file_system.facts.image_bytes)
    restore = programs.compiled(guest_programs.program("restore"))
    subprocess.run([restore, file_system.blocks, disk], check=True, stdout=subprocess.DEVNULL)
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    command = ["e2fsck", "-fn", str(disk)]
    checked = subprocess.run(
        command, env=os.environ | {"PATH": path}, capture_output=True, check=False
    )
    return checked.returncode == 0
