# SPDX-License-Identifier: MIT
"""Each VM's model is compared with the VM's own trace."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner, Result

from understudy_devices.cli.main import main

pytestmark = pytest.mark.thorough

REQUESTS = 3000
FEW = ("--replications", "2")


def understudy(*words: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(main, ("consolidate", *words), catch_exceptions=False)


def written(file: Path, arrival_ms: np.ndarray, end_ms: np.ndarray) -> str:
    """Write a trace of 4 KiB requests."""
    count = len(arrival_ms)
    columns = {
        "arrival_ns": np.round(arrival_ms * 1e6).astype(np.int64),
        "completion_ns": np.round(end_ms * 1e6).astype(np.int64),
        "sector": np.arange(count) * 8,
        "sectors": np.full(count, 8),
    }
    pl.DataFrame(columns).write_parquet(file)
    return str(file)


def test_arrivals_that_follow_completions(tmp_path: Path) -> None:
    """One request at a time, with short pauses: a fitted process lets requests wait that never
    wait, so the recorded service times are used, which do not.
    """
    draw = np.random.default_rng(3)
    service_ms = draw.exponential(10, REQUESTS)
    end_ms = np.cumsum(service_ms + draw.exponential(2, REQUESTS))
    trace = written(tmp_path / "closed.parquet", end_ms - service_ms, end_ms)
    done = understudy(trace, "--queue-depth", "1", *FEW, "--json")
    document = json.loads(done.stdout)
    assert "the VM alone has a mean response time of" in done.stderr
    [vm] = document["vms"]
    assert vm["together"]["mean_response_ms"] == pytest.approx(
        vm["alone"]["mean_response_ms"], rel=0.01
    )
    assert document["trusted"] is None


def test_a_model_that_is_kept_although_it_is_off(tmp_path: Path) -> None:
    """With --accept-poor-fit the process stays, and the verdict says what it does."""
    draw = np.random.default_rng(3)
    service_ms = draw.exponential(10, REQUESTS)
    end_ms = np.cumsum(service_ms + draw.exponential(2, REQUESTS))
    trace = written(tmp_path / "closed.parquet", end_ms - service_ms, end_ms)
    done = understudy(trace, "--queue-depth", "1", *FEW, "--accept-poor-fit", "--json")
    document = json.loads(done.stdout)
    assert document["trusted"] is False
    assert document["because"][0].startswith("closed: the model of the VM alone has a mean")


def test_response_times_that_include_waiting(tmp_path: Path) -> None:
    """Bursts of 20 requests wait for 8 servers.  If a response time is taken for a service time,
    requests wait twice.
    """
    draw = np.random.default_rng(4)
    arrival_ms, end_ms = [], []
    for burst in range(REQUESTS // 20):
        free = np.full(8, burst * 200.0)
        for service_ms in draw.exponential(10, 20):
            server = int(free.argmin())
            free[server] += service_ms
            arrival_ms.append(burst * 200.0)
            end_ms.append(free[server])
    trace = written(tmp_path / "bursts.parquet", np.array(arrival_ms), np.array(end_ms))
    words = (trace, "--queue-depth", "8", *FEW, "--json")
    assert json.loads(understudy(*words).stdout)["trusted"] is None
    waits_twice = json.loads(understudy(*words, "--service-times", "response").stdout)
    assert waits_twice["trusted"] is False
