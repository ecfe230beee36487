# SPDX-License-Identifier: MIT
"""What the kernel's log says about a driver's leftovers becomes findings, with the names of the
functions that have allocated the memory.
"""

import subprocess
from pathlib import Path

import pytest

from understudy_devices.referee.leftovers import named

SOURCE = """
int first(int a) { return a + 1; }
int second(int a) { return a + 2; }
__attribute__((section(".init.text"))) int third(int a) { return a + 3; }
"""
LOADED = "[    1.0] understudy: loaded at 0xffffffffc0400000\n"


@pytest.fixture
def module(tmp_path: Path) -> Path:
    """Return an object file with two functions in its section .text, each longer than 4 bytes."""
    source = tmp_path / "own.c"
    source.write_text(SOURCE)
    subprocess.run(["gcc", "-c", "-O0", str(source)], check=True, cwd=tmp_path)
    return source.with_suffix(".o")


def leak(address: int, pieces: int) -> str:
    """Return the log's line about memory."""
    return f"[    9.0] understudy: memory leaked: {address:#x} {pieces}\n"


def test_nothing_is_left(module: Path) -> None:
    assert list(named(LOADED, module)) == []


def test_leaks_of_both_loads_are_one_finding(module: Path) -> None:
    """The module was loaded twice, at two addresses."""
    log = LOADED + LOADED.replace("400", "500")
    log += leak(0xFFFFFFFFC0400004, 2) + leak(0xFFFFFFFFC0500004, 1)
    assert [(one.rule, one.text) for one in named(log, module)] == [
        ("memory leaked", "3 pieces allocated in first")
    ]


def test_an_address_outside_its_functions(module: Path) -> None:
    """Code that runs only while the module is loaded lies elsewhere."""
    texts = [one.text for one in named(LOADED + leak(0xFFFFFFFFC0600004, 1), module)]
    assert texts == ["a piece allocated in an init function"]


def test_what_is_still_registered_is_named_once(module: Path) -> None:
    line = "[    5.0] understudy: left behind: /proc/devices: 240 own\n"
    other = "[    5.1] understudy: left behind: /sys/class/own\n"
    assert [(one.rule, one.text) for one in named(line + other + line, module)] == [
        ("left in the kernel", "/proc/devices: 240 own, /sys/class/own")
    ]
