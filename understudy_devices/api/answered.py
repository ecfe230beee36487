# SPDX-License-Identifier: MIT
"""What the results of `consolidate` and `place` have in common: a document, a text and pages."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from understudy_devices.base import run_folder


class Answered:
    """A result with the content of result.json, the printed text, and the report.

    A class of results is a frozen dataclass with these fields.
    """

    document: Mapping[str, Any]
    text: str  # what the command prints
    html: str
    page: str  # report.html
    notices: tuple[str, ...]

    @property
    def trusted(self) -> bool | None:
        """Return True if everything was checked and is within the limits, None if something was
        not checked, and False if something is outside its limits."""
        return cast("bool | None", self.document["trusted"])

    @property
    def because(self) -> tuple[str, ...]:
        """Return what was not checked, or is outside its limits."""
        return tuple(self.document["because"])

    def as_json(self) -> dict[str, Any]:
        """Return the content of result.json."""
        return dict(self.document)

    def write(self, folder: str | os.PathLike[str]) -> Path:
        """Write a new run folder, as --out does."""
        with run_folder.reserved(Path(folder), "") as place:
            self.fill(place)
        return Path(folder)

    def fill(self, folder: Path) -> None:
        """Write the files into an empty folder."""
        with run_folder.filled(folder) as partial:
            self.write_tables(partial)
            run_folder.write(partial, self.as_json(), self.page)

    def write_tables(self, folder: Path) -> None:
        """Write the tables beside result.json, if there are any."""

    def __repr__(self) -> str:
        """Return what the command prints."""
        return "\n".join([self.text, *self.notices])

    def _repr_html_(self) -> str:
        """Return the tables and a picture for a notebook."""
        return self.html
