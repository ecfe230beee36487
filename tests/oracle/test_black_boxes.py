# SPDX-License-Identifier: MIT
"""The black boxes (oracle/): each behaves as its file says, judged by service times if possible."""

import pickle
import random
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from detailed_drives import BARE, CACHED, hit_ns

from oracle.adaptive import Adaptive
from oracle.boxes import BOXES, Box
from oracle.detailed.drive import MS, DetailedDrive
from oracle.firmware import Firmware
from oracle.hybrid import Hybrid
from oracle.idle_writes import ASCENDING, OLDEST, IdleWrites
from oracle.remapping import Remapping
from oracle.scanning import Scanning
from oracle.smr import BLOCK, Smr
from oracle.ssd import INVALID, Ssd
from oracle.varying import Varying

SOON_NS = 40_000_000  # longer than any request on an idle mechanism


def ms(times_ms: float) -> int:
    return round(times_ms * MS)


def served(box: Box, seed: int, requests: int = 300) -> list[int]:
    """Send random reads and writes with pauses; return their completion times."""
    draw, now_ns, completions = random.Random(seed), 0, []
    for _ in range(requests):
        op = draw.choice(("read", "write"))
        sectors = draw.choice((1, 8, 300))
        sector = draw.choice((draw.randrange(box.capacity_sectors - 300), 1000))
        now_ns = box.request(op, sector, sectors, now_ns + draw.choice((0, 0, SOON_NS)))
        completions.append(now_ns)
    return completions


# ---- all of them --------------------------------------------------------------------


@pytest.mark.parametrize("name", BOXES)
def test_a_box_is_another_one_for_each_seed_and_the_same_when_reset(name: str) -> None:
    box = BOXES[name](11)
    first = served(box, 1)
    assert all(one <= other for one, other in pairwise(first))
    copy = pickle.loads(pickle.dumps(box))
    assert served(copy, 1) == first
    box.reset()
    assert served(box, 1) == first
    assert served(BOXES[name](11), 1) == first
    assert served(BOXES[name](12), 1) != first


@pytest.mark.parametrize("name", BOXES)
def test_a_request_that_cannot_be_served_is_refused_in_a_line(name: str) -> None:
    box = BOXES[name](11)
    end = box.capacity_sectors
    now_ns = box.request("read", end - 8, 8, 100)
    wrong: tuple[tuple[Any, ...], ...] = (
        ("trim", 0, 8, now_ns),
        ("read", 0, 0, now_ns),
        ("write", end - 7, 8, now_ns),
        ("read", -1, 8, now_ns),
        ("write", 0, -8, now_ns),
        ("read", 0, 8, 99),
    )
    for request in wrong:
        with pytest.raises(ValueError, match=r"^.+$") as refused:
            box.request(*request)
        assert request[0] in str(refused.value)
    assert box.request("read", 0, 8, now_ns) > now_ns


def test_firmware_alone_is_the_drive() -> None:
    assert served(Firmware(DetailedDrive(CACHED)), 3) == served(DetailedDrive(CACHED), 3)


# ---- idle_writes --------------------------------------------------------------------


@pytest.mark.parametrize("idle_ms", [3, 30])
@pytest.mark.parametrize("more_ms", [-0.01, 0.01, 5])
def test_writes_are_destaged_after_as_many_ms_and_no_sooner(idle_ms: int, more_ms: float) -> None:
    box, same = IdleWrites(DetailedDrive(BARE), idle_ms=idle_ms), DetailedDrive(BARE)
    written_ns = box.request("write", 1_000_000, 8, 0)
    assert written_ns == pytest.approx(BARE.write_overhead_ns + 8 * BARE.bus_sector_ns)
    sent_ns = written_ns + ms(idle_ms + more_ms)
    free_ns = same.request("write", 1_000_000, 8, written_ns + ms(idle_ms)) if more_ms > 0 else 0
    expected_ns = same.request("read", 500_000, 8, max(sent_ns, free_ns))
    assert box.request("read", 500_000, 8, sent_ns) == expected_ns
    assert bool(box.spans) == (more_ms < 0)


@pytest.mark.parametrize("rests", [True, False])
def test_one_that_rests_waits_as_long_between_spans(rests: bool) -> None:
    box = IdleWrites(DetailedDrive(BARE), idle_ms=100, rests=rests)
    now_ns = 0
    for sector in (100_000, 500_000, 900_000):
        now_ns = box.request("write", sector, 8, now_ns)
    box.request("write", 0, 8, now_ns + ms(190))
    assert list(box.spans) == ([500_000, 900_000, 0] if rests else [0])


