# SPDX-License-Identifier: MIT
"""ELF files that somebody has made to exhaust or confuse their reader."""

import pytest

from understudy_devices.base import elf
from understudy_devices.referee import requests

HEADER_BYTES = elf.HEADER.size


def made(
    sections: list[tuple[int, int]], at: int = HEADER_BYTES, count: int | None = None
) -> bytes:
    """Return a file with sections of these places and lengths; the first one has the names."""
    magic = (elf.MAGIC, elf.CLASS_64, elf.LITTLE_ENDIAN, 1, 0, bytes(7), 1, elf.X86_64, 1, 0, 0)
    size = elf.SECTION.size
    header = elf.HEADER.pack(
        *magic, at, 0, HEADER_BYTES, 0, 0, size, len(sections) if count is None else count, 0
    )
    table = [elf.SECTION.pack(0, 1, 0, 0, place, length, *[0] * 4) for place, length in sections]
    return header + b"".join(table) + bytes(100)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "cut-off"),
        (made([(0, 4)])[:100], "cut-off"),
        (made([(0, 4)], at=2**64 - 1), "cut-off"),
        (made([(0, 4)], count=65535), "more than 4096 sections"),
        (made([(0, 2**40)] * 9), "overlap"),
        (b"MZ" + bytes(200), "not an ELF file"),
    ],
)
def test_refused(content: bytes, words: str) -> None:
    """A file that is refused as a module has no requests."""
    with pytest.raises(ValueError, match=words):
        list(elf.sections(content))
    assert requests.candidates(content) == []


def test_a_right_file() -> None:
    content = made([(0, 4), (4, 12)])
    assert [part for _, part in elf.sections(content)] == [content[:4], content[4:16]]
