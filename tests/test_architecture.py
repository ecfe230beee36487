# SPDX-License-Identifier: MIT
"""Who imports whom in understudy/ is what docs/architecture.md says."""

import ast
import re
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import pytest

from understudy.base.paths import ROOT

PACKAGE = ROOT / "understudy"
ROW = re.compile(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|$", re.MULTILINE)
FOLDERS = {
    folder: set(re.findall(r"\w+", stands_on))
    for folder, stands_on in ROW.findall((ROOT / "docs" / "architecture.md").read_text())
}


def imported(file: Path) -> Iterator[str]:
    """Modules of ours that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.startswith("understudy"))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("understudy"):
            yield from (f"{node.module}.{name.name}" for name in node.names)


def test_the_page_names_every_folder() -> None:
    assert set(FOLDERS) == {init.parent.name for init in PACKAGE.glob("*/*.py")}


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_stands_on_what_the_page_says(folder: str) -> None:
    allowed = (
        FOLDERS[folder] | {folder, "__version__"} | ({"_core"} if folder == "native" else set())
    )
    for file in (PACKAGE / folder).rglob("*.py"):
        for module in imported(file):
            assert module.split(".")[1] in allowed, f"{file} imports {module}"


def test_a_folder_stands_only_on_those_above_it() -> None:
    folders = list(FOLDERS)
    for index, folder in enumerate(folders):
        assert FOLDERS[folder] <= set(folders[:index]), folder


@pytest.mark.parametrize(("one", "other"), [*permutations(("sim", "vm", "real"), 2)])
def test_a_platform_does_not_know_another(one: str, other: str) -> None:
    for file in (PACKAGE / "platforms" / one).rglob("*.py"):
        for module in imported(file):
            assert not module.startswith(f"understudy.platforms.{other}"), f"{file}: {module}"
