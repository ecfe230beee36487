# SPDX-License-Identifier: MIT
"""Each error that can end a run has its own message."""

import errno
import re
from pathlib import Path

import pytest
from places import CHECKOUT

from understudy_devices.base.errors import RunFailed
from understudy_devices.native import failures, worker
from understudy_devices.native.simulation import Simulation
from understudy_devices.platforms.vm import wire

SOURCES = ("engine", "requests", "processes", "elevator", "arrivals", "workloads/*", "worker/*")
ELSEWHERE = {"EOVERFLOW", "EPROTO"}  # with figures, and with the rule
CODES = {
    code
    for name in SOURCES
    for file in (CHECKOUT / "sim").glob(f"{name}.c")
    for code in re.findall(r"-(E[A-Z]+)\b", file.read_text())
}


def said(number: int, words: bytes = b"") -> str:
    job = worker.Job(worker.DESCRIBE, {})
    job.structure.error = -number
    job.structure.text[0 : len(words)] = words
    simulation = Simulation.__new__(Simulation)
    object.__setattr__(simulation, "scheduler", "mine")
    return str(failures.failure(simulation, job, None))  # type: ignore[arg-type]


@pytest.mark.parametrize("code", sorted(CODES - ELSEWHERE))
def test_an_error_has_words(code: str) -> None:
    assert re.fullmatch(r"mine: (?!error)(?!.*errno)[a-z].{15,}", said(getattr(errno, code)))


def test_what_cannot_be_loaded_says_why() -> None:
    assert said(errno.ENOEXEC, b"/x/scheduler.so: file too short") == (
        "mine: cannot be loaded: file too short"
    )


def test_an_error_of_somebodys_own() -> None:
    assert said(errno.EIO).endswith("init failed: Input/output error (errno 5)")


def test_a_vm_without_results(tmp_path: Path) -> None:
    file = tmp_path / "wire"
    file.write_bytes(bytes(8192))
    with pytest.raises(RunFailed, match="ended before it had written its results"):
        wire.results(file)
