# SPDX-License-Identifier: MIT
"""The page with the simulator, built once for all workers of a test run."""

import fcntl
import subprocess
import sys
from pathlib import Path

import pytest
from places import CHECKOUT


def built(factory: pytest.TempPathFactory) -> Path:
    """Return the folder with the page's files."""
    shared = factory.getbasetemp().parent
    folder = shared / "studio"
    with (shared / "studio.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "index.html").exists():
            command = [sys.executable, str(CHECKOUT / "web/build.py"), str(folder)]
            subprocess.run(command, check=True)
    return folder
