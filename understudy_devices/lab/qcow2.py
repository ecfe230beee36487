# SPDX-License-Identifier: MIT
"""Reads QEMU's image format qcow2: what an image claims to be, and whether the file is complete.

The format is described in QEMU's docs/interop/qcow2.txt.  All numbers are big-endian.  An image is
divided into clusters.  The L1 table names L2 tables, and an L2 table names the cluster of the file
that holds each cluster of the guest's disk.
"""

import os
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import zstandard

from understudy_devices.base.errors import UserError

MAGIC = b"QFI\xfb"
HEADER = struct.Struct(">4sIQIIQIIQQIIQ")
HEADER_3 = struct.Struct(">QQQII")
"""The fields that version 3 adds: features (incompatible, compatible, autoclear), the order of a
reference count, the length of the header."""
HEADER_BYTES = HEADER.size + HEADER_3.size
CLUSTER_BITS = range(9, 22)
SECTOR = 512
L1_ENTRIES_MAX = 4 * 2**20
NAME_BYTES_MAX = 1023

DIRTY, CORRUPT, EXTERNAL, COMPRESSION, EXTENDED = (1 << bit for bit in range(5))
KNOWN = DIRTY | CORRUPT | EXTERNAL | COMPRESSION | EXTENDED
REFUSED = {
    CORRUPT: "QEMU has marked it as corrupt: qemu-img check -r all repairs a copy",
    DIRTY: "QEMU has not closed it: start and end QEMU with it once, or qemu-img check -r all",
    EXTERNAL: "its data is in another file: qemu-img convert -O qcow2 makes one file",
    EXTENDED: "it has extended L2 entries: qemu-img convert -O qcow2 makes an image without",
}
OFFSET = 0x00FF_FFFF_FFFF_FE00
COMPRESSED = 1 << 62
ZERO = 1
ZSTD = 1
COMMON = {
    b"KDMV": "a VMDK image",
    b"conectix": "a VHD image",
    b"vhdxfile": "a VHDX image",
    b"QED\0": "a QED image",
    b"\x1f\x8b": "compressed with gzip",
    b"\xfd7zXZ": "compressed with xz",
}

