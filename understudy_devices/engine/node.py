# SPDX-License-Identifier: MIT
"""What a task does on a node of the cluster: carry out its items and write each answer at once."""

import gc
import math
import signal
import socket
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from understudy_devices.base import sandbox
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.engine import Answer, Work
from understudy_devices.engine.local import Local
from understudy_devices.engine.spool import Spool, Task
from understudy_devices.native import registry
from understudy_devices.native.version import code_version

GARBAGE_LOOKED_FOR = 100_000  # as in __main__.py


@dataclass(frozen=True)
class Load:
    """What a task calls, and with what.

    It runs `jobs` items at a time, and begins none after `seconds`.  `files` are the user's
    schedulers; `unsafe` says that they run without a sandbox.
    """

    work: Work[Any]
    items: Mapping[str, Any]
    jobs: int
    seconds: float
    files: Mapping[str, registry.Source]
    unsafe: bool


def packed(
    work: Work[Any], items: Mapping[str, Any], jobs: int = 1, seconds: float = math.inf
) -> Load:
    """Return a load with all that this process knows and another one does not."""
    return Load(work, items, jobs, seconds, registry.added(), sandbox.is_open())


def unpacked(load: Load) -> list[tuple[str, Answer]]:
    """Carry out a load at once; engines call it in another process, on any machine."""
    _arrive(load)
    return list(Local(load.jobs).run(load.work, load.items))


def carry_out(folder: str, task: Task, version: str) -> None:
    """Carry out a task; submitit calls this function on the node."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # what is done has been written: just end
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    gc.set_threshold(GARBAGE_LOOKED_FOR)
    spool = Spool(Path(folder))
    with spool.answers(task) as answers:
        if code_version() != version:
            answers.end(
                f"{socket.gethostname()}: {sys.executable} has another version of Understudy than "
                "this command; install the same one on all nodes, or name it with --node-python",
            )
            return
        load: Load = spool.items(task)
        _arrive(load)
        try:
            for key, (answer, seconds) in Local(load.jobs).run(_Timed(load), load.items):
                if seconds is not None:
                    answers.write(key, answer, seconds)
            answers.end()
        except (RunFailed, UserError, ValueError) as error:
            answers.end(f"{socket.gethostname()}: {error}")


def _arrive(load: Load) -> None:
    """Make known what the command knows and this process does not."""
    for name, file in load.files.items():
        if not registry.known(name):
            registry.add(name, file)
    if load.unsafe:
        sandbox.leave_open()


class _Timed:
    """Calls `work` and measures how long it takes; leaves out what begins too late."""

    def __init__(self, load: Load) -> None:
        self._work = load.work
        self._until = time.monotonic() + load.seconds
        self._begun = False

    def __call__(self, item: Any, stop: Any) -> tuple[Answer, float | None]:
        began = time.monotonic()
        if began > self._until and self._begun:
            return None, None
        self._begun = True
        answer = self._work(item, stop)
        return answer, time.monotonic() - began
