# SPDX-License-Identifier: MIT
"""The page with the simulator, built once for all workers of a test run, where `make studio` and
`understudy studio` have it.
"""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest
from places import CHECKOUT


def built(factory: pytest.TempPathFactory) -> Path:
    """Return the folder with the page's files."""
    folder = CHECKOUT / "build" / "studio"
    own = factory.getbasetemp()
    run = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    with (run / "studio is built").open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not lock.tell():
            command = [sys.executable, str(CHECKOUT / "web/build.py"), str(folder)]
            subprocess.run(command, check=True)
            lock.write("yes")
    return folder
