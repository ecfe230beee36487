# SPDX-License-Identifier: MIT
"""What a format makes of a file, piece by piece, and what it could not take."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

NO_TRANSFER = "neither read nor write"
NO_LENGTH = "of no length"
UNISSUED = "completed, but not seen to be issued"
UNCOMPLETED = "issued, but not seen to complete"
NO_REQUEST = "no request in it was both issued (D) and completed (C)"


@dataclass(frozen=True)
class Reading:
    """What a piece of a file holds: a row a request, in any order.

    left_out says how many records are not in the table, by why ("of no length");
    broken, where the file breaks off, in one line, None if it does not in this piece.
    relative: times count from one of the requests, so that those before it are negative.
    """

    frame: pl.DataFrame = field(default_factory=pl.DataFrame)
    left_out: Mapping[str, int] = field(default_factory=dict)
    broken: str | None = None
    relative: bool = False
