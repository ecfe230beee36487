# SPDX-License-Identifier: MIT
"""Build, on the host, the file system that the SURGE processes read (PERFORM 2010 section 5).

Files are created as in the papers: fill the disk, erase half of the files at random, and then add
as many new files, with other sizes.  Files have blocks on the disk but no data, so an image
consists of metadata: the 4 KiB blocks that are not zero (`blocks.bin`, which guest/restore.c writes
to an empty disk) and the location of every file (`layout.npz`).  An image depends only on its size,
its seed, the source code and the versions of mke2fs and NumPy, and is built once.

Sizes are sampled from lognormal(9.357, 1.318) below 133 kB and from Pareto(1.1, 133 kB) above 133
kB; the largest size is 100 MB.  The papers do not give the share of large files.  Here a Pareto
sample replaces each lognormal sample above 133 kB, which makes the density continuous
(docs/method.md).  This project also limits a file to a sixteenth of the disk, which matters on
disks below 1.6 GB.
"""

import hashlib
import json
import math
import os
import shutil
import struct
import subprocess
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

from understudy_devices.base import programs
from understudy_devices.base.cache import cached_folder, digest
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.base.paths import INSTALLED, ROOT
from understudy_devices.base.programs import Program, compiled
from understudy_devices.base.progress import Report

Ints = npt.NDArray[np.int64]

OWN_SOURCE = Path(__file__).read_bytes()  # as it was imported, even if the file changes later
BLOCK_BYTES = 4096
PAPER_FILES = 1_000_000
PAPER_DISK_BYTES = 73_400_000_000
IMAGE_SEED = 1  # seed of the file system that both platforms read
FILES_MIN = 100
FILES_MAX = 10_000_000
DISK_BYTES_MIN = 16 * 2**20
JOURNAL_MB = 4

LOG_MEAN = 9.357
LOG_SIGMA = 1.318
LARGE_BYTES = 133_000
LARGE_ALPHA = 1.1
CUT_BYTES = 100_000_000
CUT_SHARE = 1 / 16

# The same values as in guest/file_path.h.
FILES_PER_LEAF = 100
LEAVES_PER_TOP = 100

# Any fixed time is suitable; this one is in the month in which the paper appeared.
BIRTH_SECONDS = 1_275_350_400
FEATURES = (
    "none,has_journal,ext_attr,resize_inode,dir_index,filetype,extent,64bit,flex_bg,"
    "sparse_super,large_file,huge_file,dir_nlink,extra_isize,metadata_csum"
)
# This configuration file keeps mke2fs from reading the machine's defaults.
MKE2FS_CONF = """[defaults]
\tblocksize = 4096
\tinode_size = 256
\tenable_periodic_fsck = 0
[fs_types]
\text4 = {
\t}
"""
BLOCKS_MAGIC = b"USBLOCK1"
BLOCKS_HEADER = struct.Struct("<8sQQ")
SCAN_BYTES = 16 * 2**20

MKFILES = Program(
    "mkfiles",
    ("host/image/mkfiles.c",),
    flags=(),
    libraries=("-lext2fs", "-lcom_err"),
    package="gcc libc6-dev libext2fs-dev",
)


@dataclass(frozen=True)
class Layout:
    """The locations of files.

    File `i` has the extents from index `first[i]` up to, but not including, index `first[i + 1]`,
    in the order of the file's data.  An extent's `start` (from the start of the disk) and `length`
    are in blocks of 4 KiB.
    """

    inode: Ints
    size: Ints
    first: Ints
    start: Ints
    length: Ints

    def save(self, path: Path) -> None:
        """Write all arrays into one file."""
        np.savez(path, **vars(self))

    @staticmethod
    def load(path: Path) -> "Layout":
        """Read a file that `save` wrote."""
        with np.load(path, allow_pickle=False) as arrays:
            return Layout(**{name: arrays[name] for name in arrays.files})


@dataclass(frozen=True)
class Facts:
    """Facts about the image for result.json.

    `content_hash` is a digest of the inputs.  `blocks_sha256` is a digest of the blocks: if it is
    equal in the results of two machines, both had the same file system.
    """

    image_bytes: int
    seed: int
    files: int
    file_bytes: int
    data_blocks: int
    used_share: float
    fragmented_share: float
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

    @property
    def layout(self) -> Layout:
        """Return the location of every file."""
        return Layout.load(self.folder / "layout.npz")

    def files(self) -> list[tuple[str, int]]:
        """Return the path and the size in bytes of every file, by index."""
        sizes = self.layout.size.tolist()
        return [(file_path(index, len(sizes)), size) for index, size in enumerate(sizes)]


