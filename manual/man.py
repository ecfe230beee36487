# SPDX-License-Identifier: MIT
"""Man pages: one for each command, in roff with the macros of man(7).

`understudy card check` has the page understudy-card-check(1), as with git.
"""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from manual.commands import AS_TYPED, CHECKOUT, Described, describe, exit_codes
from understudy_devices import __version__

FOLDER = CHECKOUT / "build" / "man"  # meson.build installs it
SECTION = 1
TITLE = "Understudy"


def write() -> Path:
    """Write all pages into an empty folder; return it."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text)
    return FOLDER


def pages() -> dict[str, str]:
    """Return the text of each page, by its file's name."""
    return {f"{_page(one)}.{SECTION}": _text(one) for one in describe().each()}


def _page(command: Described) -> str:
    return "-".join(command.words)


def _text(command: Described) -> str:
    return "\n".join(_lines(command)) + "\n"


def _lines(command: Described) -> Iterator[str]:
    page = _page(command)
    yield f'.TH {page.upper()} {SECTION} {_date()} "{TITLE} {__version__}"'
    yield from (".SH NAME", rf"{_plain(page)} \- {_plain(command.summary)}")
    yield from (".SH SYNOPSIS", rf"\fB{_plain(command.name)}\fR{_rest_of_usage(command)}")
    yield ".SH DESCRIPTION"
    for index, text in enumerate(command.paragraphs):
        if index:
            yield ".PP"
        yield from _paragraph(text)
    for title, options in command.groups.items():
        yield f".SH {title.upper()}"
        for option in options:
            yield from (".TP", rf"\fB{_plain(option.names)}\fR", _plain(option.help))
    if command.commands:
        yield ".SH COMMANDS"
        for inner in command.commands:
            link = rf"\fB{_plain(_page(inner))}\fR({SECTION})"
            yield from (".TP", link, _plain(f"{inner.summary}."))
    yield ".SH EXIT STATUS"
    for code, meaning in exit_codes():
        yield from (".TP", code, _plain(meaning.replace("`", "")))
    if command.examples:
        yield from (".SH EXAMPLES", ".EX", *map(_plain, command.examples), ".EE")
    if len(command.words) > 1:
        yield from (".SH SEE ALSO", rf"\fB{_plain('-'.join(command.words[:-1]))}\fR({SECTION})")


def _date() -> str:
    """Return the date of the version, which CHANGELOG.md has: the same version, the same bytes."""
    changes = (CHECKOUT / "CHANGELOG.md").read_text()
    found = re.search(rf"^## {re.escape(__version__)} \((.*)\)$", changes, re.MULTILINE)
    assert found, f"CHANGELOG.md has no date of {__version__}"
    return found[1]


def _rest_of_usage(command: Described) -> str:
    return _plain(command.usage.removeprefix(command.name))


def _paragraph(text: str) -> Iterator[str]:
    if text.startswith(AS_TYPED):
        yield from (".EX", *map(_plain, text.removeprefix(AS_TYPED).splitlines()), ".EE")
    else:
        yield _plain(" ".join(text.split()))


def _plain(text: str) -> str:
    r"""Return text that roff prints as it is; a line that begins with a period or an apostrophe
    would be a request."""
    text = text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq").replace("`", r"\(ga")
    return rf"\&{text}" if text.startswith(".") else text
