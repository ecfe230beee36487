# SPDX-License-Identifier: MIT
"""Writes a qcow2 image with the content of a raw image; equal content gives equal bytes.

Clusters of zeroes take no room.
"""

import os
import struct
from pathlib import Path

import numpy as np

from understudy_devices.lab.overlay import CLUSTER, CLUSTER_BITS, REFCOUNT_ORDER
from understudy_devices.lab.qcow2 import HEADER, HEADER_3, HEADER_BYTES, MAGIC

COPIED = 1 << 63
PER_TABLE = CLUSTER // 8
PER_BLOCK = CLUSTER // 2
"""Clusters that one block of reference counts, of 16 bits each, describes."""


def write(raw: Path, target: Path) -> None:
    """Write the new file `target`; the raw image is a whole number of sectors."""
    with raw.open("rb") as source, target.open("xb") as file:
        size = os.fstat(source.fileno()).st_size
        used = _used(source.fileno(), size)
        tables = sorted({number // PER_TABLE for number in used})
        l1_entries = -(-size // (CLUSTER * PER_TABLE))
        l1_clusters = max(1, -(-8 * l1_entries // CLUSTER))
        fixed = 1 + l1_clusters + len(tables) + len(used)
        blocks = 1
        while blocks * PER_BLOCK < fixed + blocks + _table_clusters(blocks):
            blocks += 1
        count_table = _table_clusters(blocks)
        counts_at = 1 + l1_clusters
        blocks_at = counts_at + count_table
        tables_at = blocks_at + blocks
        data_at = tables_at + len(tables)
        total = data_at + len(used)

        header = HEADER.pack(
            *(MAGIC, 3, 0, 0, CLUSTER_BITS, size, 0, l1_entries, CLUSTER),
            *(counts_at * CLUSTER, count_table, 0, 0),
        )
        file.write(header + HEADER_3.pack(0, 0, 0, REFCOUNT_ORDER, HEADER_BYTES))
        l1 = np.zeros(l1_entries, ">u8")
        for index, table in enumerate(tables):
            l1[table] = (tables_at + index) * CLUSTER | COPIED
        _write_at(file.fileno(), 1, l1.tobytes())
        places = [(blocks_at + number) * CLUSTER for number in range(blocks)]
        _write_at(file.fileno(), counts_at, struct.pack(f">{blocks}Q", *places))
        _write_at(file.fileno(), blocks_at, np.ones(total, ">u2").tobytes())
        l2 = {table: np.zeros(PER_TABLE, ">u8") for table in tables}
        for index, number in enumerate(used):
            l2[number // PER_TABLE][number % PER_TABLE] = (data_at + index) * CLUSTER | COPIED
            data = os.pread(source.fileno(), CLUSTER, number * CLUSTER)
            _write_at(file.fileno(), data_at + index, data)
        for index, table in enumerate(tables):
            _write_at(file.fileno(), tables_at + index, l2[table].tobytes())
        file.truncate(total * CLUSTER)


def _used(source: int, size: int) -> list[int]:
    """Return the numbers of the clusters that have a byte other than zero."""
    used = []
    at = 0
    while at < size:
        try:
            begin = os.lseek(source, at, os.SEEK_DATA) // CLUSTER
        except OSError:  # ENXIO: the rest is one hole
            break
        end = -(-os.lseek(source, begin * CLUSTER, os.SEEK_HOLE) // CLUSTER)
        for number in range(begin, max(end, begin + 1)):
            data = os.pread(source, CLUSTER, number * CLUSTER)
            if data.count(0) != len(data):
                used.append(number)
        at = max(end, begin + 1) * CLUSTER
    return used


def _table_clusters(blocks: int) -> int:
    return max(1, -(-8 * blocks // CLUSTER))


def _write_at(descriptor: int, cluster: int, data: bytes) -> None:
    at = cluster * CLUSTER
    while data:
        written = os.pwrite(descriptor, data, at)
        data, at = data[written:], at + written
