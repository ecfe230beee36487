# SPDX-License-Identifier: MIT
"""Writes an empty qcow2 overlay, which reads as the image below it: a clone.

qemu-img would make the same file, but 200 starts of it take longer than 200 files.  The overlay has
four clusters of 64 KiB: header, table of reference counts, reference counts, L1 table.  Only
their beginnings are written, so the file takes 16 KiB on most file systems.
"""

import os
import struct
from pathlib import Path

from understudy_devices.lab.qcow2 import HEADER, HEADER_3, HEADER_BYTES, MAGIC

CLUSTER_BITS = 16
CLUSTER = 1 << CLUSTER_BITS
REFCOUNT_ORDER = 4  # 16 bits each
CLUSTERS, L1_AT = 4, 3
BACKING_FORMAT = 0xE279_2ACA
NAME_BYTES_MAX = 1023
BYTES_PER_TABLE = CLUSTER * CLUSTER // 8
"""How much of the guest's disk one L2 table describes: 512 MiB."""
L1_ENTRIES_MAX = CLUSTER // 8
VIRTUAL_BYTES_MAX = L1_ENTRIES_MAX * BYTES_PER_TABLE
"""The largest disk, 4 TiB: the L1 table has one cluster."""


def write(path: Path, backing: str, virtual_bytes: int) -> None:
    """Write a new overlay of the qcow2 image `backing`, a path relative to the overlay's folder.

    virtual_bytes: 1 to VIRTUAL_BYTES_MAX.  Raise FileExistsError if there is a file.
    """
    assert virtual_bytes <= VIRTUAL_BYTES_MAX
    name = os.fsencode(backing)
    assert len(name) <= NAME_BYTES_MAX
    layout = _first_bytes(name, virtual_bytes)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    try:
        os.ftruncate(descriptor, len(layout) * CLUSTER)
        for number, data in enumerate(layout):
            if data:
                os.pwrite(descriptor, data, number * CLUSTER)
    finally:
        os.close(descriptor)


def is_empty(path: Path) -> bool:
    """Return whether nothing was written to an overlay since `write` made it."""
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size != CLUSTERS * CLUSTER:
            return False
        file.seek(L1_AT * CLUSTER)
        return not any(file.read(CLUSTER))


def _first_bytes(name: bytes, virtual_bytes: int) -> list[bytes]:
    """Return what each cluster of the overlay begins with; the rest is zero."""
    extension = struct.pack(">II8s", BACKING_FORMAT, len(b"qcow2"), b"qcow2") + struct.pack(
        ">II", 0, 0
    )
    name_at = HEADER_BYTES + len(extension)
    l1_entries = max(1, -(-virtual_bytes // BYTES_PER_TABLE))
    header = HEADER.pack(
        MAGIC,
        3,
        name_at,
        len(name),
        CLUSTER_BITS,
        virtual_bytes,
        0,  # not encrypted
        l1_entries,
        L1_AT * CLUSTER,
        1 * CLUSTER,
        1,  # cluster of the table of reference counts
        0,  # snapshots
        0,
    )
    more = HEADER_3.pack(0, 0, 0, REFCOUNT_ORDER, HEADER_BYTES)
    reference_table = struct.pack(">Q", 2 * CLUSTER)
    references = struct.pack(">4H", 1, 1, 1, 1)
    return [header + more + extension + name, reference_table, references, b""]
