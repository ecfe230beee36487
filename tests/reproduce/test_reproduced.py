# SPDX-License-Identifier: MIT
"""`understudy reproduce`: every table and figure of the papers is accounted for, and the folder
with all results tells on another machine whether it has the same results."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from terminal import COMMAND

from understudy_devices import reproduce
from understudy_devices.cli import reproduce as command
from understudy_devices.cli.main import main
from understudy_devices.papers.printed import PRINTED
from understudy_devices.reproduce import page, results
from understudy_devices.reproduce.artifact import LISTS, rounded
from understudy_devices.show.grid import Grid

FAILS = """
from understudy_devices.base.errors import RunFailed

PRINTED = ()
SECONDS = {"sim": 1}
DIFFERS = "Nothing comes out."


def run(asked):
    raise RunFailed("the disk is on fire")
"""
MEASURES = """
import time

from understudy_devices.reproduce import Reproduced

PRINTED = ()
SECONDS = {"host": 1}
DIFFERS = "Another machine."


def run(asked):
    return Reproduced([], {"seconds": time.monotonic()})
"""


def understudy(*words: str) -> Result:
    """Return what a command of `reproduce` did."""
    return CliRunner().invoke(main, ["reproduce", *words])


def few(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let `all` carry out only these results, which are fast."""
    monkeypatch.setattr(command, "_names", lambda: [*names, "all"])


