# SPDX-License-Identifier: MIT
"""A student's report, as Markdown and as one HTML file with its drawings inside.

Lines of hidden checks are left out unless the teacher reveals them.
"""

from collections.abc import Iterator
from html import escape

from understudy_devices.base.plain import plain
from understudy_devices.course.result import (
    BROKEN,
    FAILED,
    NOT_RUN,
    PASSED,
    Grade,
    Line,
    amount,
)

LINES, SCORE, NOTHING = "lines", "score", "nothing"
MARKS = {PASSED: "✓", FAILED: "✗", NOT_RUN: "-", BROKEN: "!"}
CSS = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; }
table { border-collapse: collapse; } td, th { padding: .2em .8em; border-bottom: 1px solid #ccc;
text-align: left; } td.points { text-align: right; white-space: nowrap; }
.passed { color: #070; } .failed { color: #b00; } pre { background: #f4f4f4; padding: .6em;
white-space: pre-wrap; } h1, h2, p, td, pre { overflow-wrap: anywhere; }
svg { max-width: 100%; height: auto; }
"""
BROKEN_WORDS = "the grader failed here; this costs you nothing, and your teacher has been told"


def headline(grade: Grade, level: str = LINES) -> str:
    """Return the sum in one line."""
    if level == NOTHING and any(line.hidden for line in grade.lines):
        seen = [line for line in grade.lines if not line.hidden and line.counts]
        got, most = sum(line.score for line in seen), sum(line.points for line in seen)
        return f"{amount(got)} of {most} points in the public checks"
    return f"{amount(grade.score)} of {grade.most} points"


def points(line: Line, level: str) -> str:
    """Return a check's points in words."""
    if line.hidden and level == NOTHING:
        return f"? of {line.points}"
    return f"{amount(line.score)} of {line.points}" if line.counts else f"- of {line.points}"


def words(line: Line, level: str) -> tuple[str, ...]:
    """Return what the student reads about a check."""
    if line.status == BROKEN:
        return (BROKEN_WORDS,)
    if line.hidden and level != LINES:
        return ("a hidden check; your teacher decides when its lines are shown",)
    return tuple(plain(each) for each in line.lines)


def mark(line: Line, level: str) -> str:
    """Return a check's sign."""
    return "?" if line.hidden and level == NOTHING else MARKS[line.status]


def markdown(grade: Grade, level: str) -> str:
    """Return the report as Markdown."""
    return "\n".join(_markdown(grade, level)) + "\n"


def _markdown(grade: Grade, level: str) -> Iterator[str]:
    yield f"# {plain(grade.title)}: {headline(grade, level)}"
    yield ""
    yield f"Student: {_code(grade.student)}"
    for note in grade.notes:
        yield ""
        yield f"Note: {_safe(note)}"
    yield ""
    yield "| check | points | |"
    yield "| --- | --- | --- |"
    for line in grade.lines:
        yield f"| {_safe(line.name)} | {points(line, level)} | {mark(line, level)} |"
    for line in grade.lines:
        yield ""
        yield f"## {mark(line, level)} {_safe(line.name)}: {points(line, level)}"
        yield ""
        yield from _fenced("\n".join(words(line, level)))
        if not (line.hidden and level != LINES):
            for picture in line.pictures:
                yield ""
                yield _safe(picture.legend)
                yield ""
                yield from _fenced(plain(picture.text))


def _fenced(text: str) -> list[str]:
    """Return a block of code that its text cannot end."""
    fence = "```"
    while fence in text:
        fence += "`"
    return [f"{fence}text", text, fence]


def _code(text: str) -> str:
    return f"`{plain(text).replace('`', chr(39))}`"


def _safe(text: str) -> str:
    """Return text that Markdown shows as it is."""
    text = plain(text).replace("\n", " ")
    return "".join(f"\\{each}" if each in "\\`*_{}[]<>#|!" else each for each in text)


def html(grade: Grade, level: str) -> str:
    """Return the report as one page."""
    return "".join(_html(grade, level))


def _html(grade: Grade, level: str) -> Iterator[str]:
    title = escape(plain(grade.title))
    yield f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<style>{CSS}</style><h1>{title}: {escape(headline(grade, level))}</h1>"
    yield f"<p>Student: <code>{escape(plain(grade.student))}</code></p>"
    for note in grade.notes:
        yield f"<p>Note: {escape(plain(note))}</p>"
    yield "<table><tr><th>check<th>points<th></tr>"
    for number, line in enumerate(grade.lines):
        yield (
            f'<tr class="{line.status.split()[0]}"><td><a href="#c{number}">'
            f"{escape(plain(line.name))}</a><td class=points>{points(line, level)}"
            f"<td>{mark(line, level)}</tr>"
        )
    yield "</table>"
    for number, line in enumerate(grade.lines):
        yield f'<h2 id="c{number}">{escape(plain(line.name))}: {points(line, level)}</h2>'
        yield f"<pre>{escape(chr(10).join(words(line, level)))}</pre>"
        if not (line.hidden and level != LINES):
            for picture in line.pictures:
                yield f"<p>{escape(plain(picture.title))}:</p>{picture.svg}"
    yield "</html>\n"
