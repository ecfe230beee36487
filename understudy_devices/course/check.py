# SPDX-License-Identifier: MIT
"""A check of an assignment: its keys in assignment.toml, and what it does.

A kind of check is a class `Kind(Check)` in a file of its own (checks/).  Its fields are the keys
that the kind takes; `run` grades a submission.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from understudy_devices.course.result import Found
from understudy_devices.course.work import Work

POINTS_MOST = 10_000
Points = Annotated[int, Field(ge=0, le=POINTS_MOST)]
Options = Annotated[dict[str, Any], Field(default_factory=dict)]


class Table(BaseModel):
    """A table of assignment.toml."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class Check(Table):
    """What every check has."""

    kind: str
    name: Annotated[str, Field(min_length=1, max_length=100)]
    """A few words for reports; no two checks have the same name."""
    points: Points
    hidden: bool = False
    """Whether only the teacher can run it, with draws that the student does not have."""
    hint: str = ""
    """A line for the student that is added if points are lost."""

    def files(self) -> Sequence[str]:
        """Return the files of the submission that the check needs."""
        return ()

    def mistakes(self, folder: Path) -> Iterator[str]:
        """Yield what is wrong with the check's keys, beyond their types."""
        yield from ()

    def told(self, work: Work) -> Mapping[str, Any]:
        """Return what the student's text shows of the check, such as commands."""
        return {}

    def exported(self, work: Work) -> Mapping[str, bytes]:
        """Return files that the student gets for the check, by name."""
        return {}

    def solves(self) -> Sequence[str]:
        """Return the files of the solution that differ from student to student."""
        return ()

    def solved(self, work: Work) -> Mapping[str, bytes]:
        """Return these files for one student."""
        return {}

    @abstractmethod
    def run(self, work: Work) -> Found:
        """Grade the submission; NoPoints if there is nothing to grade."""
