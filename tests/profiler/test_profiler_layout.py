# SPDX-License-Identifier: MIT
"""The layout of the platters, found by timing reads: to the sector on detailed drives, which know
where each sector is, and never claimed of what has none."""

import math
import random
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path

import pytest
from hosted import Hosted

import understudy
from oracle.detailed.drive import (
    CYLINDER_SERPENTINE,
    CYLINDERS,
    SURFACE_SERPENTINE,
    DetailedDrive,
    Zone,
    random_drive,
    random_parameters,
)
from understudy.device import profile as profiles
from understudy.device.layout import Zone as Recorded
from understudy.device.target import Target
from understudy.profiler.layout.layout import Layout, Unseen, centred, worded
from understudy.profiler.layout.layout import Zone as Found
from understudy.profiler.probes import hits, platters, rotation, segments
from understudy.profiler.profile_fit import Fitted, profile
from understudy.profiler.targets.bench import Bench
from understudy.profiler.targets.journal import Journal
from understudy.profiler.targets.model import ModelTarget

pytestmark = pytest.mark.thorough

SECTORS = 1000  # random ones that are held against the drive
PERIOD_NS = 8_000_000
PARAMETERS = random_parameters(7)
OUTER, INNER = PARAMETERS.zone[:2]


def look(target: Target, seed: int = 1) -> tuple[Layout | Unseen, int]:
    """What is found, and with how many reads."""
    bench = Bench(target, seed)
    turning = rotation.measure(bench)
    held = hits.measure(bench)
    number = segments.measure(bench, held)
    before = bench.requests
    return platters.measure(bench, turning, held, number), bench.requests - before


def seen(target: Target, seed: int = 1) -> Layout:
    found, _ = look(target, seed)
    assert isinstance(found, Layout), found
    return found


def off(found: Layout, drive: DetailedDrive, seed: int = 1) -> list[float]:
    """By how many turns random sectors are somewhere else; all may be by the same.

    The drive sends a sector once it has been read: to a profile, which has it on the bus from its
    beginning, it begins by the quicker of the two later.
    """
    draw = random.Random(seed)
    bus_turns = drive.parameters.bus_sector_ns / drive.parameters.period_ns
    turns = []
    for _ in range(SECTORS):
        sector = draw.randrange(drive.capacity_sectors)
        zone = found.zone(sector)
        begins = drive.locate(sector).angle + min(1 / zone.slots, bus_turns)
        turns.append(zone.turn(sector) - begins)
    return [abs(centred(turn - turns[0])) for turn in turns]


def firsts(drive: DetailedDrive) -> list[int]:
    """First sectors of its zones."""
    of = drive.parameters
    sizes = [(z.cylinders * of.heads - z.spare_tracks) * z.sectors for z in of.zone]
    return [0, *accumulate(sizes[:-1])]


# ---- all of it --------------------------------------------------------------------------

SEEDS = {
    203: (CYLINDERS, 0, 2),
    7: (CYLINDER_SERPENTINE, 0, 9),
    9: (SURFACE_SERPENTINE, 0, 2),
    82: (SURFACE_SERPENTINE, 16, 0),
    201: (SURFACE_SERPENTINE, 500, 0),
}


@pytest.mark.parametrize("seed", SEEDS)
def test_each_sector_of_a_detailed_drive_is_where_it_is(seed: int) -> None:
    """And zones, tracks, slots are exact, at some thousand reads."""
    drive = random_drive(seed)
    of = drive.parameters
    assert (of.layout, of.band_cylinders, of.zone[0].spare_sectors) == SEEDS[seed]
    found, reads = look(drive)
    assert isinstance(found, Layout), found
    assert max(off(found, drive)) < 1e-4
    assert set(firsts(drive)) <= {zone.first for zone in found.zones}
    for first, there in zip(firsts(drive), of.zone, strict=True):
        zone = found.zone(first)
        assert zone.sectors == there.sectors
        assert zone.slots == there.sectors + there.spare_sectors
    assert reads < 6400


def made(layout: int = CYLINDERS, heads: int = 12, **zone: int) -> DetailedDrive:
    """Two zones like those of a random drive, but for what is said."""
    zones = tuple(replace(each, **zone) for each in (OUTER, INNER))
    return DetailedDrive(replace(PARAMETERS, layout=layout, heads=heads, zone=zones))


