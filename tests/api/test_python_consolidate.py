# SPDX-License-Identifier: MIT
"""`consolidate` and `place` in Python: the same results as the commands, and clear refusals."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import understudy_devices as us
from understudy_devices.cli.main import main


@pytest.fixture(autouse=True)
def traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write traces of two VMs: a request each 4 or 5 ms, which takes 1 to 10 ms."""
    monkeypatch.chdir(tmp_path)
    for name, step in (("web", 40_000), ("mail", 50_000)):
        lines = [
            f"{step * n},vm,1,Read,{4096 * n},4096,{10_000 + n * 37_000 % 90_001}"
            for n in range(2000)
        ]
        Path(f"{name}.csv").write_text("\n".join([*lines, ""]))


VMS = {"web": "web.csv", "mail": "mail.csv"}
QUICK: dict[str, Any] = {"accept_poor_fit": True, "jobs": 2}
CONSOLIDATE: dict[str, Any] = {**QUICK, "queue_depth": 4, "replications": 4}
PLACE: dict[str, Any] = {**QUICK, "queue_depths": {"fast": 8, "slow": 2}, "p95_ms": 40}


def commanded(line: str) -> tuple[dict[str, Any], str]:
    """Run a command; return its result.json and what it prints without --json."""
    documents = []
    for more in (["--json"], []):
        words = [*shlex.split(line)[1:], *more, "--out", f"out{len(more)}"]
        documents.append(CliRunner().invoke(main, words, catch_exceptions=False).stdout)
    document: dict[str, Any] = json.loads(documents[0])
    document["inputs"].pop("command")
    return document, documents[1]


def ours(result: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(json.dumps(result.as_json()))
    document["inputs"].pop("command")
    return document


def test_consolidate_does_what_its_command_does() -> None:
    result = us.consolidate(
        VMS, **CONSOLIDATE, weights={"web": 2}, what_if=["depth=8", "mail.copies=2"]
    )
    document, printed = commanded(result.command)
    assert ours(result) == document
    assert result.text + "\n" == printed
    assert {file.name for file in Path("out0").iterdir()} == {
        file.name for file in result.write("mine").iterdir()
    }
    assert json.loads(Path("mine/result.json").read_text()) == json.loads(
        json.dumps(result.as_json())
    )
    assert set(result.measures["change"]) == {"", "depth=8", "mail.copies=2"}
    row = result.measures.filter(change="", vm="web", measure="together_mean_response_ms")
    web = document["vms"][0]["together"]
    assert row.row(0)[4:] == (web["mean_response_ms"], *web["ci95_ms"], 4)
    assert result.replications.height == 4 * 2
    html = result._repr_html_()
    assert all(word in html for word in ("<table>", "web", "<svg", "depth=8"))


def test_place_does_what_its_command_does() -> None:
    result = us.place(VMS, **PLACE, copies="web=2")
    document, printed = commanded(result.command)
    assert ours(result) == document
    assert result.text + "\n" == printed
    assert result.found
    assert set(result.assignment) == {"web", "web#2", "mail"}
    assert set(result.assignment.values()) <= {"fast", "slow"}
    assert result.measures["meets_target"].all()
    assert all(word in result._repr_html_() for word in ("<table>", "web", "<svg"))


def test_an_assignment_that_is_not_there() -> None:
    result = us.place(["web=web.csv"], **{**PLACE, "p95_ms": 0.001})
    assert not result.found
    assert result.outcome
    assert result.reason
    assert result.reason in repr(result)


def test_nothing_is_left() -> None:
    before = {*Path().iterdir()}
    us.consolidate(VMS, **CONSOLIDATE)
    us.place(each=".", **PLACE)
    assert {*Path().iterdir()} == before


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"vms": {}}, "no VM: name a trace for each"),
        ({"vms": 7}, "no VM: a int is no list"),
        ({"vms": {"web": "nothing.csv"}}, "No such file"),
        ({"queue_depth": 0}, "--queue-depth: 0 is outside 1 to 1024"),
        ({"weights": {"db": 2}}, "--weights: no VM is called db"),
        ({"merge": 0.5}, "--merge: 0.5: write common"),
        ({"service_times": "quick"}, "--service-times: quick is none of its choices"),
        ({"arrivals": "later"}, "--arrivals: later is none of its choices"),
        ({"precision": 2}, "--precision: 2 is not a number from 0.001 to 1"),
        ({"what_if": "size=3"}, "--what-if: size=3"),
        ({"split": "many"}, "--split: many is not a number of blocks"),
        ({"seed": -1}, "--seed: -1 is outside"),
    ],
)
def test_consolidate_refuses_in_a_line(values: dict[str, Any], words: str) -> None:
    with pytest.raises(us.UserError) as refused:
        us.consolidate(**{"vms": VMS, **CONSOLIDATE, **values})
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"vms": ()}, "no VM: name a trace for each"),
        ({"queue_depths": {}}, "--queue-depths: no device"),
        ({"queue_depths": {"fast": 0}}, "--queue-depths: fast=0: write NAME=SERVERS"),
        ({"each": "nowhere"}, "--each: nowhere: no such folder"),
        ({"p95_ms": 0}, "--p95-ms: 0 is not a number from"),
        ({"targets_ms": {"db": 5}}, "--targets-ms: no VM is called db"),
        ({"copies": {"web": 0}}, "--copies: web=0: write NAME=N"),
        ({"budget": 0}, "--budget: 0 is outside"),
    ],
)
def test_place_refuses_in_a_line(values: dict[str, Any], words: str) -> None:
    with pytest.raises(us.UserError) as refused:
        us.place(**{"vms": VMS, **PLACE, **values})
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)
