# SPDX-License-Identifier: MIT
"""The `understudy` command runs as two processes: a worker, and a parent that can stop it.

When the user stops the command, the worker may be anywhere: in a compiler, in a VM, in an import,
or in a C library that has replaced the signal handlers.  So the worker does not handle the
signal.  The parent kills the worker and all its descendants, removes the files that
`base.scratch` has listed, and prints one line (docs/decisions/0027-stopping.md).  If
both processes are killed with SIGKILL, the next command removes these files.  The list is in a
temporary folder, which stays locked until the parent and the worker have ended.

The parent imports nothing from the package, since such an import may compile the core.
"""

import signal

ENDS = {signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP}
HEARD = {*ENDS, signal.SIGCHLD, signal.SIGTSTP}
signal.pthread_sigmask(signal.SIG_BLOCK, HEARD)

import ctypes  # noqa: E402 - the line above blocks signals before the slow imports
import fcntl  # noqa: E402
import gc  # noqa: E402
import os  # noqa: E402
import re  # noqa: E402
import shlex  # noqa: E402
import shutil  # noqa: E402
import sys  # noqa: E402
import threading  # noqa: E402
import time  # noqa: E402
from contextlib import suppress  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import NoReturn  # noqa: E402

EXIT_FAILED = 1
EXIT_INTERRUPTED = 130
PR_SET_CHILD_SUBREAPER = 36
STUCK_SECONDS = 2.0
AGAIN_SECONDS = 0.5  # a second signal that comes sooner is part of the first
# Importing libraries makes a hundred thousand objects, none of which is garbage.  Collections
# would take a tenth of the import's time.
GARBAGE_LOOKED_FOR = 100_000
PUT_BACK = Path(__file__).parent / "base" / "put_back.py"
PUT_BACK_SECONDS = 30.0
LIST = ".listed"
LIST_BYTES = 4096  # allocated at the start, so that entries fit even on a full disk
SHOW_CURSOR = "\033[?25h"
COMPILERS_WORD = re.compile(r"^(?:\.\./)*(\S+:\d+:\d+: (?:fatal )?error: .*)$", re.MULTILINE)


def main() -> NoReturn:
    """Run the command in a worker process; exit with the worker's code, or with 130 if
    interrupted."""
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        ENDS.discard(signal.SIGHUP)  # nohup
    parent = Path(os.environ.get("TMPDIR") or "/tmp").absolute()
    _take_away_what_is_left(parent)
    temporary, scratch = _own_temporary_folder(parent)
    mine, alive = os.pipe()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    worker = os.fork()
    if worker == 0:
        os.close(alive)
        _work(scratch, mine)
    with suppress(OSError):  # the worker has already done so, or has ended
        os.setpgid(worker, worker)
    status = _wait(worker)
    last_seconds = max((int(text) for kind, text in _entries(scratch) if kind == "!"), default=0)
    if status is None and last_seconds:
        _let_end(worker, last_seconds)
    _end_descendants({int(text) for kind, text in _entries(scratch) if kind == "&"})
    words = _take_away(_entries(scratch))
    if temporary:
        shutil.rmtree(temporary, ignore_errors=True)
    if status is None or (os.WIFSIGNALED(status) and os.WTERMSIG(status) in ENDS):
        _say(f"interrupted: {words or 'every run was stopped'}")
        sys.exit(EXIT_INTERRUPTED)
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        _say(f"the process that did the work was killed by {name}; is there memory enough?")
        sys.exit(EXIT_FAILED)
    sys.exit(os.WEXITSTATUS(status))


def _own_temporary_folder(parent: Path) -> tuple[Path | None, int]:
    """Make a temporary folder for this command and its compilers; return the folder and the open
    list."""
    folder = parent / f"understudy-{os.getpid()}-{os.urandom(4).hex()}"
    unlocked = folder.with_name(f".{folder.name}")
    try:
        unlocked.mkdir(mode=0o700)
        try:
            scratch = os.open(unlocked / LIST, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            os.posix_fallocate(scratch, 0, LIST_BYTES)
            _lock(unlocked)
            unlocked.rename(folder)
        except OSError:
            shutil.rmtree(unlocked, ignore_errors=True)
            raise
    except OSError:  # then only code that needs the folder fails
        return None, os.memfd_create("scratch")
    os.environ["TMPDIR"] = str(folder)
    return folder, scratch


def _lock(folder: Path) -> int:
    """Lock the folder until this process and its forks end; OSError if it is locked already."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _take_away_what_is_left(parent: Path) -> None:
    """Remove the files of commands that were killed; only `measure` restores the settings of
    disks."""
    for folder in parent.glob("understudy-*-*"):
        with suppress(OSError):
            if folder.lstat().st_uid == os.geteuid() and (folder / LIST).is_file():
                lock = _lock(folder)
                with (folder / LIST).open("rb") as scratch:
                    _take_away([it for it in _entries(scratch.fileno()) if it[0] != "~"])
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)


# The process that waits.


def _wait(worker: int) -> int | None:
    """Return the worker's wait status when it ends; None if a signal asks to stop the command."""
    while True:
        heard = signal.sigwait(HEARD)
        if heard in ENDS:
            return None
        if heard == signal.SIGTSTP:
            _pause(worker)
        elif heard == signal.SIGCHLD:
            with suppress(ChildProcessError):
                while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                    if ended[0] == worker:
                        return ended[1]


def _pause(worker: int) -> None:
    """Stop the worker and this process on Ctrl-Z, which the terminal sends only to this process."""
    os.killpg(worker, signal.SIGSTOP)
    signal.raise_signal(signal.SIGTSTP)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTSTP})
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTSTP})
    os.killpg(worker, signal.SIGCONT)


