# SPDX-License-Identifier: MIT
"""Join the pieces that a reader of traces yields."""

from collections import Counter
from collections.abc import Iterable

import polars as pl

from understudy_devices.traces.reading import Reading


def joined(pieces: Iterable[Reading]) -> Reading:
    """Return all rows, all counts of what was left out, and the last error.

    Times are relative to the first arrival if the format has no absolute time.
    """
    all_pieces = list(pieces)
    frames = [piece.frame for piece in all_pieces if piece.frame.width]
    left_out: Counter[str] = sum((Counter(piece.left_out) for piece in all_pieces), Counter())
    broken = [piece.broken for piece in all_pieces if piece.broken]
    filled = [frame for frame in frames if frame.height] or frames[:1]
    frame = pl.concat(filled) if filled else pl.DataFrame()
    if any(piece.relative for piece in all_pieces):
        times = pl.col("^(arrival|completion)_ns$")
        frame = frame.with_columns(times - pl.col("arrival_ns").min())
    return Reading(frame, dict(left_out), broken[-1] if broken else None)
