# SPDX-License-Identifier: MIT
"""fs-verity: the kernel itself checks each page of a file, and lets nobody write to the file.

ext4, f2fs and btrfs have it, if the kernel and the file system were made with it.
"""

import ctypes
import errno
import fcntl
import os
import struct
from pathlib import Path

ENABLE = 0x4080_6685
MEASURE = 0xC004_6686
SHA256 = 1
BLOCK_BYTES = 4096
ARGUMENTS = struct.Struct("=IIIIQIIQ11Q")
DIGEST_BYTES_MAX = 64
UNABLE = {errno.EOPNOTSUPP, errno.ENOTTY, errno.ENOSYS, errno.EINVAL, errno.EPERM, errno.EACCES}


def enable(path: Path) -> bool:
    """Seal a file that nobody has open for writing; return whether its file system can do that."""
    arguments = bytearray(ARGUMENTS.pack(1, SHA256, BLOCK_BYTES, 0, 0, 0, 0, 0, *([0] * 11)))
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.ioctl(descriptor, ENABLE, arguments)
    except OSError as error:
        if error.errno in UNABLE:
            return False
        raise
    finally:
        os.close(descriptor)
    return True


def digest(path: Path) -> str | None:
    """Return the digest of a sealed file, which takes no time; None if it is not sealed."""
    buffer = ctypes.create_string_buffer(struct.pack("=HH", 0, DIGEST_BYTES_MAX), 4 + 64)
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.ioctl(descriptor, MEASURE, buffer)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    _, size = struct.unpack_from("=HH", buffer.raw)
    return buffer.raw[4 : 4 + size].hex()
