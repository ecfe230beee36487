# SPDX-License-Identifier: MIT
"""`understudy compare-runs`: figures, errors and ranks of two run folders, and which folders are
refused."""

import json
import random
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from understudy_devices.cli.main import main
from understudy_devices.measure.agreement import agreement
from understudy_devices.measure.comparison import Comparison
from understudy_devices.measure.metrics import PAPER_MEASURES, Measure, Summary
from understudy_devices.papers.tables import MEASURES, TABLES

RESPONSE = Measure("mean_response_ms", "mean response", "ms")
BASE: dict[str, Any] = {
    name: 1.0 if kind is float else 1
    for name, kind in Summary.__annotations__.items()
    if kind in (float, int)
} | {"clock": "wall", "late": 0, "reasons": {}, "predicted_hit_share": None}


def run(scheduler: str, seed: int = 1, platform: str = "real", **figures: Any) -> dict[str, Any]:
    """Return a run's entry in result.json."""
    return {**BASE, "scheduler": scheduler, "seed": seed, "platform": platform, **figures}


def document(runs: list[dict[str, Any]], **inputs: Any) -> dict[str, Any]:
    """Return a complete result.json."""
    own = {"workload": "random", "processes": 4, "writes_percent": 0, "think_ms": 0.0}
    own |= {"requests": 100, "depth": 1, "disk_digest": "d", "disk": {"name": "sda"}}
    return {"schema": "understudy.result/1", "inputs": {**own, **inputs}, "runs": runs}


@pytest.fixture(name="folder")
def fixture_folder(tmp_path: Path) -> Callable[[str, Any], Path]:
    """Return a function that makes a run folder with a given result.json."""

    def make(name: str, content: Any) -> Path:
        (tmp_path / name).mkdir()
        whole = content if isinstance(content, str) else json.dumps(content)
        (tmp_path / name / "result.json").write_text(whole)
        return tmp_path / name

    return make


Folder = Callable[[str, Any], Path]


def compared(*words: str | Path) -> Result:
    return CliRunner().invoke(main, ["compare-runs", *map(str, words)], catch_exceptions=False)


def refused(*words: str | Path) -> str:
    done = compared(*words)
    assert done.exit_code == 2, done.output
    assert (done.stdout, done.stderr.count("\n")) == ("", 1)
    return done.stderr.removeprefix("understudy: ").rstrip()


# ---- ranks --------------------------------------------------------------------------

FIGURES = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=2, max_size=7)


@given(FIGURES)
def test_tau_is_kendalls(figures: list[tuple[int, int]]) -> None:
    """tau equals SciPy's tau-b, ties included; pair counts follow their definition."""
    sides = [
        Comparison(
            [
                Summary.from_json(run(f"s{i}", mean_response_ms=float(pair[side])))
                for i, pair in enumerate(figures)
            ]
        )
        for side in (0, 1)
    ]
    result = agreement(sides[0], sides[1], sides[0].schedulers, RESPONSE)
    first, second = zip(*figures, strict=True)
    if len(set(first)) > 1 and len(set(second)) > 1:
        assert result.tau == pytest.approx(kendalltau(first, second).statistic)
    else:
        assert result.tau is None
    differ = [(a, b) for a, b in combinations(figures, 2) if a[0] != b[0]]
    assert result.differ == len(differ)
    assert result.alike == sum((a[0] < b[0]) == (a[1] < b[1]) and a[1] != b[1] for a, b in differ)


def test_a_pair_that_seeds_do_not_tell_apart_does_not_count() -> None:
    """a and b differ only by noise; c differs clearly from both."""
    chance = random.Random(2)
    noisy = [
        Summary.from_json(run(name, seed, mean_response_ms=mean + chance.gauss(0, 1)))
        for name, mean in (("a", 10.0), ("b", 10.0), ("c", 30.0))
        for seed in range(8)
    ]
    wrong = [
        Summary.from_json(run(name, seed, mean_response_ms=mean))
        for name, mean in (("a", 1.0), ("b", 2.0), ("c", 1.5))
        for seed in range(8)
    ]
    result = agreement(Comparison(noisy), Comparison(wrong), ["a", "b", "c"], RESPONSE)
    assert (result.differ, result.alike) == (2, 1)


@pytest.mark.parametrize("name", TABLES)
def test_the_papers_tables_come_out_as_they_are_printed(name: str, folder: Folder) -> None:
    """Turn the paper's tables into two run folders; compare figures, ranks and errors."""
    paper = TABLES[name]
    sides = []
    for side, columns in (("real", paper.real), ("vm", paper.virtual)):
        keys = [measure.key for measure in PAPER_MEASURES]
        runs = [
            run(name, platform=side, **dict[str, Any](zip(keys, column, strict=True)))
            for name, column in columns.items()
        ]
        sides.append(folder(side, document(runs)))
    measures = json.loads(compared(*sides, "--json").stdout)["measures"][:5]
    for row, (entry, theirs) in enumerate(zip(measures, MEASURES, strict=True)):
        assert entry["measure"] == PAPER_MEASURES[row].key
        for scheduler, figures in entry["schedulers"].items():
            real, virtual = paper.real[scheduler][row], paper.virtual[scheduler][row]
            assert (figures["real"], figures["virtual"]) == (real, virtual)
            assert figures["error"] == pytest.approx(virtual / real - 1)
            assert figures["real_rank"] == paper.ranks("real", theirs)[scheduler]
            assert figures["virtual_rank"] == paper.ranks("virtual", theirs)[scheduler]
        assert entry["pairs_that_differ"] == 3