def build(virtual_bytes: int, report: Report, seed: int = IMAGE_SEED) -> Image:
    """Find the image for a disk of `virtual_bytes` in the cache, or build it."""
    file_count(virtual_bytes)  # refuse a wrong size before any work
    ready = ROOT / "images" / f"{virtual_bytes}-{seed}"
    if INSTALLED and ready.is_dir():
        return _image(ready)
    name = _content(virtual_bytes, seed)
    folder = cached_folder(
        f"images/{name}",
        lambda scratch: _build_into(scratch, name, virtual_bytes, seed, report),
    )
    return _image(folder)


def _image(folder: Path) -> Image:
    return Image(folder, Facts(**json.loads((folder / "facts.json").read_text())))


def file_count(virtual_bytes: int) -> int:
    """Return the number of files, proportional to the disk's size as in the papers.

    Refuse a size for which no image can be built.
    """
    count = max(FILES_MIN, round(PAPER_FILES * virtual_bytes / PAPER_DISK_BYTES))
    if virtual_bytes < DISK_BYTES_MIN or count > FILES_MAX:
        high = int(FILES_MAX / PAPER_FILES * PAPER_DISK_BYTES)
        raise UserError(
            f"a file system on {virtual_bytes} bytes: SURGE needs {DISK_BYTES_MIN} to {high}"
        )
    return count


def file_path(index: int, files: int) -> str:
    """Return the path of a file; guest/file_path.h explains its form."""
    leaf = index % leaf_count(files)
    return f"{leaf_path(leaf)}/f{index:07d}"


def leaf_count(files: int) -> int:
    """Return the number of directories that hold files."""
    return (files - 1) // FILES_PER_LEAF + 1


def leaf_path(leaf: int) -> str:
    """Return the path of a directory that holds files."""
    return f"d{leaf // LEAVES_PER_TOP:02d}/d{leaf % LEAVES_PER_TOP:02d}"


def draw_sizes(generator: np.random.Generator, count: int, virtual_bytes: int) -> Ints:
    """Sample the sizes of `count` files, in bytes."""
    sizes = generator.lognormal(LOG_MEAN, LOG_SIGMA, count)
    large = LARGE_BYTES * (1 + generator.pareto(LARGE_ALPHA, count))
    sizes = np.where(sizes < LARGE_BYTES, sizes, large)
    cut = min(CUT_BYTES, int(virtual_bytes * CUT_SHARE))
    return np.clip(np.floor(sizes), 1, cut).astype(np.int64)


# Building.


def _content(virtual_bytes: int, seed: int) -> str:
    inputs = f"{virtual_bytes} {seed} {mke2fs_version()} {np.__version__}".encode()
    return digest([inputs, programs.content(MKFILES).encode(), OWN_SOURCE])


def _build_into(folder: Path, name: str, virtual_bytes: int, seed: int, report: Report) -> None:
    work = folder / "work"
    work.mkdir()
    raw, layout = make_raw(work, virtual_bytes, seed, report)
    report("file system: keeping its metadata", 0.9)
    blocks = folder / "blocks.bin"
    write_blocks(raw, blocks, layout)
    layout.save(folder / "layout.npz")
    facts = _facts(raw.stat().st_size, seed, layout, blocks, name)
    (folder / "facts.json").write_text(json.dumps(asdict(facts), indent=1) + "\n")
    shutil.rmtree(work)
    report("file system: done", 1.0)


def _facts(image_bytes: int, seed: int, layout: Layout, blocks: Path, name: str) -> Facts:
    data_blocks = int(layout.length.sum())
    extents = np.diff(layout.first)
    with blocks.open("rb") as content:
        metadata_blocks = BLOCKS_HEADER.unpack(content.read(BLOCKS_HEADER.size))[2]
        content.seek(0)
        sha256 = hashlib.file_digest(content, "sha256").hexdigest()
    return Facts(
        image_bytes=image_bytes,
        seed=seed,
        files=len(layout.size),
        file_bytes=int(layout.size.sum()),
        data_blocks=data_blocks,
        used_share=round(data_blocks * BLOCK_BYTES / image_bytes, 4),
        fragmented_share=round(float((extents > 1).mean()), 4),
        metadata_blocks=metadata_blocks,
        mke2fs=mke2fs_version(),
        content_hash=name,
        blocks_sha256=sha256,
    )


