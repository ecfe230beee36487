# SPDX-License-Identifier: MIT
"""Hostile schedulers: attempts to act outside the sandbox fail and are named, other schedulers'
figures stay unchanged, and cheating never wins."""

import os
import platform
import re
import resource
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from places import CHECKOUT
from strangers import INCLUDED as INCLUDED_FIFO
from strangers import at_add, at_init, at_load, at_next, including, write

from understudy_devices._core import ffi
from understudy_devices.base import sandbox, seccomp
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.base.paths import cache_dir
from understudy_devices.base.plain import plain
from understudy_devices.native import descriptions, registry, steps, worker
from understudy_devices.native.drive import Drive
from understudy_devices.native.processes import Processes
from understudy_devices.native.simulation import Simulation
from understudy_devices.native.simulator import Answer, run

pytestmark = pytest.mark.thorough

CAPACITY = 100_000
NAMED_SECONDS = 20
LIBC = including(
    *("stdio.h", "stdlib.h", "unistd.h", "sys/syscall.h", "signal.h", "pthread.h"),
    *("time.h", "poll.h", "sys/time.h"),
)
FORBIDDEN = "made a forbidden system call in fcfs_"

DOZES = "sleeps, which is not allowed in fcfs_"
CLOCK = "reads a clock, which is not allowed"
HALF = "(struct timespec){ 0, 500000000 }"

# The code that each scheduler runs when the first request is added.
TRIES = {
    "listens": ("syscall(SYS_socket, 2, 1, 0);", FORBIDDEN),
    "shells": ('execl("/bin/sh", "sh", "-c", "touch MARK", NULL);', FORBIDDEN),
    "systems": ('if (system("touch MARK")) abort();', FORBIDDEN),
    "forks": ("for (;;) fork();", FORBIDDEN),
    "vforks": ("if (!vfork()) for (;;) pause();", FORBIDDEN),
    "threads": ("pthread_t t; pthread_create(&t, NULL, (void *)abort, NULL);", FORBIDDEN),
    "leaves": ("pthread_exit(NULL);", "aborted in fcfs_add, "),
    "kills": ("kill(STARTER, SIGKILL);", FORBIDDEN),
    "kills-all": ("kill(-1, SIGKILL);", FORBIDDEN),
    "traces": ("syscall(SYS_ptrace, 16, STARTER, 0, 0);", FORBIDDEN),
    "peers": ("syscall(SYS_process_vm_readv, STARTER, 0, 0, 0, 0, 0);", FORBIDDEN),
    "stops": ("raise(SIGSTOP); syscall(SYS_kill, getpid(), SIGSTOP);", FORBIDDEN),
    "removes": ('unlink("MARK");', FORBIDDEN),
    "mounts": ('syscall(SYS_mount, "x", "/", "tmpfs", 0, 0);', FORBIDDEN),
    "unshares": ("syscall(SYS_unshare, 0x10000000);", FORBIDDEN),
    "limits": ("syscall(SYS_prlimit64, 0, 1, NULL, NULL);", FORBIDDEN),
    "asks": ("syscall(SYS_io_uring_setup, 1, NULL);", FORBIDDEN),
    "handles": ("signal(SIGSEGV, SIG_IGN);", FORBIDDEN),
    "deadlocks": (
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_mutex_lock(&m); "
        "pthread_mutex_lock(&m);",
        "sleeps, which is not allowed",
    ),
    "naps": (
        'for (int i = 0; i < 1 << 30; i++) { asm volatile("pause"); }',
        "probably an endless loop",
    ),
    "answers": (
        "char made[4096] = { 0 }; for (;;) if (write(4, made, sizeof(made)) < 0) abort();",
        "wrote into the pipe of its answers",
    ),
    "mumbles": ('puts(""); if (write(4, "hello", 5) < 0) abort();', "wrote into the pipe"),
    "dozes": ("poll(NULL, 0, 500);", DOZES),
    "dozes-on-pipe": (
        "struct pollfd one = { .fd = 3, .events = POLLIN }; "
        "syscall(SYS_ppoll, &one, 1, &HALF, NULL, 0);",
        DOZES,
    ),
    "dozes-on-word": ("int at = 0; syscall(SYS_futex, &at, 0, 0, &HALF);", DOZES),
    "dozes-emptily": ("syscall(SYS_epoll_pwait, 5, &rq, 1, 500, NULL);", DOZES),
    "dozes-well": ("nanosleep(&HALF, NULL);", DOZES),
    "looks": ("struct timespec now; clock_gettime(CLOCK_MONOTONIC, &now);", CLOCK),
    "looks-at-day": ("struct timeval now; gettimeofday(&now, NULL);", CLOCK),
    "looks-again": ("struct timespec now; syscall(SYS_clock_gettime, 1, &now);", CLOCK),
    "counts-time": ("syscall(SYS_getrusage, 0, &(char[1024]){ 0 });", CLOCK),
    "rolls": ("char dice[8]; syscall(SYS_getrandom, dice, 8, 0);", FORBIDDEN),
    "hangs-up": ("close(3); close(4); for (;;) ;", "probably an endless loop: no progress in 3 s"),
    "past-its-state": ("((u64 *)state)[1000] = 1;", "segmentation fault in fcfs_add, "),
}

