# SPDX-License-Identifier: MIT
"""C and make files from the templates in this folder."""

import re
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from understudy_devices.cards.header import one_line


def render(name: str, view: dict[str, Any]) -> str:
    """Return the file that NAME.j2 produces; a filter removes comment marks from the card's
    texts."""
    return _environment().get_template(f"{name}.j2").render(view)


def render_block(name: str, block: str, view: dict[str, Any]) -> str:
    """Return one {% block %} of the template, without empty lines around it."""
    template = _environment().get_template(f"{name}.j2")
    return "".join(template.blocks[block](template.new_context(view))).strip("\n") + "\n"


@cache
def kernel_names() -> frozenset[str]:
    """Return the names of kernel macros that drivers use."""
    texts = [path.read_text() for path in Path(__file__).parent.glob("*.c.j2")]
    return frozenset(re.findall(r"\b[A-Z]+_\w+", re.sub(r"{[{%#].*?[}%#]}", "", "".join(texts))))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"one_line": one_line, "quoted": _quoted}
    return environment


def _quoted(text: str) -> str:
    """Return a C string of one line."""
    return '"' + " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"') + '"'
