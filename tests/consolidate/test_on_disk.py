# SPDX-License-Identifier: MIT
"""`understudy consolidate --disk` with a disk that has a head, compared with `predict`."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner, Result

from understudy_devices.cli.main import main
from understudy_devices.consolidation import shared_disk
from understudy_devices.consolidation.shared_disk import PART_SECTORS
from understudy_devices.traces.form import Form

pytestmark = pytest.mark.thorough

DISK = "cheetah-15k4"
SIZE = "143374744s"  # that disk's own


def understudy(*words: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(main, words, catch_exceptions=False)


def answered(*words: str) -> Any:
    """Return the output of `understudy consolidate --json`."""
    done = understudy("consolidate", *words, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def columns(seed: int, requests: int = 600, gap_ms: float = 12.0, **more: Any) -> dict[str, Any]:
    """Return a VM's requests: random places and directions, and pages that follow each other."""
    draw = np.random.default_rng(seed)
    arrival_ns = (draw.exponential(gap_ms, requests).cumsum() * 1e6).astype(np.int64)
    arrival_ns -= arrival_ns[0]
    sector = draw.integers(0, 10**6, requests) * 8
    for k in np.flatnonzero(draw.random(requests - 1) < 0.3):
        sector[k + 1] = sector[k] + 8
    return {
        "arrival_ns": arrival_ns,
        "sector": sector,
        "sectors": np.full(requests, 8),
        "op": np.where(draw.random(requests) < 0.3, "write", "read"),
        "completion_ns": arrival_ns + 5_000_000,
    } | more


def write(file: Path, seed: int, requests: int = 600, **more: Any) -> Path:
    """Write the trace of a VM."""
    pl.DataFrame(columns(seed, requests, **more)).write_parquet(file)
    return file


@pytest.fixture
def traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with web.parquet and mail.parquet."""
    monkeypatch.chdir(tmp_path)
    write(Path("web.parquet"), 1)
    write(Path("mail.parquet"), 2, requests=500, gap_ms=15.0)
    return tmp_path


def predicted_ms(trace: str, schedulers: str, seeds: int) -> dict[str, pl.DataFrame]:
    """Return the response times by scheduler that `predict` has for a trace on the disk."""
    words = ("--disk", DISK, "--virtual-size", SIZE, "--workload", "trace", "--trace", trace)
    done = understudy(
        "predict", *words, "--schedulers", schedulers, "--seeds", str(seeds), "--out", "predicted"
    )
    assert done.exit_code == 0, done.output
    rows = pl.read_parquet("predicted/requests.parquet").with_columns(
        response_ms=(pl.col("completion_ns") - pl.col("arrival_ns")) / 1e6
    )
    return {name: rows.filter(pl.col("scheduler") == name) for name in schedulers.split(",")}


def test_one_vm_has_the_response_times_of_predict(traces: Path) -> None:
    """Each replication has the seed of one of predict's runs."""
    names = "sfq,deadline"
    result = answered("web.parquet", "--disk", DISK, "--schedulers", names, "--replications", "3")
    expected = predicted_ms("web.parquet", names, 3)
    answers = dict(zip(names.split(","), (result, *result["what_if"]), strict=True))
    assert [one["change"] for one in result["what_if"]] == ["scheduler=deadline"]
    for name, answer in answers.items():
        [vm] = answer["vms"]
        want = expected[name]
        runs = want.group_by("seed", maintain_order=True)
        assert vm["together"]["mean_response_ms"] == pytest.approx(want["response_ms"].mean())
        p95 = [np.quantile(one["response_ms"].to_numpy(), 0.95) for _, one in runs]
        assert vm["together"]["p95_response_ms"] == pytest.approx(np.mean(p95), rel=0.02)
        for direction, op in (("reads", "read"), ("writes", "write")):
            own = want.filter(pl.col("op") == op)
            assert vm["together"][direction]["requests"] * 3 == own.height
            mean_ms = own["response_ms"].mean()
            assert vm["together"][direction]["mean_response_ms"] == pytest.approx(mean_ms)
        assert answer["device"]["scheduler"] == name


