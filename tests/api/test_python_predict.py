# SPDX-License-Identifier: MIT
"""`predict` and `compare` in Python: the same runs as the command, and clear refusals."""

import inspect
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from places import CHECKOUT

import understudy_devices as us
from understudy_devices.cli.main import main
from understudy_devices.device import profile
from understudy_devices.measure.metrics import PAPER_MEASURES

SMALL: dict[str, Any] = {"workload": "random", "processes": 4, "requests": 300}
MINE = (CHECKOUT / "core/schedulers/fcfs.c").read_text().replace("fcfs", "mine")


def steady(document: dict[str, Any]) -> dict[str, Any]:
    """Return the content of result.json without times of the host and the typed command."""
    text = json.dumps(document)
    whole: dict[str, Any] = json.loads(text)
    whole["inputs"].pop("command")
    for run in whole["runs"]:
        for seconds in ("wall_seconds", "measure_wall_seconds"):
            run.pop(seconds)
            run["facts"].pop(seconds)
    return whole


def commanded(line: str, tmp_path: Path) -> dict[str, Any]:
    """Run a command, and return its result.json."""
    words = [*shlex.split(line)[1:], "--json", "--out", str(tmp_path / "commanded")]
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_the_command_does_the_same(tmp_path: Path) -> None:
    prediction = us.predict(
        **SMALL,
        virtual_size="40GB",
        schedulers=["cats", "fcfs"],
        tunables={"cats.busdriver_ns": 5_000_000},
        seeds=2,
        think_ms=0.5,
    )
    assert prediction.command == (
        "understudy predict --workload random --schedulers cats,fcfs --seeds 2 --processes 4 "
        "--requests 300 --virtual-size 40GB --think-ms 0.5 --set cats.busdriver_ns=5000000"
    )
    assert steady(prediction.as_json()) == steady(commanded(prediction.command, tmp_path))


def test_compare_has_its_own_defaults(tmp_path: Path) -> None:
    ranking = us.compare(**SMALL, schedulers="clook,fcfs")
    assert steady(ranking.as_json()) == steady(commanded(ranking.command, tmp_path))
    assert set(ranking.measures["seeds"]) == {10}
    assert "best" in repr(ranking)


def test_values_may_be_texts_numbers_or_lists() -> None:
    typed = us.predict(**SMALL, virtual_size="64MiB", schedulers="sfq", weights="3,1,1,1")
    for size in (2**26, np.int64(2**26), float(2**26)):
        own = us.predict(**SMALL, virtual_size=size, schedulers=("sfq",), weights=[3, 1, 1, 1])
        assert own.requests.equals(typed.requests)


def test_a_disk_may_be_a_profile_or_a_file(tmp_path: Path) -> None:
    file = tmp_path / "vesper-flat.toml"
    file.write_text((CHECKOUT / "profiles" / "vesper-flat.toml").read_text())
    disks = ("vesper-flat", file, profile.load("vesper-flat"))
    first, *others = (us.predict(**SMALL, disk=disk, schedulers="fcfs") for disk in disks)
    assert all(other.requests.equals(first.requests) for other in others)


def test_measures_have_their_intervals() -> None:
    prediction = us.predict(**SMALL, schedulers="clook,fcfs", seeds=3)
    assert prediction.requests.height == 2 * 3 * 300
    row = prediction.measures.row(
        by_predicate=(pl.col("measure") == "mean_response_ms") & (pl.col("scheduler") == "fcfs"),
        named=True,
    )
    means = (
        prediction.requests.filter(scheduler="fcfs")
        .group_by("seed")
        .agg((pl.col("completion_ns") - pl.col("arrival_ns")).mean() / 1e6)["completion_ns"]
    )
    half = 4.302653 * means.std() / 3**0.5  # Student's t for two degrees of freedom
    assert row["mean"] == pytest.approx(means.mean())
    assert (row["low"], row["high"]) == pytest.approx((row["mean"] - half, row["mean"] + half))
    assert row["seeds"] == 3
    assert set(prediction.measures["measure"]) >= {measure.key for measure in PAPER_MEASURES}
    one = us.predict(**SMALL, schedulers="clook,fcfs").measures
    assert one["low"].null_count() == one.height


def test_picks_and_trust() -> None:
    prediction = us.predict(**SMALL, schedulers="clook,fcfs", seeds=5)
    first = prediction.picks[0]
    assert (first.platform, first.goal, first.best) == ("sim", "mean response", "clook")
    assert str(first) in repr(prediction)
    assert prediction.trusted is None
    assert "never checked against its drive" in prediction.because[0]


def test_a_notebook_shows_a_table_and_a_picture() -> None:
    prediction = us.predict(**SMALL, schedulers="clook,fcfs")
    html = prediction._repr_html_()
    assert all(word in html for word in ("<table>", "mean response (ms)", "<svg", "clook"))
    assert prediction.command in html
    assert html == prediction._repr_html_()


