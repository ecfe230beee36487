# SPDX-License-Identifier: MIT
"""The command `understudy studio`, as a person starts and ends it."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def studio_of(folder: Path) -> Iterator[str]:
    """Start the studio of a folder; yield the link that it prints, and end it with Ctrl-C."""
    words = ["understudy", "studio", str(folder)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as studio:
        assert studio.stdout
        try:
            yield studio.stdout.readline().strip()
        finally:
            studio.send_signal(signal.SIGINT)
        assert studio.wait(60) == 130
