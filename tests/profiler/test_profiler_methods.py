# SPDX-License-Identifier: MIT
"""The papers' methods to measure a drive, and the check of SIGCSE 2006 for all methods."""

import random
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import understudy_devices as us
from oracle.detailed.drive import random_drive
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.cli.main import main
from understudy_devices.device import profile as device
from understudy_devices.device.profile import DiskProfile
from understudy_devices.device.target import Target
from understudy_devices.profiler import checks, methods
from understudy_devices.profiler.methods import perform_2010, sigcse_2006
from understudy_devices.profiler.probes import hits
from understudy_devices.profiler.profile_fit import Fitted, profile
from understudy_devices.profiler.targets.bench import Bench
from understudy_devices.profiler.targets.model import ModelTarget

pytestmark = pytest.mark.thorough

PAPERS = ("perform-2010", "sigcse-2006")
CAPACITY = 2**20


def model(name: str) -> ModelTarget:
    disk = device.load(name)
    assert disk.facts
    return ModelTarget.of(disk, disk.facts.capacity_sectors, seed=5)


def line(**cache: object) -> ModelTarget:
    """Return a model whose seek curve is a line, with this cache."""
    described = {
        "name": "line",
        "model": {"intercept_ms": 4.0, "full_seek_ms": 6.0},
        "cache": cache,
    }
    return ModelTarget.of(DiskProfile.model_validate(described), CAPACITY)


def error(fitted: Fitted, workload: str) -> float:
    """Return the error of the model's mean, in per cent."""
    [check] = [check for check in fitted.checks if check.workload == workload]
    return check.difference_percent


@dataclass
class Watched:
    """A target that records its requests."""

    target: Target
    asked: list[tuple[str, int, int]] = field(default_factory=list)
    writable: bool = True

    @property
    def capacity_sectors(self) -> int:
        return self.target.capacity_sectors

    def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        self.asked.append((op, sector, sectors))
        return self.target.request(op, sector, sectors, at_ns)


# ---- any method ------------------------------------------------------------------------


def test_the_full_method_is_the_default() -> None:
    assert methods.names() == ["full", *PAPERS]
    assert us.profile(random_drive(2)).method == "full"


def test_an_unknown_one_is_told_with_those_there_are() -> None:
    with pytest.raises(UserError, match=r'unknown method "perform": did you mean "perform-20'):
        profile(random_drive(2), method="perform")


@pytest.mark.parametrize("method", PAPERS)
def test_the_papers_never_write(method: str) -> None:
    target = Watched(random_drive(2))
    with pytest.raises(UserError, match=f"--destroy-data: {method} measures no writes; leave it"):
        profile(target, method=method, destroy_data=True)
    assert not target.asked
    profile(target, method=method)
    assert {op for op, _, _ in target.asked} == {"read"}


@pytest.mark.parametrize("method", PAPERS)
def test_the_same_seed_the_same_profile(method: str, tmp_path: Path) -> None:
    first, again = (profile(random_drive(3), seed=4, method=method) for _ in range(2))
    assert first.to_toml() == again.to_toml()
    other = profile(random_drive(3), seed=5, method=method)
    assert first.to_toml() != other.to_toml()
    file = tmp_path / "profiled.toml"
    file.write_text(first.to_toml())
    disk = device.read(file)
    assert disk == first.disk()
    assert disk.limits.endswith("one at a time")
    assert f"--method {method} --seed 4" in file.read_text()
    assert first.as_json()["method"] == method


# ---- PERFORM 2010 ---------------------------------------------------------------------


def test_the_papers_line_is_found_again() -> None:
    disk = profile(model("cheetah-15k4"), method="perform-2010").disk()
    assert disk.model
    assert (disk.model.intercept_ms, disk.model.full_seek_ms) == pytest.approx(
        (4.25, 5.25), abs=0.01
    )
    assert disk.cache
    assert (disk.cache.segments, disk.cache.prefetch_sectors) == (64, 64)
    assert disk.cache.hit_us == 250


