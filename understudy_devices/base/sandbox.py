# SPDX-License-Identifier: MIT
"""The sandbox for other people's code: bubblewrap's namespaces, without access to the host.

A process in the sandbox has its own namespaces for users, processes, network and IPC.  It can
read only the files that the caller names, and can write to at most one folder. docs/strangers.md
says what the sandbox guarantees and what it does not.
"""

import io
import math
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO

from understudy_devices.base import seccomp
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.base.paths import ROOT
from understudy_devices.base.plain import plain

PACKAGE = "bubblewrap"
APART = ("bwrap", "--unshare-all", "--cap-drop", "ALL", "--die-with-parent", "--clearenv")

# The files that compilers need; every user of this machine can read them.
TOOLS = (
    *("/usr/bin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/include"),
    *("/usr/x86_64-linux-gnu", "/usr/aarch64-linux-gnu", "/etc/alternatives", "/etc/ld.so.cache"),
    *("/bin", "/sbin", "/lib", "/lib32", "/lib64"),
)
FORMER_PARTS = ("libpthread.so.0", "libdl.so.2")  # of the C library
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LC_ALL": "C",
    "MAKEFLAGS": "",
    "SOURCE_DATE_EPOCH": "0",  # the compiler's __DATE__ and __TIME__
}
TEMPORARY = re.compile(r"[^\s'\"|:]*/cc\w{6}\.(\w+)")  # a file that the compiler named

# Limits for a compiler's processes and for their output.
MEMORY_BYTES = 2**32
FILE_BYTES = 2**26
KEPT_BYTES = 2**24
SAID_BYTES = 2**16
CPU_SECONDS = 10  # of all processes together, unless the caller gives more
SECONDS = 600  # on a busy machine, processor time is long in coming
LOOK_SECONDS = 0.2

_open = False


class Busy(RunFailed):
    """A compiler did not end in time, though it had used little processor time."""


def leave_open() -> None:
    """Switch the sandbox off for the whole command: the user trusts the files (--unsafe)."""
    global _open
    _open = True


@contextmanager
def left_open(unsafe: bool) -> Iterator[None]:
    """If `unsafe` is true, switch the sandbox off while the block runs."""
    global _open
    before, _open = _open, _open or unsafe
    try:
        yield
    finally:
        _open = before


def is_open() -> bool:
    """Return whether the sandbox is switched off."""
    return _open


def require(what: str) -> None:
    """Raise a UserError if this machine has no sandbox; `what` is the user's file that needs
    one."""
    why = "" if _open else _missing()
    if why:
        raise UserError(f"{what} needs a sandbox, and there is none: {why}; --unsafe does without")


