# SPDX-License-Identifier: MIT
"""`understudy trace` as users see it, and what a run says about the trace that it replays."""

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner, Result

from understudy_devices.cli.main import main
from understudy_devices.traces.read import load

GOOD = """\
128166372003061629,hm,1,Read,0,4096,413
128166372003161629,hm,1,Write,4096,1048576,1000
128166372003061729,hm,1,Read,8192,8192,10
128166372003061730,hm,1,Read,8192,0,10
"""
CUT = "12816637200"


def understudy(*words: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(main, words, catch_exceptions=False)


@pytest.fixture
def good(tmp_path: Path) -> str:
    """A trace with one request of length 0 and one out of order."""
    (tmp_path / "good").write_text(GOOD)
    return str(tmp_path / "good")


@pytest.fixture
def cut(tmp_path: Path) -> str:
    """The trace `good`, cut off in its fifth line."""
    (tmp_path / "cut").write_text(GOOD + CUT)
    return str(tmp_path / "cut")


def test_info(good: str) -> None:
    done = understudy("trace", "info", good)
    assert done.exit_code == 0
    for words in (
        f"{good}: 3 requests (2 reads, 1 write) of 1 owner in 0.010 s",
        "interarrival (ms)",
        "response (ms)",
        "\nto replay it: --virtual-size 2056s or more\n",
        "left out: 1 of no length",
        "1 came after a later arrival in the file, and were sorted",
    ):
        assert words in done.stdout
    assert "incomplete" not in done.stdout
    assert "utilisation" not in done.stdout


def test_info_as_json(good: str, cut: str) -> None:
    done = understudy("trace", "info", good, cut, "--json")
    assert done.exit_code == 1
    first, second = json.loads(done.stdout)
    assert (first["requests"], first["reads"], first["writes"], first["owners"]) == (3, 2, 1, 1)
    assert first["size"]["mean"] == pytest.approx((4 + 1024 + 8) / 3)
    assert first["bins"] == {
        **dict.fromkeys(("4", "8", "16", "32", "64", "128"), 0),
        **dict.fromkeys(("1", "2", ">128"), 1),
    }
    assert first["end_sector"] == (4096 + 1048576) // 512
    assert first["interarrival"]["mean"] == pytest.approx(5)
    assert first["response"]["percentiles"] == {"50": 0.0413, "95": 0.1, "99": 0.1}
    assert first["outstanding"]["most"] == 2
    assert (first["left_out"], first["out_of_order"]) == ({"of no length": 1}, 1)
    assert (first["broken"], first["utilisation"]) == (None, None)
    assert second["broken"] == "breaks off in line 5: ResponseTime is missing"
    assert second["response"] == first["response"]


def test_info_of_one_that_breaks_off_tells_what_precedes(cut: str) -> None:
    done = understudy("trace", "info", cut)
    assert done.exit_code == 1
    assert "3 requests" in done.stdout
    assert "incomplete: breaks off in line 5: ResponseTime is missing" in done.stdout


def test_info_of_arrivals(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("419,W,0,16384,1577808144360767\n")
    done = understudy("trace", "info", str(tmp_path / "t"))
    assert done.exit_code == 0
    assert "1 request (0 reads, 1 write) of 1 owner in 0.000 s" in done.stdout
    assert "arrivals only: the trace has no response times" in done.stdout


def test_info_of_what_is_no_trace(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("hello")
    done = understudy("trace", "info", str(tmp_path / "t"))
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"understudy: {tmp_path}/t: is in no format of a trace")
    assert done.stderr.count("\n") == 1


def test_a_picture_of_two(good: str, tmp_path: Path) -> None:
    """The picture is the same to the byte each time, and names both traces."""
    (tmp_path / "single").write_text(GOOD.splitlines()[0])
    pictures = [tmp_path / "a.svg", tmp_path / "b.svg"]
    for picture in pictures:
        words = (good, str(tmp_path / "single"), "--picture", str(picture))
        done = understudy("trace", "info", *words)
        assert (done.exit_code, done.stderr) == (0, f"wrote {picture}\n")
    first, second = (picture.read_bytes() for picture in pictures)
    assert first == second
    for text in (b"<!-- good -->", b"<!-- single -->", b"<!-- interarrival time (ms) -->"):
        assert text in first
    refused = understudy("trace", "info", "missing", "--picture", "p.txt")
    assert refused.exit_code == 2
    assert "p.txt: a picture's name ends in .png, .svg, .pdf" in refused.stderr


def test_convert_keeps_all_columns(good: str, tmp_path: Path) -> None:
    out = tmp_path / "o.parquet"
    done = understudy("trace", "convert", good, str(out))
    assert done.exit_code == 0
    assert done.stderr == f"wrote {out}: 3 requests\n{good}: left out: 1 of no length\n" + (
        f"{good}: 1 came after a later arrival in the file, and were sorted\n"
    )
    assert pl.read_parquet(out).columns == [
        *("arrival_ns", "completion_ns", "sector", "sectors", "op", "owner")
    ]
    assert load(str(out)).digest == load(good).digest
    again = tmp_path / "again.parquet"
    understudy("trace", "convert", str(out), str(again))
    assert again.read_bytes() == out.read_bytes()


def test_convert_mends_one_that_breaks_off(cut: str, tmp_path: Path) -> None:
    out = str(tmp_path / "o.parquet")
    replay = ("predict", "--workload", "trace", "--schedulers", "fcfs", "--trace")
    refused = understudy(*replay, cut)
    assert refused.exit_code == 2
    assert f"line 5: ResponseTime is missing; understudy trace convert {cut} OUT" in refused.stderr
    done = understudy("trace", "convert", cut, out)
    assert done.exit_code == 1
    assert f"{cut}: incomplete: breaks off in line 5" in done.stderr
    ran = understudy(*replay, out, "--out", str(tmp_path / "run"))
    assert ran.exit_code == 0


def test_convert_writes_parquet_only(good: str) -> None:
    done = understudy("trace", "convert", good, "o.csv")
    assert done.exit_code == 2
    assert "o.csv: the name of a Parquet file ends in .parquet" in done.stderr


def test_a_run_says_what_it_leaves_out(good: str, tmp_path: Path) -> None:
    words = ("--workload", "trace", "--trace", good, "--schedulers", "fcfs,sstf")
    done = understudy("predict", *words, "--out", str(tmp_path / "run"))
    assert done.exit_code == 0
    assert done.stderr.count(f"{good}: left out: 1 of no length\n") == 1