Entries = npt.NDArray[np.uint64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Header:
    """What the first bytes of an image say."""

    version: int
    backing: str
    """The image below this one, as a path relative to this one; empty if there is none."""
    cluster_bits: int
    virtual_bytes: int
    l1_entries: int
    l1_at: int
    refcounts_at: int
    refcount_clusters: int
    incompatible: int
    zstd: bool

    @property
    def cluster(self) -> int:
        """Return the size of a cluster in bytes."""
        return 1 << self.cluster_bits


class Image:
    """An open image that is only read; UserError if the file is no complete qcow2 image."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise UserError(f"{path}: {error.strerror or error}") from None
        try:
            self.file_bytes = os.fstat(self._descriptor).st_size
            self.header = self._header()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Image":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def check_complete(self) -> None:
        """Raise UserError if a table or a cluster that the image names lies beyond the file's end.

        A last cluster that the file has only in part is zero there, as QEMU reads it.
        """
        header = self.header
        self._must_have(header.refcounts_at, header.refcount_clusters * header.cluster)
        for table in self._l2_tables():
            start = self._starts(table)
            if start.size and int(start.max()) >= self.file_bytes:
                self._truncated(int(start.max()) + 1)

    def read(self, offset: int, size: int) -> bytes:
        """Return bytes of the guest's disk; they must lie within one cluster."""
        header = self.header
        index, within = divmod(offset, header.cluster)
        assert within + size <= header.cluster
        l1_index, l2_index = divmod(index, header.cluster // 8)
        tables = self._l1()
        if l1_index >= len(tables) or not (table := int(tables[l1_index]) & OFFSET):
            return bytes(size)
        (entry,) = struct.unpack(">Q", self._bytes(table + 8 * l2_index, 8))
        if entry & COMPRESSED:
            return self._unpacked(entry)[within : within + size]
        if (header.version >= 3 and entry & ZERO) or not entry & OFFSET:
            return bytes(size)
        at = (entry & OFFSET) + within
        return os.pread(self._descriptor, size, at).ljust(size, b"\0")

    def allocated(self) -> dict[int, Flags]:
        """Return, by the number of each L2 table, which of its clusters this image has itself.

        Those that it has as zeroes count, too.
        """
        tables, entries = self._l1() & np.uint64(OFFSET), self.header.cluster // 8
        return {
            int(number): self._table(int(tables[number]), entries) != 0
            for number in np.flatnonzero(tables)
        }

    # The parts of the file.

    def _header(self) -> Header:
        first = os.pread(self._descriptor, HEADER_BYTES + 1, 0)
        if not first.startswith(MAGIC):
            raise UserError(f"{self.path}: {_kind(first)}: {_conversion(self.path)}")
        if len(first) < HEADER.size:
            self._truncated(HEADER.size)
        _, version, name_at, name_bytes, bits, size, crypt, l1, l1_at, counts_at, counts, _, _ = (
            HEADER.unpack_from(first)
        )
        if version not in (2, 3):
            raise UserError(f"{self.path}: qcow2 of version {version}: only 2 and 3 are known")
        incompatible = 0
        if version == 3:
            if len(first) < HEADER_BYTES:
                self._truncated(HEADER_BYTES)
            incompatible, *_ = HEADER_3.unpack_from(first, HEADER.size)
        if bits not in CLUSTER_BITS or not 0 < size < 2**56 or l1 > L1_ENTRIES_MAX:
            raise UserError(f"{self.path}: its header makes no sense: take an intact copy")
        if l1 << (2 * bits - 3) < size:
            raise UserError(f"{self.path}: its L1 table is too short: take an intact copy")
        if crypt:
            raise UserError(f"{self.path}: it is encrypted: {_conversion(self.path)}")
        backing = ""
        if name_at:
            length = min(name_bytes, NAME_BYTES_MAX)
            backing = os.fsdecode(os.pread(self._descriptor, length, name_at))
        zstd = bool(incompatible & COMPRESSION) and first[HEADER_BYTES:] == bytes([ZSTD])
        return Header(
            version, backing, bits, size, l1, l1_at, counts_at, counts, incompatible, zstd
        )

    def _l1(self) -> Entries:
        return self._table(self.header.l1_at, self.header.l1_entries)

    def _l2_tables(self) -> Iterator[Entries]:
        for entry in self._l1():
            if at := int(entry) & OFFSET:
                yield self._table(at, self.header.cluster // 8)

    def _table(self, at: int, entries: int) -> Entries:
        return np.frombuffer(self._bytes(at, 8 * entries), ">u8").astype(np.uint64)

    def _starts(self, table: Entries) -> Entries:
        """Return where the clusters of an L2 table begin in the file."""
        packed = (table & np.uint64(COMPRESSED)) != 0
        plain = table[~packed] & np.uint64(OFFSET)
        mask = np.uint64((1 << self._offset_bits) - 1)
        starts: Entries = np.concatenate([plain[plain != 0], table[packed] & mask])
        return starts

    @property
    def _offset_bits(self) -> int:
        """Return how many bits of a compressed cluster's entry are its place in the file."""
        return 62 - (self.header.cluster_bits - 8)

    def _unpacked(self, entry: int) -> bytes:
        bits = self._offset_bits
        at = entry & ((1 << bits) - 1)
        sectors = ((entry & (COMPRESSED - 1)) >> bits) + 1
        packed = os.pread(self._descriptor, sectors * SECTOR - at % SECTOR, at)
        try:
            if self.header.zstd:
                reader = zstandard.ZstdDecompressor().stream_reader(packed)
                return reader.read(self.header.cluster)
            return zlib.decompressobj(-12).decompress(packed, self.header.cluster)
        except (zlib.error, zstandard.ZstdError):
            raise UserError(
                f"{self.path}: a compressed cluster cannot be read: take an intact copy"
            ) from None

    def _bytes(self, at: int, size: int) -> bytes:
        self._must_have(at, size)
        return os.pread(self._descriptor, size, at)

    def _must_have(self, at: int, size: int) -> None:
        if at + size > self.file_bytes:
            self._truncated(at + size)

    def _truncated(self, needed: int) -> None:
        raise UserError(
            f"{self.path}: truncated: it has {self.file_bytes:,} bytes, and its tables name byte "
            f"{needed:,}: copy it again"
        )


def backing_of(path: Path) -> str:
    """Return the name of the image below an image; empty if there is none."""
    with Image(path) as image:
        return image.header.backing


def _kind(first: bytes) -> str:
    if not first:
        return "an empty file"
    for magic, kind in COMMON.items():
        if first.startswith(magic):
            return f"no qcow2 image, but {kind}"
    return "no qcow2 image, but perhaps a raw one"


def _conversion(path: Path) -> str:
    return f"qemu-img convert -O qcow2 {path} NEW.qcow2 makes one"
