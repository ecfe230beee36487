# SPDX-License-Identifier: MIT
"""Reads what a student handed in: a file, a folder or an archive.

Only the files that the assignment names are read, each up to the assignment's limit; nothing is
unpacked to disk, no link is followed, and no name of the submission becomes a path.  What is wrong
with a file is one line, and costs that file only.  reading.py calls `read` in a process of its own,
since an archive can bring any library to its knees.
"""

import bz2
import gzip
import lzma
import os
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO

from understudy_devices.base.cache import digest
from understudy_devices.base.errors import UserError
from understudy_devices.base.plain import one_line, plain

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2")
MEMBERS_MOST = 2000
ARCHIVE_BYTES = 2**26  # largest archive that is opened
UNPACKED_BYTES = 2**28  # most bytes that are read through in a compressed archive
HEADER_BYTES = 2**20  # longest header of a member
DEPTH_MOST = 4
NAME_SHOWN = 80
OF_EXPORT = {
    *("assignment.toml", "variant.toml", "text.md", "disk.toml", "targets.toml"),
    *("card", "checks", "docs", "headers", "vms", "requests.csv", "runs"),
}
"""What a student got from the teacher, and what its commands write; not worth a note."""
DAMAGED = "it is damaged, or no archive; pack it again"
UNPACKS = {b"\x1f\x8b": gzip.open, b"BZ": bz2.open, b"\xfd7": lzma.open}
"""What unpacks a tar, by its first two bytes."""


