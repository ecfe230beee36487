# SPDX-License-Identifier: MIT
"""The formats of traces: a module each in this folder.  A file's content determines its format.

A module has `NAME`, the format's name for people; `recognises`, which checks a file's beginning;
and `read`, which yields tables with the columns of requests.parquet, or raises ValueError.
`read` counts the records that it leaves out, and reports where a file breaks off.

If a file may have requests of several disks, each with its own sectors from 0, the tables have a
column `volume`, or the module has `OWNERS_ARE_VOLUMES`, which is true.
"""

import pkgutil
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from typing import BinaryIO, Protocol, cast

import polars as pl

from understudy_devices.traces.compression import damage, unpacked
from understudy_devices.traces.reading import Reading

HEAD_BYTES = 4096
TAR, TAR_AT = b"ustar", 257


class Format(Protocol):
    """The interface of a module in this folder."""

    NAME: str

    def recognises(self, head: bytes) -> bool:
        """Return whether a file of this format may begin with these bytes."""

    def read(self, file: BinaryIO) -> Iterator[Reading]:
        """Read the whole file, and files in the same folder that belong to the trace."""


FORMATS = [
    cast(Format, import_module(f"{__name__}.{entry.name}"))
    for entry in sorted(pkgutil.iter_modules(__path__), key=lambda entry: entry.name)
]


def read(file: BinaryIO) -> Iterator[Reading]:
    """Read a file of any format, compressed or not; ValueError if it can't be read.

    If several blocks of rows report where the file breaks off, the last report counts.
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
    """Read a file of this format; if the compressed file is damaged, an error has the damage as
    its reason."""
    try:
        for piece in one.read(content):
            yield _with_volumes(piece) if getattr(one, "OWNERS_ARE_VOLUMES", False) else piece
    except ValueError as error:
        raise ValueError(damage(content) or str(error)) from None
    yield Reading(broken=damage(content))


def _with_volumes(piece: Reading) -> Reading:
    if not piece.frame.height:
        return piece
    return replace(piece, frame=piece.frame.with_columns(volume=pl.col("owner").cast(pl.String)))
