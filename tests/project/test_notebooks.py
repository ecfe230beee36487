# SPDX-License-Identifier: MIT
"""The notebooks run, and show the figures that are stored in them."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from places import CHECKOUT

pytestmark = pytest.mark.thorough

NOTEBOOKS = CHECKOUT / "docs" / "notebooks"
LARGEST = 200_000  # bytes, of a notebook with its outputs


def cells(file: Path) -> list[tuple[str, list[str]]]:
    """Return the source of each cell and the text of its outputs."""
    notebook: dict[str, Any] = json.loads(file.read_text())
    return [
        (
            "".join(cell["source"]),
            [
                "".join(output.get("text") or output["data"]["text/plain"])
                for output in cell.get("outputs", [])
            ],
        )
        for cell in notebook["cells"]
    ]


def test_the_notebooks_show_what_they_print(tmp_path: Path) -> None:
    script = str(CHECKOUT / "scripts" / "notebooks.py")
    subprocess.run([sys.executable, script, str(tmp_path)], check=True, capture_output=True)
    stored = sorted(NOTEBOOKS.glob("*.ipynb"))
    assert stored
    for file in stored:
        assert cells(file) == cells(tmp_path / file.name), "python scripts/notebooks.py mends it"
        assert file.stat().st_size < LARGEST


def test_a_result_in_a_notebook_has_a_table_and_a_picture() -> None:
    """In a notebook, Rich would print instead of returning text."""
    notebook = json.loads((NOTEBOOKS / "choose.ipynb").read_text())
    shown = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    pages = ["".join(output["data"].get("text/html", "")) for output in shown if "data" in output]
    pictures = [page for page in pages if "<svg" in page]
    assert len(pictures) == 2
    assert all("<table>" in page and "<code>understudy " in page for page in pictures)
    assert len(shown) == sum(cell["cell_type"] == "code" for cell in notebook["cells"])
