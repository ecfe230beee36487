# SPDX-License-Identifier: MIT
"""Ctrl-C during the search of `place`: the command prints the best assignment so far, writes the
run folder, and leaves nothing else.  Another Ctrl-C ends it at once (test_stopping.py)."""

import json
from pathlib import Path

import pytest
from terminal import CTRL_C, INTERRUPTED, Home, Running
from test_stopping import OUT, PLACE, VM

pytestmark = pytest.mark.thorough

REPORT_SECONDS = 20


def stopped(folder: Path, p95: str, after: str, seconds: float) -> tuple[Home, Running]:
    """Interrupt a search so long after its output contains a text."""
    home = Home(folder).with_what_is_made()
    home.work.joinpath("vm.csv").write_text(VM)
    running = Running(home, *PLACE, "--p95", p95, *OUT)
    running.wait_for(after)
    running.pass_time(seconds)
    running.press(CTRL_C)
    assert running.stop(REPORT_SECONDS) == 130, running.said
    assert "Traceback" not in running.said
    assert running.said.count("understudy: ") == 1
    assert home.processes() == []
    assert {path.name for path in home.left_overs()} == {"run", "vm.csv"}
    assert {file.name for file in home.work.joinpath("run").iterdir()} == {
        "result.json",
        "report.html",
    }
    return home, running


@pytest.mark.parametrize(("p95", "seconds"), [("12", 0.0), ("12", 0.4), ("40", 1.0)])
def test_the_best_so_far_is_printed_and_written(p95: str, seconds: float, tmp_path: Path) -> None:
    home, running = stopped(tmp_path, p95, "so far is", seconds)
    document = json.loads(home.work.joinpath("run/result.json").read_text())
    placed = [one for device in document["devices"] for one in device["vms"]]
    assert len(placed) == 12
    last = running.lines()[-1]
    if not document["interrupted"]:
        assert last.startswith(INTERRUPTED)  # the search had ended before
    elif document["outcome"] == "found":
        assert last == (
            f"{INTERRUPTED}the assignment meets all targets; a longer search may find one with "
            "more room"
        )
        assert all(one["meets_target"] for one in placed)
    else:
        assert last == (f"{INTERRUPTED}the best assignment so far is not known to meet all targets")
        assert document["outcome"] == "none found"
        assert document["reason"].startswith("interrupted; sets of VMs tried on a device: ")
        assert not all(one["meets_target"] for one in placed)
    assert "p95 response times on a" in running.said
