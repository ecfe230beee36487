# SPDX-License-Identifier: MIT
"""A drive measured as a black box: our own model is recovered, detailed drives are predicted.

The bounds for detailed drives are from seeds 101 to 112. There the mean of 20,000 random reads is
within 0.6 % and the demerit below 0.9 %.
"""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import understudy_devices as us
from oracle.detailed.drive import DetailedDrive, random_drive
from oracle.idle_writes import random_idle_writes
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.cli.main import main
from understudy_devices.device import profile as device
from understudy_devices.device.check import Check
from understudy_devices.device.profile import DiskProfile
from understudy_devices.device.target import Target
from understudy_devices.profiler.checks import demerit
from understudy_devices.profiler.findings import statistics
from understudy_devices.profiler.probes import hits, rotation, segments, streams
from understudy_devices.profiler.profile_fit import Fitted, profile
from understudy_devices.profiler.targets.bench import Bench
from understudy_devices.profiler.targets.model import ModelTarget

pytestmark = pytest.mark.thorough

CAPACITY = 20_000_000
ROOTS = np.linspace(0, 1, 41)
KNOWN = {
    "name": "known",
    "seek": {
        "at": [round(root**2, 6) for root in ROOTS.tolist()],
        "ms": [round(0.9 + 3 * root + 5 * root**2, 6) for root in ROOTS.tolist()],
    },
    "throughput": {"zones": True, "at": [0.0, 0.5], "mb_per_s": [40.0, 30.0]},
    "rotation": {"period_ms": 6.0, "phase": "random"},
    "buffer": {
        "bus_mb_per_s": 80.0,
        "read_hit_us": 150,
        "segments": 5,
        "segment_sectors": 640,
        "read_ahead_sectors": 500,
        "write_us": 200,
        "write_settle_ms": 0.6,
        "write_back": 4,
    },
}


def model(**buffer: object) -> ModelTarget:
    """Return the known drive, with changes to its buffer."""
    known = {**KNOWN, "buffer": {**KNOWN["buffer"], **buffer}}  # type: ignore[dict-item]
    return ModelTarget.of(DiskProfile.model_validate(known), CAPACITY, seed=5)


@pytest.fixture(scope="module")
def recovered() -> Fitted:
    """Profile the known drive with reads and writes."""
    return profile(model(), destroy_data=True)


def buffer_of(fitted: Fitted) -> dict[str, object]:
    """Return the buffer section of the profile."""
    section = fitted.disk().buffer
    assert section
    return section.model_dump()


def test_a_known_period_and_rate_are_recovered(recovered: Fitted) -> None:
    assert recovered.value("rotation.period_ms") == pytest.approx(6.0, rel=0.002)
    rates = recovered.value("throughput.mb_per_s")
    assert [rates[0], rates[-1]] == pytest.approx([40, 30], rel=0.01)


def test_a_known_curve_is_recovered(recovered: Fitted) -> None:
    """Each point is within 2 % or 40 us, whichever is more."""
    known, fitted = (
        np.array(disk.timing(CAPACITY).seek, float)
        for disk in (DiskProfile.model_validate(KNOWN), recovered.disk())
    )
    at = np.linspace(0.0005, 1, 500) * CAPACITY
    there, here = np.interp(at, *known.T), np.interp(at, *fitted.T)
    assert (np.abs(here - there) < np.maximum(0.02 * there, 40_000)).all()


def test_a_known_read_cache_is_recovered(recovered: Fitted) -> None:
    buffer = buffer_of(recovered)
    for key in ("segments", "segment_sectors", "read_ahead_sectors"):
        assert buffer[key] == KNOWN["buffer"][key], key  # type: ignore[index]
    assert (buffer["segment_keeps"], buffer["after_hit"]) == ("request", "go on")
    assert buffer["read_hit_us"] == pytest.approx(150, abs=0.1)
    assert buffer["bus_mb_per_s"] == pytest.approx(80, rel=1e-3)


