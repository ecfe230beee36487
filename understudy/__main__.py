# SPDX-License-Identifier: MIT
"""The `understudy` command is two processes: one works, and one waits to stop it.

Whoever works may be anywhere when it is told to stop: in a compiler, in a VM, in an
import, in C code of a library that has taken over the signals.  So nothing in it has to
notice.  The process that was started kills the other with all that came from it, takes
away what `understudy.base.scratch` had listed, and says so in one line
(docs/decisions/0027-stopping.md).  When both are killed outright, the next command takes it
away: the list is in a temporary folder that is locked as long as its command lives.

It imports nothing of the package, for that may compile the core first.
"""

import signal

ENDS = {signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP}
HEARD = {*ENDS, signal.SIGCHLD, signal.SIGTSTP}
signal.pthread_sigmask(signal.SIG_BLOCK, HEARD)

import ctypes  # noqa: E402 - from the line above on no signal is lost
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
LAST_SECONDS = 1.0
# Libraries make a hundred thousand objects that stay: looking through them takes a tenth of
# the time of their import.
GARBAGE_LOOKED_FOR = 100_000
PUT_BACK = Path(__file__).parent / "base" / "put_back.py"
PUT_BACK_SECONDS = 30.0
LIST = ".listed"
LIST_BYTES = 4096  # had from the start: on a disk that fills up, what is made gets listed
SHOW_CURSOR = "\033[?25h"
COMPILERS_WORD = re.compile(r"^(?:\.\./)*(\S+:\d+:\d+: (?:fatal )?error: .*)$", re.MULTILINE)


def main() -> NoReturn:
    """Run the command in a process of its own; end as it ends, or 130 if told to."""
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
    with suppress(OSError):  # it has done so, or is gone
        os.setpgid(worker, worker)
    status = _wait(worker)
    if status is None and any(kind == "!" for kind, _ in _entries(scratch)):
        _let_end(worker)
    _end_descendants()
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
    """For what compilers and others leave there when they are killed; and the open list."""
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
    except OSError:  # then only those fail that need one
        return None, os.memfd_create("scratch")
    os.environ["TMPDIR"] = str(folder)
    return folder, scratch


def _lock(folder: Path) -> int:
    """As long as this process lives, or one that comes from it; OSError if others have it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _take_away_what_is_left(parent: Path) -> None:
    """By commands that were killed outright; settings of disks are `measure`'s to put back."""
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
    """How the worker ended; None if it is to be stopped."""
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
    """Ctrl-Z reaches only us: stop together, go on together."""
    os.killpg(worker, signal.SIGSTOP)
    signal.raise_signal(signal.SIGTSTP)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTSTP})
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTSTP})
    os.killpg(worker, signal.SIGCONT)


def _let_end(worker: int) -> None:
    """It has a report to give, and a second for that."""
    os.kill(worker, signal.SIGTERM)
    until = time.monotonic() + LAST_SECONDS
    while not os.waitid(os.P_PID, worker, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        left = until - time.monotonic()
        if left <= 0:
            return
        signal.sigtimedwait({signal.SIGCHLD}, left)


def _end_descendants() -> None:
    """Kill and bury every one: who loses its parent becomes our child.

    One in a read that a broken disk never answers can't end; it is left to do so.
    """
    patience = time.monotonic() + STUCK_SECONDS
    while True:
        left = _children()
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
    """Each with the state that it is in."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent = stat.read_bytes().rpartition(b")")[2].split()[:2]
            if int(parent) == os.getpid():
                found[int(stat.parent.name)] = state.decode()
    return found


def _entries(scratch: int) -> list[tuple[str, str]]:
    """What the worker has noted (understudy/base/scratch.py): kind and text."""
    size = os.lseek(scratch, 0, os.SEEK_END)
    entries = os.pread(scratch, size, 0).decode(errors="surrogateescape").split("\0")
    return [(entry[:1], entry[1:]) for entry in entries]


def _take_away(entries: list[tuple[str, str]]) -> str:
    """What was listed and is still there; returns the last words that were left."""
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
    """What is left of the settings that a journal lists; a disk may hold up whoever asks it."""
    import subprocess  # few commands need it

    command = [sys.executable, "-I", "-S", str(PUT_BACK), str(journal)]
    program = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        return program.communicate(timeout=PUT_BACK_SECONDS)[0]
    except subprocess.TimeoutExpired:
        return f"the disk does not answer; {shlex.join(command)} puts its settings back"


def _say(message: str) -> None:
    """One line, below what a progress bar has left."""
    with suppress(OSError, ValueError):
        if sys.stderr.isatty():
            sys.stderr.write(SHOW_CURSOR + "\n")
        sys.stderr.write(f"understudy: {message}\n")
        sys.stderr.flush()


# The process that works.


def _work(scratch: int, alive: int) -> NoReturn:
    """A group of its own: the terminal's signals are for the one that waits."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # so that it may write there all the same
    for end in ENDS:
        signal.signal(end, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, HEARD)
    threading.Thread(target=_follow, args=(alive,), daemon=True).start()
    gc.set_threshold(GARBAGE_LOOKED_FOR)
    try:
        from understudy.base import scratch as kept
        from understudy.cli.main import main as command
    except ImportError as error:
        _refuse(error)
    kept.list_in(scratch)
    command()
    raise AssertionError("a command ends its process")


def _follow(alive: int) -> None:
    """End with the process that waits, if that is killed."""
    os.read(alive, 1)
    os.killpg(0, signal.SIGKILL)


def _refuse(error: ImportError) -> NoReturn:
    """The core is compiled when it is imported: an error there is the compiler's to explain."""
    notes = "\n".join(getattr(error, "__notes__", ()))
    if not notes:
        raise error
    notes = notes.replace(f"{Path(__file__).resolve().parents[1]}/", "")
    words = COMPILERS_WORD.findall(notes) or notes.strip().splitlines()[-1:]
    _say("the core does not compile:\n" + "\n".join(words))
    sys.exit(EXIT_FAILED)


if __name__ == "__main__":
    main()
