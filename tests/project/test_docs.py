# SPDX-License-Identifier: MIT
"""Statements in the documents that can be compared with the code."""

import gzip
import os
import random
import re
import runpy
import shlex
import subprocess
from collections.abc import Iterable
from contextlib import chdir
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from places import CHECKOUT
from printed_commands import Printed, printed_commands
from printed_commands import pages as printed_pages
from printed_files import printed_files
from ruamel.yaml import YAML
from terminal import COMMAND

from understudy_devices import __version__
from understudy_devices.cards import specification
from understudy_devices.cards.rdl_export import rdl
from understudy_devices.cli.main import main
from understudy_devices.native import registry


@pytest.fixture(autouse=True)
def no_scheduler_of_another_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several tests have one that is called mine."""
    monkeypatch.setattr(registry, "_added", dict(registry._added))


def test_the_tables_of_settings_and_schedulers_are_what_they_declare() -> None:
    """The tables list a device's settings, and each scheduler's tunables, defaults, ranges and
    counters.
    """
    script = runpy.run_path(str(CHECKOUT / "scripts" / "sysfs_tables.py"))
    page = script["PAGE"].read_text()
    assert page == script["with_tables"](page), "python scripts/sysfs_tables.py mends it"


def test_the_tables_of_real_drives_are_what_their_profiles_say() -> None:
    """The tables also have the model's times for random pages."""
    script = runpy.run_path(str(CHECKOUT / "scripts" / "disk_tables.py"))
    page = script["PAGE"].read_text()
    assert page == script["with_tables"](page), "python scripts/disk_tables.py mends it"


def printed(*words: str) -> list[str]:
    """Return the lines that a command prints."""
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    return [line.rstrip() for line in done.stdout.splitlines()]


def test_the_demo_prints_what_its_page_shows(tmp_path: Path) -> None:
    """The page shows the simulator's exact output, except for the line of wall seconds."""
    _, example = (CHECKOUT / "docs" / "table2.md").read_text().split("```text\n$ ", 1)
    command, *lines = example[: example.index("...\n")].splitlines()
    assert f"\t{command}\n" in (CHECKOUT / "Makefile").read_text()
    output = printed(*command.split()[1:], "--on", "sim", "--out", str(tmp_path / "run"))
    steady = [line for line in lines if not line.startswith(" wall seconds")]
    assert steady == [line for line in output if not line.startswith(" wall")][: len(steady)]
    assert sum(", ours" in line and line.endswith("as real") for line in lines) == 4


def blocks(language: str) -> list[str]:
    """Return the README's blocks in this language."""
    readme = (CHECKOUT / "README.md").read_text()
    return [part.partition("```")[0] for part in readme.split(f"```{language}\n")[1:]]


def test_the_readme_quotes_the_page_of_the_demo() -> None:
    page = (CHECKOUT / "docs" / "table2.md").read_text().splitlines()
    assert set(blocks("text")[0].splitlines()) <= set(page)


def test_the_scheduler_of_the_readme_ranks_as_it_says(tmp_path: Path) -> None:
    """The README's scheduler, copied into a file, prints the lines that the README shows."""
    file = tmp_path / "mine.c"
    (text,) = blocks("c")
    file.write_text(text)
    command, *lines = blocks("text")[1].splitlines()
    words = command.replace("./mine.c", str(file)).split()[2:]
    assert set(lines) <= set(printed(*words, "--out", str(tmp_path / "run")))


def page(name: str) -> str:
    """The text of a page in docs/."""
    return (CHECKOUT / "docs" / name).read_text()


def commands(name: str) -> list[str]:
    """The commands of a page's blocks, without the comments behind them."""
    found = re.findall(r"^```\n(.*?)^```$", page(name), re.MULTILINE | re.DOTALL)
    lines = [line for block in found for line in block.splitlines()]
    return [re.sub(r" +#.*", "", line) for line in lines if line.startswith("understudy ")]


def test_the_readme_is_short() -> None:
    """One can read it in a few minutes."""
    assert len((CHECKOUT / "README.md").read_text().splitlines()) <= 90


def test_a_copied_scheduler_runs(tmp_path: Path) -> None:
    """The command that makes it is the same on both pages."""
    command = "sed s/fcfs/mine/g core/schedulers/fcfs.c > mine.c"
    assert command in page("schedulers/fcfs.md")
    assert command in (CHECKOUT / "README.md").read_text()
    file = tmp_path / "mine.c"
    words = command.replace("> mine.c", f"> {shlex.quote(str(file))}")
    subprocess.run(words, shell=True, check=True, cwd=CHECKOUT)
    names = f"{file},fcfs,clook"
    found = printed("compare", "--schedulers", names, "--out", str(tmp_path / "run"))
    assert any(line.startswith(" mine ") for line in found)


