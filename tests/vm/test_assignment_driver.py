# SPDX-License-Identifier: MIT
"""The commands of docs/assignments.md for the third assignment, in a folder that contains only the
cards.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from places import CHECKOUT

PAGE = (CHECKOUT / "docs" / "assignments.md").read_text().partition("\n## 3.")[2]


@pytest.fixture(name="here")
def fixture_here(tmp_path: Path) -> Path:
    """Return a folder that contains only the cards."""
    (tmp_path / "cards").symlink_to(CHECKOUT / "cards")
    return tmp_path


def test_the_commands(here: Path) -> None:
    """The manuals are in a folder of the card's name. The unchanged driver fails only
    its exercise.
    """
    [block] = re.findall(r"^```\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    *before, test = block.splitlines()
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = [
        subprocess.run(
            line,
            shell=True,
            cwd=here,
            env=os.environ | {"PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        for line in (*before, test)
    ]
    assert [one.returncode for one in done] == [0, 0, 0, 1], [one.stderr for one in done]
    lines = {line.strip() for line in done[-1].stdout.splitlines() if line.startswith("  ")}
    assert lines
    assert all(line.startswith("exercise failed: ") for line in lines), lines