def test_a_full_cache_is_destaged_back_to_back_down_to_its_watermark() -> None:
    box = IdleWrites(DetailedDrive(BARE), idle_ms=1e6, most_spans=8, low=0.5, order=OLDEST)
    now_ns, took = 0, []
    for n in range(9):
        sent_ns = now_ns
        now_ns = box.request("write", n * 100_000, 8, sent_ns)
        took.append(now_ns - sent_ns)
    assert max(took[:8]) < 1 * MS < took[8]
    assert len(box.spans) == 8
    box.request("read", 1_000_000, 8, now_ns + 10 * SOON_NS)
    assert list(box.spans) == [n * 100_000 for n in range(5, 9)]


def test_what_waits_is_read_from_the_cache_joined_and_written_before_it_is_read_in_part() -> None:
    box = IdleWrites(DetailedDrive(BARE), idle_ms=1e6, order=ASCENDING)
    now_ns = box.request("write", 5000, 8, 0)
    now_ns = box.request("write", 5008, 8, now_ns)
    assert dict(box.spans) == {5000: 5016}
    hit = box.request("read", 5004, 8, now_ns) - now_ns
    assert hit == pytest.approx(hit_ns(BARE, 8), abs=1)
    box.request("read", 5004, 20, now_ns + SOON_NS)
    assert not box.spans
    box = IdleWrites(DetailedDrive(BARE), idle_ms=1e6, cache_sectors=16)
    box.request("write", 5008, 16, box.request("write", 5000, 16, 0))
    assert dict(box.spans) == {5008: 5024}
    assert box.destaged == 5016


# ---- ssd ----------------------------------------------------------------------------

SMALL = {"channels": 2, "dies": 2, "blocks": 32, "block_pages": 32}


