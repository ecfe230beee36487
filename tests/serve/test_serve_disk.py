# SPDX-License-Identifier: MIT
"""A served disk keeps its model's time.

Records are compared with closed forms to the nanosecond, starting from the recorded arrivals. How
late the answers are depends on the host; bench measures that.
"""

import math
import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from nbd import FLUSH, FUA, READ, TRIM, WRITE, WRITE_ZEROES, Request
from serving import OTHER, Row, Served, serving

from understudy_devices.device.profile import load
from understudy_devices.measure import records
from understudy_devices.native.drive import Drive

pytestmark = pytest.mark.thorough

MS = 10**6
SECTORS = 2_000_000
SIZE = ("--size", f"{SECTORS}s")
PAGE = 8
LINE = "[model]\nintercept_ms = 0.4\nfull_seek_ms = 3.0\n"
NOTHING = 3  # core/drive/command.h
INTERCEPT, FULL_SEEK = 400_000, 3 * MS


@pytest.fixture
def disk(tmp_path: Path) -> tuple[Path, list[str]]:
    """Return the path of a profile that the test writes, and the options that name it."""
    profile = tmp_path / "mine.toml"
    return profile, ["--disk", str(profile), *SIZE]


def line_ns(head: int, sector: int) -> int:
    """Return the service time X = R/2 + S d/D of PERFORM 2010, in whole ns."""
    return INTERCEPT + FULL_SEEK * abs(sector - head) // SECTORS


def line_services(rows: Sequence[Row]) -> list[int]:
    """Return the service times of requests that go to the medium in this order."""
    heads = [0, *(row.sector + row.sectors for row in rows[:-1])]
    return [line_ns(head, row.sector) for head, row in zip(heads, rows, strict=True)]


def asked_at_random(
    number: int, seed: int, kinds: tuple[int, ...] = (READ, WRITE)
) -> list[Request]:
    draw = random.Random(seed)
    return [
        Request(kind, 512 * draw.randrange(SECTORS - PAGE), 512 * PAGE, data=bytes(size))
        for kind in draw.choices(kinds, k=number)
        for size in [512 * PAGE if kind == WRITE else 0]
    ]


def check_in_order(rows: list[Row], services: list[int]) -> None:
    """Check that each service begins at its request's arrival or when the previous
    request is due.
    """
    free_ns = 0
    for row, service_ns in zip(rows, services, strict=True):
        assert row.service_ns == service_ns
        assert row.due_ns == max(row.arrival_ns, free_ns) + service_ns
        assert row.completion_ns >= row.due_ns
        free_ns = row.due_ns


@pytest.mark.parametrize("at_once", [1, 6])
def test_the_line(disk: tuple[Path, list[str]], tmp_path: Path, at_once: int) -> None:
    """Requests come one by one or six at once, and are served in order of arrival."""
    profile, words = disk
    profile.write_text(LINE)
    requests = asked_at_random(60, at_once)
    with serving(tmp_path, *words) as served:
        with served.client() as client:
            for first in range(0, len(requests), at_once):
                client.ask_all(requests[first : first + at_once])
        report = served.end()
    rows = served.rows()
    check_in_order(rows, line_services(rows))
    assert sorted((row.op, 512 * row.sector) for row in rows) == sorted(
        (request.kind, request.offset) for request in requests
    )
    assert [row.request_id for row in rows] == list(range(1, len(rows) + 1))
    assert sorted(rows, key=lambda row: row.arrival_ns) == rows
    check_report(report, rows)
    frame = records.from_bytes(served.records.read_bytes())
    records.check(frame)
    assert frame["due_ns"].is_in([row.due_ns - rows[0].arrival_ns for row in rows]).all()
    if at_once > 1:
        assert sum(row.due_ns - row.arrival_ns > row.service_ns for row in rows) > 20


