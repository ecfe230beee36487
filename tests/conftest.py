# SPDX-License-Identifier: MIT
"""What holds for all tests: none of them is about the host's speed.

VMs come first, since they take longest: what is left at the end is short, and keeps every
process busy until then.
"""

import signal
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings

# The same examples each time: what one run has shown holds for the next.
settings.register_profile(
    "any host", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any host")
# Who runs tests in the background may ignore them, and so would the commands that they start.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The same order in each process, and a marker on what boots a VM."""
    items.sort(key=lambda item: item.path.parent.name != "vm")
    for item in items:
        if item.path.parent.name == "vm":
            item.add_marker(pytest.mark.vm)


@pytest.fixture
def on_disk() -> Iterator[Path]:
    """A folder of the test's own; /tmp may be in memory."""
    with TemporaryDirectory(dir="/var/tmp") as folder:
        yield Path(folder)
