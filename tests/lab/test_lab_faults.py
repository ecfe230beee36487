# SPDX-License-Identifier: MIT
"""Some rounds of tests/lab_faults.py, which by itself does as many as one wants."""

from pathlib import Path

import pytest
from lab_faults import campaign


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
def test_whatever_is_killed_a_clone_starts_and_has_what_was_flushed(tmp_path: Path) -> None:
    """A VM that this process starts goes on, which Python warns of."""
    counts = campaign(tmp_path, rounds=25, seed=2026, say=lambda line: None)
    assert sum(counts.values()) == 25
