# SPDX-License-Identifier: MIT
"""A plugin of pytest that runs the first tests of each file: enough to notice that something is not
installed, in a tenth of the time.
"""

from collections import Counter
from pathlib import Path

import pytest

FEW = 3


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the first tests of each file."""
    seen: Counter[Path] = Counter()
    kept: list[pytest.Item] = []
    others: list[pytest.Item] = []
    for item in items:
        seen[item.path] += 1
        (kept if seen[item.path] <= FEW else others).append(item)
    config.hook.pytest_deselected(items=others)
    items[:] = kept
