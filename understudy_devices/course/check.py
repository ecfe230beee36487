# SPDX-License-Identifier: MIT
"""A check of an assignment: its keys in assignment.toml, and what it does.

A kind of check is a class `Kind(Check)` in a file of its own (checks/).  Its fields are the keys
that the kind takes; `run` grades a submission.
"""

import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, get_args

from pydantic import BaseModel, ConfigDict, Field

from understudy_devices.course.result import Found
from understudy_devices.course.work import Work

POINTS_MOST = 10_000
TYPES = {
    "string": "text",
    "integer": "a number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
}
Points = Annotated[int, Field(ge=0, le=POINTS_MOST)]
Options = Annotated[dict[str, Any], Field(default_factory=dict)]


class Table(BaseModel):
    """A table of assignment.toml."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
    )


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


def keys(table: type[Table], indent: str = "") -> Iterator[str]:
    """Yield a line for each key of a table: its name, what it may be, its default and meaning."""
    schema = table.model_json_schema()
    for name, field in table.model_fields.items():
        entry = schema["properties"][name]
        if name == "kind":
            continue
        parts = [_type(entry, schema)]
        if not field.is_required() and "default" in entry:
            default = entry["default"]
            parts.append("optional" if default is None else f"default {json.dumps(default)}")
        meaning = " ".join((field.description or "").split())
        yield f"{indent}{name}: {', '.join(parts)}{f'. {meaning}' if meaning else ''}"
        for inner in _tables(field.annotation):
            yield from keys(inner, f"{indent}    ")


def _type(entry: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    if "anyOf" in entry:
        return " or ".join(
            _type(each, schema) for each in entry["anyOf"] if each.get("type") != "null"
        )
    if "enum" in entry:
        return " or ".join(json.dumps(each) for each in entry["enum"])
    if "const" in entry:
        return json.dumps(entry["const"])
    name = TYPES.get(entry.get("type", "object"), "a table")
    low = entry.get("minimum", entry.get("exclusiveMinimum"))
    high = entry.get("maximum", entry.get("exclusiveMaximum"))
    return name if low is None or high is None else f"{name} from {low:g} to {high:g}"


def _tables(annotation: Any) -> Iterator[type[Table]]:
    for each in (annotation, *get_args(annotation)):
        if isinstance(each, type) and issubclass(each, Table):
            yield each
