# SPDX-License-Identifier: MIT
"""Where each sector is, from a trace: drives with a known layout, drives that leave sectors out,
and traces that do not show the layout.
"""

import random
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner, Result
from places import CHECKOUT

from oracle.detailed.drive import DetailedDrive, Parameters, Zone
from understudy_devices.cli.main import main
from understudy_devices.device import profile as device
from understudy_devices.profiler.from_trace import fit, positions, turning
from understudy_devices.profiler.from_trace.services import Served
from understudy_devices.profiler.from_trace.turning import Turning
from understudy_devices.profiler.layout.layout import Layout, Unseen
from understudy_devices.profiler.layout.layout import Zone as Rule
from understudy_devices.profiler.profile_fit import Fitted
from understudy_devices.profiler.targets.bench import Bench
from understudy_devices.profiler.targets.model import ModelTarget

pytestmark = pytest.mark.thorough

PERIOD_NS = 6_000_123.0
HEADS = 4
ZONES = (
    Zone(500, 120, spare_sectors=2, track_skew=30, cylinder_skew=41),
    Zone(450, 97, track_skew=25, cylinder_skew=33),
)
DRIVE = Parameters(zone=ZONES, period_ns=PERIOD_NS, heads=HEADS, seek_a_ns=4e5, head_switch_ns=5e5)
READS = 6000
PAGE = 8
READS_OF_CHEETAH = CHECKOUT / "bench" / "drives" / "cheetah-9lp" / "reads.parquet"


