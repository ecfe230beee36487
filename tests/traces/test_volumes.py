# SPDX-License-Identifier: MIT
"""Files with several volumes: one is chosen, and they are never laid on each other."""

from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner, Result

from understudy_devices.base.errors import UserError
from understudy_devices.cli.main import main
from understudy_devices.traces.read import load, recorded

MSR = """\
128166372003061629,hm,1,Read,0,4096,413
128166372003161629,hm,0,Write,4096,4096,1000
128166372003261729,hm,1,Read,8192,8192,10
"""
BLKPARSE = """\
  8,0   0 1 0.000000000  7  D  R 64 + 8 [a]
  8,16  0 2 0.000100000  7  D  R 64 + 8 [a]
  8,16  0 3 0.000300000  0  C  R 64 + 8 [0]
  8,0   0 4 0.000900000  0  C  R 64 + 8 [0]
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "t.csv").write_text(MSR)
    return str(tmp_path / "t.csv")


def understudy(*words: str) -> Result:
    return CliRunner().invoke(main, words, catch_exceptions=False)


def test_they_are_not_laid_on_each_other(file: str) -> None:
    message = rf"t.csv: holds 2 volumes, .* name one, as {file}:hm.1; there are: hm.1, hm.0"
    with pytest.raises(UserError, match=message):
        load(file)
    replay = ("predict", "--workload", "trace", "--schedulers", "fcfs", "--trace")
    for words in ((*replay, file), ("consolidate", f"a={file}", "--queue-depth", "1")):
        refused = understudy(*words)
        assert refused.exit_code == 2
        assert "holds 2 volumes" in refused.stderr
        assert "Traceback" not in refused.stderr


def test_one_is_chosen(file: str) -> None:
    assert load(f"{file}:hm.0").sector.tolist() == [8]
    chosen = load(f"{file}:hm.1")
    assert (chosen.sector.tolist(), chosen.owners) == ([0, 16], 1)
    with pytest.raises(UserError, match=r"t.csv:hm.2: no such volume; there are: hm.1, hm.0"):
        load(f"{file}:hm.2")


def test_all_are_described(file: str) -> None:
    done = understudy("trace", "info", file)
    assert done.exit_code == 0
    assert f"2 volumes, of which one at a time can be replayed, as {file}:hm.1: hm.1, hm.0" in (
        done.stdout
    )


def test_convert_keeps_them_apart(file: str, tmp_path: Path) -> None:
    out = str(tmp_path / "o.parquet")
    assert understudy("trace", "convert", file, out).exit_code == 0
    assert pl.read_parquet(out)["volume"].to_list() == ["hm.1", "hm.0", "hm.1"]
    assert recorded(out).volumes == ("hm.1", "hm.0")
    assert load(f"{out}:hm.0").sector.tolist() == [8]
    with pytest.raises(UserError, match="holds 2 volumes"):
        load(out)
    one = str(tmp_path / "one.parquet")
    assert understudy("trace", "convert", f"{file}:hm.1", one).exit_code == 0
    assert "volume" not in pl.read_parquet(one).columns
    assert len(load(one)) == 2


def test_a_csv_with_volumes_that_are_numbers(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("arrival_ns,sector,sectors,volume\n0,0,8,3\n1,0,8,4\n")
    assert recorded(f"{tmp_path}/t:4").arrival_ns.tolist() == [0]


def test_devices_of_a_block_trace(tmp_path: Path) -> None:
    """Requests of two devices at the same sector are not taken for each other."""
    (tmp_path / "t").write_text(BLKPARSE)
    assert recorded(str(tmp_path / "t")).volumes == ("8,0", "8,16")
    assert load(f"{tmp_path}/t:8,0").response_ns().tolist() == [900_000]
    assert load(f"{tmp_path}/t:8,16").response_ns().tolist() == [200_000]


def test_many_are_not_all_listed(tmp_path: Path) -> None:
    lines = [f"{n},W,0,4096,{1577808144360767 + n}\n" for n in range(20)]
    (tmp_path / "t").write_text("".join(lines))
    with pytest.raises(UserError, match=r"there are: 0, 1, .*, 11, and 8 more$"):
        load(str(tmp_path / "t"))
