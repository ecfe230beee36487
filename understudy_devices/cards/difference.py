# SPDX-License-Identifier: MIT
"""What differs between two versions of a card, in terms of its parts: a line for each change.

A line names the part by a path of names: "registers STATUS, fields DONE, bits: 0, now 1".  Entries
of lists are the same part if they have the same name; a BAR is named by its number.
"""

from collections.abc import Iterator, Mapping
from typing import Any

SHOWN = 60  # letters of a value in a line
NAMES = ("name", "number")  # the key by which an entry of a list is known


def difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return the changes from one document to another, in the order of the new one's parts."""
    return list(_of_mappings(old, new, ""))


def _of_mappings(old: Mapping[str, Any], new: Mapping[str, Any], path: str) -> Iterator[str]:
    for key in (*new, *(key for key in old if key not in new)):
        place = f"{path}{key}"
        before, after = old.get(key), new.get(key)
        if before == after:
            continue
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            yield from _of_mappings(before, after, f"{place}, ")
        elif _is_named(before) or _is_named(after):
            yield from _of_lists(before or [], after or [], place)
        else:
            yield f"{place}: {_shown(before)}, now {_shown(after)}"


def _of_lists(old: list[Any], new: list[Any], path: str) -> Iterator[str]:
    if not (_is_named(old) and _is_named(new)):
        if not old or not new:
            for name in map(_name, new or old):
                yield f"{path} {name}: {'new' if new else 'gone'}"
            return
        yield f"{path}: {_shown(old)}, now {_shown(new)}"
        return
    before, after = ({_name(one): one for one in entries} for entries in (old, new))
    for name, entry in after.items():
        if name not in before:
            yield f"{path} {name}: new"
        elif before[name] != entry:
            yield from _of_mappings(before[name], entry, f"{path} {name}, ")
    for name in before:
        if name not in after:
            yield f"{path} {name}: gone"
    kept = [name for name in before if name in after]
    if kept != [name for name in after if name in before]:
        yield f"{path}: in another order"


def _is_named(entries: Any) -> bool:
    """Return whether this is a list of entries that all have a name of their own."""
    if not isinstance(entries, list) or not entries:
        return False
    names = [_name(entry) for entry in entries]
    return None not in names and len(set(names)) == len(names)


def _name(entry: Any) -> str | None:
    if not isinstance(entry, Mapping):
        return None
    return next((str(entry[key]) for key in NAMES if isinstance(entry.get(key), str | int)), None)


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    text = " ".join(str(value).split())
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."