def test_a_known_write_cache_is_recovered(recovered: Fitted) -> None:
    buffer = buffer_of(recovered)
    assert buffer["write_back"] == [4, 4 * 640]
    assert buffer["write_us"] == pytest.approx(200, abs=0.1)
    assert buffer["write_settle_ms"] == pytest.approx(0.6, abs=0.3)
    assert (buffer["write_back_idle_ms"], buffer["write_back_order"]) == (0, "shortest positioning")


@pytest.mark.parametrize("after_hit", ["stop", "return"])
def test_what_a_hit_does_is_recovered(after_hit: str) -> None:
    assert buffer_of(profile(model(after_hit=after_hit)))["after_hit"] == after_hit


@pytest.mark.parametrize(
    ("order", "idle_ms"),
    [
        ("ascending", 3.0),
        ("as they come", 0.0),
        ("as they come", 3.0),
        ("ascending from last", 3.0),
    ],
)
def test_the_order_of_writes_is_recovered(order: str, idle_ms: float) -> None:
    known = model(write_back=16, write_back_order=order, write_back_idle_ms=idle_ms)
    assert buffer_of(profile(known, destroy_data=True))["write_back_order"] == order


def test_what_a_full_drive_keeps_is_recovered() -> None:
    known = model(write_back=[16, 1000, 250], write_back_idle_ms=60.0)
    buffer = buffer_of(profile(known, destroy_data=True))
    assert buffer["write_back"] == [16, 1000, 250]


@pytest.mark.parametrize(
    ("seed", "percent", "demerit"), [(31, 3, 8), (37, 3, 8), (38, 3, 8), (40, 4, 12), (42, 3, 8)]
)
def test_a_drive_that_leaves_writes_for_later_is_foreseen(
    seed: int, percent: float, demerit: float
) -> None:
    """The drives destage after 1, 3, 30 or 100 ms of idleness, in different orders.

    Drive 40 is the worst: with think times of 10 ms predictions are 3.5 % too short, and bursts
    have a demerit of 11 %.
    """
    fitted = profile(random_idle_writes(seed), destroy_data=True)
    for workload in ("reads and writes with think times", "bursts of reads and writes"):
        check = check_of(fitted, workload)
        assert abs(check.difference_percent) < percent, workload
        assert check.demerit_percent < demerit, workload


def test_one_that_writes_through(recovered: Fitted) -> None:
    buffer = buffer_of(profile(model(write_back=0), destroy_data=True))
    assert buffer["write_back"] == 0
    assert buffer["write_settle_ms"] == pytest.approx(0.6, abs=0.3)


@pytest.mark.parametrize("idle_ms", [0.4, 3.0, 80.0])
def test_writes_that_wait_for_idleness(idle_ms: float) -> None:
    buffer = buffer_of(profile(model(write_back_idle_ms=idle_ms), destroy_data=True))
    assert buffer["write_back_idle_ms"] == pytest.approx(idle_ms, abs=0.03 + 0.02 * idle_ms)


PAPERS_CACHES = {
    "the papers'": (64, 221, 64),
    "one segment": (1, 300, 10),
    "more ahead than asked": (7, 1000, 700),
}


@pytest.mark.parametrize("name", PAPERS_CACHES)
def test_a_cache_that_answers_at_once_is_the_papers(name: str) -> None:
    """All values are exact, and the check finds nothing that the model lacks."""
    segments, segment_sectors, prefetch_sectors = PAPERS_CACHES[name]
    cache = {
        "segments": segments,
        "segment_sectors": segment_sectors,
        "prefetch_sectors": prefetch_sectors,
        "hit_us": 250.0,
    }
    line = {"intercept_ms": 4.25, "full_seek_ms": 5.25}
    known = {"name": "known", "model": line, "cache": cache}
    fitted = profile(ModelTarget.of(DiskProfile.model_validate(known), CAPACITY), destroy_data=True)
    section = fitted.disk().cache
    assert section
    assert section.model_dump(exclude={"source", "hit_us"}) == {
        key: value for key, value in cache.items() if key != "hit_us"
    }
    assert section.hit_us == pytest.approx(250, abs=0.1)
    assert fitted.disk().buffer is None
    for check in fitted.checks:
        assert check.model_ms == pytest.approx(check.target_ms, rel=0.001), check.workload