def check_report(report: dict[str, object], rows: list[Row]) -> None:
    """Check that the report agrees with the records."""
    lateness = sorted(row.completion_ns - row.due_ns for row in rows)
    timed = [row for row in rows if row.service_ns >= MS]
    assert report["requests"] == len(rows)
    assert report["late"] == sum(row.late for row in rows)
    statistics = report["lateness_us"]
    assert isinstance(statistics, dict)
    assert statistics["max"] == lateness[-1] / 1000
    assert statistics["mean"] == pytest.approx(sum(lateness) / len(rows) / 1000)
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        exact = lateness[math.ceil(share * len(rows)) - 1]
        assert exact * (1 - 1 / 256) <= 1000 * statistics[name] + 1 <= exact + 1
    assert report["timed_requests"] == len(timed)
    assert report["mean_service_ms"] == pytest.approx(
        sum(row.service_ns for row in timed) / len(timed) / MS
    )
    assert report["service_error"] == pytest.approx(
        sum(row.completion_ns - row.due_ns for row in timed) / sum(row.service_ns for row in timed)
    )


def test_the_papers_cache(disk: tuple[Path, list[str]], tmp_path: Path) -> None:
    """A read within one of two segments hits and does not move the head; a write drops
    the segment.
    """
    profile, words = disk
    cache = "[cache]\nsegments = 2\nsegment_sectors = 64\nprefetch_sectors = 32\nhit_us = 30\n"
    profile.write_text(LINE + cache)
    places = [1000, 1008, 1024, 1040, 500_000, 1000, 900_000, 1000, 900_016]
    with serving(tmp_path, *words) as served, served.client() as client:
        for place in places:
            client.read(place)
        client.write(900_000, bytes(512))
        client.read(900_016)
    rows = served.rows()
    hits = [False, True, True, False, False, False, False, True, True, False, False]
    assert [row.hit for row in rows] == hits
    head, services = 0, []
    for row in rows:
        services.append(30_000 if row.hit else line_ns(head, row.sector))
        head = head if row.hit else row.sector + row.sectors
    check_in_order(rows, services)


def ask_from(served: Served, requests: list[list[Request]]) -> None:
    """Send each list on its own connection, all at the same time."""

    def ask(some: list[Request]) -> None:
        with served.client() as client:
            client.ask_all(some)

    with ThreadPoolExecutor(len(requests)) as pool:
        list(pool.map(ask, requests))


@pytest.mark.parametrize("age_ms", [5, 60_000])
@pytest.mark.parametrize("connections", [1, 3])
def test_the_drives_queue(
    disk: tuple[Path, list[str]], tmp_path: Path, connections: int, age_ms: int
) -> None:
    """The disk chooses among the waiting requests of all connections.

    The choice is that of a drive that gets the same requests at the same times. Requests that move
    no data come first.
    """
    profile, words = disk
    profile.write_text(LINE + f"[queue]\ndepth = 4\nage_limit_ms = {age_ms}\n")
    requests = asked_at_random(90, connections, (READ, WRITE, READ, WRITE, TRIM))
    requests[40:50] = [Request(FLUSH)] * 10
    with serving(tmp_path, *words) as served:
        ask_from(served, [requests[number::connections] for number in range(connections)])
    rows = served.rows()
    drive = Drive(load(str(profile)).timing(SECTORS, 4))
    start_ns, service_ns, _ = drive.serve_queued(
        [NOTHING if row.op == OTHER else row.op for row in rows],
        [row.sector for row in rows],
        [row.sectors for row in rows],
        [row.arrival_ns for row in rows],
    )
    assert [row.due_ns for row in rows] == (start_ns + service_ns).tolist()
    in_turn = sorted(rows, key=lambda row: row.due_ns)
    assert [row.request_id for row in in_turn] != [row.request_id for row in rows]


BUFFER = """
[buffer]
bus_mb_per_s = 51.2
read_hit_us = 50
write_us = 100
write_back = 8
segment_sectors = 125
write_back_idle_ms = 60000
"""
TAKEN = 100_000 + 8 * 10_000  # the bus needs 80 us for a page at 51.2 MB/s


def test_what_is_written_waits_for_a_flush(disk: tuple[Path, list[str]], tmp_path: Path) -> None:
    """Cached writes take only overhead and bus time; a flush takes the medium's time for all of
    them.

    A second flush takes no time, and a write with FUA takes the medium's time.
    """
    profile, words = disk
    profile.write_text(LINE + BUFFER)
    places = [20_000, 900_000, 1_500_000]  # in the order of shortest positioning
    with serving(tmp_path, *words) as served, served.client() as client:
        for place in places:
            client.write(place, bytes(4096))
        client.ask(Request(FLUSH))
        client.ask(Request(FLUSH))
        client.write(100_000, bytes(4096), FUA)
        client.ask(Request(FLUSH))
    rows = served.rows()
    through = max(line_ns(places[-1] + PAGE, 100_000), TAKEN)
    away = sum(line_services(rows[: len(places)]))
    check_in_order(rows, [TAKEN, TAKEN, TAKEN, away, 0, through, 0])


