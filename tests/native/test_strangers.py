# SPDX-License-Identifier: MIT
"""Schedulers from any source: their mistakes are named, and harm no other run."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from places import CHECKOUT
from strangers import (
    DECLARED,
    at_add,
    at_exit,
    at_init,
    at_load,
    at_next,
    including,
    write,
)

from understudy_devices.base import sources
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.native import descriptions, registry, worker
from understudy_devices.native.drive import Drive
from understudy_devices.native.simulation import Simulation
from understudy_devices.native.simulator import Answer, run

pytestmark = pytest.mark.thorough

CAPACITY = 100_000
GIB = 2**30

# Each broken rule, and the message.
BREAKS_A_RULE = {
    "twice": (
        [at_next("return rq;")],
        "next returned request 1 twice",
    ),
    "invents": (
        [at_next("static struct io_request made; return &made;")],
        "next returned a request that was never added",
    ),
    "points": (
        [at_next("return (struct io_request *)0x1234;")],
        "next returned a request that was never added",
    ),
    "between": (
        [at_next("return (struct io_request *)((char *)rq + 8);")],
        "next returned a request that was never added",
    ),
    "mute": (
        [at_next("return NULL;")],
        "next holds request 1 back for ever: nothing is in service, and it names no time",
    ),
    "past": (
        [at_next("if (now_ns) { *wake_ns = now_ns - 1; return NULL; }")],
        "next asks to be called again 1 ns ago",
    ),
    "later": (
        [at_next("*wake_ns = now_ns + 1000000000; return NULL;")],
        "next holds request 1 back for longer than its tunables allow",
    ),
    "ticks": (
        [at_next("*wake_ns = now_ns + 1; return NULL;")],
        "it holds request 1 back for ever: repeated dispatches return nothing",
    ),
    "denies": (
        [("return fcfs->pending.oldest;", "return false;")],
        "has_work says no while request 2 is pending",
    ),
    "forgets": (
        [at_add("if (rq->id == 3) return;")],
        "it never chooses request 3, while other requests arrive",
    ),
    "refuses": (
        [at_init("return 3;")],
        "init returned 3, which is neither 0 nor a negative errno",
    ),
}
CRASHES = {
    "null": ([at_next("return *(struct io_request **)8;")], "segmentation fault in fcfs_next, "),
    "adds": ([at_add("*(volatile int *)8 = 1;")], "segmentation fault in fcfs_add, "),
    "deep": (
        [at_add("fcfs_add(state, rq, now_ns); *(volatile int *)&rq->slot = 1;")],
        "; its stack is used up, probably by an endless recursion",
    ),
    "begins": ([at_init("return *(volatile int *)8;")], "segmentation fault in fcfs_init, "),
    "ends": ([at_exit("*(volatile int *)8 = 1;")], "segmentation fault in fcfs_exit, "),
    "loads": (
        [including("stdlib.h"), at_load("abort();")],
        "aborted in load, ",
    ),
    "divides": (
        [at_add("volatile u32 zero = 0; rq->slot = 7 / zero;")],
        "division by zero, or an overflow of one in fcfs_add, ",
    ),
    "quits": (
        [including("stdlib.h"), at_add("exit(0);")],
        "ended its process, with exit code 0",
    ),
    "greedy": (
        [at_init("*(char *)port_zalloc(100000000000ull) = 1; return 0;")],
        "it asked for 100,000,000,000 bytes, and may have 2,147,483,648 in all",
    ),
    "eats": (
        [
            including("stdlib.h"),
            at_add("for (;;) memset(malloc(1 << 20), 1, 1 << 20);"),
        ],
        "it used all the memory it may have",
    ),
    "floods": (
        [including("stdio.h"), at_add('for (;;) puts("flood");')],
        "printed more than 1,048,576 bytes, and was stopped in fcfs_add, ",
    ),
    "loops": ([at_next("for (;;) ;")], "probably an endless loop: no progress in 3 s of processor"),
    "spins": ([at_load("for (;;) ;")], "probably an endless loop: no progress in 3 s of processor"),
    "sleeps": (
        [including("unistd.h"), at_add("char byte; while (read(3, &byte, 1)) ;")],
        "sleeps, which is not allowed: no progress in 5 s in fcfs_add, ",
    ),
    "tells-time": (
        [including("time.h"), at_next("time(NULL);")],
        "reads a clock, which is not allowed in fcfs_next, ",
    ),
    "coarse": (
        [
            including("time.h"),
            at_next("struct timespec t; clock_gettime(CLOCK_MONOTONIC_COARSE, &t);"),
        ],
        "reads a clock, which is not allowed in fcfs_next, ",
    ),
    "odd": (
        [at_init("return -2147483647 - 1;")],
        "init failed: an unknown error (errno 2147483648)",
    ),
}
MISTAKEN = BREAKS_A_RULE | CRASHES
DECLARES = {
    "nameless": ([('\t.name = "nameless",\n', "")], "it has no name"),
    "aimless": ([("\t.next = fcfs_next,\n", "")], "next is missing"),
    "astray": (
        [
            (
                DECLARED,
                'static const struct sched_field at[] = { { .name = "x", .help = "x", '
                f".offset = 1000 }} }};\n{DECLARED}\t.counters = at,\n\t.nr_counters = 1,\n",
            )
        ],
        "its counter x lies outside its state",
    ),
    "unknown": (
        [("REGISTER_SCHEDULER(fcfs_scheduler);", "extern int x; int x = sizeof(fcfs_scheduler);")],
        "registers no scheduler: its file has to end with REGISTER_SCHEDULER",
    ),
}
DOES_NOT_COMPILE = {
    "prose": (at_add("this is not C;"), "prose.c:17:9: error: unknown type name"),
    "guesses": (at_add("nobody(1);"), "guesses.c:17:9: error: implicit declaration"),
    "floats": (
        at_add("double x = now_ns; rq->tag = x * 1.5;"),
        "error: SSE register return with SSE disabled",
    ),
}


def added(folder: Path, name: str, *changes: tuple[str, str]) -> str:
    """Register a scheduler until the process ends; each test uses names of its own."""
    file = write(folder, name, *changes)
    registry.add(name, registry.Source(str(file), file.read_bytes()))
    return name


def simulated(scheduler: str, depth: int = 1) -> Answer:
    return run(
        Simulation(
            workload="random",
            scheduler=scheduler,
            device=Drive.linear(CAPACITY, 1_000_000, 5_000_000),
            capacity_sectors=CAPACITY,
            requests=200,
            processes=4,
            depth=depth,
        )
    )


@pytest.mark.parametrize("name", MISTAKEN)
def test_a_mistake_is_named(name: str, tmp_path: Path) -> None:
    changes, words = MISTAKEN[name]
    added(tmp_path, name, *changes)
    with pytest.raises(RunFailed) as failure:
        simulated(name, depth=2 if name == "twice" else 1)
    assert str(failure.value).startswith(f"{name}: ")
    assert words in str(failure.value)
    assert "\n" not in str(failure.value)


@pytest.mark.parametrize("change", [at_add, at_next, at_init, at_load])
def test_a_crash_has_its_line(change: Callable[[str], tuple[str, str]], tmp_path: Path) -> None:
    code = "*(volatile int *)8 = 1; /* here */" + (" return 0;" if change is at_init else "")
    name = added(tmp_path, f"line-of-{change.__name__.replace('_', '-')}", change(code))
    lines = (tmp_path / f"{name}.c").read_text().splitlines()
    here = next(number for number, line in enumerate(lines, 1) if "here" in line)
    with pytest.raises(RunFailed, match=rf"/{name}\.c:{here}$"):
        simulated(name)


@pytest.mark.parametrize("name", DECLARES)
def test_a_declaration_is_held_to_the_rules(name: str, tmp_path: Path) -> None:
    changes, words = DECLARES[name]
    file = write(tmp_path, name, *changes)
    with pytest.raises(RunFailed) as failure:
        descriptions.describe(registry.Source(str(file), file.read_bytes()))
    assert str(failure.value) == f"{name}: {words}"


@pytest.mark.parametrize("name", DOES_NOT_COMPILE)
def test_an_error_is_in_the_compilers_own_words(name: str, tmp_path: Path) -> None:
    change, words = DOES_NOT_COMPILE[name]
    file = write(tmp_path, name, change)
    with pytest.raises(UserError) as failure:
        registry.compiled(registry.Source(str(file), file.read_bytes()))
    first, *rest = str(failure.value).splitlines()
    assert first == f"{file} does not compile:"
    assert words in "\n".join(rest)
    assert all(line.startswith((str(file), " ", "cc1", "it uses")) for line in rest), rest


def test_the_compiler_may_quote_any_bytes(tmp_path: Path) -> None:
    """The erroneous line contains a comment in Latin-1."""
    file = write(tmp_path, "latin", at_add("this is not C; /* caf\udce9 */"))
    with pytest.raises(UserError, match=r"latin\.c:17:9: error: unknown type name"):
        registry.compiled(registry.Source(str(file), file.read_bytes()))


def test_a_scheduler_cannot_reach_what_is_not_its_own(tmp_path: Path) -> None:
    """Its variables start afresh in each run, and its open files and limits end with the run."""
    name = added(
        tmp_path,
        "counts",
        including("stdlib.h"),
        at_init("static int runs; if (runs++) abort(); return 0;"),
    )
    assert simulated(name).figures == simulated(name).figures
    assert simulated(name).figures.completed == 200


def test_who_sleeps_again_and_again_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "SLEEP_SECONDS", 0.5)
    once = "static int once; char byte; if (rq->id == 50 && !once++) read(3, &byte, 1);"
    name = added(tmp_path, "dozes", including("unistd.h"), at_add(once))
    with pytest.raises(RunFailed, match="it sleeps again and again in fcfs_add, "):
        simulated(name)


def test_a_scheduler_gets_no_descriptor_of_our_starter(tmp_path: Path) -> None:
    with (tmp_path / "open").open("wb") as file:
        os.set_inheritable(file.fileno(), True)
        change = at_add(f'if (write({file.fileno()}, "x", 1) == 1) abort();')
        name = added(tmp_path, "writes-there", including("stdlib.h", "unistd.h"), change)
        assert simulated(name).figures.completed == 200
    assert (tmp_path / "open").read_bytes() == b""


def test_what_a_scheduler_prints_is_kept(tmp_path: Path) -> None:
    change = at_add('if (rq->id < 3) printf("request %u\\n", (u32)rq->id);')
    name = added(tmp_path, "talks", including("stdio.h"), change)
    assert simulated(name).printed == "request 1\nrequest 2\n"
    crash = at_add('printf("now\\n"); *(volatile int *)8 = 1;')
    name = added(tmp_path, "talks-last", including("stdio.h"), crash)
    with pytest.raises(RunFailed, match=r'; it last printed "now"$'):
        simulated(name)


def test_whoever_looks_can_end_a_run(tmp_path: Path) -> None:
    name = added(tmp_path, "endless", at_next("for (;;) ;"))
    done = []

    def look(completed: int) -> None:
        done.append(completed)
        raise KeyboardInterrupt

    job = worker.Job(worker.DESCRIBE, {})
    file = write(tmp_path, "endless-load", at_load("for (;;) ;"))
    part = worker.Part(registry.Source(str(file), file.read_bytes()), name)
    with pytest.raises(KeyboardInterrupt):
        worker.run(job, [part], look)
    assert done == [0]


def understudy(*arguments: object, root: Path = CHECKOUT) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "understudy_devices", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(root)},
    )


RUN = ("--workload", "random", "--processes", 4, "--requests", 200)
LINES = {
    "crosses": ([at_next("return *(struct io_request **)8;")], "segmentation fault in fcfs_next"),
    "silent": ([at_next("return NULL;")], "next holds request 1 back for ever"),
    "poisoned": ([including("stdlib.h"), at_load("abort();")], "aborted in load"),
    "unwired": ([("\t.next = fcfs_next,\n", "")], "next is missing"),
    "turns": ([at_add("for (;;) ;")], "probably an endless loop"),
}


def bad_ones(folder: Path) -> list[Path]:
    return [write(folder, name, *changes) for name, (changes, _) in LINES.items()]


def assert_named(done: "subprocess.CompletedProcess[str]") -> None:
    """Check that each error has one line, without a traceback, and that the exit code is 1."""
    assert done.returncode == 1, done.stderr
    for name, (_, words) in LINES.items():
        lines = [
            line for line in done.stderr.splitlines() if line.startswith(f"understudy: {name}")
        ]
        assert len(lines) == 1, done.stderr
        assert words in lines[0]
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["predict", pytest.param("compare", marks=pytest.mark.slow)])
def test_the_others_go_on(command: str, tmp_path: Path) -> None:
    names = ",".join(["sstf", *map(str, bad_ones(tmp_path)), "look"])
    out = tmp_path / "out"
    done = understudy(command, *RUN, "--seeds", 2, "--schedulers", names, "--json", "--out", out)
    assert_named(done)
    document = json.loads(done.stdout)
    assert [(run["scheduler"], run["seed"]) for run in document["runs"]] == [
        ("sstf", 1),
        ("sstf", 2),
        ("look", 1),
        ("look", 2),
    ]
    assert json.loads((out / "result.json").read_text()) == document


@pytest.mark.slow
def test_the_others_of_a_sweep_go_on(tmp_path: Path) -> None:
    names = ",".join(["sstf", *map(str, bad_ones(tmp_path)), "look"])
    words = ("sweep", "--workloads", "random", *RUN[2:], "--seeds", 2, "--schedulers", names)
    done = understudy(*words, "--json", "--out", tmp_path / "sweep.parquet")
    assert_named(done)
    assert sorted(line["scheduler"] for line in json.loads(done.stdout)) == ["look", "sstf"]
    assert "4 runs of this command" in done.stderr


def test_nothing_is_left_when_all_fail(tmp_path: Path) -> None:
    bad = write(tmp_path, "alone", at_next("return NULL;"))
    out = tmp_path / "out"
    done = understudy("predict", *RUN, "--schedulers", bad, "--out", out)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("understudy: alone: next holds request 1 back")
    assert not out.exists()
    assert not done.stdout


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("sstf", "calls itself sstf, which is taken; change .name"),
        ("kyber", "calls itself kyber, which is taken; change .name"),
        ("vpt", "calls itself vpt, which is taken; change .name"),
    ],
)
def test_a_name_that_is_taken_is_refused(name: str, words: str, tmp_path: Path) -> None:
    file = write(tmp_path, name)
    done = understudy("predict", *RUN, "--schedulers", f"{file},look", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == f"understudy: --schedulers: {file} {words}"


def test_a_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    done = understudy("predict", *RUN, "--schedulers", tmp_path / "gone.c")
    assert done.returncode == 2
    assert done.stderr == (
        f"understudy: --schedulers: {tmp_path / 'gone.c'}: No such file or directory\n"
    )


def test_without_a_compiler_the_package_is_named(tmp_path: Path) -> None:
    """The file is new, so its compiled code is not cached."""
    file = write(tmp_path, f"fresh{os.getpid()}")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "understudy_devices",
            "predict",
            *map(str, RUN),
            "--schedulers",
            str(file),
        ],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": str(tmp_path)},
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "understudy: no gcc here: apt-get install gcc libc6-dev"


def test_a_file_in_the_checkout_is_a_scheduler(tmp_path: Path) -> None:
    """In a copy, a scheduler is added, one is changed and one removed; nothing is set up again.

    The copy uses this checkout's compiled core and Python.
    """
    for folder in ("core", "kernel", "profiles"):
        shutil.copytree(CHECKOUT / folder, tmp_path / folder)
    schedulers = tmp_path / "core" / "schedulers"
    write(schedulers, "brand-new")
    (schedulers / "vr.c").unlink()
    sstf = schedulers / "sstf.c"
    sstf.write_text(sstf.read_text().replace(".name", "/* changed */ .name"))
    listed = [file.stem for file in schedulers.glob("*.c")]
    program = (
        "import pathlib, sys; from understudy_devices.base import paths; "
        "paths.ROOT = pathlib.Path(sys.argv[1]); "
        "from understudy_devices.cli.main import main; main(sys.argv[2:])"
    )
    done = subprocess.run(
        [
            *(sys.executable, "-c", program, str(tmp_path), "compare"),
            *(*map(str, RUN), "--seeds", "2", "--json", "--out", str(tmp_path / "out")),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    document = {run["scheduler"] for run in json.loads(done.stdout)["runs"]}
    assert document == set(listed)
    assert "brand-new" in document
    assert "vr" not in document


def test_only_what_changed_is_compiled_again(tmp_path: Path) -> None:
    one = registry.source("fcfs")
    other = registry.Source(one.shown, one.text + b"\n")
    assert registry.content(one) != registry.content(other)
    assert registry.content(registry.source("sstf")) == registry.content(registry.source("sstf"))
    assert registry.compiled(one) != registry.compiled(other)


def forget() -> None:
    """Clear the cached lists of sources."""
    sources.taken.cache_clear()
    sources.matching.cache_clear()


def test_a_command_builds_from_what_it_saw_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("core", "kernel"):
        shutil.copytree(CHECKOUT / folder, tmp_path / folder)
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    forget()
    try:
        before = sources.matching("core/*.h")
        (tmp_path / "core" / "fifo.h").write_text("#error gone\n")
        assert sources.matching("core/*.h") == before
    finally:
        forget()