@dataclass(frozen=True)
class Submission:
    """The files of a submission, by name; `refused` says what is wrong with the others."""

    files: dict[str, bytes] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Return a digest of everything that a grade may depend on."""
        parts = [part for name in sorted(self.files) for part in (name.encode(), self.files[name])]
        words = [f"{name}: {why}" for name, why in sorted(self.refused.items())]
        return digest([*parts, *(word.encode() for word in (*words, "\n".join(self.notes)))])


def shown(name: str) -> str:
    """Return a name of the submission, safe to print."""
    safe = one_line(name.encode("utf-8", "surrogateescape").decode(errors="replace"))
    return safe if len(safe) <= NAME_SHOWN else f"{safe[:NAME_SHOWN]}..."


def identity(path: Path) -> str:
    """Return the student of a submission that is named after the student."""
    for suffix in sorted(ARCHIVES, key=len, reverse=True):
        if path.name.lower().endswith(suffix):
            return path.name[: -len(suffix)]
    return path.name if path.is_dir() else path.stem


@dataclass(frozen=True)
class _Member:
    """A file of the submission; `read(n)` returns at most n bytes."""

    path: str
    kind: str  # "file", or in words what else it is
    size: int
    read: Callable[[int], bytes]


def read(path: Path, names: Sequence[str], file_bytes: int, *, renamed: bool = False) -> Submission:
    """Read a submission; UserError if there is none at that path.

    If only one file is asked for, it may be `renamed`: a file alone, with the student's name.
    """
    try:
        status = path.lstat()
    except OSError as error:
        raise UserError(f"{shown(str(path))}: {error.strerror}: name a submission") from None
    if stat.S_ISLNK(status.st_mode):
        return nothing(names, "the submission is a symbolic link; hand in the files themselves")
    if not (stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)):
        return nothing(names, "the submission is neither a file nor a folder")
    try:
        members = list(_members(path, status, names[0] if renamed and len(names) == 1 else ""))
    except _Refused as refused:
        return nothing(names, str(refused))
    except MemoryError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.strerror:
            return nothing(names, f"the submission cannot be read: {error.strerror}")
        return nothing(names, f"the archive cannot be read: {DAMAGED}")
    if not members:
        return nothing(names, "the submission is empty")
    return _chosen(members, names, file_bytes)


class _Refused(Exception):  # noqa: N818 - the submission has the error
    """The whole submission is refused."""


def nothing(names: Sequence[str], why: str) -> Submission:
    """Return a submission that is refused as a whole."""
    return Submission({}, dict.fromkeys(names, why), (why,))


def _chosen(members: Sequence[_Member], names: Sequence[str], file_bytes: int) -> Submission:
    """Return the files that the assignment names: those nearest to the top."""
    files: dict[str, bytes] = {}
    refused: dict[str, str] = {}
    used: set[str] = set()
    deep = {each.path for each in members if each.path.count("/") > DEPTH_MOST}
    for name in names:
        found = [
            each
            for each in members
            if each.path not in deep and PurePosixPath(each.path).name == name
        ]
        depth = min((each.path.count("/") for each in found), default=0)
        nearest = [each for each in found if each.path.count("/") == depth]
        used |= {each.path for each in found}
        if not nearest:
            more = f"; folders more than {DEPTH_MOST} deep are not looked into" if deep else ""
            refused[name] = f"{name} was not handed in{more}"
        elif len(nearest) > 1:
            refused[name] = f"{name} was handed in {len(nearest)} times; hand in one"
        else:
            try:
                files[name] = _content(nearest[0], name, file_bytes)
            except _Refused as why:
                refused[name] = str(why)
    rest = sorted(
        shown(each.path)
        for each in members
        if each.path not in used and not OF_EXPORT & set(PurePosixPath(each.path).parts)
    )
    more = f" and {len(rest) - 5} more" if len(rest) > 5 else ""
    notes = (f"not asked for, not read: {', '.join(rest[:5])}{more}",) if rest else ()
    return Submission(files, refused, notes)


def _content(member: _Member, name: str, file_bytes: int) -> bytes:
    if member.kind != "file":
        raise _Refused(f"{name} is {member.kind}; hand in the file itself")
    if member.size > file_bytes:
        raise _Refused(f"{name} has {member.size:,} bytes; the limit is {file_bytes:,}")
    try:
        data = member.read(file_bytes + 1)
    except (_Refused, MemoryError):
        raise
    except NotImplementedError:
        raise _Refused(f"{name} is packed by an unknown method; pack it again as .zip") from None
    except Exception as error:
        if type(error) is RuntimeError:
            raise _Refused(f"{name} is encrypted; hand it in without a password") from None
        why = error.strerror if isinstance(error, OSError) else ""
        raise _Refused(f"{name} cannot be read: {why or DAMAGED}") from None
    if len(data) > file_bytes:
        raise _Refused(f"{name} has more than {file_bytes:,} bytes, the limit")
    if not data.strip():
        raise _Refused(f"{name} is empty")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _Refused(
            f"{name} is not text: byte {error.start:,} is no UTF-8; save the source as UTF-8, or "
            "in ASCII"
        ) from None
    if "\0" in text:
        raise _Refused(f"{name} is not text: byte {data.index(0):,} is 0; hand in the source")
    return data


def _members(path: Path, status: os.stat_result, alone: str) -> Iterator[_Member]:
    if stat.S_ISDIR(status.st_mode):
        yield from _in_folder(path)
        return
    lower = path.name.lower()
    if not lower.endswith(ARCHIVES):
        name = alone if path.suffix == PurePosixPath(alone).suffix else path.name
        yield _Member(name, "file", status.st_size, lambda most: _read(path, most))
        return
    if status.st_size > ARCHIVE_BYTES:
        raise _Refused(f"the archive has {status.st_size:,} bytes; the limit is {ARCHIVE_BYTES:,}")
    yield from _in_zip(path) if lower.endswith(".zip") else _in_tar(path)


def _in_folder(top: Path) -> Iterator[_Member]:
    waiting = [(top, 0)]
    count = 0
    while waiting:
        folder, depth = waiting.pop()
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda each: each.name):
                count += 1
                if count > MEMBERS_MOST:
                    raise _Refused(f"the submission has more than {MEMBERS_MOST:,} files")
                place = Path(entry.path)
                if entry.is_dir(follow_symlinks=False):
                    if depth < DEPTH_MOST:
                        waiting.append((place, depth + 1))
                    else:
                        inside = f"{place.relative_to(top).as_posix()}/..."
                        yield _Member(inside, "a folder", 0, lambda most: b"")
                    continue
                found = entry.stat(follow_symlinks=False)
                yield _Member(
                    place.relative_to(top).as_posix(),
                    _kind(found.st_mode),
                    found.st_size,
                    lambda most, place=place: _read(place, most),  # type: ignore[misc]
                )


def _kind(mode: int) -> str:
    if stat.S_ISREG(mode) or not stat.S_IFMT(mode):  # an archive need not say
        return "file"
    kinds = {stat.S_IFLNK: "a symbolic link", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
    return kinds.get(stat.S_IFMT(mode), "a device")


def _read(path: Path, most: int) -> bytes:
    """Read a regular file, and nothing that has taken its place."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(None, "it is no file")
        return file.read(most)


