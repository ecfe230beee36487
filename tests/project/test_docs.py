# SPDX-License-Identifier: MIT
"""Statements in the documents that can be compared with the code."""

import gzip
import re
import runpy
import shlex
import subprocess
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from places import CHECKOUT
from printed_files import printed_files
from ruamel.yaml import YAML

from understudy_devices import __version__
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
