# SPDX-License-Identifier: MIT
"""Prefetchers and replacement policies from any source: what they do, and that their mistakes are
named, and harm no other run."""

import re
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from places import CHECKOUT
from policies import at_read, at_victim, including, prefetcher, replacer
from strangers import at_next
from strangers import write as write_scheduler

from understudy_devices.base import sources
from understudy_devices.base.errors import RunFailed
from understudy_devices.native import descriptions, registry
from understudy_devices.native.drive import Drive
from understudy_devices.native.simulation import Layout, PageCache, Policy, Simulation
from understudy_devices.native.simulator import Answer, run

CAPACITY = 100_000
FILE_PAGES = 4000
LIBC = including("stdio.h", "stdlib.h", "unistd.h", "sys/syscall.h", "signal.h")
OURS = [
    *((registry.PREFETCH, name) for name in registry.ours(registry.PREFETCH)),
    *((registry.REPLACEMENT, name) for name in registry.ours(registry.REPLACEMENT)),
]


@pytest.fixture(autouse=True)
def no_scheduler_for_another_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several tests have one of the same name."""
    monkeypatch.setattr(registry, "_added", dict(registry._added))


def simulated(
    prefetch: registry.Source | str = "doubling",
    replacement: registry.Source | str = "lru",
    scheduler: str = "fcfs",
    pages: int = 100,
    requests: int = 3000,
) -> Answer:
    """Return what three threads need for one long file each, with a small cache."""
    files = 3
    chosen = {
        "prefetch": _policy(registry.PREFETCH, prefetch),
        "replacement": _policy(registry.REPLACEMENT, replacement),
    }
    simulation = Simulation(
        workload="concurrent-read",
        scheduler=scheduler,
        device=Drive.linear(CAPACITY, 1_000_000, 5_000_000),
        capacity_sectors=CAPACITY,
        requests=requests,
        processes=files,
        parameters={"read_bytes": 256},
        layout=Layout(
            bytes=np.full(files, 512 * FILE_PAGES, np.uint64),
            first=np.arange(files + 1, dtype=np.uint64),
            start=np.arange(files, dtype=np.uint64) * np.uint64(CAPACITY // files),
            length=np.full(files, FILE_PAGES, np.uint64),
        ),
        cache=PageCache(pages * 512, 1, 8, **chosen),
    )
    return run(simulation)


def _policy(folder: str, policy: registry.Source | str) -> Policy:
    return Policy(registry.our_file(folder, policy) if isinstance(policy, str) else policy)


def rows(answer: Answer) -> dict[str, list[int]]:
    """Return the rows of a run, which are the same to the byte if all decisions were."""
    return {name: column.tolist() for name, column in answer.rows.items()}


def as_stranger(folder: Path, kind: str, name: str) -> registry.Source:
    """Return one of our policies as a stranger's file, under another name."""
    ours = registry.our_file(kind, name)
    new = f"my-{name}"
    text = ours.text.replace(f'"{name}"'.encode(), f'"{new}"'.encode())
    return registry.Source(str(folder / f"{new}.c"), text, folder=kind)


@pytest.mark.parametrize(("kind", "name"), OURS)
def test_a_policy_is_called_as_its_file(kind: str, name: str) -> None:
    described = descriptions.describe(registry.our_file(kind, name))
    assert described.name == name
    assert described.summary


@pytest.mark.parametrize(("kind", "name"), OURS)
def test_each_has_a_page(kind: str, name: str) -> None:
    """The page has the source and every tunable and counter, and the index lists it."""
    folder = Path(kind).name
    page = (CHECKOUT / "docs" / folder / f"{name}.md").read_text()
    assert f"`{kind}/{name}.c`" in page
    described = descriptions.describe(registry.our_file(kind, name))
    names = [*(each.name for each in described.tunables), *(one.name for one in described.counters)]
    assert not [name for name in names if f"`{name}`" not in page]
    assert f"({folder}/{name}.md)" in (CHECKOUT / "docs" / "index.md").read_text()


def test_the_template_is_what_a_copy_of_it_does(tmp_path: Path) -> None:
    """With nothing but another name, and in the sandbox, the rows are the same to the byte."""
    mine = prefetcher(tmp_path, "mine")
    yours = replacer(tmp_path, "yours")
    ours, theirs = simulated("fixed", "lru"), simulated(mine, yours)
    assert rows(ours) == rows(theirs)
    assert ours.figures.policies == theirs.figures.policies
    assert ours.figures.policies["prefetcher"]["prefetched"] > 2000