def test_zones_of_a_drive_without_angles() -> None:
    """Each zone's rate is found, even if requests must not be long."""
    vesper = device.load("vesper-zoned")
    target = ModelTarget.of(vesper, CAPACITY)
    target.longest_sectors = 2560  # type: ignore[attr-defined]
    throughput = profile(target).disk().throughput
    assert throughput
    assert vesper.throughput
    assert throughput.mb_per_s == pytest.approx(vesper.throughput.mb_per_s, rel=0.005)
    assert throughput.at == pytest.approx(vesper.throughput.at, abs=1 / 256)


def test_a_drive_without_rotation_keeps_its_wait_in_the_curve() -> None:
    known = {**KNOWN, "rotation": {"period_ms": 6.0, "phase": "mean"}}
    target = ModelTarget.of(DiskProfile.model_validate(known), CAPACITY)
    fitted = profile(target)
    assert fitted.value("rotation.period_ms") is None
    assert "# period_ms: not seen: no latency that is uniform" in fitted.to_toml()
    assert fitted.checks[0].model_ms == pytest.approx(fitted.checks[0].target_ms, rel=0.002)


@pytest.mark.parametrize("seed", [201, 202, 203])
def test_a_detailed_drive_is_predicted(seed: int) -> None:
    """The mean is within 1 %, and the demerit is below 1 % of the mean."""
    target = random_drive(seed)
    disk = profile(target, destroy_data=True).disk()
    target.reset()
    n = 20_000
    sectors = np.random.default_rng(7).integers(0, target.capacity_sectors - 8, n)
    completions = target.batch(np.zeros(n), sectors, np.full(n, 8))
    there = np.diff(np.concatenate([[0], completions]))
    mine = ModelTarget.of(disk, target.capacity_sectors, seed=3)
    bench = Bench(mine, 0)
    here = np.array([bench.read(int(sector), 8) for sector in sectors])
    assert here.mean() == pytest.approx(there.mean(), rel=0.01)
    assert demerit(there, here) < 0.01 * there.mean()


def check_of(fitted: Fitted, workload: str) -> Check:
    """Return the check of this workload."""
    return next(check for check in fitted.checks if check.workload == workload)


@pytest.mark.parametrize("share", [0.0, 0.75, 1.0])
def test_a_bus_that_waits_for_its_watermark(share: float) -> None:
    """A profile without the watermark would predict reads up to 9 % too short."""
    parameters = replace(random_drive(103).parameters, bus_watermark=share)
    fitted = profile(DetailedDrive(parameters))
    assert fitted.value("buffer.bus_watermark_percent") == pytest.approx(100 * share, abs=2)
    for workload in ("random reads", "reads of many sizes"):
        assert abs(check_of(fitted, workload).difference_percent) < 0.3


def test_a_drive_that_misses_the_next_sector() -> None:
    """A stream takes a whole rotation for each read."""
    disk = device.load("detailed-10k")
    assert disk.buffer
    assert disk.facts
    assert disk.rotation
    buffer = disk.buffer.model_copy(update={"read_reach_sectors": 0})
    misses = disk.model_copy(update={"buffer": buffer})
    fitted = profile(ModelTarget.of(misses, disk.facts.capacity_sectors))
    assert fitted.value("buffer.read_reach_sectors") == 0
    check = check_of(fitted, "sequential reads")
    assert check.target_ms > disk.rotation.period_ms
    assert abs(check.difference_percent) < 0.5


