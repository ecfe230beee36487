# SPDX-License-Identifier: MIT
"""Reads what a student handed in: a file, a folder or an archive.

Only the files that the assignment names are read, each up to the assignment's limit; nothing is
unpacked to disk, no link is followed, and no name of the submission becomes a path.  What is wrong
with a file is one line, and costs that file only.
"""

import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from understudy_devices.base.cache import digest
from understudy_devices.base.errors import UserError
from understudy_devices.base.plain import one_line, plain, shortened

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2")
MEMBERS_MOST = 2000
ARCHIVE_BYTES = 2**26  # largest archive that is opened
UNPACKED_BYTES = 2**28  # most bytes that are read through in a compressed archive
DEPTH_MOST = 4
MEMBER_BYTES = 2**22  # a larger file of an archive is not read
NAME_SHOWN = 80
OF_EXPORT = {
    *("assignment.toml", "variant.toml", "text.md", "disk.toml", "targets.toml"),
    *("card", "checks", "docs", "headers", "vms", "requests.csv", "runs"),
}
"""What a student got from the teacher, and what its commands write; not worth a note."""
BROKEN = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, ValueError)


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


def one_file(path: Path, name: str, file_bytes: int) -> str:
    """Return one file of a submission; UserError if it is not there."""
    found = read(path, [name], file_bytes)
    if name in found.refused:
        raise UserError(found.refused[name])
    return found.files[name].decode("utf-8")


def read(path: Path, names: Sequence[str], file_bytes: int) -> Submission:
    """Read a submission; UserError if there is none at that path."""
    try:
        status = path.lstat()
    except OSError as error:
        raise UserError(f"{shown(str(path))}: {error.strerror}: name a submission") from None
    if stat.S_ISLNK(status.st_mode):
        return _nothing(names, "the submission is a symbolic link; hand in the files themselves")
    if not (stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode)):
        return _nothing(names, "the submission is neither a file nor a folder")
    try:
        members = list(_members(path, status))
    except _Refused as refused:
        return _nothing(names, str(refused))
    except BROKEN as error:
        reason = shortened(one_line(str(error))) or type(error).__name__
        return _nothing(names, f"the archive cannot be read: {reason}")
    except OSError as error:
        return _nothing(names, f"the submission cannot be read: {error.strerror or error}")
    if not members:
        return _nothing(names, "the submission is empty")
    return _chosen(members, names, file_bytes)


class _Refused(Exception):  # noqa: N818 - the submission has the error
    """The whole submission is refused."""


def _nothing(names: Sequence[str], why: str) -> Submission:
    return Submission({}, dict.fromkeys(names, why), (why,))


def _chosen(members: Sequence[_Member], names: Sequence[str], file_bytes: int) -> Submission:
    """Return the files that the assignment names: those nearest to the top."""
    files: dict[str, bytes] = {}
    refused: dict[str, str] = {}
    used: set[str] = set()
    for name in names:
        found = [each for each in members if PurePosixPath(each.path).name == name]
        depth = min((each.path.count("/") for each in found), default=0)
        nearest = [each for each in found if each.path.count("/") == depth]
        used |= {each.path for each in found}
        if not nearest:
            refused[name] = f"{name} was not handed in"
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
    except BROKEN as error:
        raise _Refused(f"{name} cannot be read: {shortened(one_line(str(error)))}") from None
    except NotImplementedError:
        raise _Refused(f"{name} is packed by an unknown method; pack it again as .zip") from None
    except RuntimeError:
        raise _Refused(f"{name} is encrypted; hand it in without a password") from None
    except OSError as error:
        raise _Refused(f"{name} cannot be read: {error.strerror or error}") from None
    if len(data) > file_bytes:
        raise _Refused(f"{name} has more than {file_bytes:,} bytes, the limit")
    if not data.strip():
        raise _Refused(f"{name} is empty")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _Refused(
            f"{name} is not text: byte {error.start:,} is no UTF-8; hand in the source, not what "
            "it compiles to"
        ) from None
    if "\0" in text:
        raise _Refused(f"{name} is not text: byte {data.index(0):,} is 0; hand in the source")
    return data


def _members(path: Path, status: os.stat_result) -> Iterator[_Member]:
    if stat.S_ISDIR(status.st_mode):
        yield from _in_folder(path)
        return
    lower = path.name.lower()
    if not lower.endswith(ARCHIVES):
        yield _Member(path.name, "file", status.st_size, lambda most: _read(path, most))
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
    with path.open("rb") as file, zipfile.ZipFile(file) as archive:
        infos = archive.infolist()
        if len(infos) > MEMBERS_MOST:
            raise _Refused(f"the archive has more than {MEMBERS_MOST:,} files")
        for info in infos:
            name = _inside(info.filename)
            if info.is_dir():
                continue
            kind = _kind(info.external_attr >> 16)
            data = _first(archive, info)
            yield _Member(name, kind, info.file_size, data)


def _first(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[int], bytes]:
    """Return a reader that is valid after the archive is closed; large files stay unread."""
    if info.file_size > MEMBER_BYTES:
        return lambda most: b""
    try:
        with archive.open(info) as file:
            data = file.read(MEMBER_BYTES + 1)
    except (*BROKEN, RuntimeError, OSError) as error:
        failed = error

        def fail(most: int) -> bytes:
            raise failed

        return fail
    return lambda most: data[:most]


def _in_tar(path: Path) -> Iterator[_Member]:
    count = 0
    with path.open("rb") as raw, tarfile.open(fileobj=raw, mode="r|*") as archive:
        for info in archive:
            count += 1
            if count > MEMBERS_MOST:
                raise _Refused(f"the archive has more than {MEMBERS_MOST:,} files")
            if info.offset_data > UNPACKED_BYTES:
                raise _Refused(f"the archive unpacks to more than {UNPACKED_BYTES:,} bytes")
            name = _inside(info.name)
            if info.isdir():
                continue
            kind = "file" if info.isfile() else "a link" if info.issym() or info.islnk() else ""
            small = kind == "file" and info.size <= MEMBER_BYTES
            taken = archive.extractfile(info) if small else None
            data = taken.read() if taken else b""
            if info.size > UNPACKED_BYTES:
                raise _Refused(f"{shown(name)} unpacks to {info.size:,} bytes; hand in less")
            yield _Member(
                name,
                kind or "neither a file nor a folder",
                info.size,
                lambda most, data=data: data[:most],  # type: ignore[misc]
            )


def _inside(name: str) -> str:
    """Return a member's path; refuse an archive with a path that leads out of it."""
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts:
        raise _Refused(f"the archive climbs out of its folder: {shown(name)}; pack the files alone")
    return plain(str(path)) if path.parts else ""