@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "name"), OURS)
def test_apart_or_not_the_decisions_are_the_same(kind: str, name: str, tmp_path: Path) -> None:
    file = as_stranger(tmp_path, kind, name)
    if kind == registry.PREFETCH:
        ours, theirs = simulated(name), simulated(file)
    else:
        ours, theirs = simulated(replacement=name), simulated(replacement=file)
    assert rows(ours) == rows(theirs)
    assert ours.figures.policies == theirs.figures.policies


@pytest.mark.thorough
def test_three_strangers_at_once(tmp_path: Path) -> None:
    """Each is in a process of its own."""
    file = write_scheduler(tmp_path, "their-fcfs")
    registry.add("their-fcfs", registry.Source(str(file), file.read_bytes()))
    mine, yours = (as_stranger(tmp_path, *each) for each in (OURS[0], OURS[-1]))
    ours = simulated(OURS[0][1], OURS[-1][1])
    assert rows(ours) == rows(simulated(mine, yours, "their-fcfs"))


def test_prefetchers_and_policies_differ() -> None:
    """Four prefetchers, and three policies in a small cache, send different requests."""
    prefetched = [simulated(name).figures for name in registry.ours(registry.PREFETCH)]
    assert len({figures.response.mean for figures in prefetched}) == len(prefetched)
    waits = {
        name: figures.page_misses / (figures.page_hits + figures.page_misses)
        for name, figures in zip(registry.ours(registry.PREFETCH), prefetched, strict=True)
    }
    assert max(waits["amp"], waits["doubling"], waits["fixed"]) < waits["none"] / 4


IS_BEHIND = r"read\(page \d+ of file \d\) "
BREAKS_A_RULE = {
    "past-the-end": (
        at_read("return (struct page_range){ read->file_pages, 1 };"),
        "prefetches page 4000, but the file has 4000 pages",
    ),
    "far-away": (
        at_read("return (struct page_range){ ~0ull, 5 };"),
        "prefetches page 18446744073709551615, but the file has 4000 pages",
    ),
    "over-the-end": (
        at_read("return (struct page_range){ read->file_pages - 1, 2 };"),
        "prefetches 2 pages from page 3999 on, but the file has 4000 pages",
    ),
    "too-much": (
        at_read("return (struct page_range){ 0, 9 };"),
        "prefetches 9 pages, but the longest prefetch has 8",
    ),
    "again": (
        at_read("return (struct page_range){ 7, 1 };"),
        "prefetches page 7 again, as the last 1000 reads did",
    ),
    "rewrites": (
        at_read("((struct page_read *)read)->file_pages++;"),
        "changed what it was given, which only the host may do",
    ),
}
EVICTS_WRONG = {
    "nowhere": (at_victim("return 100;"), "victim returned slot 100, but the cache has 100 slots"),
    "nonsense": (at_victim("return ~0u;"), "victim returned slot 4294967295, but the cache has"),
    "first": (at_victim("return 0;"), "victim returned slot 0, whose page is being fetched"),
}
CRASHES = {
    "null": ("*(volatile int *)8 = 1;", "segmentation fault in fixed_read, "),
    "past-its-state": ("((u64 *)state)[1000] = 1;", "segmentation fault in fixed_read, "),
    "divides": (
        "volatile u32 zero = 0; fixed->most = 7 / zero;",
        "division by zero, or an overflow of one in fixed_read, ",
    ),
    "quits": ("exit(0);", "ended its process, with exit code 0"),
    "loops": ("for (;;) ;", "probably an endless loop: no progress in 3 s of processor time"),
    "listens": ("syscall(SYS_socket, 2, 1, 0);", "made a forbidden system call in fixed_read, "),
    "forks": ("for (;;) fork();", "made a forbidden system call in fixed_read, "),
    "floods": ('for (;;) puts("flood");', "printed more than 1,048,576 bytes, and was stopped"),
    "sleeps": (
        "char byte; while (syscall(SYS_read, 3, &byte, 1)) ;",
        "sleeps, which is not allowed: no progress in 5 s",
    ),
    "greedy": (
        "if (!port_zalloc(100000000000ull)) abort();",
        "it asked for 100,000,000,000 bytes, and may have 2,147,483,648 in all",
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", BREAKS_A_RULE)
def test_a_prefetcher_that_breaks_a_rule_is_named(name: str, tmp_path: Path) -> None:
    change, words = BREAKS_A_RULE[name]
    mine = prefetcher(tmp_path, name, change)
    with pytest.raises(RunFailed, match=f"^{name}: {IS_BEHIND}") as failure:
        simulated(mine, requests=6000)
    assert str(failure.value).endswith(words)
    inside = replace(mine, ours=True)
    with pytest.raises(RunFailed) as same:
        simulated(inside, requests=6000)
    assert str(same.value) == str(failure.value)


@pytest.mark.thorough
@pytest.mark.parametrize("name", EVICTS_WRONG)
def test_a_policy_that_evicts_wrong_is_named(name: str, tmp_path: Path) -> None:
    change, words = EVICTS_WRONG[name]
    mine = replacer(tmp_path, name, change)
    for file in (mine, replace(mine, ours=True)):
        with pytest.raises(RunFailed, match=f"^{name}: ") as failure:
            simulated(replacement=file)
        assert words in str(failure.value)


@pytest.mark.thorough
@pytest.mark.parametrize("name", CRASHES)
def test_what_ends_a_policy_is_named(name: str, tmp_path: Path) -> None:
    """With the line; and other runs go on."""
    code, words = CRASHES[name]
    mine = prefetcher(tmp_path, name, LIBC, at_read(code))
    before = rows(simulated("fixed"))
    began = time.monotonic()
    with pytest.raises(RunFailed, match=f"^{name}: ") as failure:
        simulated(mine)
    assert time.monotonic() - began < 20
    assert words in str(failure.value)
    assert rows(simulated("fixed")) == before


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("*(volatile int *)8 = 1;", "segmentation fault in lru_victim, "),
        ("for (;;) ;", "probably an endless loop"),
    ],
)
@pytest.mark.parametrize("ours", [False, True])
def test_the_policy_is_blamed_and_not_the_scheduler(
    code: str, words: str, ours: bool, tmp_path: Path
) -> None:
    """Whether the policy, the scheduler, or neither is in the process of the job."""
    file = write_scheduler(tmp_path, "honest")
    registry.add("honest", registry.Source(str(file), file.read_bytes()))
    mine = replacer(tmp_path, "guilty", at_victim(code))
    for scheduler in ("fcfs", "honest"):
        with pytest.raises(RunFailed, match=r"^guilty: ") as failure:
            simulated("fixed", replace(mine, ours=ours), scheduler)
        assert words in str(failure.value)
        line = 1 + mine.text[: mine.text.index(code.encode())].count(b"\n")
        assert f"guilty.c:{line}" in str(failure.value)