@pytest.mark.parametrize("seed", [808, 814, 819])
def test_runs_of_a_detailed_drive_are_foreseen(seed: int) -> None:
    """At most one of 1,000 reads is off by a rotation, since the drive always finishes a head
    switch.

    Drive 808 reads ahead to the next track's end, and a read far ahead in its one long segment
    waits 0.2 s. On drive 814 some runs begin at a track's end, where nothing is read ahead. On
    drive 819 a read waits only for the next sector.
    """
    fitted = profile(random_drive(seed))
    assert (fitted.value("buffer.read_reach_sectors") == 1) == (seed == 819)
    [runs] = [each for each in fitted.compared if each.workload == "sequential reads"]
    off_ms = np.abs(runs.model_times_ms - runs.target_times_ms)
    assert (off_ms > 0.01 * runs.check.target_ms).sum() <= 1


@pytest.mark.parametrize("seed", [818, 820])
def test_what_a_detailed_drive_puts_away_is_foreseen(seed: int) -> None:
    """Drive 818 has no command overhead when it destages. Drive 820 has room for two writes; a
    distant write may wait as long as nearer writes arrive.
    """
    fitted = profile(random_drive(seed), destroy_data=True)
    assert fitted.value("buffer.write_back_order") == "shortest positioning"
    assert check_of(fitted, "reads and writes").demerit_percent < 5


@dataclass
class Noisy:
    """A drive whose completions arrive some microseconds late, as interrupts do."""

    drive: DetailedDrive
    writable: bool = True
    draw: random.Random = field(default_factory=lambda: random.Random(1))

    @property
    def capacity_sectors(self) -> int:
        return self.drive.capacity_sectors

    def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        late_ns = round(abs(self.draw.gauss(0, 3000)))
        return self.drive.request(op, sector, sectors, at_ns) + late_ns


@pytest.mark.parametrize("seed", [204, 205])
def test_noise_hides_nothing(seed: int) -> None:
    drive = random_drive(seed)
    is_so = drive.parameters
    fitted = profile(Noisy(drive), destroy_data=True)
    for key, value in {
        "segments": is_so.segments,
        "segment_sectors": is_so.segment_sectors,
    }.items():
        assert fitted.value(f"buffer.{key}") == value, key
    buffer = fitted.disk().buffer
    assert buffer
    assert buffer.write_room[:2] == (is_so.write_extents, is_so.write_sectors)
    assert fitted.value("rotation.period_ms") == pytest.approx(is_so.period_ns / 1e6, rel=1e-5)
    outer = is_so.zone[0].sectors + is_so.zone[0].spare_sectors
    layout = fitted.disk().layout
    assert layout
    assert layout.zones[0].sectors == pytest.approx(outer, abs=2)
    assert fitted.value("buffer.read_hit_us") == pytest.approx(
        is_so.read_hit_overhead_ns / 1e3, abs=6
    )


# ---- what is asked of a target --------------------------------------------------------


@dataclass
class Trouble:
    """The known drive, which misbehaves after `after` requests."""

    what: Callable[["Trouble", int], int]  # completion -> wrong completion
    capacity_sectors: int = CAPACITY
    writable: bool = True
    after: int = 1000
    served: int = 0
    ops: set[str] = field(default_factory=set)
    drive: Target = field(default_factory=model)

    def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        self.served += 1
        self.ops.add(op)
        completion_ns = self.drive.request(op, sector, sectors, at_ns)
        return self.what(self, completion_ns) if self.served > self.after else completion_ns


def fails(trouble: Trouble, completion_ns: int) -> int:
    raise OSError(5, "Input/output error")


def shrinks(trouble: Trouble, completion_ns: int) -> int:
    trouble.capacity_sectors -= 1
    return completion_ns


TROUBLES = {
    "backwards": (lambda _, ns: ns - 10**12, "completed before, at"),
    "late": (lambda _, ns: ns + 10**11, r"took 100 s, given up"),
    "fails": (fails, r"OSError: \[Errno 5\] Input/output error"),
    "shrinks": (shrinks, "it had 20000000 sectors, now 19999999"),
    "no time": (lambda _, ns: ns / 1.0, "not a whole ns"),
}


@pytest.mark.parametrize("name", TROUBLES)
def test_trouble_is_one_line_with_sector_and_reason(name: str) -> None:
    what, message = TROUBLES[name]
    with pytest.raises(
        RunFailed, match=rf"^target: read of \d+ sectors at sector \d+, .*{message}"
    ):
        us.profile(Trouble(what))


