# SPDX-License-Identifier: MIT
"""Parquet, as run folders hold it."""

from typing import BinaryIO

import polars as pl

from understudy.traces.compressed import whole
from understudy.traces.reading import Reading

NAME = "Parquet"
MAGIC = b"PAR1"


def recognises(head: bytes) -> bool:
    """It says so itself."""
    return head.startswith(MAGIC)


def read(file: BinaryIO) -> Reading:
    """The whole file."""
    try:
        return Reading(pl.read_parquet(whole(file)))
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"damaged {NAME}: {str(error).splitlines()[0]}") from None
