# SPDX-License-Identifier: MIT
"""What a user says about the form of a trace's file: --format NAME, or --columns NAME,..."""

from dataclasses import dataclass

from understudy_devices.base.errors import UserError

COLUMNS_HELP = (
    "The columns of a text with a request a line, such as time_s,op,lba,bytes,latency_us "
    "(docs/traces.md)."
)
FORMAT_HELP = "The trace's format, as a name of docs/traces.md [default: by content]."


@dataclass(frozen=True)
class Form:
    """The format's name, or the names of the columns; None if the content decides."""

    format: str | None = None
    columns: str | None = None

    def __post_init__(self) -> None:
        """Check both; UserError if they are wrong."""
        from understudy_devices.traces import formats  # imports Polars
        from understudy_devices.traces.described import Columns

        if self.format and self.columns:
            raise UserError("--format: not with --columns, which says it already")
        if self.columns is not None:
            Columns.of(self.columns)
        if self.format is not None and self.format not in formats.names():
            known = ", ".join(formats.names())
            raise UserError(f"--format: {self.format} is no format; known are {known}")
