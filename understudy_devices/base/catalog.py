# SPDX-License-Identifier: MIT
"""Pick an entry of a catalogue by name; if the name is unknown, suggest the nearest known name."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TypeVar

from understudy_devices.base.errors import UserError

T = TypeVar("T")


def pick(kind: str, name: str, entries: Mapping[str, T]) -> T:
    """Return the entry called `name`; if there is none, raise a UserError that lists all names."""
    if name not in entries:
        raise UserError(unknown(kind, name, entries))
    return entries[name]


def refuse_twice(option: str, names: Sequence[str]) -> None:
    """Raise a UserError if a name is in the list twice."""
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"{option}: {name} is named twice; --seeds N repeats runs")


def unknown(kind: str, name: str, names: Iterable[str]) -> str:
    """Return a line with the unknown name, the nearest known name and all known names."""
    return f'unknown {kind} "{name}": {nearest(name, names)}'


def nearest(name: str, names: Iterable[str]) -> str:
    """Return the part of a message that lists the nearest known name and all known names."""
    known = sorted(names)
    matches = get_close_matches(name, known, n=1, cutoff=0.4)
    hint = f'did you mean "{matches[0]}"? ' if matches else ""
    return f"{hint}there are: {', '.join(known) or 'none'}"
