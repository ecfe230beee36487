# SPDX-License-Identifier: MIT
"""Settings for all tests; no test depends on the host's speed.

Tests that boot VMs run first, since they take longest.  The short tests at the end then keep every
process busy.
"""

import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings
from places import CHECKOUT

pytest_plugins = ["browser_page", "designer_page"]
# The oracle is not installed.  The checkout comes last, so that an installed package goes first.
sys.path.append(str(CHECKOUT))
# Hypothesis tries the same examples in every run, so that results are repeatable.
settings.register_profile(
    "any host", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any host")
# A shell may start background jobs with these signals ignored, and the commands started here would
# inherit that.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort the tests into the same order in each process, and mark those that boot a VM."""
    items.sort(key=lambda item: item.path.parent.name != "vm")
    for item in items:
        if item.path.parent.name == "vm":
            item.add_marker(pytest.mark.vm)


@pytest.fixture
def on_disk() -> Iterator[Path]:
    """Return a temporary folder on disk, since /tmp may be in memory."""
    with TemporaryDirectory(dir="/var/tmp") as folder:
        yield Path(folder)
