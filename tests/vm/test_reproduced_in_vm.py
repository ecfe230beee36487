# SPDX-License-Identifier: MIT
"""`understudy reproduce` in VMs: a page takes as long as the papers' line and the kernel together,
and a second run writes the same bytes."""

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner
from guests import group

from understudy_devices.cli.main import main

pytestmark = group("reproduced")


def test_the_throttled_disk_keeps_the_papers_line(tmp_path: Path) -> None:
    for name in ("one", "two"):
        words = ("reproduce", "throttled-line", "--on", "vm", "--out", str(tmp_path / name))
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 0, done.stderr
    figures = json.loads((tmp_path / "one" / "throttled-line" / "vm.json").read_text())["figures"]
    intercept_ms, more_ms = figures["line_ms"].values()
    assert 4.25 <= intercept_ms < 4.26
    assert abs(more_ms - 5.25) < 0.001
    assert 0 < figures["longer_than_the_line_us"]["mean"] < 10
    told = subprocess.run(
        ["sha256sum", "--check", "../one/SHA256SUMS.vm"],
        cwd=tmp_path / "two",
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stdout
    assert told.stdout.splitlines() == [
        "results.md: OK",
        "throttled-line/vm.json: OK",
        "throttled-line/vm-1.svg: OK",
    ]


@pytest.mark.slow
def test_the_error_of_a_profile_is_that_of_the_model(tmp_path: Path) -> None:
    """SIGCSE 2006 Table 1, with two disks that are profiled in a VM, and the same two in the
    simulator.  Seeks are at other times there, so they differ by chance, less than a point."""
    errors = {}
    for platform in ("sim", "vm"):
        out = tmp_path / platform
        words = ("reproduce", "vesper", "--on", platform, "--out", str(out))
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 0, done.stderr
        document = json.loads((out / "vesper" / f"{platform}.json").read_text())
        errors[platform] = document["figures"]["table_1"]
    for disk, by_method in errors["vm"].items():
        [method] = by_method
        for workload, percent in by_method[method].items():
            assert percent == pytest.approx(errors["sim"][disk][method][workload], abs=1), disk
