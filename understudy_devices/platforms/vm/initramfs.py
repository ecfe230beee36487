# SPDX-License-Identifier: MIT
"""The archive that a VM boots from: uncompressed cpio ("newc").

The same content always results in the same bytes, so that a virtual-clock run can be repeated.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from understudy_devices.base.cache import digest

REGULAR, DIRECTORY, DEVICE = 0o100000, 0o040000, 0o020000


def _header(inode: int, mode: int, size: int, name: str, device: tuple[int, int]) -> bytes:
    fields = (inode, mode, 0, 0, 1, 0, size, 0, 0, *device, len(name) + 1, 0)
    return b"070701" + b"".join(b"%08X" % value for value in fields) + name.encode() + b"\0"


def _pad(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


@dataclass(frozen=True)
class _Entry:
    name: str
    mode: int
    content: bytes | Path = b""
    device: tuple[int, int] = (0, 0)

    def packed(self, inode: int) -> bytes:
        content = self.content.read_bytes() if isinstance(self.content, Path) else self.content
        header = _header(inode, self.mode, len(content), self.name, self.device)
        return _pad(header) + _pad(content)

    def state(self) -> tuple[int, ...]:
        """Return a value that changes whenever the content may have changed."""
        if not isinstance(self.content, Path):
            return ()
        stat = self.content.stat()
        return stat.st_ino, stat.st_size, stat.st_mtime_ns


@dataclass(frozen=True)
class Archive:
    """The bytes, and their digest."""

    content: bytes
    name: str


# The runs of one command boot from one or two archives; `states` is only needed as part of the
# cache's key.
@lru_cache(maxsize=2)
def _packed(entries: tuple[_Entry, ...], states: tuple[tuple[int, ...], ...]) -> Archive:
    parts = [entry.packed(number) for number, entry in enumerate(entries, 1)]
    content = b"".join([*parts, _pad(_header(0, 0, 0, "TRAILER!!!", (0, 0)))])
    return Archive(content, digest([content]))


@dataclass
class Initramfs:
    """Collects files, then makes the archive; the host's files are read when the archive is
    made.
    """

    _entries: list[_Entry] = field(default_factory=list)
    _folders: set[str] = field(default_factory=set)

    def folder(self, name: str) -> None:
        """Add a folder and the folders above it."""
        parts = name.strip("/").split("/")
        for depth in range(1, len(parts) + 1):
            path = "/".join(parts[:depth])
            if path not in self._folders:
                self._folders.add(path)
                self._entries.append(_Entry(path, DIRECTORY | 0o755))

    def file(self, name: str, content: bytes | str | Path, executable: bool = False) -> None:
        """Add a file with the given content, or with the content of a file of the host."""
        if isinstance(content, str):
            content = content.encode()
        name = name.strip("/")
        if "/" in name:
            self.folder(name.rsplit("/", 1)[0])
        mode = REGULAR | (0o755 if executable else 0o644)
        self._entries.append(_Entry(name, mode, content))

    def character_device(self, name: str, major: int, minor: int) -> None:
        self._entries.append(_Entry(name.strip("/"), DEVICE | 0o600, device=(major, minor)))

    def archive(self) -> Archive:
        """Return everything that has been added, as an archive."""
        return _packed(tuple(self._entries), tuple(entry.state() for entry in self._entries))
