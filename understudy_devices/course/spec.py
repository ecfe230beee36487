# SPDX-License-Identifier: MIT
"""An assignment: the folder with its specification, its text and its files.

assignment.toml is the specification; all of its mistakes are reported at once, a line each.
text.md is for the student, starter/ has the files to begin with, solution/ is never exported.
"""

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from reprlib import repr as brief
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, ValidationError

from understudy_devices.base.cache import digest
from understudy_devices.base.catalog import nearest
from understudy_devices.base.errors import UserError
from understudy_devices.base.plain import plain
from understudy_devices.course import checks
from understudy_devices.course.check import Check, Points, Table

SPECIFICATION = "assignment.toml"
TEXT = "text.md"
STARTER, SOLUTION = "starter", "solution"
T = TypeVar("T", bound=Table)

FILE_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
KIB = 1024


class Limits(Table):
    """What the grader spends on a submission."""

    file_kib: Annotated[int, Field(ge=1, le=1024)] = 256
    """Largest file."""
    failures: Annotated[int, Field(ge=1, le=100)] = 2
    """Failed runs of a file, after which the file is not run any more."""
    run_seconds: Annotated[float, Field(gt=0, le=100_000)] = 30.0
    """Processor time of the submission's code in a run."""
    all_seconds: Annotated[float, Field(gt=0, le=100_000)] = 300.0
    """Processor time of the submission's code in all runs; after that, no more runs are tried."""


class Variant(Table):
    """How a student's disk is drawn."""

    small: bool = False
    """Scaled for a disk of 128 KB."""
    cache: bool = False
    """With an on-board cache."""


class Feedback(Table):
    """What a report reveals of hidden checks; it reveals less after many tries."""

    hidden: Literal["lines", "score", "nothing"] = "score"
    tries: Annotated[int, Field(ge=1, le=10_000)] = 10
    """Submissions within `hours`, after which `then` applies."""
    hours: Annotated[float, Field(gt=0, le=10_000)] = 24.0
    then: Literal["lines", "score", "nothing"] = "nothing"


class Contest(Table):
    """The league table: which check's figures are ranked."""

    check: str
    """The name of a check whose kind measures (it has figures by disk and seed)."""
    measure: str = "value"


class Document(Table):
    """The keys of assignment.toml; the checks are examined by their kinds."""

    title: Annotated[str, Field(min_length=1, max_length=200)]
    summary: Annotated[str, Field(min_length=1, max_length=300)]
    points: Points
    starter_points: Annotated[float, Field(ge=0, le=10_000)] = 0.0
    """What the unchanged starter scores."""
    hidden_points: Points = 0
    """In a student's copy: the points of the checks that it lacks."""
    files: Annotated[list[Annotated[str, Field(pattern=FILE_NAME)]], Field(min_length=1)]
    limits: Limits = Limits()
    variant: Variant = Variant()
    feedback: Feedback = Feedback()
    contest: Contest | None = None
    checks: Annotated[list[dict[str, Any]], Field(min_length=1)]


@dataclass(frozen=True)
class Assignment:
    """A checked assignment; its name is its folder's."""

    folder: Path
    document: Document
    checks: tuple[Check, ...]

    @property
    def name(self) -> str:
        """Return the assignment's name."""
        return self.folder.name

    @property
    def files(self) -> list[str]:
        """Return the names of the files to hand in."""
        return self.document.files

    @property
    def variant(self) -> dict[str, Any]:
        """Return the options of drive.text."""
        return self.document.variant.model_dump()

    @property
    def file_bytes(self) -> int:
        """Return the size of the largest file that is read."""
        return self.document.limits.file_kib * KIB

    @property
    def digest(self) -> str:
        """Return a digest of everything in the folder that a grade may depend on."""
        files = sorted(
            file
            for file in self.folder.rglob("*")
            if file.is_file()
            and not {"__pycache__", STARTER} & set(file.parts)
            and file.name != TEXT
        )
        names = [str(file.relative_to(self.folder)).encode() for file in files]
        return digest([*names, *(file.read_bytes() for file in files)])


class WrongAssignment(UserError):  # noqa: N818 - the teacher has the error
    """A specification has mistakes; the message has a line for each."""


