# SPDX-License-Identifier: MIT
"""--prefetch and --replacement, on the command line and in Python: what they accept and refuse, and
what a result and a sweep say about them."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner, Result
from places import CHECKOUT
from policies import LRU, at_read, including, prefetcher, replacer

import understudy_devices as us
from understudy_devices.cli.main import main
from understudy_devices.native import registry

SMALL = (
    *("--workload", "concurrent-read", "--virtual-size", "128K", "--requests", "200"),
    *("--disk", "vesper-zoned-small", "--schedulers", "fcfs"),
)
AHEAD = ("--read-ahead", "4")


@pytest.fixture(autouse=True)
def no_scheduler_for_another_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several tests have one of the same name."""
    monkeypatch.setattr(registry, "_added", dict(registry._added))


def understudy(*words: object) -> Result:
    """Run a command; the program's own mistakes are raised."""
    return CliRunner().invoke(main, [*map(str, words)], catch_exceptions=False)


def predicted(folder: Path, *words: object) -> dict[str, Any]:
    """Return the result.json of a prediction."""
    done = understudy("predict", *SMALL, *words, "--json", "--out", folder / "run")
    assert done.exit_code == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_the_defaults_are_doubling_and_lru(tmp_path: Path) -> None:
    """Naming them changes no figure, only the command."""
    default = predicted(tmp_path / "a", *AHEAD)
    named = predicted(tmp_path / "b", *AHEAD, "--prefetch", "doubling", "--replacement", "lru")
    assert default["inputs"]["prefetch"] == "doubling"
    assert default["inputs"]["replacement"] == "lru"
    rows = [pl.read_parquet(tmp_path / each / "run" / "requests.parquet") for each in "ab"]
    assert rows[0].equals(rows[1])
    for document in (default, named):
        document["inputs"].pop("command")
    assert default["inputs"] == named["inputs"]


def test_a_result_names_policies_their_versions_and_tunables(tmp_path: Path) -> None:
    mine, yours = prefetcher(tmp_path, "mine"), replacer(tmp_path, "yours")
    document = predicted(
        *(tmp_path, *AHEAD, "--prefetch", mine.shown, "--replacement", yours.shown),
        *("--set", "mine.pages=3"),
    )
    inputs, facts = document["inputs"], document["runs"][0]["facts"]
    assert inputs["prefetch"] == "mine"
    assert inputs["prefetch_digest"] == registry.content(mine)
    assert inputs["prefetch_tunables"] == "pages=3"
    assert inputs["replacement_digest"] == registry.content(yours)
    assert inputs["tunables"] == {"mine": {"pages": 3}}
    assert set(inputs["sources"]) == {"fcfs", "mine", "yours"}
    assert facts["prefetch"]["tunables"] == {"pages": 3}
    assert facts["prefetch"]["counters"]["prefetched"] > 0
    assert facts["replacement"] == {"name": "yours", "tunables": {}, "counters": {}}


def test_what_a_strangers_prefetcher_prints_is_not_said_by_the_scheduler(tmp_path: Path) -> None:
    says = at_read('static int once; if (!once++) puts("hello");')
    mine = prefetcher(tmp_path, "mine", including("stdio.h"), says)
    words = (*SMALL, *AHEAD, "--prefetch", mine.shown, "--out", tmp_path / "run")
    done = understudy("predict", *words)
    assert done.exit_code == 0, done.stderr
    assert "mine printed: hello" in done.stderr
    assert "fcfs printed" not in done.stderr


def test_without_a_page_cache_a_result_has_no_policies(tmp_path: Path) -> None:
    document = predicted(tmp_path)
    assert not [key for key in document["inputs"] if "prefetch" in key or "replacement" in key]


def test_the_heading_names_them(tmp_path: Path) -> None:
    words = (*SMALL, *AHEAD, "--prefetch", "amp", "--replacement", "2q")
    done = understudy("predict", *words, "--out", tmp_path / "run")
    assert "10 processes, prefetch amp, replacement 2q, seed 1; simulated" in done.stdout