def test_too_small_a_target() -> None:
    with pytest.raises(UserError, match="target: 100 sectors are too few"):
        us.profile(Trouble(fails, capacity_sectors=100))


STRANGE: dict[str, Callable[[random.Random, int], float]] = {
    "no time at all": lambda draw, sectors: 0,
    "always the same": lambda draw, sectors: 80_000 + 500 * sectors,
    "a flash drive's tail": lambda draw, sectors: 60_000 + draw.expovariate(1 / 30_000),
    "two times": lambda draw, sectors: draw.choice((1e5, 8e6)),
    "now and then very long": lambda draw, sectors: min(draw.paretovariate(1.2) * 1e4, 1e10),
}


@pytest.mark.parametrize("name", STRANGE)
def test_what_is_no_disk_is_told_from_one(name: str) -> None:
    draw = random.Random(name)

    class Strange:
        capacity_sectors = 2**20
        writable = True

        def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
            return at_ns + int(STRANGE[name](draw, sectors))

    with pytest.raises(RunFailed, match=r"no arm and no rotation: .*; --as disk writes one"):
        profile(Strange(), destroy_data=True)
    fitted = profile(Strange(), destroy_data=True, as_disk=True)
    assert fitted.value("rotation.period_ms") is None
    assert fitted.disk().buffer is None


def test_a_cache_without_end() -> None:
    drive = random_drive(2)
    seen: set[int] = set()

    class Remembers:
        capacity_sectors = drive.capacity_sectors
        writable = False
        late_ns = 0

        def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
            if sector in seen:
                return at_ns + 50_000
            seen.add(sector)
            self.late_ns = drive.request(op, sector, sectors, max(at_ns, self.late_ns))
            return self.late_ns

    fitted = profile(Remembers())
    assert fitted.value("buffer.segments") == 256
    assert "# segments: 5 of 5 tries, or more" in fitted.to_toml()


