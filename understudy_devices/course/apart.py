# SPDX-License-Identifier: MIT
"""Processes that grade: one submission at a time each, so that none affects another.

A process reads a line of JSON for each submission and answers with one.  A process that dies is
replaced; the submission that it was grading gets a line that says so.
"""

import json
import os
import queue
import select
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from understudy_devices.base import sandbox
from understudy_devices.base.errors import RunFailed

LOOK_SECONDS = 0.2
Order = dict[str, Any]


def serve(answer: Callable[[Order], Any]) -> None:
    """Answer orders until the input ends; nothing else reaches standard output."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), file=out, flush=True)


class _Process:
    def __init__(self) -> None:
        words = [sys.executable, "-P", "-m", "understudy_devices.course.grading"]
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )

    def answer(self, order: Order, stop: threading.Event) -> Any:
        """Return the answer; None if the process died."""
        assert self.process.stdin
        assert self.process.stdout
        try:
            self.process.stdin.write(json.dumps(order).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return None
        while not select.select([self.process.stdout], [], [], LOOK_SECONDS)[0]:
            if stop.is_set():
                self.end()
                raise RunFailed("stopped")
        line = self.process.stdout.readline()
        return json.loads(line) if line.endswith(b"\n") else None

    def end(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                with suppress(BrokenPipeError):
                    pipe.close()


_idle: "queue.SimpleQueue[_Process]" = queue.SimpleQueue()


def end_all() -> None:
    """End the processes that have nothing to do."""
    while not _idle.empty():
        _idle.get().end()


@dataclass(frozen=True)
class Grading:
    """The work of an engine: grades one student's submission in a process of its own."""

    course: str | None
    assignment: str
    vms: bool
    unsafe: bool = False

    def __call__(self, item: tuple[str, str], stop: threading.Event) -> Any:
        """Return the grade as JSON; None if the grading process died twice."""
        student, path = item
        order = {**vars(self), "student": student, "path": path}
        for _ in range(2):
            try:
                process = _idle.get_nowait()
            except queue.Empty:
                process = _Process()
            found = process.answer(order, stop)
            if found is not None:
                _idle.put(process)
                if "error" in found:
                    raise RunFailed(found["error"])
                return found
            process.end()
        return None


def work(course: Path | None, assignment: str, vms: bool) -> Grading:
    """Return the work for an engine."""
    folder = str(course.absolute()) if course else None
    return Grading(folder, assignment, vms, sandbox.is_open())
