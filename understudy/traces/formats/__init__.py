# SPDX-License-Identifier: MIT
"""The formats of traces: one module in this folder each, told by content and not by name.

A format has `NAME` for people, `recognises`, which looks at how a file begins, and `read`, which
makes tables of it, piece by piece, with the columns of requests.parquet that it has, or raises
ValueError.  What it does not take it counts, and where a file breaks off it says so: nothing is
dropped in silence.
"""

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from typing import BinaryIO, Protocol, cast

from understudy.traces.compressed import damage, unpacked
from understudy.traces.reading import Reading

HEAD_BYTES = 4096
TAR, TAR_AT = b"ustar", 257


class Format(Protocol):
    """What a module here offers."""

    NAME: str

    def recognises(self, head: bytes) -> bool:
        """Does a file of this format begin like that?"""

    def read(self, file: BinaryIO) -> Iterator[Reading]:
        """The whole file, from its beginning, and those beside it that are parts of the trace."""


FORMATS = [
    cast(Format, import_module(f"{__name__}.{entry.name}"))
    for entry in sorted(pkgutil.iter_modules(__path__), key=lambda entry: entry.name)
]


def read(file: BinaryIO) -> Iterator[Reading]:
    """What is in a file of any format, packed or not; ValueError says what is wrong with it.

    If several pieces say where it breaks off, the last one does.
    """
    head = unpacked(file).read(HEAD_BYTES)
    content = unpacked(file)
    for one in FORMATS:
        if one.recognises(head):
            yield from _read(one, content)
            return
    if not head:
        content.read(1)
        raise ValueError(damage(content) or "is empty")
    if head[TAR_AT:].startswith(TAR):
        raise ValueError("is a tar archive; unpack it with tar, and name a file in it")
    names = ", ".join(one.NAME for one in FORMATS)
    raise ValueError(f"is in no format of a trace (docs/traces.md); known are: {names}")


def _read(one: Format, content: BinaryIO) -> Iterator[Reading]:
    """If it can't be read for its damage, that is the reason."""
    try:
        yield from one.read(content)
    except ValueError as error:
        raise ValueError(damage(content) or str(error)) from None
    yield Reading(broken=damage(content))
