# SPDX-License-Identifier: MIT
"""The figures in docs/course-figures.md are those that its commands print."""

import re
import shlex
import tempfile
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner
from places import CHECKOUT

from understudy_devices.cli.main import main

pytestmark = pytest.mark.thorough

PAGE = (CHECKOUT / "docs" / "course-figures.md").read_text()
COMMANDS = [
    shlex.split(block.replace("\\\n", " "))
    for block in re.findall(r"^```\n(understudy .*?)```", PAGE, re.MULTILINE | re.DOTALL)
]
SEEKS, _, READ_AHEAD, PREFETCH, CROWD, REPLACE = COMMANDS
SMALL = ["vesper-zoned-small", "vesper-flat-small"]
NACHOS = "[model]\nintercept_ms = 0.001\nfull_seek_ms = 9\n"
PREFETCHERS = ["none", "fixed", "doubling", "amp"]
READ_AHEADS = {"no page cache": None, "0": "0", "1 KiB": "1", "2 KiB": "2", "4 KiB": "4"}


def changed(command: list[str], option: str, value: str | None) -> list[str]:
    """Return the command with another value for an option, or without the option."""
    at = command.index(option)
    return [*command[:at], *([option, value] if value else []), *command[at + 2 :]]


def printed(command: list[str]) -> dict[str, list[str]]:
    """Run the command and return the cells of its table, by the row's label."""
    return _printed(*command[1:])


@cache
def _printed(*words: str) -> dict[str, list[str]]:
    with tempfile.TemporaryDirectory() as folder:
        done = CliRunner().invoke(main, [*words, "--out", f"{folder}/run"])
    assert done.exit_code == 0, done.stderr
    rows = [re.split(r"  +", line.strip()) for line in done.stdout.splitlines()]
    return {label: cells for label, *cells in rows if cells}


def on_the_page(label: str) -> list[str]:
    """Return the cells of a row in docs/course-figures.md, by the row's label."""
    [row] = re.findall(rf"^\| {re.escape(label)} \| (.*) \|$", PAGE, re.MULTILINE)
    return [cell.strip() for cell in str(row).split("|")]


@pytest.mark.parametrize("disk", SMALL)
def test_what_schedulers_gain(disk: str) -> None:
    cells = printed(changed(SEEKS, "--disk", disk))
    assert on_the_page(f"`{disk}`") == cells["mean service (ms)"]


def test_a_disk_without_a_constant_part(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(NACHOS)
    cells = printed(changed(SEEKS, "--disk", str(tmp_path / "mine.toml")))
    fcfs, sstf, clook = (cell.split()[0] for cell in cells["mean service (ms)"])
    assert f"{fcfs}, {sstf} and {clook} ms" in PAGE


def test_who_starves_shows_in_the_longest_response() -> None:
    cells = printed(SEEKS)
    _, sstf, clook = (cell.split()[0] for cell in cells["longest response (ms)"])
    assert re.search(rf"longest response is\s+{sstf} ms against {clook} with C-LOOK", PAGE)
    assert float(cells["p99.9 response (ms)"][1].split()[0]) < 10


def test_half_of_the_programme_has_another_throughput() -> None:
    whole, half = (
        printed(changed(SEEKS, "--requests", count))["throughput (sectors/ms)"][1].split()[0]
        for count in ("10000", "5000")
    )
    assert f"with 5,000 it is {half} sectors/ms instead of {whole}," in PAGE


@pytest.mark.parametrize("label", READ_AHEADS)
def test_what_reading_ahead_gains(label: str) -> None:
    command = changed(READ_AHEAD, "--read-ahead", READ_AHEADS[label])
    if not READ_AHEADS[label]:
        command = changed(command, "--page-cache", None)
    seconds = [printed(changed(command, "--disk", disk))["disk seconds"] for disk in SMALL]
    assert on_the_page(label) == [cell for cells in zip(*seconds, strict=True) for cell in cells]


@pytest.mark.parametrize("name", PREFETCHERS)
def test_what_a_prefetcher_gains(name: str) -> None:
    command = changed(PREFETCH, "--prefetch", name)
    seconds = [printed(changed(command, "--disk", disk))["disk seconds"] for disk in SMALL]
    assert on_the_page(f"`{name}`") == [
        cell for cells in zip(*seconds, strict=True) for cell in cells
    ]


@pytest.mark.parametrize("name", PREFETCHERS)
def test_what_a_prefetcher_gains_with_a_small_cache(name: str) -> None:
    command = changed(CROWD, "--prefetch", name)
    rates = [printed(changed(command, "--disk", disk))["pages read (pages/ms)"] for disk in SMALL]
    assert on_the_page(f"`{name}`, 20 threads") == [cell for cells in rates for cell in cells]


@pytest.mark.parametrize("name", ["lru", "clock", "2q"])
def test_what_a_replacement_policy_gains(name: str) -> None:
    assert (
        on_the_page(f"`{name}`")
        == printed(changed(REPLACE, "--replacement", name))["mean response (ms)"]
    )


def test_the_faster_disk_gains_more_if_throughput_is_scaled() -> None:
    zoned, flat = (f"{gain(disk):.2f}" for disk in SMALL)
    assert re.search(
        rf"{zoned} times as long without it, that of the slower\s+one {flat} times", PAGE
    )
    assert [round(gain(disk)) for disk in ("vesper-zoned", "vesper-flat")] == [9, 9]
    assert "both gain 9 times" in PAGE


def gain(disk: str) -> float:
    """Return sstf's disk seconds without reading ahead, divided by those with a read-ahead of 4
    KiB.
    """
    none, whole = (
        float(
            printed(changed(changed(READ_AHEAD, "--disk", disk), "--read-ahead", kib))[
                "disk seconds"
            ][1]
        )
        for kib in ("0", "4")
    )
    return none / whole


@pytest.mark.parametrize("kind", ["zoned", "flat"])
def test_a_scaled_disk_is_the_other_but_for_scaling(kind: str) -> None:
    whole, small = (
        (CHECKOUT / "profiles" / f"vesper-{kind}{suffix}.toml").read_text()
        for suffix in ("", "-small")
    )
    without = re.sub(
        r"\n# On a disk of 128 KB.*?\n\n(?=# Not what a run takes)", "\n", small, flags=re.DOTALL
    )
    assert without != small
    assert without.splitlines()[5:] == whole.splitlines()[3:]
