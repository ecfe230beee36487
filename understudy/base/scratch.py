# SPDX-License-Identifier: MIT
"""What must not outlive the command, and files that are whole or not there.

A thing is listed before it is made and taken off when it is gone, so that whoever kills
the command (understudy/__main__.py) knows what to take away.  The list is a file of
entries that end with zero bytes: +PATH made, ?PATH a folder that goes if it is empty,
~PATH a journal of settings to put back, -PATH gone, =WORDS what to say if the command is
interrupted, ! it has more to say then.
"""

import io
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from understudy.base import put_back
from understudy.base.errors import RunFailed

_list: int | None = None


def list_in(descriptor: int) -> None:
    """Keep the list in an open file."""
    global _list
    _list = descriptor


@contextmanager
def folder(prefix: str, within: Path | None = None) -> Iterator[Path]:
    """A new folder, by itself in the folder for temporary files unless `within` is named.

    At the end it is gone, but for what was renamed.
    """
    made = _named(within or Path(tempfile.gettempdir()), prefix)
    with _writing(made, made.parent):
        _note("+", made)
        made.mkdir(mode=0o700)
        try:
            yield made
        finally:
            shutil.rmtree(made, ignore_errors=True)
            _note("-", made)


@contextmanager
def replacing(final: Path) -> Iterator[Path]:
    """Where to write the file that then takes the place of `final`, if all goes well."""
    made = _named(final.parent, f".{final.name}.")
    with _writing(made, final):
        _note("+", made)
        try:
            yield made
            made.rename(final)
        finally:
            made.unlink(missing_ok=True)
            _note("-", made)


def nameless() -> io.FileIO:
    """A file in the folder for temporary files that nobody else sees; gone when it is closed."""
    with _room():
        return tempfile.TemporaryFile(prefix="understudy-", buffering=0)


def write(file: io.FileIO, data: memoryview) -> None:
    """Bytes, where a nameless file stands."""
    with _room():
        while data:
            data = data[file.write(data) :]


@contextmanager
def unless_filled() -> Iterator["Reserved"]:
    """Folders that are gone at the end if they hold nothing."""
    reserved = Reserved()
    try:
        yield reserved
    finally:
        for place in reversed(reserved.made):
            with suppress(OSError):  # it holds something
                place.rmdir()
            _note("-", place)


class Reserved:
    """The folders of one `unless_filled`."""

    def __init__(self) -> None:
        """None yet."""
        self.made: list[Path] = []

    def new(self, place: Path) -> bool:
        """Make the folder; False if it is there already."""
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
    """At the end the settings in these files are what they were (understudy/base/put_back.py)."""
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
    """Instead of "every run was stopped"."""
    _note("=", words)


def report_if_interrupted() -> None:
    """From now on the worker is told (SIGTERM), and has a second to end by itself."""
    _note("!", "")


@contextmanager
def place(path: Path) -> Iterator[None]:
    """Something that is made there by others, a socket say; at the end it is gone."""
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
    """Say in one line that there is none for a nameless file."""
    try:
        yield
    except OSError as error:
        raise RunFailed(
            f"cannot write to {tempfile.gettempdir()}: {error.strerror or error}; TMPDIR names "
            "another folder for temporary files"
        ) from error


@contextmanager
def _writing(made: Path, place: Path) -> Iterator[None]:
    """Say in one line what can't be written: for what is ours, the place where it should be."""
    try:
        yield
    except OSError as error:
        ours = error.filename is None or str(error.filename).startswith(str(made))
        raise RunFailed(
            f"cannot write {place if ours else error.filename}: {error.strerror or error}"
        ) from error