def _in_zip(path: Path) -> Iterator[_Member]:
    with zipfile.ZipFile(path) as archive:
        infos = archive.infolist()
        if len(infos) > MEMBERS_MOST:
            raise _Refused(f"the archive has more than {MEMBERS_MOST:,} files")
        for number, info in enumerate(infos):
            name = _inside(info.filename)
            if not info.is_dir():
                kind = _kind(info.external_attr >> 16)
                yield _Member(name, kind, info.file_size, _from_zip(path, number))


def _from_zip(path: Path, number: int) -> Callable[[int], bytes]:
    def read_member(most: int) -> bytes:
        with zipfile.ZipFile(path) as archive, archive.open(archive.infolist()[number]) as file:
            return file.read(most)

    return read_member


class _Stream:
    """The unpacked bytes of a tar, up to `until`.

    tarfile reads a header whole, however long it says that it is.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._done = 0
        self.until = HEADER_BYTES

    def read(self, count: int) -> bytes:
        if self._done > self.until:
            raise _Refused(f"the archive has a header of more than {HEADER_BYTES:,} bytes")
        data = self._file.read(count)
        self._done += len(data)
        return data


@contextmanager
def _tar(path: Path) -> Iterator[Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]]:
    """Yield the members of a tar, one after the other."""
    with path.open("rb") as raw:
        unpack = UNPACKS.get(raw.peek(2)[:2])
        stream = _Stream(unpack(raw) if unpack else raw)  # type: ignore[operator]
        with tarfile.open(fileobj=stream, mode="r|") as archive:  # type: ignore[call-overload]
            yield _each(archive, stream)


def _each(
    archive: tarfile.TarFile, stream: _Stream
) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
    for count, info in enumerate(archive, 1):
        if count > MEMBERS_MOST:
            raise _Refused(f"the archive has more than {MEMBERS_MOST:,} files")
        end = info.offset_data + info.size
        if end > UNPACKED_BYTES:
            raise _Refused(f"the archive unpacks to more than {UNPACKED_BYTES:,} bytes")
        stream.until = end + HEADER_BYTES
        yield archive, info


def _in_tar(path: Path) -> Iterator[_Member]:
    with _tar(path) as members:
        for number, (_, info) in enumerate(members):
            name = _inside(info.name)
            if not info.isdir():
                kind = "file" if info.isfile() else "a link" if info.issym() or info.islnk() else ""
                kind = kind or "neither a file nor a folder"
                yield _Member(name, kind, info.size, _from_tar(path, number))


def _from_tar(path: Path, number: int) -> Callable[[int], bytes]:
    def read_member(most: int) -> bytes:
        with _tar(path) as members:
            for each, (archive, info) in enumerate(members):
                if each == number:
                    file = archive.extractfile(info)
                    return file.read(most) if file else b""
        return b""

    return read_member


def _inside(name: str) -> str:
    """Return a member's path; refuse an archive with a path that leads out of it."""
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts:
        raise _Refused(f"the archive climbs out of its folder: {shown(name)}; pack the files alone")
    return plain(str(path)) if path.parts else ""
