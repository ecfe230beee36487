# SPDX-License-Identifier: MIT
"""A small change of a source file, and the list of changes that no test can detect.

A mutation is identified by its file, the original line and the changed line, not by a line number.
So equivalent.txt stays valid while files grow.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

SEPARATOR = " ==> "
KNOWN = Path(__file__).with_name("equivalent.txt")


@dataclass(frozen=True)
class Mutation:
    """A replacement of source[start:end] in a file."""

    file: str  # relative to the checkout
    start: int
    end: int
    becomes: str
    line: int
    last_line: int
    before: str  # the changed lines, joined
    after: str

    def __str__(self) -> str:
        """Return the position and the change, for people."""
        return f"{self.file}:{self.line}: {self.before}{SEPARATOR}{self.after}"

    @property
    def name(self) -> tuple[str, str, str]:
        """The key in equivalent.txt."""
        return self.file, self.before, self.after

    def apply(self, source: str) -> str:
        """Return the mutated file."""
        return source[: self.start] + self.becomes + source[self.end :]


def mutation(file: str, source: str, start: int, end: int, becomes: str) -> Mutation:
    """Return the mutation, with its lines before and after the change."""
    first = source.rfind("\n", 0, start) + 1
    last = source.find("\n", end)
    last = len(source) if last < 0 else last
    before, after = source[first:last], source[first:start] + becomes + source[end:last]
    line, last_line = (source.count("\n", 0, place) + 1 for place in (start, end))
    return Mutation(file, start, end, becomes, line, last_line, _in_one(before), _in_one(after))


def _in_one(lines: str) -> str:
    return " ".join(lines.split()) or "nothing"


def known(path: Path = KNOWN) -> dict[tuple[str, str, str], str]:
    """Return the known equivalent mutations, each with the reason why no test can detect it."""
    reasons = {}
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not text or text.startswith("#"):
            continue
        fields = [field.strip() for field in text.split("\t") if field.strip()]
        if len(fields) != 3 or SEPARATOR not in fields[1]:
            raise SystemExit(f"{path}:{number}: not 'file, before{SEPARATOR}after, reason' by tabs")
        file, (before, after), reason = fields[0], fields[1].split(SEPARATOR), fields[2]
        reasons[file, before, after] = reason
    return reasons


def stale(listed: Iterable[tuple[str, str, str]], all_of_them: Iterable[Mutation]) -> list[str]:
    """Return the entries of equivalent.txt that match no mutation."""
    names = {one.name for one in all_of_them}
    return [
        f"{file}: {before}{SEPARATOR}{after}"
        for file, before, after in listed
        if (file, before, after) not in names
    ]
