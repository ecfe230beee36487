# SPDX-License-Identifier: MIT
"""The formats of traces: a module each in this folder.  A file's content determines its format.

A module has `NAME`, the format's name for people; `recognises`, which checks a file's beginning;
and `read`, which yields tables with the columns of requests.parquet, or raises ValueError.
`read` counts the records that it leaves out, and reports where a file breaks off.

If a file may have requests of several disks, each with its own sectors from 0, the tables have a
column `volume`, or the module has `OWNERS_ARE_VOLUMES`, which is true.  If a file does not say
something that `read` assumes, the module has `ASSUMES`, a sentence for the user.  If files of
another kind may look alike, the module has `doubt`, which returns from a table why its file is
probably not of this format, or None; --format overrules it.
"""

import pkgutil
from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any, BinaryIO, Protocol, cast

import polars as pl

from understudy_devices.traces import described
from understudy_devices.traces.compression import damage, unpacked
from understudy_devices.traces.described import Columns
from understudy_devices.traces.form import Form
from understudy_devices.traces.reading import Reading
from understudy_devices.traces.text import BYTE_ORDER_MARK

HEAD_BYTES = 4096
ANY = Form()
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


def names() -> list[str]:
    """Return the names of all formats, for --format."""
    return [_name(one) for one in FORMATS]


def _name(one: Format) -> str:
    return getattr(one, "__name__", "").rpartition(".")[2]


def read(file: BinaryIO, form: Form = ANY) -> Iterator[Reading]:
    """Read a file of any format, compressed or not; ValueError if it can't be read.

    If several blocks of rows report where the file breaks off, the last report counts.
    """
    head = unpacked(file).read(HEAD_BYTES).removeprefix(BYTE_ORDER_MARK)
    content = unpacked(file)
    if form.columns is not None:
        yield from _whole(described.read(content, Columns.of(form.columns)), content)
        return
    for one in FORMATS:
        if form.format == _name(one) if form.format else one.recognises(head):
            yield from _read(one, content, sure=bool(form.format))
            return
    if not head:
        content.read(1)
        raise ValueError(damage(content) or "is empty")
    if head[TAR_AT:].startswith(TAR):
        raise ValueError("is a tar archive; unpack it with tar, and name a file in it")
    known = ", ".join(one.NAME for one in FORMATS)
    raise ValueError(
        f"is in no format of a trace (docs/traces.md); describe its columns, as --columns "
        f"time_s,op,lba,bytes,latency_us; known are: {known}"
    )


def _read(one: Format, content: BinaryIO, *, sure: bool) -> Iterator[Reading]:
    pieces = one.read(content)
    if not sure and hasattr(one, "doubt"):
        pieces = _undoubted(one, pieces)
    if getattr(one, "OWNERS_ARE_VOLUMES", False):
        pieces = map(_with_volumes, pieces)
    yield from _whole(pieces, content)
    yield Reading(assumed=getattr(one, "ASSUMES", None))


def _undoubted(one: Any, pieces: Iterator[Reading]) -> Iterator[Reading]:
    """Yield the pieces; ValueError if the first one with rows is in doubt."""
    first = True
    for piece in pieces:
        if first and piece.frame.height:
            first = False
            if reason := one.doubt(piece.frame):
                raise ValueError(
                    f"{reason}, or name the format (--format {_name(one)}) if they are sectors"
                )
        yield piece


def _whole(pieces: Iterable[Reading], content: BinaryIO) -> Iterator[Reading]:
    """Yield the pieces; if the compressed file is damaged, an error has the damage as its
    reason."""
    try:
        yield from pieces
    except ValueError as error:
        raise ValueError(damage(content) or str(error)) from None
    yield Reading(broken=damage(content))


def _with_volumes(piece: Reading) -> Reading:
    if not piece.frame.height:
        return piece
    return replace(piece, frame=piece.frame.with_columns(volume=pl.col("owner").cast(pl.String)))
