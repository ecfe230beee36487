# SPDX-License-Identifier: MIT
"""python -m bench fidelity --target: any black box against the predictions of its profile."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bench import __main__ as bench
from bench import on_target
from bench.black_box import LOADS

pytestmark = pytest.mark.thorough

Ran = Callable[..., Result]
SOURCE = """
from oracle.detailed.drive import random_drive

class Box:
    '''Without reset().'''
    def __init__(self):
        self._drive = random_drive(101)
        self.capacity_sectors = self._drive.capacity_sectors
        self.writable = False
        self.request = self._drive.request

class Broken(Box):
    def __init__(self):
        super().__init__()
        self.request = lambda *_: 1 / 0

def mine():
    return random_drive(101)
"""


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ran:
    """Return a function that runs the command, with two small workloads and a module of drives."""
    (tmp_path / "somebodys.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "somebodys", raising=False)
    monkeypatch.setitem(bench.ON_TARGET, "quick", {"seeds": 2, "requests": 200})
    chosen = {name: LOADS[name] for name in ("random1", "random20writes")}
    monkeypatch.setattr(on_target, "LOADS", chosen)

    def run(*words: str) -> Result:
        return CliRunner().invoke(bench.main, [*words])

    return run


def test_a_table_of_somebodys_drive(ran: Ran) -> None:
    result = ran("fidelity", "--quick", "--target", "somebodys:mine")
    assert result.exit_code == 0
    first, *lines = result.output.splitlines()
    assert first.startswith("somebodys:mine: ")
    assert "checks within their limits" in first
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[:4]]
    assert [row[0] for row in cells] == ["workload", "---", "random1", "random20writes"]
    assert len({len(row) for row in cells}) == 1
    assert [row[5] for row in cells[2:]] == ["1 of 1", "13 of 13"]


def test_its_figures_as_json(ran: Ran) -> None:
    """A target without reset() is made anew for each run; a target that takes no writes
    gets none.
    """
    words = ("fidelity", "--quick", "--seeds", "3", "--json", "--target")
    results = [ran(*words, "somebodys:Box") for _ in range(2)]
    assert results[0].output == results[1].output
    document = json.loads(results[0].output)
    assert document["target"] == "somebodys:Box"
    [row] = document["workloads"]
    assert (row["workload"], row["within"], row["trusted"]) == ("random1", 1, True)
    assert [run["scheduler"] for run in row["schedulers"]] == ["fcfs"]


@pytest.mark.parametrize(
    ("words", "exit_code", "message"),
    [
        (("fidelity", "--target", "somebodys"), 1, "not of the form module:factory"),
        (("fidelity", "--target", "nobodys:mine"), 1, "No module named 'nobodys'"),
        (("fidelity", "--target", "somebodys:yours"), 1, "has no attribute 'yours'"),
        (("fidelity", "--target", "somebodys:Broken"), 1, "ZeroDivisionError: division by zero"),
        (("blind", "--target", "somebodys:mine"), 2, "--target goes with fidelity alone"),
        (("fidelity", "--json"), 2, "--json goes with --target"),
        (("fidelity", "--seeds", "3"), 2, "--seeds goes with --target"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(
    ran: Ran, words: tuple[str, ...], exit_code: int, message: str
) -> None:
    result = ran(*words)
    assert result.exit_code == exit_code
    assert message in result.output.splitlines()[-1]
