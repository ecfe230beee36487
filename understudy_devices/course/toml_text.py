# SPDX-License-Identifier: MIT
"""Write a TOML document; Python's library only reads one."""

import json
from collections.abc import Iterator, Mapping
from typing import Any


def toml(table: Mapping[str, Any]) -> str:
    """Return the document: values first, then tables, then arrays of tables."""
    return "\n".join(_lines(table, "")) + "\n"


def _lines(table: Mapping[str, Any], path: str) -> Iterator[str]:
    for key, value in table.items():
        if not isinstance(value, Mapping) and not _is_tables(value):
            yield f"{_key(key)} = {_value(value)}"
    for key, value in table.items():
        name = f"{path}{_key(key)}"
        if isinstance(value, Mapping):
            yield from ("", f"[{name}]")
            yield from _lines(value, f"{name}.")
        elif _is_tables(value):
            for each in value:
                yield from ("", f"[[{name}]]")
                yield from _lines(each, f"{name}.")


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(it, Mapping) for it in value)


def _key(key: str) -> str:
    plain = key.replace("_", "").replace("-", "")
    return key if plain.isascii() and plain.isalnum() else _text(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return repr(value)


def _text(text: str) -> str:
    """Return a basic string; JSON's escapes are TOML's, but for a pair of surrogates."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