READS = {
    "opens": 'FILE *f = fopen("SECRET", "r"); if (f) { char s[99]; puts(fgets(s, 99, f)); }',
    "opens-passwd": 'FILE *f = fopen("/etc/passwd", "r"); if (f) puts("MARK");',
    "opens-proc": 'FILE *f = fopen("/proc/self/status", "r"); if (f) puts("MARK");',
    "opens-home": 'FILE *f = fopen("HOME", "r"); if (f) puts("MARK");',
    "writes": 'FILE *f = fopen("FOLDER/written", "w"); if (f) fputs("x", f);',
    "writes-there": 'FILE *f = fopen("/written", "w"); if (f) puts("MARK");',
}


def added(folder: Path, name: str, *changes: tuple[str, str]) -> str:
    file = write(folder, name, *changes)
    registry.add(name, registry.Source(str(file), file.read_bytes()))
    return name


def simulated(scheduler: str, **changes: object) -> Answer:
    settings = {
        "workload": "random",
        "device": Drive.linear(CAPACITY, 1_000_000, 5_000_000),
        "capacity_sectors": CAPACITY,
        "requests": 200,
        "processes": 4,
    }
    return run(Simulation(**(settings | {"scheduler": scheduler} | changes)))  # type: ignore[arg-type]


def filled(code: str, folder: Path) -> str:
    code = code.replace("HALF", HALF)
    words = {"SECRET": folder / "secret", "FOLDER": folder, "MARK": folder / "mark"}
    words |= {"STARTER": os.getpid(), "HOME": CHECKOUT / "README.md"}  # type: ignore[dict-item]
    for word, value in words.items():
        code = code.replace(word, str(value))
    return code


@pytest.mark.parametrize("name", TRIES)
def test_what_it_tries_is_named(name: str, tmp_path: Path) -> None:
    code, words = TRIES[name]
    (tmp_path / "mark").write_text("kept")
    added(tmp_path, name, LIBC, at_add(filled(code, tmp_path)))
    before = {*tmp_path.rglob("*")}
    began = time.monotonic()
    with pytest.raises(RunFailed) as failure:
        simulated(name)
    assert time.monotonic() - began < NAMED_SECONDS
    assert str(failure.value).startswith(f"{name}: ")
    assert words in str(failure.value)
    assert {*tmp_path.rglob("*")} == before
    assert (tmp_path / "mark").read_text() == "kept"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="ARM64 lets every process read it")
@pytest.mark.parametrize(
    ("name", "how"),
    [("rdtsc", "rdtsc"), ("rdtscp", "rdtscp"), ("prefixed", ".byte 0x66, 0x48, 0x0f, 0x31")],
)
def test_the_processors_clock_is_a_clock(name: str, how: str, tmp_path: Path) -> None:
    code = f'asm volatile("{how}" : : : "rax", "rcx", "rdx");'
    added(tmp_path, name, LIBC, at_add(code))
    with pytest.raises(RunFailed, match=f"{name}: {CLOCK} in fcfs_add, "):
        simulated(name)