def read(folder: Path, *, exported: bool = False) -> Assignment:
    """Read and check an assignment; a student's copy (`exported`) has no solution and fewer
    points."""
    file = folder / SPECIFICATION
    try:
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}; an assignment needs one") from None
    except ValueError as error:
        raise UserError(f"{file}: not TOML: {' '.join(str(error).split())}") from None
    wrong: list[str] = []
    document = _checked(Document, table, wrong, "")
    entries = table.get("checks")
    if not isinstance(entries, list):
        entries = []
    found = [_check(number, entry, folder, wrong) for number, entry in enumerate(entries, 1)]
    kept = [check for check in found if check]
    wrong += _mistakes(folder, document, kept, whole=len(kept) == len(found), exported=exported)
    if wrong:
        raise WrongAssignment("\n".join(plain(f"{file}: {line}") for line in wrong))
    return Assignment(folder, document, tuple(kept))


def _checked(kind: type[T], entry: Mapping[str, Any], wrong: list[str], at: str) -> T:
    """Return the table; append its mistakes to `wrong`, and leave out the keys that have any.

    So the rest of the table can be examined, too: a key without a value raises an AttributeError.
    """
    try:
        return kind.model_validate(entry)
    except ValidationError as error:
        wrong += [f"{at}{reason(each, kind)}" for each in error.errors()]
        bad = {each["loc"][0] for each in error.errors() if each["loc"]}
    kept = {key: value for key, value in entry.items() if key not in bad}
    try:
        return kind.model_validate(kept)
    except ValidationError:
        return kind.model_construct(**kept)


def _check(number: int, entry: Any, folder: Path, wrong: list[str]) -> Check | None:
    """Return a check; its mistakes are appended to `wrong`.  None if its kind is unknown."""
    if not isinstance(entry, dict):
        return None  # the document's own mistake
    at = f'checks {number} "{entry.get("name", "")}": '
    known = checks.names(folder)
    if entry.get("kind") not in known:
        wrong.append(
            f'{at}kind: unknown kind "{entry.get("kind")}": '
            f"{nearest(str(entry.get('kind')), known)}"
        )
        return None
    try:
        kind = checks.kind(entry["kind"], folder)
    except UserError as error:
        wrong.append(f"{at}{error}")
        return None
    check = _checked(kind, entry, wrong, at)
    with suppress(AttributeError):  # of a key that is missing, which is said already
        for line in check.mistakes(folder):
            wrong.append(f"{at}{line}")
    return check


def _mistakes(
    folder: Path, document: Document, found: Sequence[Check], *, whole: bool, exported: bool
) -> Iterator[str]:
    """Yield the mistakes that concern several keys, or files."""
    names = Counter(getattr(check, "name", "") for check in found)
    for name, times in names.items():
        if times > 1 and name:
            yield f'checks: {times} checks have the name "{name}"'
    points = getattr(document, "points", None)
    parts = [getattr(check, "points", None) for check in found]
    total = sum(each for each in parts if each)
    if whole and None not in (points, *parts) and total != points:
        yield f"points: is {points}, but the checks add up to {total}"
    if not exported and points is not None and document.starter_points > points:
        yield f"starter_points: is {document.starter_points:g}, more than all points ({points})"
    files = getattr(document, "files", [])
    for check in found if files else ():
        for name in _files(check):
            if name not in files:
                yield f'checks "{check.name}": {name} is not among the files to hand in'
    if document.contest and whole and document.contest.check not in names:
        yield f'contest.check: no check has the name "{document.contest.check}"'
    for name, times in Counter(files).items():
        if times > 1:
            yield f"files: {name} is named twice"
    computed = {name for check in found for name in check.solves()}
    left = [name for name in files if name not in computed]
    needed = [TEXT, *(() if exported else (f"{SOLUTION}/{name}" for name in left))]
    for name in needed:
        if not (folder / name).is_file():
            yield f"{name}: is missing"


def _files(check: Check) -> Sequence[str]:
    try:
        return check.files()
    except AttributeError:  # its key is missing, which is said already
        return ()


def reason(error: Any, kind: type[Table]) -> str:
    """Return one line about a mistake that pydantic found."""
    key = ".".join(str(part) for part in error["loc"])
    if error["type"] == "missing":
        return f"{key}: is missing"
    if error["type"] == "extra_forbidden":
        return f"{key}: is not a key here: {_nearest_key(kind, error['loc'])}"
    message = error["msg"]
    return f"{key}: {message[0].lower()}{message[1:]}, not {brief(error['input'])}"


def _nearest_key(kind: Any, place: Sequence[Any]) -> str:
    for name in place[:-1]:
        field = kind.model_fields.get(name)
        options = [field.annotation, *getattr(field.annotation, "__args__", ())] if field else []
        kind = next((each for each in options if hasattr(each, "model_fields")), kind)
    return nearest(str(place[-1]), kind.model_fields)
