# SPDX-License-Identifier: MIT
"""Writes a folder as an ext4 file system into a raw image; equal folders give equal bytes."""

import os
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path

from understudy_devices.base.errors import UserError
from understudy_devices.lab import programs

NAMESPACE = uuid.UUID("7d1c2f5e-5a0e-4b51-9a2f-0c8f5f3b6a10")
TIMES = ("atime", "atime_extra", "ctime", "ctime_extra")
"""The times of an inode that mke2fs copies, and nobody can set."""
OWNERS = ("uid", "gid")
ROOT_INODE, FIRST_INODE = 2, 11
SPARE_INODES = 20
TOOLS = ("mke2fs", "debugfs")
BLOCK_BYTES = 4096
INODE_BYTES = 256
SPARE_BYTES = 16 * 2**20


def check(what: str) -> None:
    """Raise UserError if the tools are missing here; `what` needs them."""
    for name in TOOLS:
        if not programs.path(name):
            install = "apt-get install -y --no-install-recommends e2fsprogs"
            raise UserError(f"{what}: no {name} here: {install}")


def room(sizes: Iterable[int]) -> int:
    """Return the bytes of a file system with room for files and folders of these sizes; what is
    not used takes no room on a disk."""
    counted = list(sizes)
    blocks = sum(-(-size // BLOCK_BYTES) + 1 for size in counted)
    size = blocks * BLOCK_BYTES + len(counted) * INODE_BYTES
    return (size + size // 20 + SPARE_BYTES) // BLOCK_BYTES * BLOCK_BYTES


def write(
    root: Path, raw: Path, size: int, label: str, epoch: int, *, shared: bool = False
) -> None:
    """Write the new file `raw`, of so many bytes, with all that is in a folder.

    mke2fs copies the times at which a file was read and its inode changed; debugfs sets them to
    `epoch`, in seconds since 1970.  shared: for read-only use by several machines: everything
    belongs to root, and there is no journal.
    """
    identity = str(uuid.uuid5(NAMESPACE, str(epoch)))
    with raw.open("xb") as file:
        file.truncate(size)
    inodes = FIRST_INODE + sum(1 for _ in everything(root)) + SPARE_INODES
    options = f"hash_seed={identity},lazy_itable_init=0,lazy_journal_init=0"
    command = ["mke2fs", "-q", "-F", "-t", "ext4", "-L", label, "-U", identity]
    command += ["-b", str(BLOCK_BYTES), "-E", options]
    if shared:
        command += ["-m", "0", "-O", "^has_journal,^resize_inode", "-N", str(inodes)]
    programs.run([*command, "-d", str(root), str(raw)], epoch)
    script = raw.with_suffix(".debugfs")
    with script.open("w") as lines:
        for inode in (ROOT_INODE, *range(FIRST_INODE, inodes)):
            lines.writelines(f"sif <{inode}> {field} @{epoch}\n" for field in TIMES)
            if shared:
                lines.writelines(f"sif <{inode}> {field} 0\n" for field in OWNERS)
    programs.run(["debugfs", "-w", "-f", str(script), str(raw)], epoch)
    script.unlink()


def everything(root: Path) -> Iterator[Path]:
    """Yield everything below a folder and the folder, contents before their folder."""
    for place, folders, files in os.walk(root, topdown=False):
        for name in (*files, *folders):
            yield Path(place, name)
    yield root
