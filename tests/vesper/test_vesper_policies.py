# SPDX-License-Identifier: MIT
"""Prefetchers and replacement policies in the example: its runs are the simulator's, also with
merged requests and with pages that leave the cache.
"""

import subprocess
from pathlib import Path

import polars as pl
import pytest
from places import CHECKOUT
from vesper_builds import output_of, understudy

pytestmark = [pytest.mark.thorough, pytest.mark.xdist_group("vesper_policies")]

CORE = CHECKOUT / "core"
PREFETCHERS = sorted(file.stem for file in (CORE / "prefetch").glob("*.c"))
REPLACERS = sorted(file.stem for file in (CORE / "replacement").glob("*.c"))
SCHEDULERS = ("fcfs", "clook")
COLUMNS = ["owner", "sector", "sectors", "arrival_ns", "dispatch_ns", "completion_ns"]


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the example, as a student gets it."""
    folder = tmp_path_factory.mktemp("policies")
    understudy("vesper", "--out", folder, "--with", "example")
    return folder


def built(folder: Path, scheduler: str, prefetcher: str, replacer: str) -> Path:
    """Build the example with these files."""
    files = (
        f"SCHEDULER={CORE / 'schedulers' / scheduler}.c",
        f"PREFETCHER={CORE / 'prefetch' / prefetcher}.c",
        f"REPLACER={CORE / 'replacement' / replacer}.c",
    )
    command = ["make", "-s", "-W", "os.h", *files]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "concurrent_read"


@pytest.mark.parametrize("replacer", REPLACERS)
@pytest.mark.parametrize("prefetcher", PREFETCHERS)
def test_each_request_is_that_of_the_simulator(
    example: Path, tmp_path: Path, prefetcher: str, replacer: str
) -> None:
    programs = [
        built(example, each, prefetcher, replacer).rename(tmp_path / each) for each in SCHEDULERS
    ]
    for pages in (16, 96):
        words = ("--workload", "concurrent-read", "--virtual-size", "128KiB", "--seed", "3")
        size = ("--requests", "20000", "--seeds", "1", "--page-cache", f"{pages}s")
        policies = ("--read-ahead", "4", "--prefetch", prefetcher, "--replacement", replacer)
        disk = ("--disk", "vesper-zoned-small", "--schedulers", ",".join(SCHEDULERS))
        out = tmp_path / f"run-{pages}"
        understudy("predict", *words, *size, *policies, *disk, "--out", out)
        frame = pl.read_parquet(out / "requests.parquet")
        for program in programs:
            options = ("--cache", pages, "--prefetch", 8, "--seed", 3, "--log")
            lines = output_of(program, "--disk", "vesper-zoned-small", *options).splitlines()
            rows = [tuple(map(int, line.split())) for line in lines if line[0].isdigit()]
            same = frame.filter(pl.col("scheduler") == program.name).select(COLUMNS).rows()
            assert sorted(rows) == sorted(same), (program.name, pages)
