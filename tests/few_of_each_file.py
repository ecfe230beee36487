# SPDX-License-Identifier: MIT
"""A plugin of pytest that runs the first tests of each file that are not left out otherwise, and of
those that boot VMs only the first."""

from collections import Counter
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--few", type=int, default=2, help="how many tests of each file")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the first tests of each file."""
    seen: Counter[Path] = Counter()
    kept: list[pytest.Item] = []
    others: list[pytest.Item] = []
    for item in items:
        seen[item.path] += 1
        few = 1 if item.get_closest_marker("vm") else config.getoption("--few")
        (kept if seen[item.path] <= few else others).append(item)
    config.hook.pytest_deselected(items=others)
    items[:] = kept