def test_a_line_is_straight_though_the_drive_is_not() -> None:
    """The line predicts the mean of random pages, but not the scatter of the rotational latency."""
    fitted = profile(random_drive(3), method="perform-2010")
    [check] = [check for check in fitted.checks if check.workload == "random reads"]
    assert abs(check.difference_percent) < 1
    assert check.demerit_percent > 5


def test_hits_are_no_part_of_the_line() -> None:
    """The cache holds a twentieth of the disk."""
    target = line(segments=200, segment_sectors=264, prefetch_sectors=256, hit_us=100.0)
    disk = profile(target, method="perform-2010").disk()
    assert disk.model
    assert disk.model.intercept_ms == pytest.approx(4.0, abs=0.03)
    assert disk.model.full_seek_ms == pytest.approx(6.0, abs=0.06)


def test_a_drive_that_holds_everything_has_no_line() -> None:
    drive = model("cheetah-15k4")

    class Holds(Watched):
        def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
            self.asked.append((op, sector, sectors))
            again = (op, sector, sectors) in self.asked[-3:-1]
            if again or len(self.asked) > 1500:
                return at_ns + 50_000
            return self.target.request(op, sector, sectors, at_ns)

    with pytest.raises(RunFailed, match=r"all but \d+ of 100000 random pages hit its cache"):
        profile(Holds(drive), method="perform-2010")


def test_without_a_cache_there_is_no_section_of_it() -> None:
    fitted = profile(model("vesper-flat"), method="perform-2010")
    assert fitted.disk().cache is None
    assert "# hit_us: not seen: a second read is not quicker" in fitted.to_toml()


@pytest.mark.parametrize("seed", [1, 4, 6])
def test_a_segment_holds_a_page_and_what_is_read_ahead(seed: int) -> None:
    """A longer prefetch would overwrite the page itself, since a segment wraps around."""
    cache = profile(random_drive(seed), method="perform-2010").disk().cache
    assert cache
    assert cache.prefetch_sectors + perform_2010.A_PAGE <= cache.segment_sectors
    assert cache.segments == random_drive(seed).parameters.segments


def test_the_filter_is_the_mean_of_up_to_1001() -> None:
    draw = random.Random(3)
    times = [draw.random() for _ in range(2500)]
    naive = [np.mean(times[max(0, at - 500) : at + 501]) for at in range(len(times))]
    assert perform_2010.filtered(np.array(times)) == pytest.approx(np.array(naive))
    assert perform_2010.filtered(np.array([1.0, 2.0, 6.0])) == pytest.approx(np.array([3.0] * 3))


# ---- SIGCSE 2006 ----------------------------------------------------------------------


def test_its_samples_are_from_the_beginning_and_of_16_mb() -> None:
    target = Watched(random_drive(2))
    bench = Bench(target, 1)
    sigcse_2006._seek_ms(bench, 0.5, None)
    part = sigcse_2006.PART * target.capacity_sectors
    begins, ends = target.asked[::2], target.asked[1::2]
    assert len(begins) == len(ends) == sigcse_2006.REPEATS
    assert all(sector < part for _, sector, _ in begins)
    assert all(abs(sector - target.capacity_sectors / 2) <= part for _, sector, _ in ends)
    target = Watched(random_drive(2))
    profile(target, method="sigcse-2006")
    long = [sector for _, sector, sectors in target.asked if sectors == 2**15][:256]
    assert np.diff(long) == pytest.approx(target.capacity_sectors / 255, rel=0.01)
    assert (long[0], long[-1]) == (1, target.capacity_sectors - 2**15)