def test_the_files_times_are_no_clock(tmp_path: Path) -> None:
    code = (
        'struct stat s; if (stat("/", &s) || s.st_mtime || s.st_ctime || s.st_atime) abort(); '
        "for (int fd = 0; fd < 8; fd++) "
        "if (fstat(fd, &s) || s.st_mtime || s.st_ctime || s.st_atime) abort();"
    )
    added(tmp_path, "dates", including("stdlib.h", "sys/stat.h"), at_add(code))
    simulated("dates")
    says = r'#pragma GCC diagnostic ignored "-Wdate-time"' "\nconst char *when = __TIMESTAMP__;\n"
    file = write(tmp_path, "dated", (INCLUDED_FIFO, says + INCLUDED_FIFO))
    code_file = registry.compiled(registry.Source(str(file), file.read_bytes()))
    assert b"Thu Jan  1 00:00:00 1970" in code_file.read_bytes()


SLOW = "for (volatile u64 i = 0; i < 100000000; i++) ;"


def test_progress_does_not_excuse_a_run_that_takes_too_long(tmp_path: Path) -> None:
    added(tmp_path, "slow", at_next(SLOW))
    allowance = worker.Allowance(run_seconds=1, left_seconds=2.5)
    for _ in range(2):
        with worker.allowing(allowance), pytest.raises(RunFailed) as failure:
            simulated("slow")
        assert str(failure.value).startswith("slow: takes too long: more than 1 s of processor")
    assert 0 < allowance.left_seconds < 1
    with worker.allowing(allowance), pytest.raises(RunFailed, match="takes too long"):
        simulated("slow")
    assert allowance.used_up


def test_a_declaration_cannot_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    added(tmp_path, "changes")
    declared = descriptions.scheduler("changes").declared
    assert declared
    assert descriptions.scheduler("fcfs").declared not in (0, declared)
    changed = replace(descriptions.scheduler("changes"), declared=declared + 1)
    monkeypatch.setattr(descriptions, "scheduler", lambda name: changed)
    with pytest.raises(RunFailed) as failure:
        simulated("changes")
    assert str(failure.value) == "changes: it declares something else than before"


BIG = {
    "state": (("\t.state_size = sizeof(struct fcfs),", "\t.state_size = 1ull << 40,"), "its state"),
    "bss": (
        (INCLUDED_FIFO, f"char big[3ull << 30];\n{INCLUDED_FIFO}"),
        "it needs more memory than",
    ),
}


@pytest.mark.parametrize("name", BIG)
def test_what_is_too_big_is_named(name: str, tmp_path: Path) -> None:
    change, words = BIG[name]
    added(tmp_path, name, change)
    with pytest.raises(RunFailed, match=f"^{name}: cannot be loaded: {words}"):
        descriptions.scheduler(name)