MADE: dict[str, Callable[[], DetailedDrive]] = {
    "no skew at all": lambda: made(track_skew=0, cylinder_skew=0, spare_sectors=0),
    "only cylinders have one": lambda: made(track_skew=0, spare_sectors=0),
    "one for both": lambda: made(track_skew=50, cylinder_skew=50),
    "a sector and two": lambda: made(track_skew=1, cylinder_skew=2, spare_sectors=0),
    "one head": lambda: made(heads=1),
    "two heads, there and back": lambda: made(CYLINDER_SERPENTINE, heads=2),
    "two surfaces": lambda: made(SURFACE_SERPENTINE, heads=2),
    "spare tracks": lambda: made(spare_tracks=29),
    "no cache": lambda: DetailedDrive(replace(PARAMETERS, segments=0)),
}


@pytest.mark.parametrize("name", MADE)
def test_whatever_is_regular_is_found(name: str) -> None:
    drive = MADE[name]()
    found = seen(drive)
    assert max(off(found, drive)) < 1e-4
    assert {zone.first for zone in found.zones} >= set(firsts(drive))


def test_skews_are_those_of_the_drive() -> None:
    """In turns from the last sector that can be addressed."""
    zone = seen(made()).zones[0]
    slots = OUTER.sectors + OUTER.spare_sectors
    assert (zone.cylinder, zone.has_bands) == (12, False)
    assert zone.skew * slots == pytest.approx(OUTER.track_skew + OUTER.spare_sectors, abs=0.01)
    assert zone.cylinder_skew * slots == pytest.approx(
        OUTER.cylinder_skew + OUTER.spare_sectors, abs=0.01
    )


def test_bands_are_those_of_the_drive() -> None:
    """Along a surface the arm moves; then the head is another one, and for a band both are."""
    zone = Zone(3000, 500, track_skew=40, cylinder_skew=60)
    drive = DetailedDrive(
        replace(PARAMETERS, layout=SURFACE_SERPENTINE, heads=3, band_cylinders=40, zone=(zone,))
    )
    (found,) = seen(drive).zones
    assert (found.cylinder, found.band) == (40, 120)
    skews = (found.skew, found.cylinder_skew, found.band_skew)
    assert [500 * skew for skew in skews] == pytest.approx([60, 40, 60], abs=0.01)


def test_small_zones() -> None:
    """Some have three cylinders, less than a 512th of the disk."""
    zones = [
        replace(OUTER, cylinders=3 + index, sectors=OUTER.sectors - 9 * index)
        for index in range(1, 30)
    ]
    drive = DetailedDrive(replace(PARAMETERS, zone=(replace(OUTER, cylinders=800), *zones)))
    found = seen(drive)
    assert max(off(found, drive)) < 1e-4
    assert {zone.first for zone in found.zones} >= set(firsts(drive))


# ---- targets that are less exact ----------------------------------------------------------


@dataclass
class Around:
    """A detailed drive, seen through something."""

    drive: DetailedDrive
    writable: bool = False
    draw: random.Random = field(default_factory=lambda: random.Random(1))

    @property
    def capacity_sectors(self) -> int:
        return self.drive.capacity_sectors

    def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        return self.drive.request(op, sector, sectors, at_ns)


class Noisy(Around):
    """Completions some microseconds late, as interrupts are."""

    def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        return super().request(op, sector, sectors, at_ns) + round(abs(self.draw.gauss(0, 3000)))


class Away(Around):
    """A host that is somewhere else once in a thousand answers."""

    def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        completion_ns = super().request(op, sector, sectors, at_ns)
        return completion_ns + (self.draw.random() < 1e-3) * self.draw.randrange(20_000_000)


class Drifting(Around):
    """Its platters become slower against the clock: by a part in 10^5 after some minutes."""

    per_ns = 1e-16
    there_ns = 0

    def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        sent_ns = max(self.there_ns, round(at_ns + self.per_ns * at_ns**2))
        self.there_ns = super().request(op, sector, sectors, sent_ns)
        root = math.sqrt(1 + 4 * self.per_ns * self.there_ns)
        return max(at_ns, math.ceil((root - 1) / (2 * self.per_ns)))


@pytest.mark.parametrize("kind", [Noisy, Away, Drifting])
@pytest.mark.parametrize("seed", [7, 203, 205])
def test_what_is_less_exact_is_found_within_a_hundredth(kind: type[Around], seed: int) -> None:
    drive = random_drive(seed)
    found = seen(kind(drive))
    assert sum(each < 0.01 for each in off(found, drive)) > 0.99 * SECTORS


