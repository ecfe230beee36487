# SPDX-License-Identifier: MIT
"""A user's workload: one C file outside the checkout, in a sandbox."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from places import CHECKOUT
from playing import Play, by_owner, program

from understudy_devices.ask.workloads.own import MAGIC, ROW, load
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.native import steps
from understudy_devices.native.simulation import Rows, workloads
from understudy_devices.platforms import reads

pytestmark = pytest.mark.thorough

STEP = "\tstep->op = draw_below(draw, 100) < random->writes_percent;\n"


def write(folder: Path, name: str, ours: str = "random", *changes: tuple[str, str]) -> Path:
    """Write one of our workloads under another name, with each change's first text replaced by
    the second."""
    text = (CHECKOUT / "sim" / "workloads" / f"{ours}.c").read_text()
    for old, new in ((f'.name = "{ours}"', f'.name = "{name}"'), *changes):
        assert old in text, old
        text = text.replace(old, new, 1)
    file = folder / f"{name}.c"
    file.write_text(text)
    return file


def understudy(*words: object, cwd: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "understudy_devices", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
    )


def asked(file: Path, **changes: Any) -> Rows:
    settings: dict[str, Any] = {
        "capacity_sectors": 10_000,
        "processes": 2,
        "seed": 1,
        "steps": 50,
    } | changes
    source = load(str(file))
    values = [each.initial for each in steps.describe(source).parameters]
    return steps.rows(source, values=values, **settings)


@pytest.mark.parametrize("ours", ["random", "poisson", "sequential"])
def test_it_does_what_it_does_as_one_of_ours(ours: str, tmp_path: Path) -> None:
    file = write(tmp_path, "copied", ours)
    kind = steps.describe(load(str(file)))
    assert kind.parameters == workloads()[ours].parameters
    assert kind.open == workloads()[ours].open


def test_a_run_is_the_same_to_the_byte(tmp_path: Path) -> None:
    file = write(tmp_path, "copied")
    common = ("--processes", 5, "--requests", 500, "--schedulers", "sstf,look", "--json")
    ours = understudy("predict", "--workload", "random", "--writes", 30, *common, cwd=tmp_path)
    own = ("--workload", file, "--parameters", "writes_percent=30")
    copied = understudy("predict", *own, *common, cwd=tmp_path)
    assert copied.returncode == 0, copied.stderr
    of_ours, of_copy = (json.loads(done.stdout) for done in (ours, copied))
    for one, other in zip(of_ours["runs"], of_copy["runs"], strict=True):
        assert one["mean_response_ms"] == other["mean_response_ms"]
        assert one["p99_response_ms"] == other["p99_response_ms"]
    assert of_copy["inputs"]["workload_file"] == str(file)
    assert "writes_percent=30" in of_copy["inputs"]["workload_parameters"]


def test_it_ends_when_it_has_no_steps_left(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        "short",
        "random",
        (STEP, f"{STEP}\tif (step->op < 2 && !process) return false;\n"),
    )
    rows = asked(file)
    assert rows.first.tolist() == [0, 0, 50]


WRONG = {
    "behind": ("\tstep->sector = 9999;\n", "step 1 is behind the end of the disk"),
    "wraps": ("\tstep->sector = -4ull;\n", "step 1 is behind the end of the disk"),
    "long": ("\tstep->sectors = 1 << 20;\n", "step 1 has no length that a disk takes"),
    "empty": ("\tstep->sectors = 0;\n", "step 1 has no length that a disk takes"),
    "filed": ("\tstep->file = 3;\n", "step 1 wants a file"),
    "pieces": ("\tstep->more = 3;\n", "step 1 has .more"),
    "crashes": ("\t*(volatile int *)8 = 1;\n", "segmentation fault in random_step, "),
    "loops": ("\tfor (;;) ;\n", "probably an endless loop"),
    "locks": (
        "\tint at = 0; syscall(SYS_futex, &at, 0, 0, NULL);\n",
        "sleeps, which is not allowed",
    ),
    "dials": ("\tsyscall(SYS_socket, 2, 1, 0);\n", "made a forbidden system call"),
    "quits": ("\texit(3);\n", "ended its process, with exit code 3"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_it_does_wrong_is_named(name: str, tmp_path: Path) -> None:
    code, words = WRONG[name]
    headers = "#include <stdlib.h>\n#include <unistd.h>\n#include <sys/syscall.h>\n"
    include = '#include "../streams.h"\n'
    last = "\treturn true;\n"
    file = write(tmp_path, name, "random", (include, headers + include), (last, code + last))
    with pytest.raises(RunFailed, match=words):
        asked(file)


def test_it_has_an_end_however_it_gets_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps arrive in batches of 512, and a batch takes some seconds."""
    monkeypatch.setattr(steps, "LONGEST_SECONDS", 3.0)
    slow = "\tfor (volatile u32 i = 0; i < 5000000; i++) ;\n"
    last = "\treturn true;\n"
    file = write(tmp_path, "drips", "random", (last, slow + last))
    with pytest.raises(RunFailed, match="drips: its steps take more than"):
        asked(file, processes=6, steps=512)


