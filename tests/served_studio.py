# SPDX-License-Identifier: MIT
"""Commands that serve a page, as a person starts and ends them."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def studio_of(folder: Path) -> Iterator[str]:
    """Start the studio of a folder; yield the link that it prints, and end it with Ctrl-C."""
    with served("studio", folder) as link:
        yield link


@contextmanager
def served(*words: str | Path) -> Iterator[str]:
    """Start a command that serves a page; yield the link that it prints, and end it with Ctrl-C."""
    command = ["understudy", *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        try:
            yield server.stdout.readline().strip()
        finally:
            server.send_signal(signal.SIGINT)
        assert server.wait(60) == 130
