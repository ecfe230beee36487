# SPDX-License-Identifier: MIT
"""Numbers in a driver's module that may be its ioctl requests, for the hostile exercise
(guest/hostile.c).

A compiled driver compares a request with constants, which are in its code or in tables of its data.
So each four bytes there are a number that may be a request, if it has the form of one (_IOC of
linux/ioctl.h).  A number that is no request does no harm: the driver refuses it.
"""

import struct
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, islice

from understudy_devices.base.elf import sections

SECTIONS = (".text", ".rodata", ".data")
"""Beginnings of the names of the sections that are searched."""
MOST = 4096
CONSIDERED = 1 << 20
"""Numbers of a module that are looked at, which may repeat."""
SIZE_MOST = 1024
"""Most bytes of a request's argument."""
NEIGHBOURS = 8
"""Requests after a constant that are tried too: a compiler turns a dense switch into a jump table,
with one constant."""


def candidates(module: bytes) -> list[int]:
    """Return the numbers in a module that may be requests, in the order of their places; none if
    the module is no ELF file, which the kernel refuses."""
    with suppress(ValueError):
        found = dict.fromkeys(islice(_numbers(module), CONSIDERED))
        near = (first + step for step in range(NEIGHBOURS) for first in found)
        return [*islice(dict.fromkeys(chain(found, near)), MOST)]
    return []


def _numbers(module: bytes) -> Iterator[int]:
    for name, content in sections(module):
        for at in range(len(content) - 3) if name.startswith(SECTIONS) else ():
            number = int.from_bytes(content[at : at + 4], "little")
            yield from filter(_may_be_request, (number, -number & 0xFFFFFFFF))


def packed(numbers: list[int]) -> bytes:
    """Return the file of numbers that guest/hostile reads."""
    return struct.pack(f"<{len(numbers)}I", *(number & 0xFFFFFFFF for number in numbers))


def _may_be_request(value: int) -> bool:
    """Return whether a number has the form of a request: a direction and a size, or neither."""
    way, size = value >> 30, value >> 16 & 0x3FFF
    return size <= SIZE_MOST if way and size else value < 1 << 16
