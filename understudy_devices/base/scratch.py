# SPDX-License-Identifier: MIT
"""Temporary files and folders, and files that are either complete or absent.

Each temporary file or folder is listed before it is made; another entry follows when it is
removed.  So the process that kills the command (__main__.py) knows what to remove.
The list is a file of entries, each ended by a zero byte:

+PATH   this file or folder will be made; remove it
?PATH   this is a folder; remove it if it is empty
~PATH   this is a journal of settings to restore
-PATH   this file or folder is gone
=WORDS  this is the message to print if the command is interrupted
!SECS   when it is interrupted, the command itself prints more, within so many seconds
&NUMBER this process goes on when the command ends
"""

import io
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from understudy_devices.base import put_back
from understudy_devices.base.errors import RunFailed

_list: int | None = None


def list_in(descriptor: int) -> None:
    """Write all later entries of the list to an open file."""
    global _list
    _list = descriptor


@contextmanager
def folder(prefix: str, within: Path | None = None) -> Iterator[Path]:
    """Yield a new folder in `within`, or in the folder for temporary files.

    The folder is removed at the end; files that were renamed out of it stay.
    """
    path = _named(within or Path(tempfile.gettempdir()), prefix)
    with _writing(path, path.parent):
        _note("+", path)
        path.mkdir(mode=0o700)
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)
            _note("-", path)


@contextmanager
def replacing(final: Path) -> Iterator[Path]:
    """Yield a path to write to; if the block succeeds, rename the file to `final`."""
    path = _named(final.parent, f".{final.name}.")
    with _writing(path, final):
        _note("+", path)
        try:
            yield path
            path.rename(final)
        finally:
            path.unlink(missing_ok=True)
            _note("-", path)


def nameless() -> io.FileIO:
    """Open a new file without a name in the folder for temporary files; closing it removes it."""
    with _room():
        return tempfile.TemporaryFile(prefix="understudy-", buffering=0)


def write(file: io.FileIO, data: memoryview) -> None:
    """Write bytes at the current position of a nameless file."""
    with _room():
        while data:
            data = data[file.write(data) :]


@contextmanager
def unless_filled() -> Iterator["Reserved"]:
    """Yield an object that makes folders; at the end, those that are still empty are removed."""
    reserved = Reserved()
    try:
        yield reserved
    finally:
        for place in reversed(reserved.made):
            with suppress(OSError):  # not empty
                place.rmdir()
            _note("-", place)


class Reserved:
    """The folders made during one `unless_filled` block."""

    def __init__(self) -> None:
        """Start without folders."""
        self.made: list[Path] = []

    def new(self, place: Path) -> bool:
        """Make the folder; return False if it already exists."""
        if place.exists():
            return False
        _note("?", place)
        try:
            place.mkdir()
        except FileExistsError:
            _note("-", place)
            return False
        self.made.append(place)
        return True


@contextmanager
def settings(journal: Path, identity: Path, files: Iterable[Path]) -> Iterator[None]:
    """Restore the settings in these files when the block ends (base/put_back.py)."""
    with _writing(journal, journal):
        _note("~", journal)
        put_back.write(journal, identity, files)
    try:
        yield
    finally:
        if why := put_back.put_back(journal):
            raise RunFailed(why[0])
        _note("-", journal)


def say_if_interrupted(words: str) -> None:
    """Make an interruption of the command print `words` instead of "every run was stopped"."""
    _note("=", words)


def goes_on(process: int) -> None:
    """Let a process, which the command has started, go on when the command ends."""
    _note("&", str(process))


def report_if_interrupted(seconds: int = 1) -> None:
    """Make an interruption send SIGTERM to the worker, which then has some seconds to end."""
    _note("!", str(seconds))


@contextmanager
def place(path: Path) -> Iterator[None]:
    """List a path at which the block makes a file, such as a socket; remove the file at the end."""
    _note("+", path)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        _note("-", path)


def _named(parent: Path, prefix: str) -> Path:
    return parent.absolute() / f"{prefix}{os.getpid()}-{secrets.token_hex(4)}"


def _note(kind: str, what: Path | str) -> None:
    if _list is not None:
        text = what.absolute() if isinstance(what, Path) else what
        os.write(_list, f"{kind}{text}\0".encode(errors="surrogateescape"))


@contextmanager
def _room() -> Iterator[None]:
    """Turn an OSError of a nameless file into a RunFailed with a message of one line."""
    try:
        yield
    except OSError as error:
        raise RunFailed(
            f"cannot write to {tempfile.gettempdir()}: {error.strerror or error}; set TMPDIR to "
            "another folder for temporary files"
        ) from error


@contextmanager
def _writing(path: Path, place: Path) -> Iterator[None]:
    """Turn an OSError of writing into a RunFailed with a message of one line.

    In the message, `place` replaces the path of a temporary file.
    """
    try:
        yield
    except OSError as error:
        ours = error.filename is None or str(error.filename).startswith(str(path))
        raise RunFailed(
            f"cannot write {place if ours else error.filename}: {error.strerror or error}"
        ) from error