@pytest.mark.parametrize("name", READS)
def test_what_is_not_its_own_is_not_there(name: str, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("xyzzy\n")
    added(tmp_path, name, LIBC, at_init(filled(READS[name], tmp_path) + " return 0;"))
    assert not simulated(name).printed
    assert not (tmp_path / "written").exists()


INCLUDED = {
    "by-include": '#include "SECRET"',
    "by-incbin": 'asm(".globl got\\ngot: .incbin \\"SECRET\\"\\n");',
    "by-embed": '#include "/etc/shadow"',
    "zero": '#include "/dev/zero"',
    "stdin": '#include "/dev/stdin"',
    "fifo": '#include "FOLDER/fifo"',
}


@pytest.mark.parametrize("name", INCLUDED)
def test_a_compiler_reads_nothing_else(name: str, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("xyzzy is not C\n")
    os.mkfifo(tmp_path / "fifo")
    code = filled(INCLUDED[name], tmp_path)
    file = write(tmp_path, name, ('#include "../fifo.h"\n', f'#include "../fifo.h"\n{code}\n'))
    with pytest.raises(UserError) as failure:
        registry.compiled(registry.Source(str(file), file.read_bytes()))
    assert re.search("No such file|file not found", str(failure.value))
    assert "xyzzy is" not in str(failure.value)


BOMBS = {
    "zeroes": 'asm(".data\\n.zero 6000000000\\n.text\\n");',
    "macros": "#define A(x) x x x x x x x x x x\n"
    + "".join(
        f"#define A{i}(x) A(A{i - 1}(x))\n" if i else "#define A0(x) A(x)\n" for i in range(9)
    )
    + "int many[] = { A8(1,) };",
    "itself": "#include __FILE__",
    "errors": "#define E(x) x x x x x x x x\nE(E(E(E(E(E(#)))))) oops;" * 50,
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_compiler_has_limits(name: str, tmp_path: Path) -> None:
    file = write(
        tmp_path, name, ('#include "../fifo.h"\n', f'#include "../fifo.h"\n{BOMBS[name]}\n')
    )
    began = time.monotonic()
    with pytest.raises((UserError, RunFailed)) as failure:
        registry.compiled(registry.Source(str(file), file.read_bytes()))
    assert time.monotonic() - began < 2 * NAMED_SECONDS  # on a busy machine
    assert len(str(failure.value)) < 2 * sandbox.SAID_BYTES
    assert not [*cache_dir().glob(f"schedulers/.{name}*.*/")]


def test_an_object_is_not_huge(tmp_path: Path) -> None:
    zeroes = (
        '#include "../fifo.h"\n',
        '#include "../fifo.h"\nstatic const char zeroes[60 << 20] __attribute__((used)) = { 1 };\n',
    )
    file = write(tmp_path, "huge", zeroes)
    done = command(*RUN, file, "--out", tmp_path / "out")
    assert done.returncode == 1
    assert re.fullmatch(
        rf"understudy: {file}: gcc made a file of 6\d,\d+,\d+ bytes; the limit is 16,777,216",
        done.stderr.splitlines()[-1],
    )
    assert not [*cache_dir().glob("schedulers/huge-*/")]


def test_a_compiler_has_one_budget(tmp_path: Path) -> None:
    """The limit is on the processor time of all the compiler's processes together."""
    loop = "for i in 1 2 3 4 5 6 7 8; do sh -c 'ulimit -t 1; while :; do :; done'; done"
    with pytest.raises(RunFailed, match="sh took 2 s of processor time, and was stopped"):
        sandbox.compiled(("sh", "-c", loop), tmp_path, "dash", stranger="./mine.c", cpu_seconds=2)


def test_what_hangs_is_tried_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command asks for the description more than once."""
    hang = "__attribute__((constructor)) static void load(void)\n{\n\tfor (;;) ;\n}\n"
    file = registry.Source("hang.c", (registry.source("fcfs").text + hang.encode()))
    workload = registry.Source("hang.c", (WORKLOAD + hang).encode(), folder=registry.WORKLOADS)

    def describe() -> None:
        with pytest.raises(RunFailed, match="endless loop"):
            descriptions.describe(file)
        with pytest.raises(RunFailed, match="endless loop"):
            steps.describe(workload)

    describe()
    monkeypatch.delattr(Processes, "start")
    describe()


def test_without_a_line_the_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Finding the line of a crash may take too long, because the file's debug information can be
    anything."""
    added(tmp_path, "unlined", at_add("*(volatile int *)8 = 1;"))
    descriptions.scheduler("unlined")
    monkeypatch.setattr(sandbox, "LOOK_SECONDS", 0)
    monkeypatch.setattr(sandbox, "SECONDS", -1)
    with pytest.raises(RunFailed, match=r"^unlined: segmentation fault in \S*/unlined\.c$"):
        simulated("unlined")


def test_a_strangers_lines_are_not_ours(tmp_path: Path) -> None:
    """Forged lines are marked in the compiler's messages, which quote the file, and in the
    scheduler's output."""
    forged = (
        '#include "../fifo.h"\n',
        '#include "../fifo.h"\n#pragma message "\\nunderstudy: pick forged"\n',
    )
    long = at_init(r'printf("%01000000d\n", 0); return 0;')
    done = command(*RUN, write(tmp_path, "forged", forged, including("stdio.h"), long))
    assert done.returncode == 0, done.stderr
    error = at_add("this is not C;")
    failed = command(*RUN, write(tmp_path, "forger", forged, error))
    assert failed.returncode == 2
    for output in (done.stderr, failed.stderr):
        assert "\n  | understudy: pick forged" in output
        assert "\nunderstudy: pick" not in output
    assert "forged printed: 000" in done.stderr
    assert "... (999,000 characters more)" in done.stderr
    assert max(map(len, done.stderr.splitlines())) < 1100


CHEATS = {
    "moves": at_add("rq->sector = 0; rq->sectors = 8;"),
    "ages": at_add("rq->arrival_ns += 5;"),
    "lends": at_add("rq->owner += 1;"),
    "reads-only": at_add("rq->op ^= 1;"),
    "renames": at_next("rq->id += 1;"),
    "late": at_next("rq->sectors = 1;"),
}


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_is_named(name: str, tmp_path: Path) -> None:
    added(tmp_path, name, CHEATS[name])
    with pytest.raises(RunFailed, match=r"it changed request 1's \w+, which only the host may do"):
        simulated(name, processes=1)


def test_the_answers_are_computed_elsewhere(tmp_path: Path) -> None:
    """A scheduler with precise knowledge cannot write to the simulation's memory.  It works on
    copies, its limits have no device pointer, and its reported reason affects only its own
    picks."""
    changes = at_init("if (limits->device) abort(); return 0;")
    honest = added(tmp_path, "upright", LIBC, changes)
    assert simulated(honest).figures == simulated("fcfs").figures


@pytest.mark.parametrize("scheduler", sorted(registry.ours()))
def test_apart_it_decides_as_it_does_within(scheduler: str, tmp_path: Path) -> None:
    """A scheduler gives the same rows in our process as in a sandbox."""
    source = registry.source(scheduler)
    name = f"apart-{scheduler}"[:15]
    text = source.text.replace(f'.name = "{scheduler}"'.encode(), f'.name = "{name}"'.encode())
    registry.add(name, registry.Source(str(tmp_path / f"{name}.c"), text))
    for changes in ({}, {"processes": 20, "depth": 3, "merge_sectors": 256}):
        ours, apart = (simulated(each, requests=2000, **changes) for each in (scheduler, name))
        assert ours.figures == apart.figures
        assert all((ours.rows[key] == apart.rows[key]).all() for key in ours.rows)


def test_text_has_no_control_sequences(tmp_path: Path) -> None:
    name = added(tmp_path, "colours", LIBC, at_init(r'puts("\033[2Jgone \u202etxt"); return 0;'))
    assert simulated(name).printed == "?[2Jgone ?txt\n"
    file = write(tmp_path, "titled", ('"first come', '"\\033]0;title\\007first come'))
    described = descriptions.describe(registry.Source(str(file), file.read_bytes()))
    assert "\033" not in described.summary
    assert plain("tab\tand\nline") == "tab\tand\nline"


@pytest.mark.parametrize("name", ["a\033[31m.c", "two\nlines.c", "latin\udce9.c", "\u202egnp.c"])
def test_a_name_that_cannot_be_shown_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(write(tmp_path, "plainly").read_bytes())
    done = command(*RUN, tmp_path / name)
    assert done.returncode == 2
    assert "its name has characters that a terminal obeys" in done.stderr
    assert "\033" not in done.stderr
    assert "Traceback" not in done.stderr


COLUMN = seccomp.ARCHITECTURES[platform.machine()][1]
OTHER_ABI = [("x32", seccomp.OTHER_ABI + 41)] if platform.machine() == "x86_64" else []


@pytest.mark.parametrize(
    ("name", "number"),
    [*((name, both[COLUMN]) for name, both in seccomp.REFUSED.items()), *OTHER_ABI],
)
def test_a_compiler_has_no_such_call(name: str, number: int, tmp_path: Path) -> None:
    """Perl stands in for code that took control of gcc."""
    code = f"syscall({number}, 0, 0, 0, 0, 0, 0) == -1 and die $!"
    done = sandbox.compiled(("perl", "-e", code), tmp_path, "perl", stranger="./mine.c")
    assert done.stderr.startswith("Operation not permitted")


def test_what_a_compiler_leaves_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("xyzzy")
    (tmp_path / "made").mkdir()
    link = ("ln", "-s", str(tmp_path / "secret"), "out")
    sandbox.compiled(link, tmp_path / "made", "coreutils", stranger="./mine.c")
    assert not [*(tmp_path / "made").iterdir()]


def command(*words: object, **names: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "understudy_devices", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), **names},
    )


RUN = ("predict", "--workload", "random", "--requests", "50", "--schedulers")


def test_the_compilers_warnings_are_shown(tmp_path: Path) -> None:
    """Warnings are shown in every run, even if the compiled code is cached."""
    file = write(tmp_path, "vague", at_add("u32 slot; rq->slot = slot;"))
    for _ in range(2):
        done = command(*RUN, file, "--out", tmp_path / f"out{_}")
        assert done.returncode == 0, done.stderr
        assert f"{file}:17:28: warning: 'slot' is used uninitialized" in done.stderr


def without_bwrap(folder: Path) -> str:
    """Return a PATH with all necessary programs except bubblewrap."""
    for name in ("gcc", "as", "ld", "prlimit", "addr2line", "cc"):
        for place in os.environ["PATH"].split(os.pathsep):
            if (Path(place) / name).exists() and not (folder / name).exists():
                (folder / name).symlink_to(Path(place) / name)
    return str(folder)


def test_without_a_sandbox_it_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path, f"needy{os.getpid()}")
    (tmp_path / "bin").mkdir()
    names = {"PATH": without_bwrap(tmp_path / "bin")}
    refused = command(*RUN, file, "--out", tmp_path / "out", **names)
    assert refused.returncode == 2
    assert refused.stderr.splitlines()[-1] == (
        f"understudy: {file} needs a sandbox, and there is none: no bwrap here; "
        "apt-get install bubblewrap; --unsafe does without"
    )
    trusted = command(*RUN, file, "--unsafe", "--out", tmp_path / "out", **names)
    assert trusted.returncode == 0, trusted.stderr
    ours = command(*RUN, "fcfs", "--out", tmp_path / "ours", **names)
    assert ours.returncode == 0, ours.stderr


