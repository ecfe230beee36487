# SPDX-License-Identifier: MIT
"""`understudy consolidate --align clock`: VMs at their own times of day."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner, Result
from independent_consolidation import Requests, responses

from understudy_devices.cli.main import main
from understudy_devices.traces.read import recorded

pytestmark = pytest.mark.thorough

DAY_S = 86_400
SERVICE_MS = 4.0
SERVERS = 1
DISK = ("--disk", "cheetah-15k4", "--schedulers", "deadline")


def busy(begin_s: float, *times_s: float) -> np.ndarray:
    """Return arrivals in ms: 40 requests, 5 ms apart, from each of these times on."""
    return np.concatenate([1000 * (begin_s + at) + 5.0 * np.arange(40) for at in times_s])


def write(name: str, at_ms: np.ndarray, first_sector: int = 0) -> None:
    """Write the trace of a VM whose requests do not wait when it is alone."""
    arrival_ns = np.round(at_ms * 1e6).astype(np.int64)
    count = len(arrival_ns)
    sector = first_sector + np.random.default_rng(count).integers(0, 4096, count) * 8
    columns = {"arrival_ns": arrival_ns, "sector": sector, "sectors": np.full(count, 8)}
    columns |= {"completion_ns": arrival_ns + round(SERVICE_MS * 1e6)}
    pl.DataFrame({**columns, "op": ["read"] * count}).write_parquet(name)


def understudy(*words: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(main, words, catch_exceptions=False)


def answered(*words: str) -> tuple[list[float], Any]:
    """Return each VM's mean response time beside the others, and result.json."""
    done = understudy("consolidate", *words, "--json")
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    return [one["together"]["mean_response_ms"] for one in result["vms"]], result


@pytest.fixture(autouse=True)
def _traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make traces of a day and a bit.

    From 10 s of the second day on, day.parquet and night.parquet are busy at different times, and
    day.parquet and also.parquet at the same times.
    """
    monkeypatch.chdir(tmp_path)
    write("day.parquet", busy(DAY_S, -30.0, 10.0, 12.0, 14.0, 16.0))
    write("night.parquet", busy(DAY_S, 11.0, 13.0, 15.0, 30.0))
    write("also.parquet", busy(DAY_S, 10.001, 12.001, 14.001, 20.0))


def test_busy_at_different_times_nobody_waits() -> None:
    """Without the option, any hour of a VM may meet any hour of the others."""
    given = ("day.parquet", "night.parquet", "--queue-depth", "1", "--replications", "4")
    means, result = answered(*given, "--align", "clock")
    assert means == pytest.approx([SERVICE_MS, SERVICE_MS], rel=1e-6)
    assert "the time that all traces have" in result["ci95_covers"]
    assert "--align clock" in result["inputs"]["command"]
    assert max(answered(*given)[0]) > 1.1 * SERVICE_MS


def test_busy_at_the_same_time_they_wait_for_each_other() -> None:
    """The time is from the latest begin, 10.001 s, to the earliest end, 16.2 s."""
    means, _ = answered("day.parquet", "also.parquet", "--align", "clock", "--queue-depth", "1")
    since, until = 1000 * (DAY_S + 10.001), 1000 * (DAY_S + 16.195) + 0.001
    vms = []
    for name in ("day.parquet", "also.parquet"):
        at = pl.read_parquet(name)["arrival_ns"].to_numpy() / 1e6
        at = at[(at >= since) & (at < until)] - since
        vms.append(Requests(at, np.full(len(at), SERVICE_MS)))
    expected = [float(times.mean()) for times in responses(vms, [1, 1], SERVERS)]
    assert means == pytest.approx(expected, rel=1e-3)


def test_on_a_disk_it_is_what_predict_has_for_both_at_their_times() -> None:
    """Each VM has its own part of the disk, in whole MiB."""
    names = ("day.parquet", "also.parquet")
    means, result = answered(*names, "--align", "clock", "--replications", "1", *DISK)
    assert "cover only where the disk" in result["ci95_covers"]
    since, end = DAY_S * 10**9 + 10_001_000_000, DAY_S * 10**9 + 16_195_000_000
    parts, begin = [], 0
    for owner, name in enumerate(names):
        part = pl.read_parquet(name).filter(pl.col("arrival_ns").is_between(since, end))
        last = int(part.select((pl.col("sector") + pl.col("sectors")).max()).item())
        arrival_ns = pl.col("arrival_ns") - since
        parts.append(part.with_columns(arrival_ns, pl.col("sector") + begin, owner=owner))
        begin += -(-last // 2048) * 2048
    pl.concat(parts).drop("completion_ns").sort("arrival_ns").write_parquet("both.parquet")
    size = f"{result['inputs']['virtual_bytes'] // 512}s"
    words = ("--workload", "trace", "--trace", "both.parquet", "--virtual-size", size)
    done = understudy("predict", *DISK, *words, "--seeds", "1", "--out", "predicted")
    assert done.exit_code == 0, done.output
    rows = pl.read_parquet("predicted/requests.parquet")
    took_ms = (pl.col("completion_ns") - pl.col("arrival_ns")).mean() / 1e6
    expected = rows.group_by("owner").agg(took_ms.alias("mean")).sort("owner")["mean"].to_list()
    assert sorted(means) == pytest.approx(sorted(expected), rel=1e-9)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("day.parquet", "later.parquet"),
            "day has requests from 86,370.000 s to 86,416.195 s of its clock, and later from "
            "172,800.000 s to 172,800.195 s, so never both",
        ),
        (("folder", "day.parquet"), "folder has 2 traces, and takes one: name it, as folder="),
        (("wide.parquet", "night.parquet"), "wide.parquet: no request from 86,411.000 s to"),
        (
            ("day.parquet", "also.parquet", "--what-if", "also.copies=2"),
            "--what-if: also.copies=2: not with --align clock",
        ),
    ],
)
def test_what_has_no_answer_is_refused(words: tuple[str, ...], message: str) -> None:
    write("later.parquet", busy(2 * DAY_S, 0.0))
    write("wide.parquet", busy(DAY_S, 0.0, 60.0))
    Path("folder").mkdir()
    for number in range(2):
        write(f"folder/{number}.parquet", busy(DAY_S, 1.0 + number))
    done = understudy("consolidate", *words, "--queue-depth", "1", "--align", "clock")
    assert done.exit_code == 2, done.output
    assert message in done.output


def test_formats_keep_their_clock(tmp_path: Path) -> None:
    """MSR counts 100 ns from 1601, blkparse s from the begin, and fio ms from the begin."""
    msr = "128166372003061629,web,0,Read,4096,4096,100\n"
    msr += "128166372013061629,web,0,Read,8192,4096,100\n"
    biosnoop = (
        "TIME(s)     COMM           PID    DISK      T SECTOR     BYTES  LAT(ms)\n"
        "12.000000   dd             1      vda       R 100        4096      2.00\n"
        "13.000000   dd             1      vda       R 200        4096      2.00\n"
    )
    for name, text, began_ns in (
        ("msr.csv", msr, 128166372003061629 * 100),
        ("biosnoop.txt", biosnoop, 11_998_000_000),
        ("fio_lat.1.log", "2000, 1000000000, 0, 4096, 0\n3000, 500000000, 0, 4096, 4096\n", 10**9),
    ):
        (tmp_path / name).write_text(text)
        assert recorded(str(tmp_path / name)).began_ns == began_ns
