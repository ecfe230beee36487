# SPDX-License-Identifier: MIT
"""The commands that README, CONTRIBUTING and docs/ print in blocks, with the output they show.

A block without a language consists of commands if its first line begins with a program's name; in
any block, a line that begins with "$ " is a command, and the lines below it are its output.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from places import CHECKOUT

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROMPT = "$ "
PROGRAMS = (
    r"understudy|make|python|\.venv/bin/python|pip|pipx|uv|sed|cp|cd|mkdir|export|blktrace|fio|"
    r"apt-get|insmod|DISK=\w+|docker|podman|mandoc|man|git|tar|sbatch|gdb|meson|eval|"
    r"[A-Z_]+=\S+ \w+"
)
COMMANDS = re.compile(rf"(?:{PROGRAMS})[ \n]")
COMMENT = re.compile(r"(?:^|  +| +(?=# ))#.*$", re.MULTILINE)


@dataclass(frozen=True)
class Printed:
    """A command of a page, and the lines of its output that the page shows."""

    page: str
    text: str
    output: tuple[str, ...] = ()


def pages() -> list[str]:
    """Return the pages, by their paths in the checkout."""
    files = [
        *(CHECKOUT / name for name in ("README.md", "CONTRIBUTING.md")),
        *sorted((CHECKOUT / "docs").rglob("*.md")),
    ]
    return [file.relative_to(CHECKOUT).as_posix() for file in files]


def printed_commands(page: str) -> list[Printed]:
    """Return a page's commands, in their order."""
    text = (CHECKOUT / page).read_text()
    return [
        command for language, block in BLOCK.findall(text) for command in _of(page, language, block)
    ]


def _of(page: str, language: str, block: str) -> Iterator[Printed]:
    if block.startswith(PROMPT):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *output = part.splitlines()
            yield Printed(page, command, tuple(line for line in output if line != "..."))
    elif not language and COMMANDS.match(block):
        for text in _lines(COMMENT.sub("", block)):
            yield Printed(page, text)


def _lines(block: str) -> Iterator[str]:
    """Yield one command each: a command's lines may end with a backslash, or be quoted."""
    command = ""
    for line in block.replace("\\\n", " ").splitlines():
        command += line
        if command.count("'") % 2:
            command += "\n"
        elif command.strip():
            yield command.strip()
            command = ""