def test_nothing_outlives_a_killed_command(tmp_path: Path) -> None:
    """The kill comes at various moments, mostly while the sandbox is being set up. The code also
    blocks all signals that can be blocked."""
    blocks = "sigset_t all; sigfillset(&all); sigprocmask(SIG_BLOCK, &all, 0); for (;;) ;"
    file = write(tmp_path, "lasting", at_load(blocks), including("signal.h"))
    registry.compiled(registry.Source(str(file), file.read_bytes()))
    for late_ms in (0, 0.3, 0.6, 0.9, 1.2, 1.5, 1.8, 2.1, 2.4, 2.7, 3, 5, 10, 20):
        process = subprocess.Popen(
            [sys.executable, "-m", "understudy_devices", *RUN, str(file)],
            cwd=tmp_path,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        )
        deadline = time.monotonic() + NAMED_SECONDS
        while not (groups := sandboxes()) and time.monotonic() < deadline:
            time.sleep(0.001)
        assert groups
        time.sleep(late_ms / 1000)
        process.send_signal(signal.SIGKILL)
        process.wait()
        while members(groups) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not members(groups)


def sandboxes() -> set[int]:
    """Return the process groups of the sandboxes that run this scheduler."""
    groups = set()
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = file.read_bytes()
            if words.startswith(b"bwrap") and b"schedulers/lasting-" in words:
                groups.add(os.getpgid(int(file.parent.name)))
    return groups


