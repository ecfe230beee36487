# SPDX-License-Identifier: MIT
"""Every benchmark still runs, and docs/benchmarks.md is generated from the results."""

import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from places import CHECKOUT

from bench import __main__ as bench
from bench import page, part, results
from bench.part import Column, Part, Rows
from understudy_devices.base.errors import RunFailed
from understudy_devices.cli.main import main as understudy

pytestmark = pytest.mark.thorough

PARTS = part.found()
COMMAND = re.compile(r"`((?:understudy|python -m bench|make)\b[^`]*)`")
COMMANDS = sorted(set(COMMAND.findall(page.FILE.read_text())))


def param(one: Part) -> Any:
    """Group the benchmarks that boot VMs, so that they run one after another."""
    marks = [pytest.mark.xdist_group("benchmarks")] if one.in_vm else []
    return pytest.param(one, id=one.name, marks=marks)


@pytest.mark.parametrize("one", [param(one) for one in PARTS.values()])
def test_a_benchmark_measures_what_its_page_can_show(
    one: Part, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    result = results.take(one, "tiny", lambda table, row: None)
    assert set(result.tables) == set(one.tables)
    results.write(one.name, result)
    assert results.read(one.name) == result
    rendered = page.render({one.name: one})
    for name, rows in result.tables.items():
        for column in one.tables[name]:
            assert any(column.cell(row) for row in rows) or "±" in column.heading, column
        assert all(one.tables[name][0].cell(row) in rendered for row in rows)


@pytest.mark.parametrize("one", PARTS.values(), ids=list(PARTS))
def test_a_benchmark_has_three_sizes_with_the_same_arguments(one: Part) -> None:
    assert list(one.sizes) == ["full", "quick", "tiny"]
    assert len({tuple(size) for size in one.sizes.values()}) == 1


def test_the_page_is_what_the_results_make_of_it() -> None:
    assert page.FILE.read_text() == page.render(PARTS), "run: python -m bench --page"


def test_every_result_is_of_a_benchmark_and_was_taken_with_its_arguments() -> None:
    assert {file.stem for file in results.FOLDER.glob("*.json")} <= set(PARTS)
    for name, one in PARTS.items():
        if result := results.read(name):
            assert result.arguments == one.sizes[result.size], name


def test_the_page_names_commands() -> None:
    assert {f"python -m bench {name}" for name in PARTS} <= set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_on_the_page_exists_and_parses(command: str) -> None:
    words = shlex.split(command)
    if words[0] == "make":
        assert re.search(rf"^{words[1]}:", (CHECKOUT / "Makefile").read_text(), re.MULTILINE)
    elif words[0] == "understudy":
        subcommand = understudy.get_command(click.Context(understudy), words[1])
        assert subcommand
        subcommand.make_context(words[1], words[2:])
    else:
        context = bench.main.make_context("bench", words[3:])
        assert set(context.params["names"]) <= set(PARTS)


def invented(name: str, measure: Any) -> Part:
    """Return a benchmark with one table of one column."""
    tables = {"found": (Column("it", "{it:.1f}"),)}
    sizes: dict[str, dict[str, Any]] = {"full": {"it": 2}, "quick": {"it": 1}}
    return Part(name, f"Of {name}", "Says {{ found }}", tables, sizes, False, measure)


@pytest.fixture
def two_of_three(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make three benchmarks: the first fails, the second has a bug, and the third works."""

    def fails(it: int) -> Rows:
        yield "found", {"it": it}
        raise RunFailed("out of luck")

    def mistaken(it: int) -> Rows:
        yield "found", {"it": it / 0}

    def sound(it: int) -> Rows:
        yield "found", {"it": it}

    parts = {"a": invented("a", fails), "b": invented("b", mistaken), "c": invented("c", sound)}
    monkeypatch.setattr(part, "found", lambda: parts)
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    monkeypatch.setattr(page, "FILE", tmp_path / "page.md")
    return tmp_path


def test_those_that_fail_are_named_and_the_others_go_on(two_of_three: Path) -> None:
    ran = CliRunner().invoke(bench.main, [])
    assert ran.exit_code == 1
    assert "a: out of luck" in ran.output
    assert "failed: a, b" in ran.output
    assert [file.name for file in two_of_three.glob("*.json")] == ["c.json"]
    written = (two_of_three / "page.md").read_text()
    assert "`python -m bench a`: not measured yet." in written
    assert "full size (it 2)" in written
    assert "Says | it |\n| --- |\n| 2.0 |" in written


def test_one_benchmark_is_measured_and_keeps_the_others_results(two_of_three: Path) -> None:
    assert CliRunner().invoke(bench.main, ["c"]).exit_code == 0
    before = (two_of_three / "c.json").read_text()
    assert CliRunner().invoke(bench.main, ["a", "--quick"]).exit_code == 1
    assert (two_of_three / "c.json").read_text() == before
    assert CliRunner().invoke(bench.main, ["c", "--quick"]).exit_code == 0
    assert (two_of_three / "c.json").read_text() == before
    assert "quick size" not in (two_of_three / "page.md").read_text()
    (two_of_three / "c.json").unlink()
    assert CliRunner().invoke(bench.main, ["c", "--quick"]).exit_code == 0
    assert "quick size (it 1)" in (two_of_three / "page.md").read_text()


def test_a_name_that_is_none_is_answered_with_those_there_are(two_of_three: Path) -> None:
    ran = CliRunner().invoke(bench.main, ["d"])
    assert ran.exit_code == 2
    assert "there are: a, b, c" in ran.output


def test_a_cell_without_a_value_is_empty() -> None:
    assert Column("", "{mean:.1f} ± {half:.1f}").cell({"mean": 1, "half": None}) == ""


def test_ninja_is_told_nothing_of_makes_jobs(tmp_path: Path) -> None:
    """Without this, ninja would print an error about make's job server."""
    makefile = tmp_path / "shown"
    makefile.write_text('include Makefile\nshown:\n\t@echo "<$$MAKEFLAGS>"\n')
    command = ["make", "--no-print-directory", "--jobs", "2", "--file", str(makefile), "shown"]
    output = subprocess.run(
        command, cwd=CHECKOUT, capture_output=True, text=True, check=True
    ).stdout
    assert output == "<>\n"