def verified(folder: Path, listed: Path) -> subprocess.CompletedProcess[str]:
    """Return what sha256sum says of a folder, by a list that may be another folder's."""
    return subprocess.run(
        ["sha256sum", "--check", "--quiet", str(listed)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_each_table_and_figure_is_reproduced_or_has_a_reason() -> None:
    """Never both: a reason goes when the result comes."""
    for printed in PRINTED:
        assert bool(page.reproducing(printed)) != bool(printed.without), str(printed)


def test_each_result_reproduces_what_a_paper_prints() -> None:
    known = {(printed.paper, printed.name) for printed in PRINTED}
    assert len(known) == len(PRINTED)
    for name in reproduce.names():
        result = reproduce.named(name)
        assert result.printed
        assert set(result.printed) <= known, name
        assert result.differs
        assert set(result.seconds) <= set(reproduce.PLATFORMS)


def test_the_orders_are_the_papers() -> None:
    done = understudy("orders", "--json")
    [orders] = json.loads(done.stdout)["results"]
    assert orders["figures"]["PERFORM 2010, Table 1"]["optimal"] == {
        "order": [120, 82, 20, 200],
        "mean_service": 75.0,
        "mean_response": 124.5,
    }
    shown = understudy("orders").stdout
    assert re.search(r"sstf +41, 60, 95, 10 +37.00 +37.00 +62.00 +62.00", shown)


def test_a_line_of_the_paper_comes_back() -> None:
    """The simulated disk keeps the papers' line to the nanosecond."""
    done = understudy("throttled-line", "--on", "sim", "--json")
    [line] = json.loads(done.stdout)["results"]
    assert line["figures"]["line_ms"] == {"at distance 0": 4.25, "whole disk, more": 5.25}
    assert line["figures"]["longer_than_the_line_us"] == {"mean": 0, "most": 0}


def test_all_into_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page shows every picture; sha256sum tells when a file was changed or is lost."""
    few(monkeypatch, "orders", "product-form", "seek-curves")
    out = tmp_path / "all"
    done = understudy("all", "--on", "sim", "--out", str(out))
    assert done.exit_code == 0, done.stderr
    text = (out / "results.md").read_text()
    pictures = re.findall(r"!\[.*?\]\((.*?)\)", text)
    assert pictures == ["seek-curves/sim-1.svg", "seek-curves/sim-2.svg"]
    for name in pictures:
        assert (out / name).read_text().startswith("<svg xmlns=")
    for words in ("| sstf | 82, 120, 200, 20 | 79.00 |", "`table2`, not run here", "a diagram, "):
        assert words in text
    lists = [out / name for name in LISTS if (out / name).exists()]
    assert [each.name for each in lists] == ["SHA256SUMS", "SHA256SUMS.pictures"]
    listed = {line.split()[1] for each in lists for line in each.read_text().splitlines()}
    files = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert files - listed == {"environment.json", *(each.name for each in lists)}
    assert all(verified(out, each).returncode == 0 for each in lists)
    changed = out / "orders" / "sim.json"
    changed.write_text(changed.read_text().replace("124.5", "124.4"))
    (out / pictures[0]).unlink()
    told = [verified(out, each) for each in lists]
    assert told[0].stdout == "orders/sim.json: FAILED\n"
    assert told[1].stdout == "seek-curves/sim-1.svg: FAILED open or read\n"


def test_a_new_file_is_a_new_result_and_may_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others go on, and the page says what failed."""
    (tmp_path / "burning_disk.py").write_text(FAILS)
    monkeypatch.setattr(results, "__path__", [*results.__path__, str(tmp_path)])
    assert "burning-disk" in reproduce.names()
    few(monkeypatch, "burning-disk", "orders")
    out = tmp_path / "all"
    done = understudy("all", "--out", str(out))
    assert done.exit_code == 1
    assert done.stderr.splitlines()[-1] == "understudy: burning-disk, sim: the disk is on fire"
    text = (out / "results.md").read_text()
    assert "**Failed** on sim: the disk is on fire" in text
    assert "## orders" in text
    assert not (out / "burning-disk").exists()


def test_what_measures_this_machine_has_no_checksum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is listed apart; the page has its figures, so it has none, either."""
    (tmp_path / "stopwatch.py").write_text(MEASURES)
    monkeypatch.setattr(results, "__path__", [*results.__path__, str(tmp_path)])
    few(monkeypatch, "orders", "stopwatch")
    assert understudy("all", "--dry-run").stdout.startswith("orders on sim: ")
    assert "stopwatch" not in understudy("all", "--dry-run").stdout
    out = tmp_path / "all"
    assert understudy("all", "--on", "sim,host", "--out", str(out)).exit_code == 0
    listed = [line.split()[1] for line in (out / "SHA256SUMS").read_text().splitlines()]
    assert listed == ["orders/sim.json"]
    assert (out / "stopwatch" / "host.json").exists()
    last = (out / "results.md").read_text().splitlines()[-1]
    assert last.endswith("`environment.json`, `stopwatch/host.json`, and so this page.")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("all", "--on", "sim,real"), 'unknown platform "real": '),
        (("orders", "--on", "vm"), 'unknown platform "vm": did you mean "sim"? there are: sim'),
        (("orders", "--on", ""), 'unknown platform "": '),
        (("orders", "--requests", "5"), "orders: takes no --requests, only --dry-run, --jobs, "),
        (("all", "--seed", "2"), "all: takes no --seed, only "),
        (("table3", "--triangles", "5"), "table3: takes no --triangles, only predict's options"),
        (("order",), 'unknown result "order": did you mean "orders"? there are: all, '),
    ],
)
def test_bad_input(words: tuple[str, ...], message: str) -> None:
    done = understudy(*words)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"understudy: {message}")
    assert done.stderr.count("\n") == 1


def test_a_folder_that_exists_is_kept(tmp_path: Path) -> None:
    """It is refused before anything runs."""
    (tmp_path / "results.md").write_text("mine")
    done = understudy("all", "--out", str(tmp_path))
    assert done.exit_code == 2
    assert done.stderr == (
        f"understudy: --out: {tmp_path} is not empty; name a new folder or remove it\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["results.md"]


def test_a_dry_run_says_what_would_run() -> None:
    done = understudy("all", "--dry-run", "--on", "vm")
    assert done.stdout.splitlines() == [
        f"{name} on vm: about {result.seconds['vm']} s"
        for name in reproduce.names()
        if "vm" in (result := reproduce.named(name)).seconds
    ]


def test_a_group_is_its_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They may measure this machine, which `all` does not; `lab` is what a class of VMs needs."""
    assert all({*names} <= {*reproduce.names()} for names in reproduce.GROUPS.values())
    assert not {*reproduce.GROUPS} & {*reproduce.names(), "all"}
    assert [line.split(":")[0] for line in understudy("lab", "--dry-run").stdout.splitlines()] == [
        "clones on host",
        "table5.1 on host",
    ]
    assert "lab: takes no --seed, only" in understudy("lab", "--seed", "2").stderr
    (tmp_path / "stopwatch.py").write_text(MEASURES)
    monkeypatch.setattr(results, "__path__", [*results.__path__, str(tmp_path)])
    monkeypatch.setattr(reproduce, "GROUPS", {"both": ("orders", "stopwatch")})
    done = understudy("both", "--json")
    assert [one["result"] for one in json.loads(done.stdout)["results"]] == ["orders", "stopwatch"]


def test_numbers_are_rounded_and_the_rest_is_not() -> None:
    found = rounded({"a": (1 / 3, 2_000_000), "b": [{"c": float("nan")}, True, "0.1234567", None]})
    assert found == {"a": [0.333333, 2_000_000], "b": [{"c": None}, True, "0.1234567", None]}


def test_a_table_as_markdown() -> None:
    grid = Grid(("of", "ours"), [[("one", ("a", "1"))], [("two", ("b", "2"))]], words=("of",))
    assert page.markdown(grid).splitlines() == [
        "|  | of | ours |",
        "| --- | --- | ---: |",
        "| one | a | 1 |",
        "| two | b | 2 |",
    ]


@pytest.mark.slow
def test_simulated_results_are_the_same_on_another_machine(tmp_path: Path) -> None:
    """As if on another: another folder, another number of runs at a time, another locale, and a
    processor without vector instructions, on which NumPy adds in another order."""
    plain = dict(os.environ)
    other = plain | {
        "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4",
        "OPENBLAS_CORETYPE": "Nehalem",
        "POLARS_MAX_THREADS": "1",
        "TZ": "Asia/Tokyo",
        "LC_ALL": "C",
        "HOME": str(tmp_path / "home"),
    }
    (tmp_path / "home").mkdir()
    for name, environment, jobs in (("one", plain, "2"), ("two", other, "1")):
        subprocess.run(
            [COMMAND, "reproduce", "all", "--on", "sim", "--out", name, "--jobs", jobs],
            cwd=tmp_path,
            env=environment,
            check=True,
            capture_output=True,
        )
    one, two = tmp_path / "one", tmp_path / "two"
    lists = sorted(one.glob("SHA256SUMS*"))
    assert [each.name for each in lists] == ["SHA256SUMS", "SHA256SUMS.pictures"]
    for each in lists:
        told = verified(two, each)
        assert told.returncode == 0, told.stdout + told.stderr
        assert each.read_bytes() == (two / each.name).read_bytes()
