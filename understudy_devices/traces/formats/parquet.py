# SPDX-License-Identifier: MIT
"""Parquet, in the form of a run folder's requests.parquet."""

from collections.abc import Iterator
from itertools import count
from typing import BinaryIO

import polars as pl

from understudy_devices.traces.compression import whole
from understudy_devices.traces.reading import Reading

NAME = "Parquet"
MAGIC = b"PAR1"
PIECE_ROWS = 2**18


def recognises(head: bytes) -> bool:
    """Return whether the file begins with Parquet's magic number."""
    return head.startswith(MAGIC)


def read(file: BinaryIO) -> Iterator[Reading]:
    """Read the whole file."""
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