def test_the_commands_for_a_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They run as they stand there, on a trace that the default disk is too small for; with the
    size that `trace info` prints as well."""
    monkeypatch.chdir(tmp_path)
    lines = [f"{1000000 * n},hm,1,Read,{2**21 * n},4096,{4000 + n}" for n in range(1000)]
    Path("hm_1.csv.gz").write_bytes(gzip.compress("\n".join([*lines, ""]).encode()))
    Path("mydrive.toml").write_text((CHECKOUT / "profiles" / "vesper-flat.toml").read_text())
    Path("mine.c").write_text(blocks("c")[0])
    info, *replays = [line.split()[1:] for line in commands("traces.md")][:4]
    (found,) = [line for line in printed(*info) if line.startswith("to replay it: ")]
    option, size = found.split()[3:5]
    for words in replays:
        printed(*words)
        words[words.index(option) + 1] = size
        printed(*words)
    words[words.index(option) + 1] = f"{int(size[:-1]) - 1}s"
    refused = CliRunner().invoke(main, words)
    assert refused.exit_code == 2
    assert f"take {size}" in refused.stderr


def test_the_request_that_is_followed(tmp_path: Path) -> None:
    """The 101st of its run, to the nanosecond; the README has the same command."""
    (command,) = [line for line in commands("debugging.md") if "--out one" in line]
    assert f"`{command}`" in (CHECKOUT / "README.md").read_text()
    printed(*command.replace("--out one", f"--out {tmp_path}/one").split()[1:])
    row = pl.read_parquet(tmp_path / "one" / "requests.parquet").row(100, named=True)
    (shown,) = re.findall(r"^{('scheduler'.*?), \.\.\.}$", page("debugging.md"), re.M | re.S)
    for figure in shown.replace("\n", "").split(", "):
        assert figure.strip() in str(row)


def test_the_card_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands that need no VM (tests/vm/test_own_card.py tests its driver); the README has
    the first."""
    monkeypatch.chdir(tmp_path)
    for name, text in printed_files("cards.md").items():
        Path(name).write_text(text)
    check, generate, *_ = [line for line in commands("cards.md") if "doubler.yaml" in line]
    assert f"`{check}`" in (CHECKOUT / "README.md").read_text()
    assert printed(*check.split()[1:]) == ["doubler.yaml: a card with 3 registers, no mistakes"]
    assert "wrote doubler/doubler_driver.c" in printed(*generate.split()[1:])