def recorded(drive: DetailedDrive, reads: int = READS, noise_ns: float = 0.0) -> Served:
    """Record reads of random pages, one after another; completions are up to `noise_ns` late."""
    draw = random.Random("pages")
    rows, at_ns = [], 0
    for _ in range(reads):
        sector = draw.randrange(drive.capacity_sectors // PAGE) * PAGE
        done_ns = drive.request("read", sector, PAGE, at_ns)
        rows.append((0, sector, PAGE, at_ns, done_ns + round(draw.uniform(0, noise_ns))))
        at_ns = rows[-1][-1]
    return Served.of(*(np.array(column, np.int64) for column in zip(*rows, strict=True)))


@pytest.fixture(scope="module")
def known() -> Fitted:
    return fit.profile(recorded(DetailedDrive(DRIVE)))


def test_a_known_layout_is_recovered(known: Fitted) -> None:
    """The period, the zones' spare sectors, the skews and the cylinders are those of the drive."""
    layout = known.disk().layout
    assert layout
    zones = layout.zones
    assert known.value("rotation.period_ms") == pytest.approx(PERIOD_NS / 1e6, rel=1e-7)
    assert known.value("rotation.phase") == "known"
    assert [(zone.sectors, zone.slots) for zone in zones] == [(120, 122), (97, 97)]
    assert {zone.cylinder.tracks for zone in zones if zone.cylinder} == {HEADS}
    end = ZONES[0].cylinders * HEADS * 120
    assert abs(zones[1].first - end) <= HEADS * 97


def test_other_reads_are_foreseen(known: Fitted) -> None:
    """The predicted angle is right within 2 % of a turn for 90 % of the completions."""
    drive = DetailedDrive(DRIVE)
    mine = Bench(ModelTarget.of(known.disk(), known.capacity_sectors), 0)
    theirs = Bench(drive, 0)
    draw = random.Random("fresh")
    places = [draw.randrange(known.capacity_sectors - PAGE) for _ in range(1000)]
    there, here = (np.array([bench.read(at, PAGE) for at in places]) for bench in (theirs, mine))
    right = np.abs(np.cumsum(here - there)) < 0.02 * PERIOD_NS
    in_phase = np.abs((np.cumsum(here - there) / PERIOD_NS + 0.5) % 1 - 0.5) < 0.02
    assert in_phase[10:].mean() > 0.9
    assert here.mean() == pytest.approx(there.mean(), rel=0.01)
    assert right[0] or in_phase[0]


def test_an_answer_may_come_a_little_late() -> None:
    fitted = fit.profile(recorded(DetailedDrive(DRIVE), noise_ns=3000))
    assert fitted.value("rotation.phase") == "known"
    assert fitted.checks[0].demerit_percent < 2


def test_answers_that_come_at_any_time_show_nothing() -> None:
    served = recorded(DetailedDrive(DRIVE), noise_ns=PERIOD_NS)
    finding = turning.measure(served, np.zeros(len(served), bool), PERIOD_NS)
    assert finding == Unseen("reads of one place complete at any angle")
    assert fit.profile(served).disk().layout is None


def test_too_few_places_are_read_twice() -> None:
    fitted = fit.profile(recorded(DetailedDrive(DRIVE), reads=500))
    assert fitted.value("rotation.phase") == "random"
    assert "places were read twice from the medium, too few" in fitted.to_toml()


# ---- sectors that are left out ---------------------------------------------------------

RULE = Rule.even(0, 200, 200, 0.3, 0.25).with_cylinders(6, 0.1)


def turned(slipped: list[int], reads: int = 6000, capacity_sectors: int = 600_000) -> Turning:
    """Return reads of a disk that leaves out the `slipped` sectors."""
    draw = np.random.default_rng(1)
    sector = np.sort(draw.integers(0, capacity_sectors // PAGE, reads) * PAGE)
    place = sector + np.searchsorted(slipped, sector, side="right")
    turn = np.array([RULE.turn(int(each)) for each in place])
    over = place % RULE.sectors > RULE.sectors - PAGE
    late = np.where(over, draw.random(reads), 0.0)
    return Turning(PERIOD_NS, 0.0, PAGE, np.arange(reads), sector, (turn + late) % 1)


@pytest.mark.parametrize(
    "slipped",
    [[], [300_000], [100_003, 100_004, 400_001], list(range(50_000, 550_000, 10_000))],
    ids=["none", "one", "some", "many"],
)
def test_what_is_behind_them_is_farther_on(slipped: list[int]) -> None:
    finding = positions.measure(turned(slipped), 600_000)
    assert isinstance(finding, Layout)
    assert finding.share > 0.99
    for sector in range(0, 600_000 - PAGE, 997):
        place = sector + sum(each <= sector for each in slipped)
        off = abs((finding.zone(sector).turn(sector) - RULE.turn(place) + 0.5) % 1 - 0.5)
        behind = min((sector - each for each in slipped if each <= sector), default=10**6)
        assert off < (1e-6 if behind > 1000 else 0.3)  # a slip is unknown until a read shows it
    assert len(finding.zones) == 1
    assert sum(slots for _, slots in finding.slips) >= len(slipped)


def test_angles_without_a_rule() -> None:
    reads = turned([])
    lost = replace(reads, turn=np.random.default_rng(2).random(len(reads.turn)))
    finding = positions.measure(lost, 600_000)
    assert isinstance(finding, Unseen)
    assert "follow no rule" in finding.why


def test_the_period_is_not_one_of_its_parts() -> None:
    """The first guess of the period may be off by a fifth."""
    served = recorded(DetailedDrive(DRIVE))
    for about in (0.8, 1.0, 1.2):
        finding = turning.measure(served, np.zeros(len(served), bool), about * PERIOD_NS)
        assert isinstance(finding, Turning)
        assert finding.period_ns == pytest.approx(PERIOD_NS, rel=1e-8)


# ---- sections that are kept ------------------------------------------------------------


def profiled(tmp_path: Path, *more: str) -> Result:
    served = recorded(DetailedDrive(DRIVE), reads=2000)
    names = ("op", "sector", "sectors", "arrival_ns", "completion_ns")
    columns = (served.op, served.sector, served.sectors, served.begin_ns, served.completion_ns)
    frame = pl.DataFrame(dict(zip(names, columns, strict=True)))
    frame.with_columns(op=pl.lit("read")).write_parquet(tmp_path / "trace.parquet")
    out = ["--out", str(tmp_path / "mine.toml")]
    return CliRunner().invoke(
        main, ["profile", "--trace", str(tmp_path / "trace.parquet"), *out, *more]
    )


def test_what_a_trace_does_not_show_is_kept(tmp_path: Path) -> None:
    assert profiled(tmp_path, "--keep", "cheetah-9lp").exit_code == 0
    mine, cheetah = device.load(str(tmp_path / "mine.toml")), device.load("cheetah-9lp")
    assert mine.buffer == cheetah.buffer
    assert mine.facts == cheetah.facts


def test_a_kept_cache_is_the_only_one(tmp_path: Path) -> None:
    assert profiled(tmp_path, "--keep", "cheetah-15k4").exit_code == 0
    disk = device.load(str(tmp_path / "mine.toml"))
    assert disk.cache == device.load("cheetah-15k4").cache
    assert not disk.buffer


def test_a_kept_disk_is_as_large(tmp_path: Path) -> None:
    small = tmp_path / "small.toml"
    small.write_text(
        'summary = "small"\n[model]\nintercept_ms = 4\nfull_seek_ms = 5\n'
        '[facts]\ncapacity_sectors = 1000\nvendor = "none"\nmodel = "none"\n'
    )
    result = profiled(tmp_path, "--keep", str(small))
    assert result.exit_code == 1
    assert "and small is of a disk of 1000" in result.output
    assert not (tmp_path / "mine.toml").exists()


def test_what_is_kept_goes_with_a_trace(tmp_path: Path) -> None:
    words = ["profile", "--target", "x:y", "--out", str(tmp_path / "a.toml"), "--keep", "atlas-10k"]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2
    assert "--keep: only with --trace" in result.output


def test_a_profile_that_is_not_there_can_not_be_kept(tmp_path: Path) -> None:
    result = profiled(tmp_path, "--keep", "cheetah-9")
    assert result.exit_code == 2
    assert "cheetah-9" in result.output
    assert not (tmp_path / "mine.toml").exists()


def test_the_cheetah_comes_out_as_in_the_library(tmp_path: Path) -> None:
    """The profile's own comment names this command."""
    out = tmp_path / "new.toml"
    words = ["profile", "--trace", str(READS_OF_CHEETAH), "--keep", "cheetah-9lp"]
    assert CliRunner().invoke(main, [*words, "--out", str(out)]).exit_code == 0
    mine, theirs = device.load(str(out)), device.load("cheetah-9lp")
    for section in ("seek", "rotation", "layout", "throughput", "buffer", "facts"):
        assert _rounded(getattr(mine, section)) == _rounded(getattr(theirs, section))


def _rounded(section: object) -> str:
    """Return a section's text, to eight digits: processors differ in the last ones."""
    return re.sub(r"\d+\.\d+", lambda number: f"{float(number[0]):.8f}", repr(section))