def test_zeroes_are_written_and_trims_are_free(
    disk: tuple[Path, list[str]], tmp_path: Path
) -> None:
    profile, words = disk
    profile.write_text(LINE)
    with serving(tmp_path, *words) as served, served.client() as client:
        client.write(1000, b"x" * 8192)
        client.ask(Request(WRITE_ZEROES, 512 * 1008, 4096))
        assert client.read(1000, 16) == b"x" * 4096 + bytes(4096)
        client.ask(Request(TRIM, 512 * 1000, 4096))
        client.ask(Request(WRITE_ZEROES, 512 * 500_000, 2**29, flags=FUA))
    rows = served.rows()
    places = [(0, 1000), (1016, 1008), (1016, 1000), None, (1016, 500_000)]
    check_in_order(rows, [line_ns(*way) if way else 0 for way in places])
    assert [row.op for row in rows] == [1, 1, 0, 2, 1]
    assert rows[4].sectors == 2**20


def test_k_makes_it_slower(disk: tuple[Path, list[str]], tmp_path: Path) -> None:
    """A recorded service time does not contain k; a due time does."""
    profile, words = disk
    profile.write_text(LINE)
    with serving(tmp_path, *words, "--scale", "2.5") as served, served.client() as client:
        client.ask_all(asked_at_random(20, 3))
    rows = served.rows()
    free_ns = 0
    for row, service_ns in zip(rows, line_services(rows), strict=True):
        assert row.service_ns == service_ns
        assert row.due_ns == max(row.arrival_ns, free_ns) + 5 * row.service_ns // 2
        free_ns = row.due_ns


def test_the_draws_follow_the_seed(disk: tuple[Path, list[str]], tmp_path: Path) -> None:
    """Equal seeds result in equal rotational latencies; none is as long as a rotation."""
    profile, words = disk
    profile.write_text('[seek]\nms = [1.0, 1.0]\n[rotation]\nperiod_ms = 6.0\nphase = "random"\n')
    services = []
    for number, seed in enumerate(("5", "5", "6")):
        here = serving(tmp_path / str(number), *words, "--seed", seed)
        with here as served, served.client() as client:
            client.ask_all(asked_at_random(10, 1, (READ,)))
        services.append([row.service_ns for row in served.rows()])
    assert services[0] == services[1] != services[2]
    assert all(MS <= service_ns < 7 * MS for service_ns in services[0])
    assert len(set(services[0])) > 5


def test_an_array_draws_its_times(disk: tuple[Path, list[str]], tmp_path: Path) -> None:
    profile, words = disk
    profile.write_text("[array]\nservers = 2\nservice_ms = 1.0\n")
    with serving(tmp_path, *words) as served, served.client() as client:
        client.ask_all(asked_at_random(200, 1))
    rows = served.rows()
    free_ns = [0, 0]
    for row in rows:
        assert row.due_ns == max(row.arrival_ns, min(free_ns)) + row.service_ns
        free_ns[free_ns.index(min(free_ns))] = row.due_ns
    services = [row.service_ns for row in rows]
    mean = sum(services) / len(services)
    assert 0.7 * MS < mean < 1.4 * MS  # within six standard errors
    assert min(services) < 0.1 * MS
    assert max(services) > 3 * MS


def test_many_connections_in_one_row(disk: tuple[Path, list[str]], tmp_path: Path) -> None:
    """There are more requests than threads; none is lost, and due times are the model's."""
    profile, words = disk
    profile.write_text("[model]\nintercept_ms = 0.05\nfull_seek_ms = 0.2\n")
    with serving(tmp_path, *words) as served:
        ask_from(served, [asked_at_random(120, seed) for seed in range(5)])
        report = served.end()
    assert report["requests"] == 600
    free_ns = 0
    head = 0
    for row in served.rows():
        service_ns = 50_000 + 200_000 * abs(row.sector - head) // SECTORS
        free_ns = max(row.arrival_ns, free_ns) + service_ns
        assert row.due_ns == free_ns
        head = row.sector + row.sectors