def anchors(file: Path) -> set[str]:
    """The anchors of a page's headings."""
    titles = re.findall(r"^#+ (.*)$", file.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def test_links_lead_somewhere() -> None:
    """To a file, and to a heading of it."""
    lost = []
    for file in [*CHECKOUT.glob("*.md"), *(CHECKOUT / "docs").rglob("*.md")]:
        for link in re.findall(r"\]\(([^)\s]+)\)", file.read_text()):
            name, _, anchor = link.partition("#")
            target = file.parent / name if name else file
            if re.match(r"\w+:", link):
                continue
            if not target.exists() or (anchor and anchor not in anchors(target)):
                lost.append(f"{file.relative_to(CHECKOUT)}: {link}")
    assert not lost


def test_the_citation_is_of_this_version() -> None:
    text = (CHECKOUT / "CITATION.cff").read_text()
    citation = YAML(typ="safe").load(text)
    assert {"cff-version", "title", "authors", "license"} <= set(citation)
    assert citation["version"] == __version__


# Why a printed command is not run here, by a pattern of "PAGE: COMMAND".
NOT_RUN = {
    r"(README|docs/tutorial).md: (make|export) ": "this test runs in what it makes",
    r".*: make test-core TEST=": "make test runs these tests",
    r"docs/debugging.md: ASAN_OPTIONS=\S+ gdb": "a debugger, which set-up does not install",
    r".*[ =](NAME|FILE|FOLDER)\b": "NAME and FILE stand for something",
    r".*/NAME/|.*runs/REAL": "runs that the reader has made",
    r"docs/consolidation.md: understudy consolidate vm1 vm2 vm3": "a self-check's traces",
    r".*/dev/(sdX|\$DISK)": "needs a disk that may be overwritten; tests/vm/test_measure.py",
    r"docs/blktrace.md: understudy predict": "the trace is that of the disk above; tests/traces",
    r"docs/measure.md: understudy": "needs a disk; tests/campaign/test_compare_runs.py",
    r"docs/profiler.md: understudy profile --t\S+ (mydrive:make|recorded.txt)": "tests/profiler",
    r"docs/vpt-sysfs.md": "as root in a VM: tests/vm/test_by_hand.py",
    r"docs/studio.md: (make|python3 -m http.server)": "tests/studio builds and serves the page",
    r"docs/install.md": "tests/project/test_wheel.py; an image needs root, and Docker runs it",
    r"docs/cluster.md": "a cluster: tests/engine/test_cluster.py",
    r"docs/kernels.md": "other kernels: tests/vm, and make test-debug-kernel",
    r"docs/adding.md: (CC=clang meson|mkdir corpus)": "a fuzzer without an end",
    r"docs/adding.md: python -m bench": "rewrites a page; tests/project/test_benchmarks.py",
    r".*: understudy card (test|demo)": "a VM: tests/vm/test_own_card.py, test_drawing.py",
    r".*: understudy reproduce (table|all --out)": "VMs: make demo; tests/vm",
    r".*: understudy consolidate --self-check": "VMs, for minutes: tests/vm/test_vms.py",
    r".*: understudy serve-disk": "it never ends: tests/serve",
    r".*: understudy studio": "it never ends: tests/studio",
    r".*: understudy lab": "VMs of a class: tests/lab",
    r"docs/lab.md: understudy course": "tests/lab/test_course_in_a_vm.py",
    r"docs/lab.md: cd tests": "it takes an hour; tests/lab/test_lab_faults.py does some rounds",
    r".*: understudy doctor": "tests/platforms/test_doctor.py",
    r"docs/commands.md: understudy predict --on vm --clock wall": "takes minutes",
    r".*: understudy predict .*--on (sim,)?vm": "VMs: tests/vm/test_printed.py, test_throttle.py",
}
# They would take minutes as they are printed.
SHORTER = {
    "sweep --disks all --workloads random,surge-direct --processes 20 --seeds 30": "--seeds 1"
}


def reasons(command: Printed) -> list[str]:
    """Return the patterns because of which a command is not run."""
    return [pattern for pattern in NOT_RUN if re.match(pattern, f"{command.page}: {command.text}")]


PRINTED = {page: printed_commands(page) for page in printed_pages()}
RUN = {
    page: run
    for page, commands in PRINTED.items()
    if (run := [command for command in commands if not reasons(command)])
}


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """Return a folder with the files that the commands name."""
    with chdir(tmp_path):
        for name in ("core", "cards", "bench"):
            Path(name).symlink_to(CHECKOUT / name)
        for page in ("cards.md", "tutorial.md"):
            for name, text in printed_files(page).items():
                Path(name).write_text(text)
        Path("mine.c").write_text(blocks("c")[0])
        Path("mydrive.toml").write_text((CHECKOUT / "profiles" / "vesper-flat.toml").read_text())
        with Path("mydrive.toml").open("a") as profile:
            profile.write("[queue]\ndepth = 32\n")
        Path("mine.yaml").write_text(Path("doubler.yaml").read_text().replace("doubler", "mine"))
        Path("mine.rdl").write_text(rdl(specification.load("doubler.yaml")))
        Path("tool.rdl").write_text("property tool_id { component = reg; type = boolean; };")
        theirs = 'addrmap uart { name = "A"; reg { tool_id; field {} A[8] = 1; } R @0; };'
        Path("theirs.rdl").write_text(theirs)
        draw = random.Random(1).expovariate
        lines = [
            f"{10**5 * n},hm,1,Read,{2**21 * (n % 700)},4096,{int(draw(1 / 5000)) + 500}"
            for n in range(1, 1001)
        ]
        trace = gzip.compress("\n".join([*lines, ""]).encode())
        for folder in ("vm1", "vm2", "vms/web", "vms/mail"):
            Path(folder).mkdir(parents=True)
            Path(folder, "run.csv.gz").write_bytes(trace)
        for name in ("hm_0.csv.gz", "hm_1.csv.gz", "vm3.csv.gz"):
            Path(name).write_bytes(trace)
        rows = [(n, f"{4096 * (n % 700)}", n % 2 + 419) for n in range(1, 1001)]
        write_lines("alibaba.csv", (f"{of},R,{at},4096,{1000 * n}" for n, at, of in rows))
        write_lines("mine.txt", (f"{n / 1000},R,{n % 700},4096,350" for n, _, _ in rows))
        for name in ("a.csv", "b.csv"):
            write_lines(name, (f"{n},R,4096,{draw(2) + 0.1:.3f}" for n, _, _ in rows))
    return tmp_path


def write_lines(name: str, lines: Iterable[str]) -> None:
    """Write a file in this folder."""
    Path(name).write_text("".join(f"{line}\n" for line in lines))


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN)
def test_printed_commands_run(page: str, desk: Path) -> None:
    """In their order, in one folder; what a page shows of the output is in the output."""
    path = f"{COMMAND.parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "XDG_CACHE_HOME": str(desk / "cache")}
    for command in RUN[page]:
        text = command.text
        if "--workload ./mine.c" in text:  # the page says to copy a file and to change its name
            random_c = (CHECKOUT / "sim" / "workloads" / "random.c").read_text()
            (desk / "mine.c").write_text(random_c.replace('.name = "random"', '.name = "mine"'))
        for long, short in SHORTER.items():
            text = text.replace(long, long.replace("--seeds 30", short))
        done = subprocess.run(
            ["bash", "-c", text],
            cwd=desk,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        fails = any(line.startswith("understudy: ") for line in command.output)
        assert done.returncode == fails, f"{text}\n{done.stdout}{done.stderr}"
        shown = {line.rstrip() for line in (done.stdout + done.stderr).splitlines()}
        assert set(command.output) <= shown, text


def test_each_reason_is_of_a_command() -> None:
    """A reason whose command is gone goes too; in each kind of page, most commands run."""
    every = [command for commands in PRINTED.values() for command in commands]
    used = {pattern for command in every for pattern in reasons(command)}
    assert used == set(NOT_RUN)
    assert all(any(long in command.text for command in every) for long in SHORTER)
    assert len(RUN) >= 9
    assert sum(map(len, RUN.values())) >= 40