def members(groups: set[int]) -> list[int]:
    """Return the processes in these groups, whatever their names."""
    processes = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            after_name = file.read_text().rpartition(")")[2].split()
            if int(after_name[2]) in groups and after_name[0] != "Z":
                processes.append(int(file.parent.name))
    return processes


def test_a_network_is_not_reached(tmp_path: Path) -> None:
    """The loopback interface of the sandbox is not the host's."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        port = server.getsockname()[1]
        code = (
            f"struct sockaddr_in a = {{ .sin_family = AF_INET, .sin_port = htons({port}), "
            ".sin_addr.s_addr = htonl(INADDR_LOOPBACK) }; "
            "connect(socket(AF_INET, SOCK_STREAM, 0), (void *)&a, sizeof(a));"
        )
        changes = including("arpa/inet.h", "sys/socket.h", "netinet/in.h"), at_add(code)
        added(tmp_path, "dials", *changes)
        with pytest.raises(RunFailed, match="forbidden system call"):
            simulated("dials")
        with pytest.raises(TimeoutError):
            server.accept()


@pytest.mark.parametrize("number", [100, 127])
def test_a_signal_that_there_is_not_is_named(number: int, tmp_path: Path) -> None:
    """A process can choose its exit status, so the status may imitate a signal."""
    name = added(tmp_path, f"signal-{number}", LIBC, at_add(f"_exit(128 + {number});"))
    with pytest.raises(RunFailed, match=f"{name}: ended by signal {number}, which does not exist"):
        simulated(name)


@pytest.mark.parametrize("error", [-71, -8])
def test_forged_words_stay_in_one_line(error: int, tmp_path: Path) -> None:
    """The scheduler writes to the host's pipe a forged reason for its refusal."""
    reply, own = ffi.sizeof("struct line_reply"), ffi.sizeof("struct line_self")
    words = r'"x\nunderstudy: pick forged"'
    code = (
        f"static char said[{reply + own}]; *said = 1; *(int *)(said + {reply}) = {error}; "
        f"strcpy(said + {reply + ffi.offsetof('struct line_self', 'words')}, {words}); "
        "if (write(4, said, sizeof(said)) < 0) abort();"
    )
    file = write(tmp_path, "forged", including("string.h", "stdlib.h", "unistd.h"), at_load(code))
    with pytest.raises(RunFailed) as failure:
        descriptions.describe(registry.Source(str(file), file.read_bytes()))
    assert "pick forged" in str(failure.value)
    assert "\n" not in str(failure.value)


