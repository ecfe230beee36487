# SPDX-License-Identifier: MIT
"""Output for terminals that can't show every character: such a character is replaced."""

import codecs
import io
import sys

SPELLED = str.maketrans({"±": "+-", "²": "2", "…": "..."})
NAME = "understudy.spelled"


def for_any_terminal() -> None:
    """Make standard output and standard error replace unsupported characters instead of failing."""
    codecs.register_error(NAME, _spell)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=NAME)


def _spell(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end].translate(SPELLED)
    return missing.encode("ascii", "replace").decode(), error.end