def test_a_segment_behind_all_that_was_asked_for() -> None:
    """The prefetch reads to the next track's end, but keeps only the last sectors."""
    track, window, hit_ns = 334, 74, 50_000

    class Windowed:
        capacity_sectors = 2**24
        writable = False
        end = held = 0

        def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
            if self.held - window <= sector and sector + sectors <= self.held:
                return at_ns + hit_ns
            self.end = sector + sectors
            self.held = (self.end // track + 2) * track
            return at_ns + 5_000_000

    bench = Bench(Windowed(), 1)
    seen = segments.with_size(
        bench, hits.Hits(hit_ns, 0.0, 8, 0.0), segments.Segments(1, 5), 10_000.0, track
    )
    assert (seen.sectors, seen.sure_of_size) == (window, True)


def test_no_request_is_longer_than_a_target_takes() -> None:
    """The drive's segments and write cache are larger than the longest request."""
    parameters = replace(
        random_drive(102).parameters, segment_sectors=60_000, write_sectors=60_000, write_extents=8
    )
    drive = DetailedDrive(parameters)
    longest = 0

    class Cuts:
        capacity_sectors = drive.capacity_sectors
        writable = True
        longest_sectors = 128

        def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
            nonlocal longest
            longest = max(longest, sectors)
            return drive.request(op, sector, sectors, at_ns)

    profile(Cuts(), destroy_data=True)
    assert longest == 128


def test_a_small_disk() -> None:
    parameters = random_drive(7).parameters
    zone = replace(parameters.zone[0], cylinders=60)
    fitted = profile(DetailedDrive(replace(parameters, zone=(zone,), heads=12)))
    layout = fitted.disk().layout
    assert layout
    slots = zone.sectors + zone.spare_sectors
    assert [(one.sectors, one.slots) for one in layout.zones] == [(zone.sectors, slots)]


def well(trouble: Trouble, completion_ns: int) -> int:
    return completion_ns


@pytest.mark.parametrize(("writable", "destroy_data"), [(True, False), (False, True)])
def test_nothing_is_written_unasked(writable: bool, destroy_data: bool) -> None:
    target = Trouble(well, writable=writable)
    profile(target, destroy_data=destroy_data)
    assert target.ops == {"read"}


def test_the_same_seed_the_same_profile(tmp_path: Path) -> None:
    first, again = (us.profile(random_drive(2), seed=4) for _ in range(2))
    assert first.to_toml() == again.to_toml()
    file = tmp_path / "profiled.toml"
    file.write_text(first.to_toml())
    assert device.read(file) == first.disk()


# ---- parts ----------------------------------------------------------------------------


def test_ascending() -> None:
    assert statistics.ascending([1, 3, 2, 4, 0]) == [1, 2.25, 2.25, 2.25, 2.25]


def test_the_period_of_a_detailed_drive() -> None:
    drive = random_drive(3)
    finding = rotation.measure(Bench(drive, 1))
    assert finding
    assert finding.has_phase
    assert finding.period_ns == pytest.approx(drive.parameters.period_ns, rel=1e-6)


def test_an_arm_that_is_there_already_is_no_hit() -> None:
    """A repeated read needs no seek, so it sometimes takes half the time even without a cache."""
    disk = device.load("vesper-zoned")
    benches = (Bench(ModelTarget.of(disk, CAPACITY), seed) for seed in range(40))
    assert [hits.measure(bench) for bench in benches] == [None] * 40


def test_no_cache_no_hits() -> None:
    known = {key: value for key, value in KNOWN.items() if key != "buffer"}
    disk = DiskProfile.model_validate(known)
    assert hits.measure(Bench(ModelTarget.of(disk, CAPACITY), 1)) is None
    fitted = profile(ModelTarget.of(disk, CAPACITY))
    assert "buffer" not in fitted.disk().model_dump(exclude_none=True)


# ---- the command ----------------------------------------------------------------------

MODULE = """
from oracle.detailed.drive import random_drive

class Broken:
    capacity_sectors = 10**6
    writable = True
    def request(self, op, sector, sectors, at_ns):
        raise OSError("gone")

def drive(): return random_drive(2)
def broken(): return Broken()
def nothing(): return None
"""


def command(folder: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> Result:
    (folder / "someones_drives.py").write_text(MODULE)
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    return CliRunner().invoke(main, ["profile", *words], catch_exceptions=False)


def test_the_command_writes_a_profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("--target", "someones_drives:drive", "--out", "mine.toml", "--json")
    done = command(tmp_path, monkeypatch, *words)
    assert done.exit_code == 0
    document = json.loads(done.stdout)["found"]
    assert document["buffer.segments"] == {"value": 8, "confidence": "5 of 5 tries"}
    assert document["buffer.write_back"]["value"] is None
    assert device.load(str(tmp_path / "mine.toml")).buffer
    assert "wrote mine.toml" in done.stderr


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("someones_drives:broken", 1, "target: read of 8 sectors at sector "),
        (
            "someones_drives:nothing",
            2,
            "the returned target has no capacity_sectors, writable, req",
        ),
        ("someones_drives:absent", 2, "has no attribute 'absent'"),
        ("no_such_module:drive", 2, "No module named 'no_such_module'"),
        ("someones_drives", 2, "not of the form module:factory"),
    ],
)
def test_trouble_leaves_no_file(
    name: str, code: int, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = command(tmp_path, monkeypatch, "--target", name, "--out", "mine.toml")
    assert done.exit_code == code
    assert message in done.stderr.splitlines()[-1]
    assert {file.name for file in tmp_path.iterdir()} <= {"someones_drives.py", "__pycache__"}


def test_streams_are_told_by_a_model_that_is_much_slower() -> None:
    """The slow model has not completed one stream when the next begins."""
    slow = [Bench(model(read_hit_us=20_000.0), 1) for _ in range(2)]
    finding = streams.measure(Bench(model(), 1), lambda _: slow.pop())
    assert finding.value == "request"
    assert "it makes no difference" in finding.confidence
