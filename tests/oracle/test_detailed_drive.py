# SPDX-License-Identifier: MIT
"""The oracle (oracle/detailed/detailed.h) as a whole: queue, random drives, bad input, fuzzing.

Its parts are tested in test_detailed_*.py.
"""

import subprocess
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from detailed_drives import BARE, CACHED, ROUNDING_NS, SOON_NS, seek_ns

from oracle.detailed.drive import (
    FOLDER,
    MS,
    DetailedDrive,
    Request,
    Zone,
    random_drive,
    random_parameters,
)

# ---- command queueing ---------------------------------------------------------------


def served_alone_ns(drive: DetailedDrive, request: Request) -> int:
    drive.reset()
    now_ns = drive.request("read", 200_000, 8, 0)
    return drive.request(request.op, request.sector, request.sectors, now_ns)


def test_the_soonest_is_chosen() -> None:
    """Each request is timed alone. All are equally long, so the first to begin completes first."""
    drive = DetailedDrive(BARE)
    rng = np.random.default_rng(5)
    for _ in range(200):
        queue = [
            Request("read", int(sector), 1, 0) for sector in rng.integers(0, 300 * 4 * 400 // 2, 12)
        ]
        alone = [served_alone_ns(drive, request) for request in queue]
        drive.reset()
        now_ns = drive.request("read", 200_000, 8, 0)
        assert drive.choose(queue, now_ns) == alone.index(min(alone))


def test_hits_go_first_and_the_aged_before_them() -> None:
    drive = DetailedDrive(replace(CACHED, queue_age_ns=100 * MS))
    now_ns = drive.request("read", 200_000, 8, 0)
    queue = [Request("read", 200_020, 8, now_ns), Request("read", 200_000, 8, now_ns)]
    assert drive.choose(queue, now_ns) == 1
    late_ns = now_ns + 101_000_000
    queue[0] = replace(queue[0], sector=400_000)
    queue[1] = replace(queue[1], arrival_ns=late_ns)
    assert drive.choose(queue, late_ns) == 0
    assert drive.choose(queue, late_ns - 2_000_000) == 1


def test_only_the_queues_head_is_looked_at() -> None:
    drive = DetailedDrive(replace(CACHED, queue_depth=2))
    now_ns = drive.request("read", 200_000, 8, 0)
    queue = [Request("read", sector, 8, 0) for sector in (300_000, 10, 200_000)]
    assert drive.choose(queue, now_ns) < 2


# ---- all drives ------------------------------------------------------------------------


def random_trace(drive: DetailedDrive, seed: int, n: int) -> list[npt.NDArray[np.int64]]:
    """Return a random trace as columns write, sector, sectors and think_ns.

    It has streams, jumps, re-reads, writes and pauses.
    """
    rng = np.random.default_rng(seed)
    start = rng.integers(0, drive.capacity_sectors - 20_000, n)
    step = rng.integers(0, 64, n)
    sector = start[np.arange(n) // 8 * 8] + np.cumsum(step) % 10_000
    think_ns = rng.choice([0, 0, 300_000, 20_000_000], n) * rng.integers(0, 2, n)
    return [rng.integers(0, 4, n) == 0, sector, 1 + rng.integers(0, 32, n), think_ns]


@pytest.mark.parametrize("seed", range(12))
def test_the_same_requests_take_the_same_time(seed: int) -> None:
    """The times are the same in a second batch, and for single requests to a second drive."""
    drive = random_drive(seed)
    write, sector, sectors, think_ns = random_trace(drive, seed, 3000)
    first = drive.batch(write, sector, sectors, 0, think_ns)
    drive.reset()
    assert (drive.batch(write, sector, sectors, 0, think_ns) == first).all()
    other = random_drive(seed)
    now_ns = 0
    for index in range(len(first)):
        op = "write" if write[index] else "read"
        now_ns = other.request(
            op, int(sector[index]), int(sectors[index]), now_ns + int(think_ns[index])
        )
        assert now_ns == first[index]


@pytest.mark.parametrize("seed", range(12))
def test_looking_does_not_change_anything(seed: int) -> None:
    """Background work in idle time does not depend on when choose() is called."""
    drive = random_drive(seed)
    write, sector, sectors, think_ns = random_trace(drive, seed, 1000)
    expected = drive.batch(write, sector, sectors, 0, think_ns)
    drive.reset()
    now_ns = 0
    for index in range(len(expected)):
        for part in (0.3, 0.7, 1):
            looked_ns = now_ns + int(part * think_ns[index])
            drive.choose([Request("read", 0, 1, looked_ns)], looked_ns)
        op = "write" if write[index] else "read"
        now_ns = drive.request(
            op, int(sector[index]), int(sectors[index]), now_ns + int(think_ns[index])
        )
        assert now_ns == pytest.approx(expected[index], abs=ROUNDING_NS)


@pytest.mark.parametrize("seed", range(12))
def test_no_request_is_faster_than_overhead_and_bus(seed: int) -> None:
    drive = random_drive(seed)
    p = drive.parameters
    write, sector, sectors, think_ns = random_trace(drive, seed, 20_000)
    completions = drive.batch(write, sector, sectors, 0, think_ns)
    took_ns = np.diff(completions, prepend=0) - think_ns
    overhead_ns = np.where(write, p.write_overhead_ns, p.read_hit_overhead_ns)
    assert (took_ns >= overhead_ns + sectors * p.bus_sector_ns - 1).all()


def test_random_drives_are_plausible_and_differ() -> None:
    drives = [random_parameters(seed) for seed in range(300)]
    assert len(set(drives)) == 300
    for p in drives:
        media_mb_s = p.zone[0].sectors * 512 / p.period_ns * 1e3
        cylinders = sum(zone.cylinders for zone in p.zone)
        capacity_gb = DetailedDrive(p).capacity_sectors * 512 / 1e9
        assert 4 <= capacity_gb <= 2000
        assert 5 <= media_mb_s <= 350
        assert 3 * MS < seek_ns(p, cylinders // 3) + p.read_settle_ns < 13.5 * MS
        assert 0.1 * MS < seek_ns(p, 1) + p.read_settle_ns < 3 * MS
        assert p.seek_b_ns > 0
        assert p.segments * p.segment_sectors + p.write_sectors <= 2 * 64 * 1024
        assert p.segments == 1 or p.segment_sectors >= p.zone[0].sectors / 4
    for share in (
        np.mean([p.write_sectors > 0 for p in drives]),
        np.mean([p.ahead_stops_at_track_end for p in drives]),
        np.mean([p.ahead_stops_at_hits for p in drives]),
    ):
        assert 0.2 < share < 0.8


@pytest.mark.parametrize("seed", range(40))
def test_random_drives_stream_at_their_mediums_rate(seed: int) -> None:
    """Skews and a small segment reduce the rate, but no drive loses a rotation per request."""
    drive = random_drive(seed)
    p = drive.parameters
    media = p.zone[0].sectors / p.period_ns
    n = 2000
    completions = drive.batch(0, np.arange(n) * 64, 64)
    rate = n * 64 / completions[-1]
    assert 0.4 * media < rate < 1.01 * min(media, 1 / p.bus_sector_ns)


@pytest.mark.parametrize(
    ("op", "sector", "sectors", "at_ns"),
    [("read", 0, 0, 0), ("read", 10**9, 1, 0), ("write", 0, 10**7, 0), ("read", 0, 1, 5)],
)
def test_what_is_not_possible_is_refused(op: str, sector: int, sectors: int, at_ns: int) -> None:
    drive = DetailedDrive(BARE)
    drive.request("read", 0, 1, 10)
    with pytest.raises(ValueError, match="not possible"):
        drive.request(op, sector, sectors, at_ns if at_ns else SOON_NS)


@pytest.mark.parametrize(
    "wrong",
    [
        {"zone": ()},
        {"heads": 0},
        {"period_ns": 0},
        {"zone": (Zone(0, 1),)},
        {"zone": (Zone(1, 10, 0, 4),)},
        {"write_settle_ns": 0},
        {"bus_sector_ns": -1},
        {"write_sectors": 8},
        {"segment_sectors": 1},
        {"layout": 3},
    ],
)
def test_parameters_of_no_drive_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="no drive"):
        DetailedDrive(replace(BARE, **wrong))


def test_fuzz_with_sanitizers(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The program drives/fuzz.c sends 300,000 requests to 1,000 odd drives."""
    program = tmp_path_factory.mktemp("fuzz") / "fuzz"
    names = ("fuzz", "background", "segments", "dirty", "mechanism", "layout")
    checks = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    sources = [FOLDER / f"{name}.c" for name in names]
    subprocess.run(["gcc", "-O1", "-g", *checks, "-o", program, *sources, "-lm"], check=True)
    digests = set()
    for seed in ("1", "1", "2"):
        done = subprocess.run(
            [program, seed, "1000", "100"], check=False, capture_output=True, text=True
        )
        assert done.returncode == 0, f"seed {seed}: {done.stderr}"
        digests.add(done.stdout)
    assert len(digests) == 2