REFUSED = {
    "unknown": (
        (*AHEAD, "--prefetch", "dubling"),
        'unknown prefetcher "dubling": did you mean "doubling"? there are: amp, doubling, fixed, '
        "none, or ./NAME.c",
    ),
    "other kind": ((*AHEAD, "--replacement", "fixed"), 'unknown replacement policy "fixed"'),
    "nothing": ((*AHEAD, "--prefetch", ""), 'unknown prefetcher ""'),
    "no file": ((*AHEAD, "--prefetch", "./no.c"), "--prefetch: ./no.c: No such file"),
    "folder": ((*AHEAD, "--prefetch", "/"), "--prefetch: / is not a file"),
    "no limit": (("--prefetch", "amp"), "amp may prefetch nothing: concurrent-read has a read-"),
    "no cache": (("--replacement", "2q"), "has no page cache unless its size is given; add --page"),
    "workload": (
        ("--workload", "random", "--prefetch", "amp"),
        "--prefetch: random does not use it; it goes with --workload surge-buffered or",
    ),
    "kernel": (
        ("--workload", "surge-buffered", "--on", "vm", "--prefetch", "amp"),
        "--prefetch: only in the simulator; add --on sim",
    ),
    "both": (
        ("--workload", "surge-buffered", "--on", "sim,vm", "--replacement", "2q"),
        "--replacement: only in the simulator; add --on sim",
    ),
    "range": ((*AHEAD, "--set", "doubling.first_pages=0"), "--set: doubling.first_pages: 0 is out"),
    "tunable": (
        (*AHEAD, "--prefetch", "fixed", "--set", "fixed.page=1"),
        'unknown tunable of fixed "page": did you mean "pages"?',
    ),
    "not used": (
        (*AHEAD, "--prefetch", "fixed", "--set", "amp.first_pages=1"),
        "--set: amp is not among --schedulers fcfs, and no policy: fixed, lru",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_is_refused_in_one_line(name: str) -> None:
    words, message = REFUSED[name]
    done = understudy("predict", *SMALL, *words)
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not done.stdout


@pytest.mark.parametrize("taken", ["lru", "amp", "clook", "all", "mq-deadline"])
def test_a_name_is_that_of_one_thing(taken: str, tmp_path: Path) -> None:
    mine = prefetcher(tmp_path, "mine", ('.name = "mine"', f'.name = "{taken}"'))
    done = understudy("predict", *SMALL, *AHEAD, "--prefetch", mine.shown)
    assert done.exit_code == 2
    assert f"{mine.shown} calls itself {taken}, which is taken; change .name" in done.stderr


def test_two_files_of_a_command_have_two_names(tmp_path: Path) -> None:
    """--set names both."""
    scheduler = tmp_path / "scheduler.c"
    text = (CHECKOUT / "core" / "schedulers" / "fcfs.c").read_text()
    scheduler.write_text(text.replace('"fcfs"', '"mine"'))
    mine = prefetcher(tmp_path, "mine")
    words = (*SMALL, "--schedulers", scheduler, *AHEAD, "--prefetch", mine.shown)
    done = understudy("predict", *words)
    assert done.exit_code == 2
    assert "calls itself mine, as another policy or scheduler of this command does" in done.stderr


def test_a_scheduler_cannot_have_the_name_of_a_policy(tmp_path: Path) -> None:
    scheduler = tmp_path / "scheduler.c"
    text = (CHECKOUT / "core" / "schedulers" / "fcfs.c").read_text()
    scheduler.write_text(text.replace('"fcfs"', '"2q"'))
    done = understudy("predict", *SMALL, "--schedulers", scheduler)
    assert done.exit_code == 2
    assert "calls itself 2q, which is taken" in done.stderr


def test_a_policy_that_fails_is_named_once(tmp_path: Path) -> None:
    """However many schedulers there are."""
    mine = prefetcher(tmp_path, "mine", at_read("return (struct page_range){ 0, 1000 };"))
    words = (*SMALL, "--schedulers", "fcfs,sstf", *AHEAD, "--prefetch", mine.shown)
    done = understudy("predict", *words)
    assert done.exit_code == 1
    lines = [line for line in done.stderr.splitlines() if "mine: read(page" in line]
    assert len(lines) == 1
    assert lines[0].endswith("prefetches 1000 pages from page 0 on, but the file has 20 pages")


def test_a_file_that_does_not_compile_is_quoted(tmp_path: Path) -> None:
    mine = prefetcher(tmp_path, "mine", at_read("nonsense"))
    done = understudy("predict", *SMALL, *AHEAD, "--prefetch", mine.shown)
    assert done.exit_code == 2
    assert f"{mine.shown} does not compile" in done.stderr


def test_the_list_has_every_policy() -> None:
    done = understudy("policies", "--json")
    listed = json.loads(done.stdout)
    found = {(each["kind"], each["name"]) for each in listed}
    assert found == {
        *(("prefetch", name) for name in registry.ours(registry.PREFETCH)),
        *(("replacement", name) for name in registry.ours(registry.REPLACEMENT)),
    }
    assert {each["name"] for each in listed if each["default"]} == {"doubling", "lru"}
    printed = understudy("policies").stdout
    assert all(each["summary"] in printed for each in listed)
    assert all(one["help"] in printed for each in listed for one in each["tunables"])


def test_python_takes_them(tmp_path: Path) -> None:
    mine = prefetcher(tmp_path, "mine")
    prediction = us.predict(
        workload="concurrent-read",
        disk="vesper-zoned-small",
        virtual_size="128K",
        requests=200,
        schedulers="fcfs",
        read_ahead=4,
        prefetch=mine.shown,
        replacement="2q",
        tunables={"mine.pages": 2, "2q.queue_percent": 50},
    )
    words = prediction.command.split()
    assert words[words.index("--prefetch") + 1] == mine.shown
    assert words[words.index("--replacement") + 1] == "2q"
    with pytest.raises(us.UserError, match="unknown replacement policy"):
        us.predict(workload="surge-buffered", replacement="fifo")


def test_a_sweep_has_a_row_for_each_policy_and_removes_old_versions(tmp_path: Path) -> None:
    file, mine = tmp_path / "s.parquet", tmp_path / "mine.c"
    mine.write_text(LRU.replace('"lru"', '"mine"'))
    sweep = (
        *("sweep", "--workloads", "concurrent-read", "--disks", "vesper-zoned-small"),
        *("--virtual-size", "128K", "--requests", "200", "--schedulers", "fcfs", *AHEAD),
        *("--out", file),
    )
    for words in ((), ("--replacement", mine), ("--prefetch", "amp")):
        assert understudy(*sweep, *words).exit_code == 0
    rows = pl.read_parquet(file)
    assert sorted(rows.select("prefetch", "replacement").rows()) == [
        ("amp", "lru"),
        ("doubling", "lru"),
        ("doubling", "mine"),
    ]
    assert "rows removed" not in understudy(*sweep, "--replacement", mine).stderr
    mine.write_text(mine.read_text() + "/* edited */\n")
    assert f"{file}: 1 rows removed" in understudy(*sweep, "--replacement", mine).stderr
    again = pl.read_parquet(file).filter(replacement="mine")
    assert again.height == 1
    assert again["replacement_digest"].item() != (
        rows.filter(replacement="mine")["replacement_digest"].item()
    )


def test_a_sweep_leaves_them_out_where_there_is_no_page_cache(tmp_path: Path) -> None:
    """And their tunables, as it does with other options that only some workloads have."""
    file = tmp_path / "s.parquet"
    done = understudy(
        *("sweep", "--workloads", "random,surge-buffered", "--requests", "200"),
        *("--schedulers", "fcfs", "--prefetch", "fixed", "--set", "fixed.pages=2", "--out", file),
    )
    assert done.exit_code == 0, done.stderr
    rows = pl.read_parquet(file).sort("workload")
    assert rows.select("prefetch", "prefetch_tunables").rows() == [
        (None, None),
        ("fixed", "pages=2"),
    ]