def test_two_pictures_on_a_page_share_no_name() -> None:
    pages = [us.predict(**SMALL, schedulers=name)._repr_html_() for name in ("clook", "fcfs")]
    names = [{part.partition('"')[0] for part in page.split(' id="')[1:]} for page in pages]
    assert names[0]
    assert not names[0] & names[1]


def test_a_folder_is_written_as_the_command_writes_it(tmp_path: Path) -> None:
    prediction = us.predict(**SMALL, schedulers="fcfs", out=tmp_path / "one")
    prediction.write(tmp_path / "two")
    for folder in ("one", "two"):
        files = {file.name for file in (tmp_path / folder).iterdir()}
        assert files == {"result.json", "requests.parquet", "report.html"}
        document = json.loads((tmp_path / folder / "result.json").read_text())
        assert document == prediction.as_json()
    with pytest.raises(us.UserError, match="is not empty"):
        prediction.write(tmp_path / "two")


def test_nothing_is_written_unless_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    us.predict(**SMALL, schedulers="fcfs")
    assert not list(tmp_path.iterdir())
    us.predict(**SMALL, schedulers="fcfs", out=True)
    assert len(list((tmp_path / "runs").iterdir())) == 1


def test_a_file_that_changed_is_read_again(tmp_path: Path) -> None:
    """A notebook calls several times; a file of the same name elsewhere is another scheduler."""
    file = tmp_path / "mine.c"
    file.write_text(MINE)
    before = us.predict(**SMALL, schedulers=file)
    file.write_text(MINE.replace('.summary = "', '.summary = "changed: ') + "/* changed */\n")
    after = us.predict(**SMALL, schedulers=file)
    sources = [each.as_json()["inputs"]["sources"]["mine"] for each in (before, after)]
    assert sources[0] != sources[1]
    other = tmp_path / "other" / "mine.c"
    other.parent.mkdir()
    other.write_text(MINE)
    assert us.predict(**SMALL, schedulers=other).as_json()["inputs"]["sources"] == {
        "mine": sources[0]
    }


def test_a_scheduler_that_fails_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "mine.c"
    file.write_text(MINE.replace("return rq", "return (void *)0"))
    prediction = us.predict(**SMALL, schedulers=[file, "fcfs"])
    assert set(prediction.failures) == {"mine"}
    assert set(prediction.measures["scheduler"]) == {"fcfs"}
    assert prediction.failures["mine"] in repr(prediction)
    with pytest.raises(us.RunFailed, match="mine: "):
        us.predict(**SMALL, schedulers=file)


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"proceses": 3}, 'unknown option proceses: did you mean "processes"'),
    ({"processes": "many"}, "--processes: many is not a whole number"),
    ({"processes": 2.5}, "--processes: 2.5 is not a whole number"),
    ({"processes": True}, "--processes: True is not a whole number"),
    ({"processes": object()}, "--processes: a object is no value of this option"),
    ({"writes": 101}, "--writes: 101 is outside 0 to 100"),
    ({"virtual_size": "40 parsecs"}, "--virtual-size: 40 parsecs is not a size"),
    ({"seeds": 0}, "--seeds: 0 is outside 1 to 1000"),
    ({"jobs": "two"}, "--jobs: two is not a whole number"),
    ({"disk": "no-such-disk"}, "no-such-disk"),
    ({"disk": 5.5}, "5.5"),
    ({"schedulers": "nobody"}, 'unknown scheduler "nobody"'),
    ({"schedulers": object()}, "--schedulers: a object is no name, no file and no list"),
    ({"on": "moon"}, 'unknown platform "moon"'),
    ({"on": "real"}, "understudy measure"),
    ({"tunables": {"cats.busdriver": 5}}, "unknown tunable of cats"),
    ({"tunables": {"cats.busdriver_ns": "x"}}, "is not of the form"),
    ({"clock": "wall"}, "add --on vm"),
    ({"workload": "surge-direct", "writes": 5}, "surge-direct does not use it"),
    ({"workload": "./nothing.c"}, "No such file"),
    ({"replay": "ajar", "workload": "trace"}, "--replay: ajar is none of its choices"),
]