@pytest.mark.parametrize("number", [201, 202, 210])
@pytest.mark.parametrize("seed", range(1, 9))
def test_a_host_that_is_away_now_and_then_makes_no_zones(number: int, seed: int) -> None:
    """Where a track seems to end too early, or one of another length to be in line: of these draws
    some were told as layouts that contradict themselves."""
    drive = random_drive(number)
    found = seen(Hosted(drive, 100 * seed + 12), seed)
    assert {zone.first for zone in found.zones} >= set(firsts(drive))
    assert sum(each < 0.01 for each in off(found, drive)) > 0.98 * SECTORS


# ---- what real drives do: sectors that are bad are left out ---------------------------------


@dataclass
class Rearranged:
    """A drive whose sectors have other numbers, some of them none."""

    drive: DetailedDrive
    number: int
    writable: bool = False
    capacity_sectors: int = 0

    def place(self, sector: int) -> int:
        """Where it is on the drive."""
        raise NotImplementedError

    def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        first, last = self.place(sector), self.place(sector + sectors - 1)
        return self.drive.request(op, first, last + 1 - first, at_ns)

    def off(self, found: Layout) -> list[float]:
        """By how many turns random sectors are somewhere else; all may be by the same."""
        draw = random.Random("sectors")
        sectors = [draw.randrange(self.capacity_sectors) for _ in range(SECTORS)]
        turns = [
            found.zone(sector).turn(sector) - self.drive.locate(self.place(sector)).angle
            for sector in sectors
        ]
        return [abs(centred(turn - turns[0])) for turn in turns]


@dataclass
class Slipped(Rearranged):
    """A drive on which sectors are left out: what lies behind one is a slot farther on."""

    def __post_init__(self) -> None:
        there = self.drive.capacity_sectors
        bad = sorted(random.Random("bad").sample(range(there), self.number))
        self.capacity_sectors = there - self.number
        self._moved = [sector - before for before, sector in enumerate(bad)]

    def place(self, sector: int) -> int:
        return sector + bisect_right(self._moved, sector)


@pytest.mark.parametrize(("seed", "zones"), [(201, 200), (202, 18), (203, 17), (207, 80)])
def test_sectors_that_are_left_out_are_slips(seed: int, zones: int) -> None:
    """As many as the Cheetah 9LP has, to the sector; some on surfaces end a zone."""
    drive = Slipped(random_drive(seed), 400)
    found = seen(drive)
    assert len(found.zones) <= zones
    assert 400 - zones <= len(found.slips) <= 400
    assert sum(each < 5e-4 for each in drive.off(found)) > 0.99 * SECTORS


@dataclass
class Spared(Rearranged):
    """A drive that keeps the last sectors of so many cylinders, as many, for others that go bad."""

    together: int = 1

    def __post_init__(self) -> None:
        of = self.drive.parameters
        sizes = [(z.cylinders * of.heads - z.spare_tracks) * z.sectors for z in of.zone]
        cylinders = [self.together * of.heads * zone.sectors for zone in of.zone]
        self._cylinders = cylinders
        self._there = [0, *accumulate(sizes)]
        kept = [
            size // cylinder * (cylinder - self.number)
            for size, cylinder in zip(sizes, cylinders, strict=True)
        ]
        self._here = [0, *accumulate(kept)]
        self.capacity_sectors = self._here[-1]

    def place(self, sector: int) -> int:
        zone = bisect_right(self._here, sector) - 1
        in_zone = sector - self._here[zone]
        before = in_zone // (self._cylinders[zone] - self.number)
        return self._there[zone] + in_zone + before * self.number


@pytest.mark.parametrize("seed", [202, 203, 204, 206])
@pytest.mark.parametrize("spare", [1, 7, 60])
def test_spare_sectors_at_the_end_of_each_cylinder(seed: int, spare: int) -> None:
    """Cylinder by cylinder, and there and back."""
    drive = Spared(random_drive(seed), spare)
    found = seen(drive)
    assert len(found.zones) == len(drive.drive.parameters.zone)
    assert {zone.cylinder_spare for zone in found.zones} == {spare}
    assert max(drive.off(found)) < 1e-3