def _let_end(worker: int, seconds: int) -> None:
    """Send SIGTERM to a worker that prints a report when interrupted; wait for its end, or for
    another signal to stop."""
    os.kill(worker, signal.SIGTERM)
    began = time.monotonic()
    while not os.waitid(os.P_PID, worker, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        passed = time.monotonic() - began
        if passed >= seconds:
            return
        heard = signal.sigtimedwait({signal.SIGCHLD, *ENDS}, seconds - passed)
        if heard and heard.si_signo in ENDS and time.monotonic() - began > AGAIN_SECONDS:
            return


def _end_descendants(going_on: set[int]) -> None:
    """Kill all descendants and wait for them; an orphan becomes a child of this process.  Processes
    that are to go on do so, with their own descendants.

    A process whose read a broken disk never completes can't be killed; it is left running.
    """
    patience = time.monotonic() + STUCK_SECONDS
    while True:
        left = {child: state for child, state in _children().items() if child not in going_on}
        if going_on and not left:
            return
        for child in left:
            os.kill(child, signal.SIGKILL)
        try:
            buried, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not buried:
            if time.monotonic() > patience and all(left[child] == "D" for child in left):
                return
            signal.sigtimedwait({signal.SIGCHLD}, 0.05)


def _children() -> dict[int, str]:
    """Return the state of each child, by process number."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent = stat.read_bytes().rpartition(b")")[2].split()[:2]
            if int(parent) == os.getpid():
                found[int(stat.parent.name)] = state.decode()
    return found


def _entries(scratch: int) -> list[tuple[str, str]]:
    """Return the entries that the worker has written (understudy_devices/base/scratch.py): kind and
    text."""
    size = os.lseek(scratch, 0, os.SEEK_END)
    entries = os.pread(scratch, size, 0).decode(errors="surrogateescape").split("\0")
    return [(entry[:1], entry[1:]) for entry in entries]


def _take_away(entries: list[tuple[str, str]]) -> str:
    """Remove listed files that still exist and restore settings; return the message to print."""
    listed: dict[Path, str] = {}
    words = unrestored = ""
    for kind, text in entries:
        if kind in ("+", "?", "~"):
            listed[Path(text)] = kind
        elif kind == "-":
            listed.pop(Path(text), None)
        elif kind == "=":
            words = text
    for path, kind in reversed(listed.items()):
        with suppress(OSError):
            if kind == "~":
                unrestored += _put_back(path)
            elif kind == "?":
                path.rmdir()
            elif path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()
    return unrestored or words


def _put_back(journal: Path) -> str:
    """Restore the settings in a journal, in a process with a time-out, since a disk may not
    answer; return errors."""
    import subprocess  # few commands need it

    command = [sys.executable, "-I", "-S", str(PUT_BACK), str(journal)]
    program = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        return program.communicate(timeout=PUT_BACK_SECONDS)[0]
    except subprocess.TimeoutExpired:
        return f"the disk does not answer; {shlex.join(command)} puts its settings back"


def _say(message: str) -> None:
    """Print one line, below an interrupted progress bar."""
    with suppress(OSError, ValueError):
        if sys.stderr.isatty():
            sys.stderr.write(SHOW_CURSOR + "\n")
        sys.stderr.write(f"understudy: {message}\n")
        sys.stderr.flush()


# The process that works.


def _work(scratch: int, alive: int) -> NoReturn:
    """Run the command in a process group of its own, so that the terminal signals only the
    parent."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # so the worker can write to the terminal
    for end in ENDS:
        signal.signal(end, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, HEARD)
    threading.Thread(target=_follow, args=(alive,), daemon=True).start()
    gc.set_threshold(GARBAGE_LOOKED_FOR)
    try:
        from understudy_devices.base import scratch as kept
        from understudy_devices.cli.main import main as command
    except ImportError as error:
        _refuse(error)
    kept.list_in(scratch)
    command()
    raise AssertionError("a command ends its process")


def _follow(alive: int) -> None:
    """Kill the worker's process group when the parent is killed."""
    os.read(alive, 1)
    os.killpg(0, signal.SIGKILL)


def _refuse(error: ImportError) -> NoReturn:
    """Print the compiler's messages if the core, which is compiled on import, does not compile."""
    notes = "\n".join(getattr(error, "__notes__", ()))
    if not notes:
        raise error
    notes = notes.replace(f"{Path(__file__).resolve().parents[1]}/", "")
    words = COMPILERS_WORD.findall(notes) or notes.strip().splitlines()[-1:]
    _say("the core does not compile:\n" + "\n".join(words))
    sys.exit(EXIT_FAILED)


if __name__ == "__main__":
    main()