def test_reads_take_the_same_everywhere_and_several_are_served_at_once() -> None:
    ssd = Ssd(**SMALL)
    draw, now_ns, took = random.Random(1), ms(1), set()
    for _ in range(200):
        sector = draw.randrange(ssd.capacity_sectors // 16) * 16
        sent_ns, now_ns = now_ns, ssd.request("read", sector, 8, now_ns)
        took.add(now_ns - sent_ns)
    assert took == {round(20e3 + 40e3 + 20e3 + 8 * 0.85e3)}
    pages = {ssd.flash.die(ssd.flash.page[page]): page for page in range(200)}
    together = [ssd.request("read", page * 16, 8, now_ns + ms(1)) for page in pages.values()]
    assert len(together) == 4
    assert max(together) - now_ns - ms(1) < 2 * took.pop()


def test_garbage_is_collected_and_the_map_stays_whole() -> None:
    ssd = Ssd(**SMALL)
    draw, now_ns, took = random.Random(2), 0, []
    for _ in range(2000):
        sector = draw.randrange(ssd.capacity_sectors // 16) * 16
        sent_ns, now_ns = now_ns, ssd.request("write", sector, 16, now_ns)
        took.append(now_ns - sent_ns)
    alone_ns = 20e3 + 16 * 0.85e3 + 20e3 + 200e3
    assert min(took) == pytest.approx(alone_ns, abs=1)
    assert sum(one > alone_ns + 2000e3 for one in took) > 20
    flash = ssd.flash
    assert [flash.logical[page] for page in flash.page] == list(range(flash.logical_pages))
    size = flash.block_pages
    for block, valid in enumerate(flash.valid):
        pages = flash.logical[block * size : (block + 1) * size]
        assert valid == sum(logical != INVALID for logical in pages)


def test_a_write_in_part_reads_the_rest_and_a_buffer_answers_before_it_is_programmed() -> None:
    whole_ns, part_ns = (
        Ssd(**SMALL).request("write", 0, sectors, 0) - sectors * 850 for sectors in (16, 8)
    )
    assert part_ns - whole_ns >= 40e3
    ssd = Ssd(**SMALL, buffer_pages=64)
    assert ssd.request("write", 0, 16, 0) == round(20e3 + 16 * 0.85e3)
    now_ns = ssd.request("write", 4096, 16 * 500, ms(1))
    assert now_ns - ms(1) > 436 / 4 * 200e3


def test_an_ssd_without_room_to_collect_is_refused() -> None:
    with pytest.raises(ValueError, match="no room to collect"):
        Ssd(spare=0.01)


# ---- smr ----------------------------------------------------------------------------


def shingled(**changes: Any) -> Smr:
    return Smr(DetailedDrive(BARE), **{"band_sectors": 4096, "cache_blocks": 1024, **changes})


def test_writes_are_appended_to_the_media_cache_and_read_from_there() -> None:
    box = shingled()
    now_ns = 0
    for sector in (800_000, 400_000, 600_000):
        now_ns = box.request("write", sector, 8, now_ns)
    assert list(box.log.items()) == [(0, 100_000), (1, 50_000), (2, 75_000)]
    same = DetailedDrive(BARE)
    same_ns = 0
    for slot in range(3):
        same_ns = same.request("write", slot * BLOCK, 8, same_ns)
    assert now_ns == same_ns
    assert box.request("read", 400_002, 4, now_ns) == same.request("read", BLOCK + 2, 4, now_ns)


def test_a_band_is_cleaned_when_the_drive_is_idle() -> None:
    box = shingled(idle_ms=500)
    now_ns = box.request("write", 800_000, 8, box.request("write", 800_100, 8, 0))
    now_ns = box.request("read", 0, 8, now_ns + ms(499))
    assert len(box.log) == 3  # the write at 800,100 spans two blocks
    sent_ns = now_ns + ms(501)
    assert box.request("read", 0, 8, sent_ns) - sent_ns > 4 * BARE.period_ns
    assert not box.log


def test_a_full_media_cache_is_cleaned_before_a_write() -> None:
    box = shingled(idle_ms=1e6)
    now_ns, took = 0, []
    for n in range(1100):
        sent_ns, now_ns = now_ns, box.request("write", n * 1000, 8, now_ns)
        took.append(now_ns - sent_ns)
    assert max(took[:1024]) < SOON_NS
    assert took[1024] > SOON_NS
    assert len(box.log) <= 1024
    assert sorted(box.log) == sorted(slot for slots in box.slot.values() for slot in slots.values())


def test_a_whole_band_is_written_to_its_place() -> None:
    box = shingled()
    now_ns = box.request("write", 5000, 8, 0)
    box.request("write", 4096, 4096, now_ns)
    assert not box.log
    with pytest.raises(ValueError, match="a band of 4096 sectors"):
        shingled(cache_blocks=512)


# ---- hybrid -------------------------------------------------------------------------


def flash_ns(box: Hybrid, us: float) -> float:
    return BARE.read_hit_overhead_ns + us * 1000 + 8 * BARE.bus_sector_ns


def test_what_is_read_twice_comes_from_flash_the_third_time() -> None:
    box = Hybrid(DetailedDrive(BARE), blocks=64, dirty_blocks=8)
    now_ns, took = 0, []
    for _ in range(3):
        now_ns = box.request("read", 500_000, 8, now_ns + SOON_NS)
        sent_ns, now_ns = now_ns, box.request("read", 100_000, 8, now_ns)
        took.append(now_ns - sent_ns)
    assert min(took[:2]) > 1 * MS
    assert took[2] == pytest.approx(flash_ns(box, 120), abs=1)
    for n in range(200):
        now_ns = box.request("read", n // 2 * 6400, 8, now_ns)
    assert len(box.held) == 64
    assert 100_000 // 64 not in box.held


def test_writes_go_to_flash_until_it_is_full_of_them_and_are_destaged_when_idle() -> None:
    box = Hybrid(DetailedDrive(BARE), blocks=64, dirty_blocks=8, idle_ms=200)
    now_ns, took = 0, []
    for n in range(9):
        sent_ns, now_ns = now_ns, box.request("write", n * 64_000, 8, now_ns)
        took.append(now_ns - sent_ns)
    assert took[:8] == pytest.approx([flash_ns(box, 250)] * 8, abs=1)
    assert took[8] > 1 * MS
    now_ns = box.request("read", 900_000, 8, now_ns + ms(199))
    assert box.dirty == [n * 1000 for n in range(8)]
    box.request("read", 900_000, 8, now_ns + ms(200) + 16 * SOON_NS)
    assert box.dirty == []


def test_a_long_write_leaves_nothing_old_in_flash() -> None:
    box = Hybrid(DetailedDrive(BARE), blocks=64, dirty_blocks=8)
    now_ns = box.request("write", 6400, 128, box.request("write", 7360, 8, 0))
    assert box.dirty == [100, 101, 115]
    sent_ns = now_ns
    assert box.request("write", 6464, 960, sent_ns) - sent_ns > 1 * MS
    assert box.dirty == [100]
    assert list(box.held) == [100]


# ---- scanning, varying --------------------------------------------------------------


def test_a_request_waits_for_the_chunk_that_is_being_scanned() -> None:
    took = []
    for pause_ms in (499.99, 500.01, 700):
        box = Scanning(DetailedDrive(BARE), idle_ms=500, chunk_sectors=2048)
        sent_ns = box.request("read", 0, 8, 0) + ms(pause_ms)
        took.append(box.request("read", 1_000_000, 8, sent_ns) - sent_ns)
        assert (box.scanned > 0) == (pause_ms > 500)
    chunk_ns = 2048 / 400 * BARE.period_ns
    assert took[0] < SOON_NS
    assert took[1] > chunk_ns
    assert took[2] < chunk_ns + 2 * SOON_NS


def test_a_scan_goes_all_the_way_and_begins_again() -> None:
    box = Scanning(DetailedDrive(BARE), idle_ms=1, chunk_sectors=100_000)
    steps = -(-box.capacity_sectors // 100_000)
    for _ in range(steps):
        assert box.step(box.free_ns)
    assert box.scanned == 0


def test_a_pause_delays_what_comes_in_it_and_what_it_interrupts() -> None:
    box = Varying(DetailedDrive(BARE), every_ms=1000, pause_ms=40)
    same = DetailedDrive(BARE)
    assert box.request("read", 0, 8, 0) == same.request("read", 0, 8, 0)
    alone_ns = same.request("read", 500_000, 8, ms(999.9))
    assert box.request("read", 500_000, 8, ms(999.9)) == alone_ns + ms(40)
    sent_ns = ms(2010)
    assert box.request("read", 0, 8, sent_ns) == same.request("read", 0, 8, ms(2040))
    assert box.request("read", 0, 8, ms(2500)) == same.request("read", 0, 8, ms(2500))


# ---- remapping ----------------------------------------------------------------------


def test_a_share_of_clusters_is_in_the_spare_area() -> None:
    box = Remapping(DetailedDrive(BARE), share=0.1, slips=300, spare_sectors=64_000)
    clusters = box.capacity_sectors // 64
    remapped = [cluster for cluster in range(clusters) if box.is_remapped(cluster)]
    assert len(remapped) / clusters == pytest.approx(0.1, abs=0.01)
    spare = box.drive.capacity_sectors - 64_000
    for cluster in range(100, 200):
        pieces = list(box.pieces(cluster * 64 + 8, cluster * 64 + 16))
        assert len(pieces) == 1
        first, last = pieces[0]
        assert (first >= spare) == (cluster in remapped)
        assert 7 <= last - first <= 8  # one sector longer across a slip
    one = remapped[5] * 64
    same = DetailedDrive(BARE)
    first, last = next(box.pieces(one, one + 8))
    assert box.request("read", one, 8, 0) == same.request("read", first, last + 1 - first, 0)


def test_what_lies_apart_is_served_piece_by_piece_and_slips_push_the_rest_on() -> None:
    box = Remapping(DetailedDrive(BARE), share=0.1, slips=300, spare_sectors=64_000)
    pieces = list(box.pieces(10_000, 20_000))
    assert 10 < len(pieces) < 35
    spare = box.drive.capacity_sectors - 64_000
    in_place = [(first, last) for first, last in pieces if first < spare]
    assert all(last < first for (_, last), (first, _) in pairwise(in_place))
    alone = Remapping(DetailedDrive(BARE), share=0, slips=300, spare_sectors=64_000)
    before, within = (sum(slip <= last for slip in box.slipped) for last in (10_000, 19_999))
    assert list(alone.pieces(10_000, 20_000)) == [(10_000 + before, 19_999 + within)]
    assert box.request("read", 10_000, 10_000, 0) > 2 * alone.request("read", 10_000, 10_000, 0)


# ---- adaptive -----------------------------------------------------------------------


def adaptive() -> Adaptive:
    return Adaptive(DetailedDrive(replace(CACHED, segments=8)), least_sectors=16, patience=4)


def test_read_ahead_doubles_in_sequence_and_is_off_after_misses() -> None:
    box = adaptive()
    now_ns, ahead, hits = 0, [], []
    sequence = [1000 + 8 * n for n in range(6)]
    for sector in [*sequence, *range(100_000, 600_000, 100_000), 500_008]:
        sent_ns = now_ns + SOON_NS
        now_ns = box.request("read", sector, 8, sent_ns)
        hits.append(now_ns - sent_ns <= hit_ns(CACHED, 8) + 1)
        ahead.append(box.ahead_sectors)
    assert ahead == [0, 16, 32, 64, 128, 256, 256, 256, 256, 256, 0, 16]
    assert hits == [False, False, True, True, True, True] + [False] * 6


def test_the_cache_is_cut_into_as_many_segments_as_there_are_streams() -> None:
    box = adaptive()
    now_ns = 0
    for n in range(100):
        for stream in range(4):
            now_ns = box.request("read", stream * 200_000 + 8 * n, 8, now_ns)
    assert box.segments == 4
    assert box.ahead_sectors == 8 * 256 // 4
    for n in range(300):
        now_ns = box.request("read", 1_000_000 + 8 * n, 8, now_ns)
    assert box.segments == 1
    with pytest.raises(ValueError, match="9 segments, of 8 at most"):
        box.drive.adapt(9, 0)
