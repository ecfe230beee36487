# SPDX-License-Identifier: MIT
"""Self-contained pages: styles and drawings are in the file itself, so that the page can be mailed,
and opened without a network.

A template extends page.html.j2, which contains the frame and the styles.
"""

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

FOLDER = Path(__file__).parent


def render(template: str, view: dict[str, Any]) -> str:
    """Return the page from a template of this folder, such as "report/report.html.j2"."""
    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(view)


def flat(tree: dict[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """Return nested inputs as pairs of a path and a value: disk.model.intercept_ms, 4.25."""
    lines: list[tuple[str, str]] = []
    for key, value in tree.items():
        if isinstance(value, dict):
            lines += flat(value, f"{prefix}{key}.")
        elif value is not None:
            text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            lines.append((prefix + key, text))
    return lines
