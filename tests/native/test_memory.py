# SPDX-License-Identifier: MIT
"""Reading a long trace takes the memory of one piece.  A program with limited memory succeeds
piece by piece, but fails if it reads the whole trace at once (tests/little_memory.py)."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

pytestmark = pytest.mark.thorough

PROGRAM = Path(__file__).parents[1] / "little_memory.py"
REQUESTS = 4_800_000
SHORT = {"parquet": 300_000, "csv": 600_000}  # more than one piece
MIB = {"parquet": 112, "csv": 176}  # half as much again as is needed
ONE_THREAD = {"POLARS_MAX_THREADS": "1", "MALLOC_ARENA_MAX": "1", "OPENBLAS_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    """Return requests slightly out of order, about four at once."""
    draw = np.random.default_rng(1)
    arrival_ns = np.arange(REQUESTS) * 1_000_000 + draw.integers(0, 3_000_000, REQUESTS)
    return pl.DataFrame(
        {
            "arrival_ns": arrival_ns,
            "completion_ns": arrival_ns + draw.integers(10_000, 8_000_000, REQUESTS),
            "sector": draw.integers(0, 2**30, REQUESTS) * 8,
            "sectors": draw.choice([8, 64, 2048], REQUESTS),
            "op": np.where(draw.random(REQUESTS) < 0.3, "write", "read"),
            "owner": draw.integers(0, 5, REQUESTS),
        }
    )


def ended(
    kind: str, what: str, table: pl.DataFrame, folder: Path
) -> "subprocess.CompletedProcess[str]":
    """Run the program with the table in files of that kind."""
    short, whole = folder / f"short.{kind}", folder / f"whole.{kind}"
    for file, rows in ((short, table.head(SHORT[kind])), (whole, table)):
        rows.write_parquet(file) if kind == "parquet" else rows.write_csv(file)
    command = [sys.executable, str(PROGRAM), str(MIB[kind]), what, str(short), str(whole)]
    environment = {**os.environ, **ONE_THREAD, "TMPDIR": str(folder)}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("what", ["info", pytest.param("reduced", marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", SHORT)
def test_memory_of_a_piece(kind: str, what: str, table: pl.DataFrame, tmp_path: Path) -> None:
    done = ended(kind, what, table, tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    requests, mean_ms = json.loads(done.stdout)
    assert requests == REQUESTS
    lasted_ns = table["completion_ns"].to_numpy() - table["arrival_ns"].to_numpy()
    assert mean_ms == pytest.approx(lasted_ns.mean() / 1e6, rel=1e-12)


@pytest.mark.parametrize("kind", SHORT)
def test_the_whole_is_too_much(kind: str, table: pl.DataFrame, tmp_path: Path) -> None:
    """So the limit is one."""
    done = ended(kind, "held", table, tmp_path)
    assert done.returncode != 0
    assert "MemoryError" in done.stderr or "memory allocation" in done.stderr, done.stderr
