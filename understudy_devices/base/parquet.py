# SPDX-License-Identifier: MIT
"""Write tables to files; raise the OSError of a failed write."""

import io
from pathlib import Path

import polars as pl


class _Noted(io.RawIOBase):
    """A file that stores the OSError of a failed write, which Polars replaces by an error of its
    own."""

    def __init__(self, file: io.BufferedWriter) -> None:
        self._file = file
        self.error: OSError | None = None

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        try:
            return self._file.write(data)
        except OSError as error:
            self.error = error
            raise


def write(frame: pl.DataFrame, file: Path) -> None:
    """Write the whole table."""
    with file.open("wb") as out:
        noted = _Noted(out)
        try:
            frame.write_parquet(noted)  # type: ignore[arg-type]
        except pl.exceptions.ComputeError:
            raise noted.error or AssertionError("only the file can fail") from None
