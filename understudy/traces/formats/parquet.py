# SPDX-License-Identifier: MIT
"""Parquet, as run folders hold it."""

from typing import BinaryIO

import polars as pl

NAME = "Parquet"
MAGIC = b"PAR1"


def recognises(head: bytes) -> bool:
    """It says so itself."""
    return head.startswith(MAGIC)


def read(file: BinaryIO) -> pl.DataFrame:
    """The whole file."""
    try:
        return pl.read_parquet(file)
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"damaged {NAME}: {str(error).splitlines()[0]}") from None