def test_the_table_for_people(folder: Folder) -> None:
    real = folder(
        "real", document([run("none", mean_response_ms=2), run("bfq", mean_response_ms=3)])
    )
    vm = [
        run("none", platform="vm", mean_response_ms=2.5),
        run("bfq", platform="vm", mean_response_ms=2.25),
        run("cats", platform="vm"),
    ]
    done = compared(real, folder("vm", document(vm, disk={"name": "cheetah"})))
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert lines[0] == "random: 100 requests, 4 processes, seed 1; sda (real) and cheetah (vm)"
    at = lines.index("mean response (ms), real 2.00 (1) 3.00 (2)")
    assert lines[at + 1 : at + 3] == [
        "vm 2.50 (2) 2.25 (1) 0 of 1 pairs, tau -1.00",
        "error +25.0% -25.0%",
    ]
    assert done.stderr == "left out, because only one folder has them: cats\n"


def test_what_nobody_saw_is_left_out(folder: Folder) -> None:
    unseen = [run("none", mean_service_ms=None, var_service_ms2=None)]
    done = compared(
        folder("real", document(unseen)), folder("vm", document([run("none")])), "--json"
    )
    measures = [each["measure"] for each in json.loads(done.stdout)["measures"]]
    assert measures[:2] == ["mean_response_ms", "var_response_ms2"]


def test_doubts_are_said(folder: Folder) -> None:
    real = document([run("none")], depth=32, disk={"name": "sda", "facts": {"model": "WDC 1"}})
    virtual = document(
        [run("none", platform="vm", late=11, dispatched=1000)],
        disk={"name": "cheetah", "facts": {"model": "ST373454"}},
    )
    one, other = folder("real", real), folder("vm", virtual)
    assert compared(one, other).stderr.splitlines() == [
        "sda is a WDC 1, and cheetah stands for a ST373454: the disks themselves may differ",
        f"{other}: more than 10 of 1,000 requests were late with none: these runs do not count",
        f"{one} has up to 32 requests on the device at once, {other} 1",
    ]


# ---- folders that cannot be compared ------------------------------------------------


def test_what_is_no_run_folder(folder: Folder, tmp_path: Path) -> None:
    good = folder("good", document([run("none")]))
    assert refused(tmp_path / "absent", good) == (
        f"{tmp_path / 'absent'}: not a run folder: it has no result.json"
    )
    assert refused(good, tmp_path) == (
        f"{tmp_path}: not a run folder: it has no result.json; name one of {good}"
    )
    again = folder("text", "what?")
    assert refused(good, again) == f"{again}: result.json is not JSON; run it again"
    other = folder("other", {"schema": "understudy.placement/1"})
    assert "is not from a run" in refused(good, other)
    assert "is not from a run" in refused(good, folder("list", []))


@pytest.mark.parametrize("lacks", ["runs", "inputs"])
def test_half_a_document_is_none(lacks: str, folder: Folder) -> None:
    half = document([run("none")])
    del half[lacks]
    place = folder("half", half)
    assert refused(place, place) == f"{place}: result.json is incomplete ('{lacks}'); run it again"


def test_no_run_in_it_or_half_a_one(folder: Folder) -> None:
    assert "is incomplete" in refused(place := folder("none", document([])), place)
    half = run("none")
    del half["mean_response_ms"]
    assert "is incomplete" in refused(place := folder("half", document([half])), place)
    uneven = document([run("none", 1), run("none", 2), run("bfq", 1)])
    assert "is incomplete" in refused(place := folder("uneven", uneven), place)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"workload": "surge-direct"}, "workload is random in {0} and surge-direct in {1}"),
        ({"requests": 101}, "requests is 100 in {0} and 101 in {1}"),
        ({"processes": 5}, "processes is 4 in {0} and 5 in {1}"),
        ({"writes_percent": 30}, "writes_percent is 0 in {0} and 30 in {1}"),
        ({"think_ms": 1.0}, "think_ms is 0.0 in {0} and 1.0 in {1}"),
    ],
)
def test_other_questions(other: dict[str, Any], message: str, folder: Folder) -> None:
    one = folder("one", document([run("none")]))
    two = folder("two", document([run("none")], **other))
    assert refused(one, two).startswith(message.format(one, two))


def test_other_disks_schedulers_and_seeds(folder: Folder) -> None:
    """The disks may differ if one run is on a real disk, but not between two predictions."""
    one = folder("one", document([run("none", platform="sim")]))
    two = folder("two", document([run("none", platform="vm")], disk_digest="e"))
    assert refused(one, two).startswith("the disk is sda in")
    three = folder("three", document([run("bfq", 2)]))
    four = folder("four", document([run("none", 2)]))
    real = folder("real", document([run("none")], disk_digest="e"))
    assert refused(real, three) == f"no scheduler is in both: {real} has none, {three} bfq"
    assert refused(real, four) == f"no seed is in both: {real} has 1, {four} 2"
    assert compared(real, one).exit_code == 0


def test_what_predict_writes_compares_with_itself(tmp_path: Path) -> None:
    """All errors are 0, and all ranks agree."""
    words = ["predict", "--workload", "random", "--requests", "300", "--processes", "9"]
    out = str(tmp_path / "run")
    words += ["--schedulers", "none,look,sstf", "--virtual-size", "64M", "--out", out]
    assert CliRunner().invoke(main, words).exit_code == 0
    answer = json.loads(compared(out, out, "--json").stdout)
    for entry in answer["measures"]:
        assert entry["kendall_tau"] == pytest.approx(1)
        assert entry["pairs_that_differ"] == entry["pairs_alike"]
        assert {figures["error"] for figures in entry["schedulers"].values()} == {0.0}
