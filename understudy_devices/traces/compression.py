# SPDX-License-Identifier: MIT
"""Unpacks gzip, bzip2, xz and Zstandard files, recognised by content.

Files are unpacked while they are read, PIECE_BYTES at a time.  At most about 8 MiB are unpacked
ahead, even if a file expands to a huge size.  Consecutive streams in a file are joined.  A
damaged or truncated stream ends where unpacking fails; afterwards `damage` returns the reason.
"""

import bz2
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Protocol, cast

import zstandard

from understudy_devices.base import scratch

PIECE_BYTES = 2**16
DICTIONARY_MAX_BYTES = 2**27  # memory that xz and Zstandard need at their highest levels
WHOLE_MAX_BYTES = 2**30


class Stream(Protocol):
    """The decompressor of a stream; those of bz2 and lzma have this interface."""

    @property
    def eof(self) -> bool:
        """Return whether the stream has ended."""

    @property
    def needs_input(self) -> bool:
        """Return whether all input that was passed is unpacked."""

    @property
    def unused_data(self) -> bytes:
        """Return the input after the stream's end."""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Return unpacked bytes, at most `max_length`."""


class _Gzip:
    """zlib's decompressor as a Stream."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def needs_input(self) -> bool:
        return not self._stream.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._stream.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._stream.decompress(self._stream.unconsumed_tail + data, max_length)


class _Zstandard:
    """Zstandard's decompressor as a Stream.

    The decompressor ignores `max_length`, and 4 bytes of input may expand to 128 KiB.  So its
    input is passed in small parts.
    """

    INPUT_BYTES = 2**8

    def __init__(self) -> None:
        whole = zstandard.ZstdDecompressor(max_window_size=DICTIONARY_MAX_BYTES)
        self._stream: Any = whole.decompressobj()
        self._waiting = b""

    @property
    def eof(self) -> bool:
        return bool(self._stream.eof)

    @property
    def needs_input(self) -> bool:
        return not self._waiting

    @property
    def unused_data(self) -> bytes:
        return bytes(self._stream.unused_data) + self._waiting

    def decompress(self, data: bytes, max_length: int) -> bytes:
        pending = self._waiting + data
        now, self._waiting = pending[: self.INPUT_BYTES], pending[self.INPUT_BYTES :]
        return bytes(self._stream.decompress(now))


def _xz() -> Stream:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=DICTIONARY_MAX_BYTES)


KINDS: dict[bytes, tuple[str, Callable[[], Stream]]] = {
    b"\x1f\x8b": ("gzip", _Gzip),
    b"BZh": ("bzip2", bz2.BZ2Decompressor),
    b"\xfd7zXZ\0": ("xz", _xz),
    b"\x28\xb5\x2f\xfd": ("Zstandard", _Zstandard),
}
DAMAGED = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, zstandard.ZstdError)


class Unpacked(io.RawIOBase):
    """The unpacked content of a compressed file; `damage` says why the content ends too early."""

    def __init__(self, file: BinaryIO, name: str, stream: Callable[[], Stream]) -> None:
        """Begin at the file's current position."""
        self.damage: str | None = None
        self.name = getattr(file, "name", None)  # the name of the compressed file
        self._file = file
        self._name = name
        self._new = stream
        self._stream = stream()
        self._ready = memoryview(b"")
        self._told = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Read at least one byte, and as many as are unpacked already; 0 at the end."""
        if not self._ready:
            self._ready = memoryview(self._more())
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        self._told += size
        return size

    def _more(self) -> bytes:
        """Return the next unpacked bytes; no bytes at the end."""
        while not self.damage:
            data = self._input()
            if data is None:
                break
            try:
                output = self._stream.decompress(data, PIECE_BYTES)
            except DAMAGED as error:
                self._say(f"is damaged ({error})")
                break
            if output:
                return output
        return b""

    def _input(self) -> bytes | None:
        """Return the next input for the stream, or for the next stream; None at the end of the
        file.
        """
        behind = b""
        if self._stream.eof:
            behind = (self._stream.unused_data or self._file.read(PIECE_BYTES)).lstrip(b"\0")
            if not behind:
                return None
            self._stream = self._new()
        data = behind if behind or not self._stream.needs_input else self._file.read(PIECE_BYTES)
        if not data and self._stream.needs_input:
            self._say("is cut off")
            return None
        return data

    def _say(self, what: str) -> None:
        self.damage = f"the {self._name} file {what} after {self._told:,} bytes of content"


def unpacked(file: BinaryIO) -> BinaryIO:
    """Return the file from its beginning, unpacked if it is compressed."""
    file.seek(0)
    head = file.read(max(map(len, KINDS)))
    file.seek(0)
    for magic, (name, stream) in KINDS.items():
        if head.startswith(magic):
            return io.BufferedReader(Unpacked(file, name, stream))
    return file


def damage(file: BinaryIO) -> str | None:
    """Return why a file that `unpacked` returned has ended too early; None if no damage was read
    yet."""
    raw = getattr(file, "raw", None)
    return raw.damage if isinstance(raw, Unpacked) else None


@contextmanager
def whole(file: BinaryIO) -> Iterator[BinaryIO]:
    """Yield the file in seekable form.

    A compressed file is unpacked to a nameless file, of at most WHOLE_MAX_BYTES.
    """
    if not isinstance(getattr(file, "raw", None), Unpacked):
        yield file
        return
    with scratch.nameless() as copy:
        while more := file.read(PIECE_BYTES):
            scratch.write(copy, memoryview(more))
            if copy.tell() > WHOLE_MAX_BYTES:
                raise ValueError(f"holds more than {WHOLE_MAX_BYTES:,} bytes; unpack it first")
        copy.seek(0)
        yield cast(BinaryIO, copy)