def test_bad_input_is_one_line(tmp_path: Path) -> None:
    file = write(tmp_path, "mine")
    scheduler = tmp_path / "scheduler.c"
    scheduler.write_text("int nothing_here;\n")
    for words, message in (
        (("--workload", tmp_path / "gone.c"), "No such file or directory"),
        (("--workload", tmp_path), "is not a file"),
        (("--workload", file, "--parameters", "colour=3"), "has no parameter colour"),
        (("--workload", file, "--parameters", "writes_percent=300"), "not from 0 to 100"),
        (("--workload", file, "--parameters", "often"), "is not of the form NAME=3"),
        (("--workload", write(tmp_path, "open", "poisson"), "--on", "vm"), "is open"),
        (("--workload", scheduler), "registers no workload"),
        (("--workload", "own"), "own needs --workload-file"),
        (("--workload", file, "--requests", 10_000_000), "take fewer"),
    ):
        done = understudy("predict", *words, "--out", tmp_path / "out", cwd=tmp_path)
        assert done.returncode in (1, 2)
        assert "Traceback" not in done.stderr
        assert message in done.stderr.splitlines()[-1], done.stderr
        assert not (tmp_path / "out").exists()
    broken = write(tmp_path, "broken", "random", (STEP, "\tthis is not C;\n"))
    with pytest.raises(UserError, match="does not compile"):
        steps.describe(load(str(broken)))


def table(first: list[int], rows: list[tuple[int, int, int, int]], magic: bytes = MAGIC) -> bytes:
    head = magic + (len(first) - 1).to_bytes(8, "little")
    return head + np.array(first, "<u8").tobytes() + np.array(rows, ROW).tobytes()


def test_the_guest_plays_a_table(tmp_path: Path) -> None:
    """A file stands in for the disk; each process plays its own rows in order."""
    disk, steps_file = tmp_path / "disk", tmp_path / "steps"
    disk.write_bytes(b"x" * 512 * 64)
    rows = [(0, 8, 8, 0), (1000, 16, 24, 0), (0, 0, 8, 1)]
    steps_file.write_bytes(table([0, 2, 3], rows))
    words = (program("steps"), "--device", disk, "--steps", steps_file, "--processes", 2)
    workload = Play(*words, "--log", tmp_path / "log")
    assert workload.ready == "ready\n"
    workload.go()
    time.sleep(0.5)
    workload.end()
    entries = reads.read_log(tmp_path / "log")
    mine = by_owner(entries)
    seen = sorted([(each["offset"].tolist(), each["result"].tolist()) for each in mine])
    assert seen == [([1], [4096]), ([8 * 512, 16 * 512], [4096, 24 * 512])]
    assert disk.read_bytes() == b"\0" * 4096 + b"x" * 512 * 56


@pytest.mark.parametrize(
    "wrong",
    [
        b"",
        b"USSTEPS1",
        table([0, 1], [(0, 0, 8, 0)], b"USSTEPS2"),
        table([0, 2], [(0, 0, 8, 0)]),
        table([1, 0, 1], [(0, 0, 8, 0)]),
        table([0, 1], [(0, 0, 0, 0)]),
        table([0, 1], [(0, 0, 1 << 20, 0)]),
        table([0, 1], [(0, 0, 8, 2)]),
        MAGIC + (10**6).to_bytes(8, "little"),
        table([0, 1], [(0, 0, 8, 0)])[:-1],
    ],
)
def test_a_wrong_table_is_refused(wrong: bytes, tmp_path: Path) -> None:
    for name in ("disk", "steps"):
        (tmp_path / name).write_bytes(wrong)
    done = subprocess.run(
        [program("steps"), "--device", tmp_path / "disk", "--steps", tmp_path / "steps"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