def make_raw(work: Path, virtual_bytes: int, seed: int, report: Report) -> tuple[Path, Layout]:
    """Make the whole image, a sparse file in `work`; return its path and its files' locations."""
    count = file_count(virtual_bytes)
    raw = work / "disk.img"
    report("file system: mke2fs", 0.0)
    make_file_system(work, raw, virtual_bytes // BLOCK_BYTES, seed, _inodes(count))
    script = work / "script"
    with script.open("w", encoding="ascii") as out:
        lines = _write_script(out, virtual_bytes, seed, count)
    place_files(raw, script, work / "places", lines, report)
    return raw, read_places(work / "places", count)


def _tool(name: str) -> str:
    """Return the path of an e2fsprogs tool, even if PATH lacks the tools' folder."""
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if not path:
        raise UserError(f"no {name} here: apt-get install e2fsprogs")
    return path


@cache
def mke2fs_version() -> str:
    """Return the line in which mke2fs prints its version and date."""
    done = subprocess.run([_tool("mke2fs"), "-V"], capture_output=True, text=True, check=False)
    return done.stderr.partition("\n")[0].strip()


def make_file_system(
    work: Path, raw: Path, blocks: int, seed: int, inodes: int, journal_mb: int = JOURNAL_MB
) -> None:
    """Make an empty file system in `raw`, a sparse file; equal arguments produce equal bytes.

    A journal of 0 MB means no journal.
    """
    conf = work / "mke2fs.conf"
    conf.write_text(MKE2FS_CONF)
    with raw.open("wb") as image:
        image.truncate(blocks * BLOCK_BYTES)
    identity = uuid.uuid5(uuid.NAMESPACE_OID, f"understudy {blocks} {seed}")
    hash_seed = uuid.uuid5(identity, "directories")
    extended = f"lazy_itable_init=0,lazy_journal_init=1,nodiscard,hash_seed={hash_seed}"
    features = FEATURES if journal_mb else FEATURES.replace("has_journal,", "")
    command = [_tool("mke2fs"), "-q", "-F", "-t", "ext4", "-O", features]
    command += ["-b", str(BLOCK_BYTES), "-I", "256", "-N", str(inodes)]
    command += ["-J", f"size={journal_mb}"] * bool(journal_mb)
    command += ["-U", str(identity), "-E", extended]
    environment = os.environ | {
        "E2FSPROGS_FAKE_TIME": str(BIRTH_SECONDS),
        "MKE2FS_CONFIG": str(conf),
        "LC_ALL": "C",
    }
    done = subprocess.run(
        [*command, str(raw)], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RunFailed(f"mke2fs failed ({done.returncode}): {_last_line(done.stderr)}")


def _inodes(count: int) -> int:
    return math.ceil(count * 1.1) + leaf_count(count) + 64


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else "it gave no reason"


def _write_script(out: IO[str], virtual_bytes: int, seed: int, count: int) -> int:
    """Write the script for mkfiles: fill the disk, erase half of the files at random, fill the disk
    again, and report every file's location.

    Return the number of its lines.
    """
    generator = np.random.Generator(np.random.PCG64(seed))
    paths = [file_path(index, count) for index in range(count)]
    sizes = draw_sizes(generator, count, virtual_bytes)
    erased = generator.permutation(count)[: count // 2]
    again = draw_sizes(generator, len(erased), virtual_bytes)
    _check_fit(sizes, virtual_bytes, seed, count)
    lines = 0
    for line in _script(paths, sizes.tolist(), erased.tolist(), again.tolist()):
        out.write(line)
        lines += 1
    sizes[erased] = again
    _check_fit(sizes, virtual_bytes, seed, count)
    return lines


def _script(
    paths: list[str], sizes: list[int], erased: list[int], again: list[int]
) -> Iterator[str]:
    leaves = leaf_count(len(paths))
    for top in range((leaves - 1) // LEAVES_PER_TOP + 1):
        yield f"d d{top:02d}\n"
    for leaf in range(leaves):
        yield f"d {leaf_path(leaf)}\n"
    for path, size in zip(paths, sizes, strict=True):
        yield f"f {path} {size}\n"
    for index in erased:
        yield f"e {paths[index]}\n"
    for index, size in zip(erased, again, strict=True):
        yield f"f {paths[index]} {size}\n"
    for path in paths:
        yield f"l {path}\n"
    yield "end\n"


def _check_fit(sizes: Ints, virtual_bytes: int, seed: int, count: int) -> None:
    """Refuse sizes that do not fit on the disk.

    On a small disk this can happen, since the distribution of sizes has a heavy tail.
    """
    data = int((-(-sizes // BLOCK_BYTES)).sum()) * BLOCK_BYTES
    overhead = _inodes(count) * 256 + JOURNAL_MB * 2**20 + leaf_count(count) * BLOCK_BYTES
    room = int(virtual_bytes * 0.98) - overhead - 2 * 2**20
    if data > room:
        raise UserError(
            f"seed {seed} draws files of {data} bytes for {room} bytes of room: "
            "take another --virtual-size"
        )


def place_files(raw: Path, script: Path, places: Path, lines: int, report: Report) -> None:
    """Run host/image/mkfiles.c with a script of `lines` lines; it writes the files' locations."""
    program = compiled(MKFILES)
    command = [str(program), "--progress", str(raw)]
    with (
        script.open("rb") as stdin,
        places.open("wb") as stdout,
        subprocess.Popen(
            command, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, text=True
        ) as process,
    ):
        try:
            message = _follow(process.stderr or [], lines, report)
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        raise RunFailed(message or f"mkfiles ended with {process.returncode}")


def _follow(stderr: Iterable[str], lines: int, report: Report) -> str:
    """Report progress from the lines on stderr; return the last line that is not about progress."""
    message = ""
    for line in stderr:
        word, _, done = line.partition(" ")
        if word == "progress":
            report("file system: placing files", 0.05 + 0.8 * int(done) / lines)
        else:
            message = line.strip()
    return message


def read_places(path: Path, count: int) -> Layout:
    inode, size, first, start, length = [], [], [0], [], []
    words: list[str] = []
    with path.open(encoding="ascii") as lines:
        for line in lines:
            words = line.split()
            if words[0] == "done":
                break
            numbers = [int(word) for word in words]
            inode.append(numbers[0])
            size.append(numbers[1])
            start += numbers[3::2]
            length += numbers[4::2]
            first.append(len(start))
    if len(inode) != count or words[:2] != ["done", str(count)]:
        raise RunFailed(f"mkfiles placed {len(inode)} files instead of {count}")
    arrays = (np.array(column, np.int64) for column in (inode, size, first, start, length))
    return Layout(*arrays)


# The compact image.


def write_blocks(raw: Path, target: Path, layout: Layout) -> None:
    """Write the blocks that are not zero and hold no file's data."""
    image_bytes = raw.stat().st_size
    is_data = _data_map(layout, image_bytes // BLOCK_BYTES)
    numbers: list[Ints] = []
    bodies = target.with_suffix(".bodies")
    with raw.open("rb") as image, bodies.open("wb") as out:
        for at, chunk in _written_chunks(image):
            indexes, content = _keep(at // BLOCK_BYTES, chunk, is_data)
            numbers.append(indexes)
            out.write(content)
    index = np.concatenate(numbers).astype("<u8")
    header = BLOCKS_HEADER.pack(BLOCKS_MAGIC, image_bytes, len(index))
    with target.open("wb") as out, bodies.open("rb") as body:
        out.write(header + index.tobytes())
        shutil.copyfileobj(body, out)
    bodies.unlink()


def _data_map(layout: Layout, blocks: int) -> npt.NDArray[np.bool_]:
    """Return, for each block, whether it belongs to a file.

    A file's block may still hold metadata of an erased file.
    """
    steps = np.zeros(blocks + 1, np.int8)
    np.add.at(steps, layout.start, 1)
    np.add.at(steps, layout.start + layout.length, -1)
    return np.cumsum(steps[:-1], dtype=np.int8).astype(np.bool_)


def _keep(first: int, chunk: bytes, is_data: npt.NDArray[np.bool_]) -> tuple[Ints, bytes]:
    words = np.frombuffer(chunk, np.uint64).reshape(-1, BLOCK_BYTES // 8)
    mask = words.any(axis=1) & ~is_data[first : first + len(words)]
    return first + np.flatnonzero(mask), words[mask].tobytes()


def _written_chunks(image: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield the parts of a sparse file that were written, in whole blocks."""
    descriptor, at = image.fileno(), 0
    size = os.fstat(descriptor).st_size
    while at < size:
        try:
            start = os.lseek(descriptor, at, os.SEEK_DATA) // BLOCK_BYTES * BLOCK_BYTES
        except OSError:  # ENXIO: the remaining file is one hole
            return
        end = -(-os.lseek(descriptor, start, os.SEEK_HOLE) // BLOCK_BYTES) * BLOCK_BYTES
        for at in range(start, end, SCAN_BYTES):
            chunk = os.pread(descriptor, min(SCAN_BYTES, end - at), at)
            yield at, chunk
        at = end
