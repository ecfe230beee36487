# SPDX-License-Identifier: MIT
"""A profile from a trace: our own model is recovered, and detailed drives are predicted.

Values that a trace does not show are reported as not seen. The bounds are a little wider than the
results for seeds 206 to 225.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_runs import experiment, outcome
from test_profiler import CAPACITY, KNOWN, model

from oracle.detailed.drive import random_drive
from understudy_devices.base.errors import RunFailed
from understudy_devices.campaign.result import requests_table
from understudy_devices.cli.main import main
from understudy_devices.device import profile as device
from understudy_devices.device.profile import DiskProfile
from understudy_devices.device.target import Target
from understudy_devices.profiler.checks import demerit
from understudy_devices.profiler.from_trace import fit
from understudy_devices.profiler.from_trace.services import Served
from understudy_devices.profiler.profile_fit import Fitted
from understudy_devices.profiler.targets.bench import Bench
from understudy_devices.profiler.targets.model import ModelTarget

pytestmark = pytest.mark.thorough

READS = 5000
PAUSE_NS = 5_000_000
SIZES = tuple(2**power for power in range(9))


@dataclass(frozen=True)
class Recorded:
    """The columns of a trace."""

    op: list[int]
    sector: list[int]
    sectors: list[int]
    sent_ns: list[int]
    completion_ns: list[int]

    def served(self) -> Served:
        columns = (self.op, self.sector, self.sectors, self.sent_ns, self.completion_ns)
        return Served.of(*(np.array(column, np.int64) for column in columns))


def recorded(
    target: Target,
    requests: int = READS,
    *,
    sizes: tuple[int, ...] = SIZES,
    again: float = 0.1,
    written: float = 0.0,
    queue: int = 1,
) -> Recorded:
    """Record random requests, with `queue` of them waiting at once.

    Some requests repeat one of the last three.
    """
    draw = random.Random("trace")
    rows: list[tuple[int, int, int, int, int]] = []
    free_ns = 0
    for _ in range(requests):
        sectors = draw.choice(sizes)
        sector = draw.randrange(target.capacity_sectors - sectors)
        if rows and draw.random() < again:
            _, sector, sectors, *_ = draw.choice(rows[-3:])
        op = int(draw.random() < written)
        if queue == 1:
            free_ns += draw.randrange(PAUSE_NS)
        sent_ns = rows[-queue][4] if len(rows) >= queue > 1 else free_ns * (queue == 1)
        at_ns = max(sent_ns, free_ns)
        free_ns = target.request(("read", "write")[op], sector, sectors, at_ns)
        rows.append((op, sector, sectors, sent_ns, free_ns))
    return Recorded(*(list(column) for column in zip(*rows, strict=True)))


def fresh(target: Target, fitted: Fitted) -> tuple[float, float]:
    """Compare reads that are not in the trace: return the ratio of the means and the relative
    demerit.
    """
    mine = Bench(ModelTarget.of(fitted.disk(), target.capacity_sectors, seed=3), 0)
    theirs = Bench(target, 0)
    theirs.wait(10**15)
    draw = random.Random("fresh")
    places = [draw.randrange(target.capacity_sectors - 8) for _ in range(READS)]
    there, here = (np.array([bench.read(at, 8) for at in places]) for bench in (theirs, mine))
    return float(here.mean() / there.mean()), demerit(there, here) / float(there.mean())


@pytest.fixture(scope="module")
def known() -> Fitted:
    return fit.profile(recorded(model()).served())


def test_a_known_curve_is_recovered(known: Fitted) -> None:
    is_so, fitted = (
        np.array(disk.timing(CAPACITY).seek, float)
        for disk in (DiskProfile.model_validate(KNOWN), known.disk())
    )
    at = np.linspace(0.02, 0.8, 100) * CAPACITY
    there, here = np.interp(at, *is_so.T), np.interp(at, *fitted.T)
    assert np.abs(here - there).max() < 600_000
    assert abs(float(np.mean(here - there))) < 100_000


def test_a_known_rotation_and_rate_are_recovered(known: Fitted) -> None:
    assert known.value("rotation.period_ms") == pytest.approx(6, rel=0.03)
    for rate in known.value("throughput.mb_per_s"):
        assert 28 < rate < 44


def test_known_hits_are_recovered(known: Fitted) -> None:
    buffer = known.disk().buffer
    assert buffer
    assert buffer.read_hit_us == pytest.approx(150, abs=0.1)
    assert buffer.bus_mb_per_s == pytest.approx(80, rel=1e-3)
    assert buffer.segments == 3
    assert "segments: the fewest that explain" in known.to_toml()


def in_runs(target: Target, run: int, requests: int = READS) -> Recorded:
    """Record reads of 8 sectors in sequential runs at random places, with pauses and repeats."""
    draw = random.Random("runs")
    rows: list[tuple[int, int, int, int, int]] = []
    sector = at_ns = 0
    for number in range(requests):
        if number % run == 0:
            sector = draw.randrange(target.capacity_sectors - 8 * run)
        elif draw.random() > 0.2:
            sector += 8
        at_ns += 8_000_000 + draw.randrange(PAUSE_NS)
        completion_ns = target.request("read", sector, 8, at_ns)
        rows.append((0, sector, 8, at_ns, completion_ns))
        at_ns = completion_ns
    return Recorded(*(list(column) for column in zip(*rows, strict=True)))


def test_how_far_it_reads_ahead_is_found() -> None:
    buffer = fit.profile(in_runs(model(), 6).served()).disk().buffer
    assert buffer
    assert buffer.ahead >= 40


@pytest.mark.parametrize("again", [0.01, 0.8])
def test_hits_are_seen_be_they_few_or_most(again: float) -> None:
    fitted = fit.profile(recorded(model(), again=again).served())
    assert fitted.value("buffer.read_hit_us") == pytest.approx(150, abs=0.1)
    assert fitted.checks[0].demerit_percent < 10


def test_zones_are_seen_where_there_are_many_reads() -> None:
    fitted = fit.profile(recorded(model(), 40_000).served())
    rates = fitted.value("throughput.mb_per_s")
    assert len(rates) == 9
    assert rates[0] == pytest.approx(40, rel=0.06)
    assert rates[-1] == pytest.approx(30, rel=0.06)


@pytest.mark.parametrize("seed", [201, 202, 203, 204, 205])
def test_a_detailed_drive_is_predicted(seed: int) -> None:
    """Predictions also hold for reads that are not in the trace."""
    drive = random_drive(seed)
    fitted = fit.profile(recorded(drive).served())
    reads = fitted.checks[0]
    assert reads.model_ms == pytest.approx(reads.target_ms, rel=0.02)
    assert reads.demerit_percent < 4
    mean, off = fresh(drive, fitted)
    assert mean == pytest.approx(1, abs=0.03)
    assert off < 0.04


def test_requests_that_wait_in_the_disk() -> None:
    """The service of a request begins when the request before it completes."""
    drive = random_drive(204)
    fitted = fit.profile(recorded(drive, queue=4).served())
    assert fitted.checks[0].demerit_percent < 4


def test_one_size_leaves_the_transfer_in_the_curve() -> None:
    fitted = fit.profile(recorded(model(), sizes=(8,)).served())
    assert fitted.value("throughput.mb_per_s") is None
    assert "# mb_per_s: not seen: lengths or places do not differ enough" in fitted.to_toml()
    assert "all hits have 8 sectors" in fitted.to_toml()
    assert fitted.checks[0].demerit_percent < 4


def test_without_hits_nothing_is_said_of_a_buffer() -> None:
    fitted = fit.profile(recorded(model(), again=0).served())
    assert fitted.disk().buffer is None
    assert "# read_hit_us: not seen: no short time comes again and again" in fitted.to_toml()
    assert [check.workload for check in fitted.checks] == ["random reads of the trace", "the trace"]


def test_a_drive_without_rotation_keeps_its_wait_in_the_curve() -> None:
    known = {**KNOWN, "rotation": {"period_ms": 6.0, "phase": "mean"}}
    target = ModelTarget.of(DiskProfile.model_validate(known), CAPACITY)
    fitted = fit.profile(recorded(target, again=0).served())
    assert fitted.value("rotation.period_ms") is None
    assert "rotational latency included" in fitted.to_toml()
    assert fitted.checks[0].demerit_percent < 2


def test_writes_are_not_fitted() -> None:
    """Reads that wait for a write, or start where a write left the arm, do not bend the curve."""
    fitted = fit.profile(recorded(model(), 20_000, written=0.1).served())
    assert "# write_us: not seen: writes of a trace are not fitted" in fitted.to_toml()
    checked = {check.workload: check for check in fitted.checks}
    assert [name for name, check in checked.items() if "writes" in check.asks] == [
        "writes of the trace",
        "the trace",
    ]
    assert fitted.value("rotation.period_ms") == pytest.approx(6, rel=0.05)


def test_parts_of_one_request_are_one() -> None:
    columns = ([0, 0, 1], [108, 100, 300], [8, 8, 8], [50, 50, 40], [90, 90, 60])
    served = Served.of(*(np.array(column, np.int64) for column in columns))
    assert served.sector.tolist() == [300, 100]
    assert served.sectors.tolist() == [8, 16]
    assert served.begin_ns.tolist() == [40, 60]
    assert served.idle_ns.tolist() == [0, 0]
    assert served.capacity_sectors == 308


def test_too_few_reads() -> None:
    with pytest.raises(RunFailed, match=r"^\d+ reads in it came from the medium, at least 200"):
        fit.profile(recorded(model(), 150).served())


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from([1, 8, 2**20]), st.integers(0, 10**9))
def test_any_times(seed: int, sectors: int, ns: int) -> None:
    """The result is a readable profile or RunFailed."""
    draw, rows, now_ns = random.Random(seed), [], 0
    for _ in range(300):
        now_ns += draw.choice((0, 1, ns))
        end_ns = now_ns + draw.choice((0, 1, ns, draw.randrange(ns + 1)))
        place = draw.choice((0, draw.randrange(2**30)))
        rows.append((draw.randrange(2) & draw.randrange(2), place, sectors, now_ns, end_ns))
    columns = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    try:
        fitted = fit.profile(Served.of(*columns))
    except RunFailed:
        return
    assert fitted.disk().seek


# ---- the command ----------------------------------------------------------------------


def command(folder: Path, trace: object, *words: str) -> Result:
    words = ("profile", "--trace", str(trace), "--out", str(folder / "x.toml"), *words)
    return CliRunner().invoke(main, list(words), catch_exceptions=False)


def frame_of(rows: Recorded) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "arrival_ns": rows.sent_ns,
            "sector": rows.sector,
            "sectors": rows.sectors,
            "op": [("read", "write")[op] for op in rows.op],
            "completion_ns": rows.completion_ns,
        }
    )


def parquet(rows: Recorded, file: Path) -> None:
    frame_of(rows).write_parquet(file)


def csv(rows: Recorded, file: Path) -> None:
    frame_of(rows).write_csv(file)


def blkparse(rows: Recorded, file: Path) -> None:
    with file.open("w") as lines:
        for op, at, sectors, sent_ns, done_ns in zip(*vars(rows).values(), strict=True):
            for ns, what in ((sent_ns, "Q"), (sent_ns, "D"), (done_ns, "C")):
                time = f"{ns // 10**9}.{ns % 10**9:09}"
                lines.write(f"  8,0 0 1 {time} 7 {what} {'RW'[op]} {at} + {sectors} [x]\n")


def fio(rows: Recorded, file: Path) -> None:
    with file.open("w") as lines:
        for op, at, sectors, sent_ns, done_ns in zip(*vars(rows).values(), strict=True):
            latency_ns, ms = done_ns - sent_ns, done_ns // 10**6
            lines.write(f"{ms}, {latency_ns}, {op}, {sectors * 512}, {at * 512}, 0\n")


@pytest.mark.parametrize("write", [parquet, csv, blkparse, fio])
def test_a_trace_of_any_format(write: Callable[[Recorded, Path], None], tmp_path: Path) -> None:
    write(recorded(model()), tmp_path / "trace")
    done = command(tmp_path, tmp_path / "trace")
    assert done.exit_code == 0, done.output
    assert "reads of the trace" in done.stdout
    disk = device.load(str(tmp_path / "x.toml"))
    assert disk.rotation
    assert disk.rotation.period_ms == pytest.approx(6, rel=0.03)
    assert (
        "Fitted by understudy profile --trace to 5000 requests" in (tmp_path / "x.toml").read_text()
    )


def test_a_trace_whose_columns_are_described(tmp_path: Path) -> None:
    rows = recorded(model(), 400)
    lines = (
        f"{sent_ns / 1000:.3f} {'RW'[op]} {at} {sectors} {(done_ns - sent_ns) / 1000:.3f}\n"
        for op, at, sectors, sent_ns, done_ns in zip(*vars(rows).values(), strict=True)
    )
    (tmp_path / "trace").write_text("".join(lines))
    wanted = ("--columns", "time_us,op,lba,sectors,latency_us")
    done = command(tmp_path, tmp_path / "trace", *wanted)
    assert done.exit_code == 0, done.output
    assert "to 400 requests" in (tmp_path / "x.toml").read_text()


def test_the_records_of_a_run(tmp_path: Path) -> None:
    """The papers' disk is a curve without rotation, and its own profile replays the run exactly."""
    run = outcome(experiment(scheduler="none", requests=3000))
    requests_table([run]).write_parquet(tmp_path / "requests.parquet")
    (tmp_path / "result.json").write_text('{"inputs": {"scale": 1.0}}')
    done = command(tmp_path, tmp_path / "requests.parquet", "--json")
    assert done.exit_code == 0, done.output
    assert '"workload": "random reads of the trace"' in done.stdout


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("arrival_ns,sector,sectors\n1,2,3\n", 2, "has arrivals only, so it does not say how long"),
        ("arrival_ns,sector,sectors,completion_ns\n1,2,3,4\n", 1, "0 reads in it came from the"),
        ("hello", 2, "is in no format of a trace"),
    ],
)
def test_what_can_not_be_fitted(text: str, code: int, message: str, tmp_path: Path) -> None:
    (tmp_path / "trace").write_text(text)
    done = command(tmp_path, tmp_path / "trace")
    assert done.exit_code == code
    assert done.stderr.startswith(f"understudy: --trace: {tmp_path / 'trace'}: {message}")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "x.toml").exists()
