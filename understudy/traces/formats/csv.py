# SPDX-License-Identifier: MIT
"""Comma-separated values with a line of names."""

from typing import BinaryIO

import polars as pl

from understudy.traces.reading import Reading

NAME = "CSV"


def recognises(head: bytes) -> bool:
    """Text with a comma in its first line, which begins with a name."""
    first = head.split(b"\n", 1)[0]
    return b"," in first and b"\0" not in head and not first.lstrip()[:1].isdigit()


def read(file: BinaryIO) -> Reading:
    """The whole file."""
    try:
        return Reading(pl.read_csv(file))
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"damaged {NAME}: {str(error).splitlines()[0]}") from None