@pytest.mark.parametrize(("values", "words"), REFUSED)
def test_wrong_values_are_refused_in_a_line(
    values: dict[str, Any], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(us.UserError) as refused:
        us.predict(**{"workload": "random", "out": True, **values})
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not list(tmp_path.iterdir())


Request = tuple[int, int, int, str]


def endless(step_ns: int = 3_000_000) -> Iterator[Request]:
    """Yield requests for ever."""
    for number in range(2**62):
        yield number * step_ns, number * 7919 % 2_000_000, 8, "write" if number % 3 else "read"


def test_requests_of_python_are_a_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    forms: list[Any] = [
        [request for request, _ in zip(endless(), range(500), strict=False)],
        endless(),
    ]
    columns = ("arrival_ns", "sector", "sectors", "op")
    forms.append([dict(zip(columns, request, strict=True)) for request in forms[0]])
    forms.append(pl.DataFrame(forms[0], schema=columns, orient="row"))
    first, *others = (us.predict(workload=form, requests=500) for form in forms)
    assert all(other.requests.equals(first.requests) for other in others)
    assert set(first.requests.group_by("scheduler").len()["len"]) == {500}
    first.write(tmp_path / "run")
    line = first.command.replace("workload.parquet", "run/workload.parquet")
    again, ours = commanded(line, tmp_path), first.as_json()
    assert again["inputs"].pop("trace") == "run/" + ours["inputs"].pop("trace")
    assert steady(again) == steady(ours)


def test_a_generator_is_used_up_to_the_limit_and_closed() -> None:
    ended, count = [], 0

    def requests() -> Iterator[Request]:
        nonlocal count
        try:
            for request in endless():
                count += 1
                yield request
        finally:
            ended.append(True)

    us.predict(workload=requests(), requests=200, schedulers="fcfs")
    assert (count, ended) == (200, [True])


def wrong(*last: Any) -> Iterator[Any]:
    """Yield three requests, then the wrong one."""
    yield from ((1000 * number, 8 * number, 8, "read") for number in range(1, 4))
    yield from last


def raising() -> Iterator[Request]:
    yield 0, 0, 8, "read"
    raise ValueError("boom")


NONSENSE: list[tuple[Any, str]] = [
    (raising(), "workload: it raised ValueError at request 2: boom"),
    (endless(), "requests: not given, and a generator may never end"),
    (wrong((2999, 0, 8, "read")), "request 4 arrives at 2999 ns, before the one in front of it"),
    (wrong((-1, 0, 8, "read")), "request 4: arrival_ns is -1, not 0 to"),
    (wrong((3e9, 0, 8, "read")), "request 4: arrival_ns is 3000000000.0, not a whole number"),
    (wrong((4000, 0, 0, "read")), "request 4: sectors is 0, not 1 to"),
    (wrong((4000, 0, 8, "erase")), "request 4: op is 'erase', not read or write"),
    (wrong((4000, 0, 8, ["read"])), "request 4: op is ['read'], not read or write"),
    (wrong((4000, 0, 8)), "request 4 is not of the form (arrival_ns, sector, sectors,"),
    (wrong(None), "request 4 is not of the form"),
    (wrong({"arrival_ns": 4000, "op": "read"}), "request 4 has no sector, sectors"),
    ([], "workload: no request in it"),
    (pl.DataFrame({"arrival_ns": [1]}), "workload: no column sector; it has arrival_ns"),
    (wrong((4000, 2**40, 8, "read")), "--virtual-size: the trace reaches past it"),
]


@pytest.mark.parametrize(("workload", "words"), NONSENSE)
def test_nonsense_of_a_generator_is_one_line(
    workload: Any, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    limit = {} if words.startswith("requests: not") else {"requests": 100}
    with pytest.raises(us.UserError) as refused:
        us.predict(workload=workload, schedulers="fcfs", out="run", **limit)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not list(tmp_path.iterdir())


def test_only_the_simulator_plays_a_generator() -> None:
    with pytest.raises(us.UserError, match="only the simulator plays a workload of Python"):
        us.predict(workload=endless(), requests=10, on="sim,vm")


def test_help_has_every_option() -> None:
    for function in (us.predict, us.compare):
        names = inspect.signature(function).parameters
        assert {"disk", "workload", "virtual_size", "think_ms", "queue_depth", "out"} <= {*names}
        assert "virtual_size: Size of the virtual disk" in (function.__doc__ or "")


def test_importing_is_quick_and_brings_no_library() -> None:
    program = (
        "import sys; before = set(sys.modules); import understudy_devices as us; "
        "new = set(sys.modules) - before; print(*sorted(new)); us.predict"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert not {"numpy", "polars", "click", "matplotlib", "pydantic"} & {*done.stdout.split()}


def test_the_names_are_those_listed() -> None:
    assert set(us.__all__) <= set(dir(us))
    assert all(getattr(us, name) for name in us.__all__)
    with pytest.raises(AttributeError, match="has no attribute nothing"):
        _ = us.nothing


def test_the_page_of_the_functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its blocks run as they stand there, and write nothing."""
    monkeypatch.chdir(tmp_path)
    page = (CHECKOUT / "docs" / "python.md").read_text()
    names: dict[str, Any] = {}
    for block in re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        exec(block, names)
    assert names["ranking"].picks[0].best in ("clook", "sstf")
    assert not list(tmp_path.iterdir())
