# SPDX-License-Identifier: MIT
"""Parquet, as run folders hold it."""

from collections.abc import Iterator
from itertools import count
from typing import BinaryIO

import polars as pl

from understudy.traces.compression import whole
from understudy.traces.reading import Reading

NAME = "Parquet"
MAGIC = b"PAR1"
PIECE_ROWS = 2**18


def recognises(head: bytes) -> bool:
    """Whether the magic number says so."""
    return head.startswith(MAGIC)


def read(file: BinaryIO) -> Iterator[Reading]:
    """The whole file."""
    with whole(file) as content:
        for begin in count(0, PIECE_ROWS):
            frame = _piece(content, begin)
            yield Reading(frame)
            if frame.height < PIECE_ROWS:
                return


def _piece(content: BinaryIO, begin: int) -> pl.DataFrame:
    try:
        return pl.scan_parquet(content).slice(begin, PIECE_ROWS).collect()
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"damaged {NAME}: {str(error).splitlines()[0]}") from None