@cache
def _missing() -> str:
    """Return why there is no sandbox and what to do about it; an empty string if there is one."""
    try:
        done = subprocess.run(
            [*APART, *_tools(), "/usr/bin/true"], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return f"no bwrap here; apt-get install {PACKAGE}"
    message = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    return f"{message}; this user must be allowed to make namespaces" if done.returncode else ""


def _tools() -> list[str]:
    """Return bwrap's options that make TOOLS visible in the sandbox; symbolic links stay links."""
    return [
        word
        for path in map(Path, TOOLS)
        for word in (
            ("--symlink", str(path.readlink()), str(path))
            if path.is_symlink()
            else ("--ro-bind-try", str(path), str(path))
        )
    ]


def stranger(file: Path) -> str:
    """Return the name of a user's file; an empty string for a file of this project's checkout."""
    return "" if file.resolve().is_relative_to(ROOT) else str(file)


def program(files: Mapping[str, Path], options: Sequence[str], words: Sequence[str]) -> list[str]:
    """Return the command that runs a program in a sandbox with these files.

    The keys of `files` are the names of the files inside the sandbox.  The first of `words` is the
    program, which is one of the files.  The program can't write any file.
    """
    if _open:
        return [str(files.get(word, word)) for word in words]
    mounts = {**files, **_loaded()}
    binds = [word for name, path in mounts.items() for word in ("--ro-bind", str(path), name)]
    loader = [name for name in _loaded() if name.startswith("/ld")]
    alone = ("--setenv", "LD_LIBRARY_PATH", "/", "--as-pid-1", "--remount-ro", "/")
    return [*APART, *binds, *alone, *options, "--", *loader, *words]


@cache
def _loaded() -> dict[str, Path]:
    """Return the dynamic loader and the C library of this process, by their paths in the sandbox.

    What is linked for glibc before 2.34, as in a wheel, also needs the parts that glibc had then.
    """
    lines = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines()
    mapped = {Path(line.split(maxsplit=5)[-1]) for line in lines if "/" in line}
    library = [path for path in mapped if path.name.startswith("libc.so")]
    loader = [path for path in mapped if path.name.startswith("ld-linux")]
    parts = [path.with_name(name) for path in library for name in FORMER_PARTS]
    present = sorted((*library, *loader, *(path for path in parts if path.exists())))
    return {f"/{path.name}": path for path in present}


def compiled(
    words: Sequence[str],
    folder: Path,
    package: str,
    *,
    stranger: str = "",
    readable: Iterable[Path] = (),
    cpu_seconds: int = CPU_SECONDS,
) -> "subprocess.CompletedProcess[str]":
    """Run a compiler in a folder; for a user's file (`stranger`), in a sandbox.

    In the sandbox the compiler can write only to that folder.  It can read only that folder, its
    own files and `readable`.  All its processes together have `cpu_seconds` of processor time.
    Raises UserError if there is no compiler or no sandbox, and RunFailed if the compiler does not
    end in time.
    """
    if stranger:
        require(stranger)
    if stranger and not _open:
        binds = [word for path in readable for word in ("--ro-bind", str(path), str(path))]
        mine = ("--bind", str(folder), str(folder), "--chdir", str(folder))
        null = ("--dev-bind", "/dev/null", "/dev/null")
        names = {**ENVIRONMENT, "TMPDIR": str(folder)}
        variables = [word for name in names for word in ("--setenv", name, names[name])]
        within = [*APART, *_tools(), *binds, *mine, *null, *variables]
        with _filter() as (filtered, number):
            command = [*_limits(cpu_seconds), *within, *filtered, "--", *words]
            name = f"{stranger}: {words[0]}"
            done = _run(command, name, folder, package, SECONDS, cpu_seconds, number)
        _check(folder, name)
        done.stderr = steady(done.stderr, folder)
        return done
    return _run(words, words[0], folder, package, SECONDS)


def steady(words: str, folder: Path) -> str:
    """Return a compiler's messages without what differs between two runs: its folder, and the names
    of its temporary files.
    """
    words = TEMPORARY.sub(r"temporary.\1", words).replace(f"{folder}/", "")
    if "File size limit" in words:
        words += f"no file may have more than {FILE_BYTES:,} bytes\n"
    return words.replace(str(folder), ".")


@contextmanager
def _filter() -> Iterator[tuple[tuple[str, ...], tuple[int, ...]]]:
    """Yield bwrap's options for the filter of system calls, and the descriptor of its file."""
    program = seccomp.program()
    if not program:
        yield (), ()
        return
    with io.FileIO(os.memfd_create("filter"), "w+") as file:
        file.write(program)
        file.seek(0)
        yield ("--seccomp", str(file.fileno())), (file.fileno(),)


def _check(folder: Path, name: str) -> None:
    """Remove symbolic links, which may lead out of the folder, and refuse huge files."""
    for path in folder.rglob("*"):
        if path.is_symlink():
            path.unlink()
        elif path.stat().st_size > KEPT_BYTES:
            raise RunFailed(
                f"{name} made a file of {path.stat().st_size:,} bytes; the limit is {KEPT_BYTES:,}"
            )


def _limits(cpu_seconds: int) -> list[str]:
    return [
        "prlimit",
        f"--as={MEMORY_BYTES}",
        f"--fsize={FILE_BYTES}",
        f"--cpu={cpu_seconds}",
        "--core=0",
        "--nofile=256",
    ]


def _run(
    command: Sequence[str],
    name: str,
    folder: Path,
    package: str,
    seconds: float,
    cpu_seconds: float = math.inf,
    files: Sequence[int] = (),
) -> "subprocess.CompletedProcess[str]":
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        try:
            process = subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                env={**os.environ, "LC_ALL": "C", "MAKEFLAGS": ""},
                process_group=0,
                pass_fds=files,
            )
        except FileNotFoundError as error:
            raise UserError(f"no {name} here: apt-get install {package}") from error
        try:
            until = time.monotonic() + seconds
            while (code := _ended(process)) is None:
                if time.monotonic() > until:
                    raise Busy(
                        f"{name} did not end within {seconds:g} s, and was stopped: this machine "
                        "is too busy; try again"
                    )
                if cpu_seconds < math.inf and _used_seconds(process.pid) > cpu_seconds:
                    raise RunFailed(
                        f"{name} took {cpu_seconds:g} s of processor time, and was stopped"
                    )
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        output, errors = (_text(each) for each in (stdout, stderr))
    return subprocess.CompletedProcess(command, code, output, errors)


def _ended(process: "subprocess.Popen[bytes]") -> int | None:
    """Return the process's exit code if it ends within LOOK_SECONDS; else None."""
    try:
        return process.wait(LOOK_SECONDS)
    except subprocess.TimeoutExpired:
        return None


def _used_seconds(group: int) -> float:
    """Return the processor time, in seconds, of a process group and of its ended children."""
    ticks = 0
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = file.read_text(errors="replace").rpartition(")")[2].split()
            if int(fields[2]) == group:
                ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return plain(file.read(SAID_BYTES).decode(errors="replace"))
