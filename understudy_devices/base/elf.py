# SPDX-License-Identifier: MIT
"""The sections of an x86-64 ELF file, such as a kernel module."""

import struct
from collections.abc import Iterator

HEADER = struct.Struct("<4sBBBB8sHHIQQQIHHHHHH")
SECTION = struct.Struct("<IIQQQQIIQQ")
NO_BITS = 8
"""The kind of a section that has no content in the file."""
SECTIONS_MOST = 4096
NAME_MOST = 256
SHARED_MOST = 4
"""All sections together may be so many times as long as the file; a right one's do not overlap."""
MAGIC, CLASS_64, LITTLE_ENDIAN, X86_64 = b"\x7fELF", 2, 1, 62


def sections(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of a file's sections; ValueError if it is not such a file."""
    try:
        yield from _sections(content)
    except (struct.error, IndexError, OverflowError) as error:
        raise ValueError("a cut-off ELF file") from error


def _sections(content: bytes) -> Iterator[tuple[str, bytes]]:
    header = HEADER.unpack_from(content)
    if (*header[:3], header[7]) != (MAGIC, CLASS_64, LITTLE_ENDIAN, X86_64):
        raise ValueError("not an ELF file for x86-64")
    start, size, count, names_at = header[11], *header[16:19]
    if count > SECTIONS_MOST:
        raise ValueError(f"an ELF file with more than {SECTIONS_MOST} sections")
    table = [SECTION.unpack_from(content, start + size * index) for index in range(count)]
    names, left = table[names_at][4], SHARED_MOST * len(content)
    for name, kind, _, _, at, length, *_ in table:
        text = content[names + name : names + name + NAME_MOST].partition(b"\0")[0]
        if kind != NO_BITS:
            part = content[at : at + length]
            left -= len(part)
            if left < 0:
                raise ValueError("an ELF file whose sections overlap")
            yield text.decode(errors="replace"), part
