# SPDX-License-Identifier: MIT
"""Cards under the other kernels that `understudy doctor` calls tried, with their drivers."""

import os
import subprocess
import sys

import pytest
from places import CHECKOUT

from understudy_devices.platforms.vm import packages

TESTS = ("card_gaps", "card_power", "card_selftest", "nvme", "pvpanic", "rtl8139cp", "uart16550")


@pytest.mark.slow
@pytest.mark.parametrize("series", packages.TRIED[1:])
def test_cards_and_their_drivers(series: str) -> None:
    """The tests of these cards, in a process that takes the other kernel."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    files = [f"tests/vm/test_{name}.py" for name in TESTS]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files],
        cwd=CHECKOUT,
        env=own | {"UNDERSTUDY_KERNEL": series},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
