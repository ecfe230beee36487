# SPDX-License-Identifier: MIT
"""Faults of whole traces: lines twice, wrong units, runs a day apart in one file."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from understudy_devices.base.errors import UserError
from understudy_devices.cli.main import main
from understudy_devices.traces.characterise import characterise
from understudy_devices.traces.faults import pauses
from understudy_devices.traces.form import Form
from understudy_devices.traces.read import load, recorded

DAY_S = 86_400
S = 10**9
HEADER = "arrival_ns,dispatch_ns,completion_ns,sector,sectors\n"


def understudy(*words: str) -> Result:
    return CliRunner().invoke(main, words, catch_exceptions=False)


def written(file: Path, lines: str) -> str:
    file.write_text(lines)
    return str(file)


def served(begin_ns: int = 0, requests: int = 400, unit: int = 1) -> str:
    """Return requests every 2 ms that take 1 ms, or `unit` times as long."""
    each = (begin_ns + n * 2_000_000 for n in range(requests))
    return "".join(f"{at},{at},{at + unit * 1_000_000},{8 * n},8\n" for n, at in enumerate(each))


@pytest.mark.parametrize("in_a_row", [True, False])
def test_every_line_twice(in_a_row: bool, tmp_path: Path) -> None:
    lines = served().splitlines(keepends=True)
    twice = [line for line in lines for _ in range(2)] if in_a_row else lines + lines
    file = written(tmp_path / "t", HEADER + "".join(twice))
    with pytest.raises(UserError, match=r"of 800 requests 400 equal the one before .*sort -u"):
        load(file)
    done = understudy("trace", "info", file)
    assert done.exit_code == 1
    assert "not usable: of 800 requests 400 equal the one before in everything" in done.stdout


def test_some_lines_twice_are_no_fault(tmp_path: Path) -> None:
    assert len(load(written(tmp_path / "t", HEADER + served() + served(requests=40)))) == 440


def test_events_twice_in_a_row(tmp_path: Path) -> None:
    event = "  8,0 0 1 0.0000010%02d 7  %s  R 64 + 8 [a]\n"
    lines = [event % (at, what) for at, what in ((0, "D"), (10, "C"))]
    trace = load(written(tmp_path / "t", "".join(line * 2 for line in lines)))
    assert (len(trace), trace.response_ns().tolist()) == (1, [10])
    assert trace.left_out == {"events that are there twice in a row": 2}


def test_response_times_in_a_wrong_unit(tmp_path: Path) -> None:
    file = written(tmp_path / "t", HEADER + served(unit=1000))
    with pytest.raises(UserError, match=r"most response times are longer than .* check the units"):
        load(file)
    assert understudy("trace", "info", file).exit_code == 1
    assert len(load(written(tmp_path / "u", HEADER + served(unit=100)))) == 400


def test_runs_a_day_apart(tmp_path: Path) -> None:
    """The device is busy half of the time of both runs, and the day between them is no run."""
    both = HEADER + served() + served(DAY_S * S)
    file = written(tmp_path / "t", both)
    trace = recorded(file)
    assert pauses(trace).count == 1
    character = characterise(trace)
    assert character.utilisation == pytest.approx(0.5, rel=0.01)
    assert character.pauses_s == pytest.approx(DAY_S, rel=0.001)
    done = understudy("trace", "info", file)
    assert done.exit_code == 0
    assert "1 pause without a request, 86,399 s in all: if these are several runs" in done.stdout
    assert "had a request, pauses left out" in done.stdout
    assert json.loads(understudy("trace", "info", file, "--json").stdout)[0]["pauses_s"] > 86_000


def test_a_steady_trace_has_no_pause(tmp_path: Path) -> None:
    trace = recorded(written(tmp_path / "t", HEADER + served()))
    assert (pauses(trace).count, characterise(trace).pauses_s) == (0, 0)


def test_a_clock_that_is_off_by_1000(tmp_path: Path) -> None:
    """Such a trace would leave next to nothing of the other to simulate."""
    first = written(tmp_path / "a.csv", HEADER + served())
    slow = [[1000 * int(value) for value in row.split(",")[:3]] for row in served().splitlines()]
    lines = "".join(f"{a},{d},{c},{8 * n},8\n" for n, (a, d, c) in enumerate(slow))
    second = written(tmp_path / "b.csv", HEADER + lines)
    refused = understudy("consolidate", first, second, "--queue-depth", "1")
    assert refused.exit_code == 2
    assert "b.csv 799 s, 1,000 times as long: check the units" in refused.stderr


def gaps(requests: int = 400) -> list[int]:
    """Return gaps in ns without order, of mean 1 s."""
    return [(n * 7919) % requests * 2 * S // requests for n in range(requests)]


@pytest.mark.parametrize("latency", ["", ",latency_us"])
def test_a_column_that_is_no_clock(latency: str, tmp_path: Path) -> None:
    lines = "".join(f"{gap},{8 * n},8{',100' * bool(latency)}\n" for n, gap in enumerate(gaps()))
    file, form = written(tmp_path / "t", lines), Form(columns=f"time_ns,lba,sectors{latency}")
    with pytest.raises(UserError, match=r"of 400 requests came after a later arrival .*a gap"):
        load(file, form)
    done = understudy("trace", "info", file, "--columns", str(form.columns))
    assert (done.exit_code, "not usable" in done.stdout) == (1, True)


def test_other_orders_are_no_fault(tmp_path: Path) -> None:
    """Lines in order of completion, and three runs one after the other."""
    ends = range(10 * S, 10 * S + 400)
    rows = [f"{end - gap},{end - gap},{end},8,8\n" for end, gap in zip(ends, gaps(), strict=True)]
    late = load(written(tmp_path / "t", HEADER + "".join(rows)))
    assert (late.out_of_order > 200, late.backward) == (True, 0)
    thrice = HEADER + "".join(served(begin_ns) for begin_ns in (200, 100, 0))
    assert load(written(tmp_path / "u", thrice)).out_of_order > 600
