# SPDX-License-Identifier: MIT
"""Comma-separated values with a line of names, those of requests.parquet (docs/method.md)."""

from typing import BinaryIO

import polars as pl

from understudy.traces.compressed import whole
from understudy.traces.reading import Reading
from understudy.traces.text import first_line

NAME = "CSV with our columns"
OURS = {b"arrival_ns", b"sector", b"sectors"}


def recognises(head: bytes) -> bool:
    """A first line of names, one of them a column of ours."""
    names = first_line(head).replace(b'"', b"").split(b",")
    return len(names) > 1 and any(name.strip() in OURS for name in names)


def read(file: BinaryIO) -> Reading:
    """The whole file."""
    try:
        return Reading(pl.read_csv(whole(file)))
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"damaged CSV: {str(error).splitlines()[0]}") from None
