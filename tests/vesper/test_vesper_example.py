# SPDX-License-Identifier: MIT
"""The example of an operating system: its runs are the simulator's, to the nanosecond."""

import subprocess
from pathlib import Path

import polars as pl
import pytest
from places import CHECKOUT
from vesper_builds import output_of, understudy

pytestmark = [pytest.mark.thorough, pytest.mark.xdist_group("vesper_example")]

SCHEDULERS = ("fcfs", "sstf", "clook", "look", "deadline", "anticipatory")
DISKS = ("vesper-zoned-small", "vesper-flat-small", "cheetah-15k4")
COLUMNS = ["owner", "sector", "sectors", "arrival_ns", "dispatch_ns", "completion_ns"]


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the example, as a student gets it."""
    folder = tmp_path_factory.mktemp("example")
    understudy("vesper", "--out", folder, "--with", "example")
    return folder


def make(folder: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """Run make in the example's folder."""
    command = ["make", "-s", *map(str, words)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def programs(example: Path) -> dict[str, Path]:
    """Build the example with each scheduler."""
    found = {}
    for name in SCHEDULERS:
        done = make(example, f"SCHEDULER={CHECKOUT}/core/schedulers/{name}.c", "-W", "os.h")
        assert done.returncode == 0, done.stderr
        assert not done.stderr
        found[name] = (example / "concurrent_read").rename(example / f"with_{name}")
    return found


def simulated(folder: Path, disk: str, *options: str) -> pl.DataFrame:
    """Return the requests of the same runs in the simulator."""
    words = ("--workload", "concurrent-read", "--virtual-size", "128KiB", "--requests", "20000")
    names = ("--schedulers", ",".join(SCHEDULERS), "--disk", disk, "--seed", "7", "--seeds", "1")
    understudy("predict", *words, *names, *options, "--out", folder)
    return pl.read_parquet(folder / "requests.parquet")


def logged(program: Path, disk: str, *options: str) -> list[tuple[int, ...]]:
    """Return the example's requests, in order of arrival."""
    lines = output_of(program, "--disk", disk, "--seed", 7, "--log", *options).splitlines()
    rows = [tuple(map(int, line.split())) for line in lines if line[0].isdigit()]
    return sorted(rows, key=lambda row: (row[3], row[0], row[1]))


@pytest.mark.parametrize("disk", DISKS)
@pytest.mark.parametrize(
    ("there", "here"),
    [((), ()), (("--page-cache", "128KiB", "--read-ahead", "0"), ("--cache", "256"))],
    ids=["uncached", "cached"],
)
def test_each_request_is_that_of_the_simulator(
    programs: dict[str, Path],
    tmp_path: Path,
    disk: str,
    there: tuple[str, ...],
    here: tuple[str, ...],
) -> None:
    frame = simulated(tmp_path / "run", disk, *there)
    for name, program in programs.items():
        rows = frame.filter(pl.col("scheduler") == name).select(COLUMNS).rows()
        assert len(rows) == (200 if there else 10_000)
        assert logged(program, disk, *here) == sorted(
            rows, key=lambda row: (row[3], row[0], row[1])
        ), name


def test_statistics(programs: dict[str, Path]) -> None:
    head, sums = output_of(programs["sstf"], "--seed", 1).splitlines()
    assert head == "scheduler sstf: 10000 requests, 10160 sectors"
    assert sums == (
        "elapsed 65054.157 ms: seek 24354.240, rotation 30000.000, transfer 10699.917, "
        "cache 0.000, idle 0.000"
    )


def test_a_small_cache_still_reads_what_the_files_have(programs: dict[str, Path]) -> None:
    for pages in (1, 3, 9, 10, 11):
        assert "cache of" in output_of(programs["clook"], "--cache", pages)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--blocks", "99"], "do not fit: take more --blocks"),
        (["--blocks", "-1"], "is not a number"),
        (["--disk", "none"], "no such profile"),
        (["--prefetch", "4", "--cache", "8"], "the cache does not start"),
        (["--seed"], "needs a value"),
        (["--sed", "1"], "there are --disk"),
    ],
)
def test_what_it_refuses(programs: dict[str, Path], words: list[str], reason: str) -> None:
    command = [str(programs["fcfs"]), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert reason in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_scheduler_that_needs_a_model_is_refused(example: Path) -> None:
    assert not make(example, f"SCHEDULER={CHECKOUT}/core/schedulers/sptf.c", "-W", "os.h").stderr
    command = [example / "concurrent_read"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "sptf needs a model of the disk" in done.stderr


def test_the_first_profile_that_is_compiled_in_is_the_default(tmp_path: Path) -> None:
    """--help lists the profiles, and costs no run."""
    disks = ("--disk", "vesper-flat", "--disk", "vesper-zoned")
    understudy("vesper", "--out", tmp_path, "--with", "example", *disks)
    assert make(tmp_path).returncode == 0
    said = output_of(tmp_path / "concurrent_read", "--help")
    listed = [line.strip() for line in said.splitlines() if line.startswith(20 * " ")]
    assert listed == ["vesper-flat", "vesper-zoned"]
    assert "requests" not in said.replace("each request", "")
    default = output_of(tmp_path / "concurrent_read")
    assert default == output_of(tmp_path / "concurrent_read", "--disk", "vesper-flat")
    assert default != output_of(tmp_path / "concurrent_read", "--disk", "vesper-zoned")
