# SPDX-License-Identifier: MIT
"""Gradescope's results.json, and what its submission_metadata.json says about earlier tries.

The format is that of Gradescope's autograder documentation: `tests` with `score`, `max_score`,
`status`, `output` and `visibility`, and `leaderboard`.  A hidden check's visibility is
"after_published"; then Gradescope also withholds the sum.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from understudy_devices.base.errors import UserError
from understudy_devices.base.plain import one_line
from understudy_devices.course.library import normal
from understudy_devices.course.report import student as report
from understudy_devices.course.result import PASSED, Grade
from understudy_devices.course.spec import Feedback

METADATA_BYTES = 2**24
ADDRESS = re.compile(r"[^\s@/\\+,;<>\"][^\s@/\\,;<>\"]*@[^\s@/\\]+")


@dataclass(frozen=True)
class Metadata:
    """What Gradescope says about a submission."""

    student: str
    tries: int
    """Submissions within the feedback's hours, this one included."""


class _WrongError(ValueError):
    """Gradescope does not write this; the message is for people."""


def _text(file: Path) -> str:
    with file.open("rb") as opened:
        data = opened.read(METADATA_BYTES + 1)
    if len(data) > METADATA_BYTES:
        raise _WrongError(f"it has more than {METADATA_BYTES:,} bytes")
    return data.decode("utf-8")


def _address(email: Any) -> str:
    """Return a user's e-mail address, which becomes the student's identity."""
    if not isinstance(email, str) or not ADDRESS.fullmatch(email):
        raise _WrongError(f"{one_line(str(email))[:80]} is no e-mail address")
    return email


def metadata(file: Path, feedback: Feedback) -> Metadata:
    """Read submission_metadata.json; a group's identity is its members' addresses, in order."""
    try:
        document = json.loads(_text(file))
        people = sorted((_address(each["email"]) for each in document["users"]), key=normal)
        now = datetime.fromisoformat(document["created_at"])
        earlier = [
            datetime.fromisoformat(each["submission_time"])
            for each in document.get("previous_submissions") or []
        ]
        hours = [(now - each).total_seconds() / 3600 for each in earlier]
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}; Gradescope writes it") from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        why = str(error) if isinstance(error, _WrongError) else "it has another form"
        raise UserError(f"{file}: not Gradescope's submission_metadata.json: {why}") from None
    if not people:
        raise UserError(f"{file}: users: names nobody")
    return Metadata("+".join(people), 1 + sum(each < feedback.hours for each in hours))


def level(feedback: Feedback, tries: int) -> str:
    """Return what is revealed of hidden checks after so many tries."""
    return feedback.hidden if tries <= feedback.tries else feedback.then


def results(grade: Grade, revealed: str, board: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """Return the contents of results.json."""
    document: dict[str, Any] = {
        "output": "\n".join([report.headline(grade, revealed), *grade.notes]),
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [
            {
                "name": line.name,
                "number": str(number),
                "score": line.score,
                "max_score": line.points,
                "status": "passed" if line.status == PASSED else "failed",
                "output": "\n".join(report.words(line, revealed)),
                "output_format": "text",
                "visibility": _visibility(line.hidden, revealed),
            }
            for number, line in enumerate(grade.lines, 1)
            if line.counts
        ],
    }
    if board:
        document["leaderboard"] = list(board)
    return document


def _visibility(hidden: bool, revealed: str) -> str:
    return "after_published" if hidden and revealed == report.NOTHING else "visible"