def test_a_read_that_hits_is_no_sample() -> None:
    """A quarter of the sectors hit.

    If the sector where the arm should start is a hit, the arm does not move there.
    """
    drive = line(segments=0, segment_sectors=1, prefetch_sectors=0, hit_us=1.0)

    class Holds(Watched):
        def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
            again = (op, sector, sectors) in self.asked[-300:]
            self.asked.append((op, sector, sectors))
            if again or sector % 4 == 0:
                return at_ns + 50_000
            return self.target.request(op, sector, sectors, at_ns)

    fitted = profile(Holds(drive), method="sigcse-2006")
    at = np.linspace(0, 1, 256)
    assert np.abs(np.array(fitted.value("seek.ms")) - 4 - 6 * at)[1:].max() < 0.2


def test_its_curves_are_those_of_a_model() -> None:
    target = model("vesper-zoned")
    disk = profile(target, method="sigcse-2006").disk()
    known = device.load("vesper-zoned")
    assert disk.seek
    assert known.seek
    assert disk.throughput
    assert known.throughput
    transfer_ms = 512 / 58e6 * 1e3
    assert np.array(disk.seek.ms)[1:] == pytest.approx(
        np.array(known.seek.ms)[1:] + 3 + transfer_ms, rel=0.005
    )
    places, ps = np.array(known.timing(target.capacity_sectors).transfer).T
    starts = np.linspace(1, target.capacity_sectors - 2**15, 256)
    rates = 512e6 / np.interp(starts, places, ps)
    assert np.array(disk.throughput.mb_per_s) == pytest.approx(rates, rel=0.025)


@pytest.mark.parametrize("seed", [1, 5, 8])
def test_its_bias_is_kept(seed: int) -> None:
    """Seeks from the disk's beginning cross fewer cylinders, so the measured times are too short.

    Chance alone explains errors up to 2 %.
    """
    fitted = profile(random_drive(seed), method="sigcse-2006")
    assert fitted.disk().seek
    assert -8 < error(fitted, checks.SEEK) < -2
    assert abs(error(profile(random_drive(seed)), checks.SEEK)) < 2.5


# ---- the check of SIGCSE 2006 ---------------------------------------------------------


@pytest.mark.parametrize("seed", range(1, 9))
def test_the_full_method_is_within_the_papers_table(seed: int) -> None:
    """Errors of seeks are at most 2 % (plus 1 % for chance), and of transfers 1 %.

    The paper has 10.1 % and 2.6 %.
    """
    fitted = profile(random_drive(seed))
    assert abs(error(fitted, checks.SEEK)) < 3
    assert abs(error(fitted, checks.TRANSFER)) < 1


@pytest.mark.parametrize("name", ["vesper-flat", "vesper-zoned", "cheetah-9lp"])
def test_and_so_it_is_on_our_own_models(name: str) -> None:
    fitted = profile(model(name))
    assert abs(error(fitted, checks.SEEK)) < 2
    assert abs(error(fitted, checks.TRANSFER)) < 1


def test_what_is_longer_than_a_segment_says_nothing_of_the_bus() -> None:
    """A segment of the Cheetah holds 342 sectors.

    After a read of 256 sectors, read-ahead overwrites part of them.
    """
    finding = hits.measure(Bench(model("cheetah-9lp"), 1))
    known = device.load("cheetah-9lp").buffer
    assert finding
    assert known
    assert finding.longest == 128
    assert 512e3 / finding.bus_sector_ns == pytest.approx(known.bus_mb_per_s, rel=1e-3)