@pytest.mark.thorough
def test_the_scheduler_is_blamed_and_not_the_policy(tmp_path: Path) -> None:
    file = write_scheduler(tmp_path, "bad", at_next("for (;;) ;"))
    registry.add("bad", registry.Source(str(file), file.read_bytes()))
    mine = prefetcher(tmp_path, "mine")
    with pytest.raises(RunFailed, match=r"^bad: probably an endless loop.* in fcfs_next, "):
        simulated(mine, "lru", "bad")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("\t.read = fixed_read,\n", ""), "read is missing"),
        (('.name = "mine"', '.name = "Mine"'), "its name, Mine, is not made of a-z, 0-9"),
        (("REGISTER_PREFETCHER(fixed_prefetcher);", ""), "registers no prefetcher: its file"),
    ],
)
def test_a_wrong_declaration_is_named(change: tuple[str, str], words: str, tmp_path: Path) -> None:
    mine = prefetcher(tmp_path, "mine", change)
    with pytest.raises(RunFailed, match=r"^mine: ") as failure:
        descriptions.describe(mine)
    assert words in str(failure.value)


@pytest.mark.thorough
def test_an_init_that_fails_is_named(tmp_path: Path) -> None:
    refuses = prefetcher(tmp_path, "refuses", ("\treturn 0;\n", "\treturn -16;\n"))
    with pytest.raises(RunFailed, match=r"^refuses: its init failed: .*\(errno 16\)"):
        simulated(refuses)
    odd = replacer(tmp_path, "odd", ("return lru->link ? 0 : -ENOMEM;", "return 3;"))
    with pytest.raises(RunFailed, match=r"^odd: init returned 3, which is neither 0 nor"):
        simulated(replacement=odd)


def test_a_policy_needs_only_the_core() -> None:
    """A teaching system links the same files: they include nothing of the simulator."""
    for name, text in sources.matching("core/prefetch/*.c", "core/replacement/*.c").items():
        included = re.findall(r"^#include (.*)$", text.decode(), re.MULTILINE)
        assert all(re.fullmatch(r'"\.\./\w+\.h"', header) for header in included), name
