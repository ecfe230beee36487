# SPDX-License-Identifier: MIT
"""The formats of traces: one module in this folder each, told by content and not by name.

A format has `NAME` for people, `recognises`, which looks at how a file begins, and `read`, which
makes a table of it with the columns of requests.parquet that it has, or raises ValueError.
What it does not take it counts, and where a file breaks off it says so: nothing is dropped in
silence.
"""

import pkgutil
from importlib import import_module
from typing import BinaryIO, Protocol, cast

from understudy.traces.reading import Reading

HEAD_BYTES = 4096


class Format(Protocol):
    """What a module here offers."""

    NAME: str

    def recognises(self, head: bytes) -> bool:
        """Does a file of this format begin like that?"""

    def read(self, file: BinaryIO) -> Reading:
        """The whole file, from its beginning, and those beside it that are parts of the trace."""


FORMATS = [
    cast(Format, import_module(f"{__name__}.{entry.name}"))
    for entry in sorted(pkgutil.iter_modules(__path__), key=lambda entry: entry.name)
]


def read(file: BinaryIO) -> Reading:
    """What is in a file of any format; ValueError says what is wrong with it."""
    head = file.read(HEAD_BYTES)
    file.seek(0)
    for one in FORMATS:
        if one.recognises(head):
            return one.read(file)
    names = " nor ".join(one.NAME for one in FORMATS)
    raise ValueError(f"neither {names}")