def test_a_model_that_is_a_tenth_too_slow_is_seen() -> None:
    class Slow(Watched):
        def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
            ns = super().request(op, sector, sectors, at_ns) - at_ns
            return at_ns + ns + ns // 10

    is_so, slow = Watched(model("vesper-flat")), Slow(model("vesper-flat"))
    comparisons = checks.compare(Bench(is_so, 1), Bench(slow, 1), 1, checks.SIGCSE_2006)
    assert [check.workload for check in comparisons] == [checks.SEEK, checks.TRANSFER]
    assert [check.check.difference_percent for check in comparisons] == pytest.approx(
        [10, 10], abs=0.01
    )
    assert [len(check.target_times_ms) for check in comparisons] == [1000, 200]
    assert is_so.asked == slow.asked
    seeks, transfers = is_so.asked[1:2001], is_so.asked[2002:]  # the first read is extra
    assert {sectors for _, _, sectors in seeks} == {1}
    sizes = [sectors for _, _, sectors in transfers[1::2]]
    assert 1 <= min(sizes) < 800
    assert 2**15 - 800 < max(sizes) <= 2**15
    heads = zip(transfers[::2], transfers[1::2], strict=True)
    assert all(2**11 <= sector - there <= 2**16 for (_, there, _), (_, sector, _) in heads)


def test_what_is_not_timed_is_not_counted() -> None:
    """Moving the head takes 5 s; the timed request takes 1 ms."""

    class Alternates:
        capacity_sectors = CAPACITY
        writable = False
        served = 0

        def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
            self.served += 1
            return at_ns + (10**6 if self.served % 2 else 5 * 10**9)

    for workload in checks.SIGCSE_2006:  # the first read is extra
        (comparison,) = checks.compare(
            Bench(Alternates(), 1), Bench(Alternates(), 1), 1, (workload,)
        )
        assert comparison.check.target_ms == 1


def test_what_chance_may_make_of_a_mean_is_asked_anew_and_longer() -> None:
    """More requests are sent only if chance may explain the difference of the means.

    The targets are 4 and 10 % slower than the model; chance explains 1.5 % of the first and nothing
    of the second.
    """

    class Takes:
        capacity_sectors = CAPACITY
        writable = False

        def __init__(self, least_us: int, most_us: int) -> None:
            self.us, self.draws = (least_us, most_us), random.Random(1)

        def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
            return at_ns + 1000 * self.draws.randint(*self.us)

    for microseconds, more, requests in (
        ((200, 1880), 4, 4000),
        ((200, 1880), 1, 1000),
        ((1100, 1100), 4, 1000),
    ):
        target, model = Bench(Takes(*microseconds), 1), Bench(Takes(1000, 1000), 1)
        (comparison,) = checks.compare(target, model, 1, checks.READS[:1], more=more)
        assert len(comparison.target_times_ms) == requests


# ---- the command ----------------------------------------------------------------------

MODULE = """
from oracle.detailed.drive import random_drive

def drive(): return random_drive(2)
"""


def command(folder: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> Result:
    (folder / "someones_drive.py").write_text(MODULE)
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    arguments = ["profile", "--target", "someones_drive:drive", "--out", "mine.toml", *words]
    return CliRunner().invoke(main, arguments, catch_exceptions=False)


def test_the_command_takes_a_method(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = command(tmp_path, monkeypatch, "--method", "sigcse-2006", "--picture", "mine.svg")
    assert done.exit_code == 0, done.stderr
    assert "random transfer" in done.stdout
    disk = device.load(str(tmp_path / "mine.toml"))
    assert disk.seek
    assert len(disk.seek.ms) == 256
    assert (tmp_path / "mine.svg").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--method", "perform"), "'perform' is not one of 'full', 'perform-2010', 'sigcse-2006'"),
        (("--method", "perform-2010", "--destroy-data"), "perform-2010 measures no writes"),
    ],
)
def test_what_a_method_can_not_do(
    words: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = command(tmp_path, monkeypatch, *words)
    assert done.exit_code == 2
    assert message in done.stderr
    assert not (tmp_path / "mine.toml").exists()


@pytest.mark.parametrize("method", methods.names())
def test_no_request_is_longer_than_a_target_takes(method: str) -> None:
    class Short(ModelTarget):
        longest_sectors = 2560

        def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
            assert sectors <= self.longest_sectors
            return super().request(op, sector, sectors, at_ns)

    fitted = profile(Short.of(device.load("vesper-zoned"), 20_000_000), method=method)
    assert fitted.disk()
