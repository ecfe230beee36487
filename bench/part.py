# SPDX-License-Identifier: MIT
"""A benchmark is a module in bench/parts/; there is no other list of them.

It has

* TITLE, its heading on the page;
* TEXT, what it measures and how to read it, in Markdown; "{{ rates }}" is replaced with the
  table "rates";
* TABLES, the columns of each table by name;
* SIZES, the arguments of `measure` by name: "full", "quick" for a session with other work,
  and "tiny", with which a test checks that the benchmark runs;
* IN_VM, true if it boots VMs;
* measure(**size), which yields (table's name, row) for each row.

A row holds data that JSON can represent.  The columns say how it is shown; values that no column
shows are not kept.
"""

import pkgutil
import string
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from bench import parts

Row = Mapping[str, Any]
Rows = Iterator[tuple[str, Row]]


@dataclass(frozen=True)
class Column:
    """A heading, and a format for the row's values, such as "{mean:.2f} ± {half_width:.2f}"."""

    heading: str
    shown: str

    @property
    def names(self) -> list[str]:
        """Return the names of the row's values that the column shows."""
        return [name for _, name, _, _ in string.Formatter().parse(self.shown) if name]

    def cell(self, row: Row) -> str:
        """Return the row's text in this column, or an empty text if a value is missing."""
        return "" if any(row[name] is None for name in self.names) else self.shown.format_map(row)


@dataclass(frozen=True)
class Part:
    """One benchmark: the contents of its module."""

    name: str
    title: str
    text: str
    tables: Mapping[str, tuple[Column, ...]]
    sizes: Mapping[str, Mapping[str, Any]]
    in_vm: bool
    measure: Callable[..., Rows]


def found() -> dict[str, Part]:
    """Return all benchmarks, by name."""
    names = sorted(module.name for module in pkgutil.iter_modules(parts.__path__))
    return {name: _part(name) for name in names}


def _part(name: str) -> Part:
    module = import_module(f"{parts.__name__}.{name}")
    return Part(
        name=name,
        title=module.TITLE,
        text=module.TEXT,
        tables=module.TABLES,
        sizes=module.SIZES,
        in_vm=module.IN_VM,
        measure=module.measure,
    )