def test_two_vms_are_one_trace_in_two_parts(traces: Path) -> None:
    """The first replication is what predict has for both traces, one behind the other."""
    result = answered("web.parquet", "mail.parquet", "--disk", DISK, "--replications", "1")
    web, mail = pl.read_parquet("web.parquet"), pl.read_parquet("mail.parquet")
    begin = (
        -(-int((web["sector"] + web["sectors"]).to_numpy().max()) // PART_SECTORS) * PART_SECTORS
    )
    until = min(web["arrival_ns"][-1], mail["arrival_ns"][-1])
    both = pl.concat(
        [
            web.with_columns(owner=pl.lit(0)),
            mail.with_columns(owner=pl.lit(1), sector=pl.col("sector") + begin),
        ]
    )
    both = both.filter(pl.col("arrival_ns") <= until).sort("arrival_ns", maintain_order=True)
    both.write_parquet("both.parquet")
    rows = predicted_ms("both.parquet", "sfq", 1)["sfq"]
    for k, vm in enumerate(result["vms"]):
        want = rows.filter(pl.col("owner") == k)
        assert vm["together"]["requests"] == want.height
        assert vm["together"]["mean_response_ms"] == pytest.approx(want["response_ms"].mean())
        assert vm["together"]["mean_response_ms"] > vm["alone"]["mean_response_ms"]
        assert vm["part"]["first_sector"] == k * begin
    assert result["vms"][0]["recorded"]["mean_response_ms"] == pytest.approx(5, abs=0.1)


def test_the_interval_is_that_of_other_samples(traces: Path) -> None:
    """Ten fresh samples of two random VMs lie in the interval, and it is not wider than twice."""
    result = answered("web.parquet", "mail.parquet", "--disk", DISK)
    means = []
    for seed in range(10):
        write(Path("a.parquet"), 100 + seed)
        write(Path("b.parquet"), 200 + seed, requests=500, gap_ms=15.0)
        fresh = answered("a.parquet", "b.parquet", "--disk", DISK, "--replications", "2")
        means.append([vm["together"]["mean_response_ms"] for vm in fresh["vms"]])
    for vm, own in zip(result["vms"], np.transpose(means), strict=True):
        low, high = vm["together"]["ci95_ms"]
        assert low < np.mean(own) < high
        assert high / low < 2


def test_a_sequential_vm_keeps_its_order_in_resamples(traces: Path) -> None:
    """Resamples of blocks have at least a hundred requests that follow each other."""
    place = np.arange(600) * 8
    write(Path("log.parquet"), 3, sector=place)
    result = answered("log.parquet", "--disk", DISK)
    [vm] = result["vms"]
    low, high = vm["together"]["ci95_ms"]
    assert high / low < 1.5


def test_replications_turn_all_but_the_first_vm(traces: Path) -> None:
    """A VM that is turned sends the same requests with the same gaps, from another one on."""
    guests = [
        shared_disk.read(name, Path(f"{name}.parquet"), Form(), "queue") for name in ("web", "mail")
    ]
    first = shared_disk.replicated(guests, 1, 0)
    assert all((one.place == np.arange(len(one.place))).all() for one in first)
    web, mail = shared_disk.replicated(guests, 1, 1)
    assert (web.place == first[0].place).all()
    begin = mail.place[0]
    assert begin
    assert (mail.place == np.roll(np.arange(500), -begin)[: len(mail.place)]).all()
    assert mail.arrival_ns[0] == 0
    want = np.diff(guests[1].runs[0].arrival_ns)
    assert (np.diff(mail.arrival_ns)[:5] == want[begin : begin + 5]).all()
    again = shared_disk.replicated(guests, 1, 1)[1]
    assert (again.place == mail.place).all()


def test_arrivals_alone_are_enough(traces: Path) -> None:
    """The disk is simulated, so the trace needs no response times."""
    only = {name: column for name, column in columns(1).items() if name != "completion_ns"}
    pl.DataFrame(only).write_parquet("only.parquet")
    [vm] = answered("only.parquet", "--disk", DISK, "--replications", "2")["vms"]
    [same] = answered("web.parquet", "--disk", DISK, "--replications", "2")["vms"]
    assert vm["together"] == same["together"]
    assert "mean_response_ms" not in vm["recorded"]


def test_weights_share_the_disk(traces: Path) -> None:
    """Two VMs that send the same load as fast as the disk serves it; the heavier one waits less."""
    write(Path("a.parquet"), 1, gap_ms=9.5)
    write(Path("b.parquet"), 2, gap_ms=9.5)
    words = ("a.parquet", "b.parquet", "--disk", DISK, "--replications", "2")
    a, b = answered(*words, "--weights", "a=20")["vms"]
    assert a["weight"] == 20
    assert a["together"]["mean_response_ms"] < 0.8 * b["together"]["mean_response_ms"]


def test_the_table_and_the_files(traces: Path) -> None:
    done = understudy(
        *("consolidate", "web.parquet", "mail.parquet", "--disk", DISK, "--replications", "2"),
        *("--schedulers", "sfq,fcfs", "--out", "run"),
    )
    assert done.exit_code == 0, done.output
    assert f"response times on {DISK} with fcfs" in done.stdout
    assert "mail, writes" in done.stdout
    assert "not checked: a run of these VMs together" in done.stdout
    report = Path("run/report.html").read_text()
    assert "2 VMs on cheetah-15k4" in report
    assert pl.read_parquet("run/replications.parquet").height == 2 * 2 * 2
    result = json.loads(Path("run/result.json").read_text())
    assert result["inputs"]["disk"] == DISK
    assert result["inputs"]["virtual_bytes"] == 143374744 * 512


def test_without_positions_the_disk_serves_one_at_a_time(traces: Path) -> None:
    pl.read_parquet("web.parquet").drop("sector").write_parquet("nowhere.parquet")
    words = ("nowhere.parquet", "--disk", DISK, "--replications", "2")
    done = understudy("consolidate", *words, "--json")
    assert done.exit_code == 0, done.output
    assert "nowhere.parquet: does not say where on the disk requests were, so" in done.stderr
    assert json.loads(done.stdout)["device"]["servers"] == 1
    done = understudy("consolidate", *words, "--schedulers", "sfq")
    assert done.exit_code == 2
    assert f"so {DISK} can't be simulated" in done.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--disk", DISK, "--merge", "common"], f"--merge: not with {DISK}, which is simulated"),
        (["--disk", DISK, "--what-if", "depth=2"], f"--what-if: not with {DISK}, which"),
        (["--disk", DISK, "--schedulers", "nosuch"], 'unknown scheduler "nosuch"'),
        (["--disk", DISK, "--virtual-size", "64M"], "--virtual-size: the VMs' traces reach over"),
        (["--disk", DISK, "--virtual-size", "big"], "--virtual-size: big is not a size"),
        (["--disk", "array-32", "--schedulers", "sfq"], "--schedulers: not with array-32, which"),
        (["--queue-depth", "4", "--virtual-size", "1G"], "--virtual-size: needs --disk: only"),
        (
            ["--disk", DISK, "--weights", "web=2", "--schedulers", "fcfs"],
            "--weights: only sfq uses them; add it to --schedulers",
        ),
        (["few.parquet", "--disk", DISK], "few.parquet: 19 requests: at least 20 are needed"),
        (["days.parquet", "--disk", DISK], "check the units of their times"),
    ],
)
def test_what_is_wrong_is_a_line(traces: Path, words: list[str], says: str) -> None:
    write(Path("few.parquet"), 1, requests=19)
    write(Path("days.parquet"), 1, requests=600, gap_ms=10_000.0)
    done = understudy("consolidate", "web.parquet", *words)
    assert done.exit_code == 2
    assert says in done.stderr
    assert "Traceback" not in done.output
