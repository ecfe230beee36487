# SPDX-License-Identifier: MIT
"""Comma-separated values below a line of column names, those of requests.parquet
(docs/method.md).
"""

from collections.abc import Iterator
from typing import BinaryIO

import polars as pl

from understudy_devices.traces.reading import Reading
from understudy_devices.traces.text import first_line, pieces

NAME = "CSV with our columns"
OURS = {b"arrival_ns", b"sector", b"sectors"}


def recognises(head: bytes) -> bool:
    """Return whether the first line has names, at least one of them a column of
    requests.parquet.
    """
    names = first_line(head).replace(b'"', b"").split(b",")
    return len(names) > 1 and any(name.strip() in OURS for name in names)


def read(file: BinaryIO) -> Iterator[Reading]:
    """Read the whole file; the first block of rows determines the types of the columns."""
    names, schema = b"", None
    for text in _records(file):
        try:
            frame = pl.read_csv(names + text, schema=schema)
        except pl.exceptions.PolarsError as error:
            raise ValueError(f"damaged CSV: {str(error).splitlines()[0]}") from None
        yield Reading(frame)
        if schema is None:
            names, schema = text.partition(b"\n")[0] + b"\n", frame.schema


def _records(file: BinaryIO) -> Iterator[bytes]:
    """Yield blocks of whole records; the first block has at least one record besides the names."""
    held = b""
    for text, _ in pieces(file):
        held += text
        if held.count(b'"') % 2 == 0 and held.count(b"\n") > 1:
            yield held
            held = b""
    if held:
        yield held
