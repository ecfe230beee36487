# SPDX-License-Identifier: MIT
"""Build a disk with one partition for each VM that shares it, each with an ext4 file system.

The image holds a partition table (an MBR) and, in each partition, the same file system.  The files
in the image have blocks on the disk but no data, like SURGE's files (`files.image`).
The image depends only on its size, the files, the source code and the version of mke2fs, and is
built once.
"""

import hashlib
import json
import shutil
import struct
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from understudy_devices.base import programs
from understudy_devices.base.cache import cached_folder, digest
from understudy_devices.base.errors import UserError
from understudy_devices.base.progress import Report
from understudy_devices.files import image
from understudy_devices.files.image import BLOCK_BYTES, BLOCKS_HEADER, BLOCKS_MAGIC

OWN_SOURCE = Path(__file__).read_bytes()  # as it was imported, even if the file changes later
SECTOR_BYTES = 512
ALIGNMENT_BYTES = 2**20
SEED = 1  # seed from which the file system's identifiers are computed
JOURNAL_MB = 0  # a journal would belong to no control group (docs/decisions/0038-owner-groups.md)
BYTES_PER_INODE = 16 * 2**10  # the default value of mke2fs
SECTORS_MAX = 2**32 - 1  # largest number in the partition table

ENTRIES_AT = 446
ENTRY = struct.Struct("<B3sB3sII")
LINUX = 0x83
BEYOND_CYLINDERS = b"\xfe\xff\xff"
SIGNATURE = b"\x55\xaa"


@dataclass(frozen=True)
class Partitioning:
    """A number of equal partitions, and the files in each partition: paths and sizes in bytes.

    Files are in the root folder or in folders directly below it.
    """

    count: int
    files: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Facts:
    """Facts about the image for result.json, like `understudy_devices.files.image.Facts`."""

    image_bytes: int
    partitions: int
    partition_sectors: int
    files: int
    file_bytes: int
    metadata_blocks: int
    mke2fs: str
    content_hash: str
    blocks_sha256: str


@dataclass(frozen=True)
class Image:
    """A finished image in the cache."""

    folder: Path
    facts: Facts

    @property
    def blocks(self) -> Path:
        """Return the path of `blocks.bin`, the input of guest/restore.c."""
        return self.folder / "blocks.bin"


def places(virtual_bytes: int, count: int) -> list[tuple[int, int]]:
    """Return the first sector and the length in sectors of each of `count` partitions, in order.

    Raises UserError if the disk is too large for the partition table.
    """
    room = virtual_bytes // ALIGNMENT_BYTES - 1
    each = room // count * ALIGNMENT_BYTES // SECTOR_BYTES
    if virtual_bytes // SECTOR_BYTES > SECTORS_MAX:
        raise UserError(
            f"--virtual-size: {virtual_bytes} bytes: a partition table allows at most "
            f"{SECTORS_MAX * SECTOR_BYTES}"
        )
    return [(ALIGNMENT_BYTES // SECTOR_BYTES + index * each, each) for index in range(count)]


def build(virtual_bytes: int, partitioning: Partitioning, report: Report) -> Image:
    """Find the image for a disk of `virtual_bytes` in the cache, or build it."""
    placed = places(virtual_bytes, partitioning.count)
    inputs = f"{virtual_bytes} {partitioning} {image.mke2fs_version()}".encode()
    sources = [programs.content(image.MKFILES).encode(), OWN_SOURCE, image.OWN_SOURCE]
    name = digest([inputs, *sources])
    folder = cached_folder(
        f"images/{name}", lambda scratch: _build_into(scratch, name, placed, partitioning, report)
    )
    return Image(folder, Facts(**json.loads((folder / "facts.json").read_text())))


def _build_into(
    folder: Path,
    name: str,
    placed: list[tuple[int, int]],
    partitioning: Partitioning,
    report: Report,
) -> None:
    work = folder / "work"
    work.mkdir()
    sectors = placed[0][1]
    raw, layout = _make_raw(work, sectors, partitioning.files, report)
    one = work / "blocks.bin"
    image.write_blocks(raw, one, layout)
    blocks = folder / "blocks.bin"
    count = _write_blocks(one, blocks, placed)
    facts = Facts(
        image_bytes=_image_bytes(placed),
        partitions=len(placed),
        partition_sectors=sectors,
        files=len(partitioning.files),
        file_bytes=sum(size for _, size in partitioning.files),
        metadata_blocks=count,
        mke2fs=image.mke2fs_version(),
        content_hash=name,
        blocks_sha256=hashlib.sha256(blocks.read_bytes()).hexdigest(),
    )
    (folder / "facts.json").write_text(json.dumps(asdict(facts), indent=1) + "\n")
    shutil.rmtree(work)
    report("file system: done", 1.0)


def _make_raw(
    work: Path, sectors: int, files: tuple[tuple[str, int], ...], report: Report
) -> tuple[Path, image.Layout]:
    """Make one partition's file system, a sparse file in `work`.

    Return its path and the locations of its files.
    """
    raw = work / "partition.img"
    report("file system: mke2fs", 0.0)
    bytes_ = sectors * SECTOR_BYTES
    inodes = bytes_ // BYTES_PER_INODE
    image.make_file_system(work, raw, bytes_ // BLOCK_BYTES, SEED, inodes, JOURNAL_MB)
    script = work / "script"
    lines = _script(files)
    script.write_text("".join(f"{line}\n" for line in lines))
    image.place_files(raw, script, work / "places", len(lines), report)
    return raw, image.read_places(work / "places", len(files))


def _script(files: tuple[tuple[str, int], ...]) -> list[str]:
    folders = sorted({path.rpartition("/")[0] for path, _ in files} - {""})
    creations = [f"f {path} {size}" for path, size in files]
    queries = [f"l {path}" for path, _ in files]
    return [*(f"d {folder}" for folder in folders), *creations, *queries, "end"]


def _image_bytes(placed: list[tuple[int, int]]) -> int:
    first, sectors = placed[-1]
    return (first + sectors) * SECTOR_BYTES


def _table(placed: list[tuple[int, int]]) -> bytes:
    """Return the disk's first block, without boot code and with an entry for each partition."""
    entries = b"".join(
        ENTRY.pack(0, BEYOND_CYLINDERS, LINUX, BEYOND_CYLINDERS, first, sectors)
        for first, sectors in placed
    )
    sector = (bytes(ENTRIES_AT) + entries).ljust(SECTOR_BYTES - len(SIGNATURE), b"\0") + SIGNATURE
    return sector.ljust(BLOCK_BYTES, b"\0")


def _write_blocks(one: Path, target: Path, placed: list[tuple[int, int]]) -> int:
    """Write the partition table, and the same blocks for each partition.

    Return the number of blocks written.
    """
    content = one.read_bytes()
    _, _, count = BLOCKS_HEADER.unpack_from(content)
    numbers = np.frombuffer(content, "<u8", count, BLOCKS_HEADER.size)
    bodies = content[BLOCKS_HEADER.size + numbers.nbytes :]
    starts = [first * SECTOR_BYTES // BLOCK_BYTES for first, _ in placed]
    index = [np.zeros(1, np.uint64), *(numbers + np.uint64(start) for start in starts)]
    total = 1 + len(numbers) * len(placed)
    header = BLOCKS_HEADER.pack(BLOCKS_MAGIC, _image_bytes(placed), total)
    with target.open("wb") as out:
        out.write(header + np.concatenate(index).astype("<u8").tobytes() + _table(placed))
        for _ in placed:
            out.write(bodies)
    return total
