# SPDX-License-Identifier: MIT
"""Run programs that may loop forever: each has a time limit, and none outlives this process.

The limit is on processor time, so other load on the machine does not count.
"""

import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

_running: set[subprocess.Popen[bytes]] = set()
_lock = threading.Lock()
_stopped = threading.Event()


class StoppedError(Exception):
    """stop_all() was called."""


def run(
    command: Sequence[str | Path],
    cpu_seconds: int,
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
) -> bool:
    """Return whether the program exits with 0; its output is dropped."""
    limits = ["setpriv", "--pdeathsig", "KILL", "prlimit", f"--cpu={cpu_seconds}", "--core=0"]
    nowhere = subprocess.DEVNULL
    with _lock:
        if _stopped.is_set():
            raise StoppedError
        process = subprocess.Popen(
            [*limits, *command], stdin=nowhere, stdout=nowhere, stderr=nowhere, cwd=cwd, env=env
        )
        _running.add(process)
    code = process.wait()
    with _lock:
        _running.discard(process)
    if _stopped.is_set():
        raise StoppedError
    return code == 0


def stop_all() -> None:
    """Kill all running programs, and start no more."""
    with _lock:
        _stopped.set()
        for process in _running:
            process.kill()
