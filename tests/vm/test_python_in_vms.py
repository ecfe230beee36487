# SPDX-License-Identifier: MIT
"""Calls from Python that run VMs: the same result as the command, and the end of an interrupted
call.
"""

import json
import random
import shlex
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from calls import home_in, interrupted
from click.testing import CliRunner

import understudy_devices as us
from understudy_devices.cli.main import main

RUNS = {"workload": "random", "virtual_size": "64MiB", "schedulers": "none,cats"}


def test_both_platforms_in_a_call(tmp_path: Path) -> None:
    prediction = us.predict(**RUNS, requests=200, on="sim,vm")
    words = [*shlex.split(prediction.command)[1:], "--json", "--out", str(tmp_path / "run")]
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    document: dict[str, Any] = json.loads(done.stdout)
    ours = prediction.as_json()
    for platform in ("sim", "vm"):
        assert document[platform]["comparison"] == ours[platform]["comparison"]
        file = tmp_path / "run" / platform / "requests.parquet"
        mine = prediction.requests.filter(platform=platform).drop("platform")
        assert mine.equals(pl.read_parquet(file))
    assert "sim against vm" in repr(prediction)
    assert set(prediction.measures["platform"]) == {"sim", "vm"}


@pytest.mark.parametrize("seed", range(3))
def test_an_interrupted_call_leaves_no_vm(seed: int, tmp_path: Path) -> None:
    values = ", ".join(f"{name}={value!r}" for name, value in RUNS.items())
    call = f'us.predict({values}, requests=100_000, on="vm", out="run")'
    moment = random.Random(seed).uniform(0, 12)
    lines = interrupted(home_in(tmp_path), call, "begins", moment)
    assert lines == ["begins", "interrupted"]