def test_taking_memory_slowly_is_no_progress(tmp_path: Path) -> None:
    code = (
        "u64 bytes = 1900ull << 20, at = 0; char *taken = malloc(bytes); "
        "for (;;) { for (volatile u32 i = 0; i < 500000000; i++) ; "
        "memset(taken + at, 1, 40 << 20); at += 40 << 20; }"
    )
    added(tmp_path, "grows", including("stdlib.h", "string.h"), at_add(code))
    began = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    with pytest.raises(RunFailed, match="grows: probably an endless loop"):
        simulated("grows")
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - began < NAMED_SECONDS


def test_a_file_without_end_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "long.c").open("wb") as file:
        file.truncate(2**40)
    refused = command(*RUN, tmp_path / "long.c", "--out", tmp_path / "out")
    assert refused.returncode == 2
    assert refused.stderr.endswith("long.c: longer than 16,777,216 bytes\n")


@pytest.mark.parametrize("error", [12, 19, 71, 75, 110])
def test_an_init_that_says_what_the_engine_says_is_named(error: int, tmp_path: Path) -> None:
    name = added(tmp_path, f"init-{error}", at_init(f"return -{error};"))
    with pytest.raises(RunFailed, match=rf"{name}: the .* init failed: .* \(errno {error}\)"):
        simulated(name)


WORKLOAD = (CHECKOUT / "sim" / "workloads" / "random.c").read_text()
WORKLOADS = {
    "nothing": ("\tstruct random *random = state;\n\tstruct draw *draw", "\treturn false;\n"),
    "not-text": ('"share of writes"', r'"share \xff\xfe"'),
    "refuses": ("return -ENOSPC;", "return -500;"),
}


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_workload_is_named(name: str, tmp_path: Path) -> None:
    old, new = WORKLOADS[name]
    assert old in WORKLOAD
    text = WORKLOAD.replace(old, new + old if name == "nothing" else new, 1)
    if name == "refuses":
        text = text.replace("if (!random->places)", "if (random->places)")
    (tmp_path / f"{name}.c").write_text(text)
    done = command(
        "predict",
        "--requests",
        "50",
        "--schedulers",
        "fcfs",
        "--out",
        tmp_path / "out",
        "--workload",
        tmp_path / f"{name}.c",
    )
    assert "Traceback" not in done.stderr
    assert done.returncode == (0 if name == "not-text" else 1)
    assert name == "not-text" or done.stderr.splitlines()[-1].startswith(f"understudy: {name}: ")


@pytest.mark.parametrize("part", ["libpthread.so.0", "libdl.so.2"])
def test_a_program_for_an_older_glibc_starts(tmp_path: Path, part: str) -> None:
    """A wheel's programs, which are linked for glibc 2.28, name these parts of it."""
    (tmp_path / "main.c").write_text("int main(void) { return 7; }\n")
    loaded = Path("/proc/self/maps").read_text(encoding="utf-8").split()
    library = next(Path(word) for word in loaded if "/libc.so" in word).with_name(part)
    link = ["gcc", "main.c", "-Wl,--no-as-needed", str(library), "-o", "old"]
    subprocess.run(link, cwd=tmp_path, check=True)
    words = sandbox.program({"/old": tmp_path / "old"}, (), ("/old",))
    assert subprocess.run(words, check=False).returncode == 7
