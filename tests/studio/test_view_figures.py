# SPDX-License-Identifier: MIT
"""What the views of a run compute, beside slow and plain versions, in Node."""

import subprocess

from page_jobs import NODE
from places import CHECKOUT


def test_searches_envelopes_and_alignment() -> None:
    """view_figures.ts ends with an error at the first difference."""
    done = subprocess.run(
        [NODE, CHECKOUT / "tests/studio/view_figures.ts"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