@pytest.mark.parametrize("seed", [203, 204])
def test_spare_sectors_at_the_end_of_some_cylinders(seed: int) -> None:
    """They are a band."""
    drive = Spared(random_drive(seed), 60, together=6)
    found = seen(drive)
    assert len(found.zones) == len(drive.drive.parameters.zone)
    assert {(zone.band // zone.cylinder, zone.band_spare) for zone in found.zones} == {(6, 60)}
    assert max(drive.off(found)) < 1e-3


def test_a_drive_with_spare_sectors_is_predicted() -> None:
    """By the profile, and by the core that has read it; streams beside one another, of which the
    model is off on other drives too, less well."""
    found = profile(Spared(random_drive(203), 60), seed=1)
    layout = found.disk().layout
    assert layout
    assert {zone.cylinder.spare for zone in layout.zones if zone.cylinder} == {60}
    for check in found.checks:
        most = 3 if check.asks.get("beside", 0) > 0.5 else 1
        assert abs(check.difference_percent) < most, check.workload


@pytest.mark.parametrize(("seed", "keeps"), [(1, "ahead"), (2, "ahead"), (1, "request")])
def test_the_cheetah_is_found_again(seed: int, keeps: str) -> None:
    """Its 406 zones end where sectors are left out, and its bus is slower than its medium: what
    comes meanwhile was not waited for, nor did an arm return for it.

    Its streams stop every other track, and for a turn more or less: of 2,000 times of a ms each
    that is a demerit of 3 % and more.  What its segments keep makes no difference to them.
    """
    disk = profiles.load("cheetah-9lp")
    assert disk.buffer
    buffer = disk.buffer.model_copy(update={"segment_keeps": keeps})
    disk = disk.model_copy(update={"buffer": buffer})
    assert disk.facts
    found = profile(ModelTarget.of(disk, disk.facts.capacity_sectors), seed)
    assert found.value("seek.over") == "tracks"
    assert found.value("buffer.after_hit") == "stop"
    assert found.value("buffer.read_reach_sectors") == 1
    for check in found.checks:
        assert abs(check.difference_percent) < 0.5, check.workload
        assert check.demerit_percent < (5 if "sequential" in check.workload else 2)


def test_a_layout_that_contradicts_itself_is_none() -> None:
    zone = Found.even(0, 237, 291, 0.0, 0.1)
    found = worded(Layout((zone,), 237_000))
    assert isinstance(found, Unseen)
    assert found.why == (
        "what was found contradicts itself: line 2: a skew of 0.1 is less than the 54 spare slots "
        "of 291"
    )
    alone = Layout((zone.alone(),), 237_000)
    assert worded(alone) == alone


# ---- what has no layout, or none that there are words for -----------------------------------


@dataclass
class Platters:
    """No cache; a sector is under the head at the angle that somebody says."""

    turn: Callable[[int], float]
    capacity_sectors: int = 2**22
    writable: bool = False
    arm: int = 0

    def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        distance = abs(sector - self.arm) / self.capacity_sectors
        self.arm = sector
        ready_ns = at_ns + 300_000 + 6_000_000 * math.sqrt(distance)
        wait = (self.turn(sector) - ready_ns / PERIOD_NS) % 1
        return math.ceil(ready_ns + (wait + sectors / 500) * PERIOD_NS)


def shifted(share: float) -> Callable[[int], float]:
    """Tracks of 500 sectors, of which that share follow each other by chance."""

    def turn(sector: int) -> float:
        track = sector // 500
        draw = random.Random(track)
        skew = draw.random() if draw.random() < share else 0.1 * track
        return (skew + sector / 500) % 1

    return turn


def test_a_target_in_python_that_is_regular() -> None:
    (zone,) = seen(Platters(shifted(0.0))).zones
    assert (zone.first, zone.sectors, zone.slots) == (0, 500, 500)
    assert zone.skew == pytest.approx(0.1, abs=1e-6)


@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_chance_is_no_layout(share: float) -> None:
    """Said, and at no great cost; it would be wrong for a tenth of the sectors."""
    found, reads = look(Platters(shifted(share)))
    assert isinstance(found, Unseen)
    assert reads < 20_000


def test_some_tracks_that_are_elsewhere_change_nothing() -> None:
    """One in a hundred was slipped: the others are as they are."""
    found = seen(Platters(shifted(0.01)))
    assert found.share > 0.97


def test_angles_that_are_never_the_same() -> None:
    draw = random.Random(1)
    found, reads = look(Platters(lambda sector: draw.random()))
    assert isinstance(found, Unseen)
    assert found.why.startswith("completions have no phase")
    assert reads == 0


class Remembers(Around):
    """Whatever was read once is held for ever."""

    def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        seen = self.__dict__.setdefault("seen", set())
        if sector in seen:
            return at_ns + 50_000
        seen.add(sector)
        self.late_ns = super().request(op, sector, sectors, max(at_ns, getattr(self, "late_ns", 0)))
        return self.late_ns


def test_a_cache_without_end() -> None:
    """Each place is new, or says nothing."""
    found, _ = look(Remembers(random_drive(2)))
    assert isinstance(found, Unseen) or found.share > 0.95


# ---- in the profile ---------------------------------------------------------------------------


def zones(found: Fitted) -> Sequence[Recorded]:
    """Of its profile."""
    layout = found.disk().layout
    assert layout
    return layout.zones


def test_the_profile_says_where_sectors_are() -> None:
    drive = random_drive(2)
    found = understudy.profile(drive)
    disk = found.disk()
    assert disk.knows_positions
    assert disk.layout
    assert [zone.first for zone in disk.layout.zones] == list(firsts(drive))
    assert {zone.cylinder and zone.cylinder.tracks for zone in disk.layout.zones} == {
        drive.parameters.heads
    }
    assert "# zones: 100.0% of 400 random sectors are within 1 % of a turn" in found.to_toml()


def test_what_is_not_seen_is_a_comment_and_latencies_are_drawn() -> None:
    found = profile(Platters(shifted(1.0)))
    disk = found.disk()
    assert disk.rotation
    assert disk.rotation.phase == "random"
    assert disk.layout
    assert not disk.layout.knows_angles
    why = found.finding("layout.angles")
    assert why
    assert why.confidence.startswith("not seen: ")
    assert f"# angles: {why.confidence}" in found.to_toml()


def test_our_own_model_with_known_angles_is_recovered() -> None:
    """What a profile says of a detailed drive, measured again."""
    first = understudy.profile(random_drive(2))
    again = understudy.profile(ModelTarget.of(first.disk(), first.capacity_sectors))
    for one, other in zip(zones(again), zones(first), strict=True):
        assert (one.first, one.sectors, one.slots) == (other.first, other.sectors, other.slots)
        assert one.skew == pytest.approx(other.skew, abs=1e-6)
        assert one.cylinder
        assert other.cylinder
        assert one.cylinder.tracks == other.cylinder.tracks
        assert one.cylinder.skew == pytest.approx(other.cylinder.skew, abs=1e-6)


class Interrupted(Around):
    """Somebody presses Ctrl-C."""

    stop_at = 0

    def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        self.stop_at -= 1
        if not self.stop_at:
            raise KeyboardInterrupt
        return super().request(op, sector, sectors, at_ns)


def test_a_run_that_was_interrupted_meanwhile_finds_the_same(tmp_path: Path) -> None:
    """The platters have turned on between: all angles are measured anew."""
    drive = random_drive(2)
    whole = look_for(drive, tmp_path / "whole.partial")
    target = Interrupted(random_drive(2))
    target.stop_at = 3700
    file = tmp_path / "again.partial"
    with pytest.raises(KeyboardInterrupt):
        look_for(target, file)
    again = look_for(Interrupted(random_drive(2)), file)
    for one, other in zip(zones(again), zones(whole), strict=True):
        assert (one.first, one.sectors, one.slots) == (other.first, other.sectors, other.slots)


def look_for(target: Target, file: Path) -> Fitted:
    journal = Journal(target, file, {"target": "a drive"})
    try:
        return profile(journal)
    finally:
        journal.close()


# ---- the formula --------------------------------------------------------------------------


def test_an_angle_by_hand() -> None:
    """Tracks of 10 sectors and a spare one, two a cylinder, three cylinders a band."""
    zone = Found(100, 10, 11, 0.25, 0.1, 2, 0.2, 6, 0.4)
    turns = {
        100: 0.25,
        104: 0.25 + 4 / 11,
        110: 0.25 + 10 / 11 + 0.1,
        120: 0.25 + 20 / 11 + 0.1 + 0.2,
        159: 0.25 + 59 / 11 + 0.3 + 0.4,
        160: 0.25 + 60 / 11 + 0.3 + 0.4 + 0.4,
    }
    for sector, turn in turns.items():
        assert centred(zone.turn(sector) - turn) == pytest.approx(0, abs=1e-12), sector
