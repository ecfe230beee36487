# SPDX-License-Identifier: MIT
"""Reads and writes apart, compared with an independent simulation of the device."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from independent_consolidation import Requests, responses
from numpy.typing import NDArray

from understudy_devices.cli.main import main
from understudy_devices.consolidation.directions import of_directions, times

pytestmark = pytest.mark.thorough

Bools = NDArray[np.bool_]

SERVERS = 4
READ_MS, WRITE_MS = 4.0, 16.0


def vm(seed: int, write_ms: float, requests: int = 8000) -> tuple[Requests, Bools]:
    """Return the requests of a VM, exponential, and which of them are writes, two of five."""
    draw = np.random.default_rng(seed)
    write = draw.random(requests) < 0.4
    at = draw.exponential(6.0, requests).cumsum()
    service = draw.exponential(1.0, requests) * np.where(write, write_ms, READ_MS)
    return Requests(at - at[0], service), write


def write_trace(name: str, requests: Requests, write: Bools) -> None:
    """Write the trace of the VM alone on the device."""
    arrival_ns = (requests.at * 1e6).astype(np.int64)
    [alone] = responses([requests], [1], SERVERS)
    pl.DataFrame(
        {
            "arrival_ns": arrival_ns,
            "sector": np.arange(len(arrival_ns)) * 8,
            "sectors": np.full(len(arrival_ns), 8),
            "op": np.where(write, "write", "read"),
            "completion_ns": arrival_ns + np.maximum(1, alone * 1e6).astype(np.int64),
        }
    ).write_parquet(f"{name}.parquet")


def answered(*words: str) -> tuple[Any, str]:
    """Return result.json and what else the command prints."""
    line = ("consolidate", *words, "--queue-depth", str(SERVERS), "--json")
    done = CliRunner().invoke(main, line, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout), done.stderr


@pytest.mark.parametrize("write_ms", [WRITE_MS, READ_MS], ids=["unlike", "alike"])
def test_reads_and_writes_have_their_own_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write_ms: float
) -> None:
    """Two VMs on four servers.  If writes take four times as long, requests are those of the trace;
    if they take as long, the fitted process is used, and both wait as long."""
    monkeypatch.chdir(tmp_path)
    both = [vm(seed, write_ms) for seed in (1, 2)]
    for name, one in zip("ab", both, strict=True):
        write_trace(name, *one)
    together = responses([requests for requests, _ in both], [1, 1], SERVERS)
    result, says = answered("a.parquet", "b.parquet", "--replications", "10")
    reason = "a: service times are taken from the trace: reads and writes take differently long"
    assert (reason in says) == (write_ms != READ_MS)
    for one, (requests, write), times_ms in zip(result["vms"], both, together, strict=True):
        [alone_ms] = responses([requests], [1], SERVERS)
        for name, own in (("reads", ~write), ("writes", write)):
            alone, beside = one["alone"][name], one["together"][name]
            assert alone["requests"] == own.sum()
            assert alone["mean_response_ms"] == pytest.approx(alone_ms[own].mean(), rel=1e-3)
            assert beside["requests"] == pytest.approx(own.sum(), rel=0.05)
            assert beside["mean_response_ms"] == pytest.approx(times_ms[own].mean(), rel=0.12)
            p95_ms = np.quantile(times_ms[own], 0.95)
            assert beside["p95_response_ms"] == pytest.approx(p95_ms, rel=0.12)


def test_one_direction_is_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    requests, write = vm(3, READ_MS, requests=2000)
    write_trace("a", requests, np.zeros_like(write))
    result, _ = answered("a.parquet", "--replications", "2")
    [one] = result["vms"]
    assert "writes" not in one["together"]
    reads = one["together"]["reads"]
    assert reads["mean_response_ms"] == pytest.approx(one["together"]["mean_response_ms"])
    assert reads["p95_response_ms"] == pytest.approx(one["together"]["p95_response_ms"])


def test_figures_of_times() -> None:
    """Percentiles are by nearest rank."""
    whole = times(np.arange(1, 101) * 1_000_000)
    assert whole
    assert (whole.requests, whole.mean_ms) == (100, 50.5)
    assert whole.percentiles_ms == {50: 50.0, 95: 95.0, 99: 99.0, 99.9: 100.0}
    assert times(np.zeros(0, np.int64)) is None
    each = of_directions(np.array([1, 3, 10]) * 1_000_000, np.array([0, 0, 1]))
    assert {name: one.mean_ms for name, one in each.items()} == {"reads": 2.0, "writes": 10.0}
