# SPDX-License-Identifier: MIT
"""The folder through which a command and its tasks on a cluster exchange items and answers.

ROUND.plan           JSON: the version of the code, and the keys of each task of an array
ROUND.TASK.items     what the task calls, and with what; pickled
ROUND.TASK.X.answers lines of JSON that one start of a task (X) writes: key, answer and seconds of
                     each item that is done; at the end null, an empty or an error's message,
                     and 0

A line is written as soon as an item is done, so that a task that is killed loses only its current
items.  If Slurm starts a task again, both starts have a file.  The command reads no pickles.
"""

import json
import os
import pickle
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from understudy_devices.base import scratch
from understudy_devices.base.errors import RunFailed

Line = tuple[str | None, Any, float]
"""Key, answer and seconds; without a key, the end of a start, and the message of its error."""


@dataclass(frozen=True, order=True)
class Task:
    """One task of an array: the array's round, and the task's number."""

    round: str
    number: int

    def __str__(self) -> str:
        """Return the beginning of the names of the task's files."""
        return f"{self.round}.{self.number}"


@dataclass(frozen=True)
class Plan:
    """An array of tasks: the version of the code that planned it, and the keys of each task."""

    version: str
    keys: list[list[str]]


@dataclass
class Spool:
    """The folder, and how far its answers have been read."""

    folder: Path
    _read: dict[Path, int] = field(default_factory=dict)

    def plan(self, version: str, tasks: Sequence[tuple[list[str], Any]]) -> str:
        """Write the items of new tasks, each with the keys of its items; return the round."""
        name = secrets.token_hex(8)
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            for number, (_, content) in enumerate(tasks):
                with (self.folder / f"{Task(name, number)}.items").open("wb") as file:
                    pickle.dump(content, file)
            with scratch.replacing(self.folder / f"{name}.plan") as fresh:
                fresh.write_text(json.dumps([version, [keys for keys, _ in tasks]]))
        return name

    def plans(self) -> Mapping[str, Plan]:
        """Return all plans by round; one that cannot be read is left out."""
        plans = {}
        for file in self.folder.glob("*.plan"):
            with suppress(OSError, ValueError, TypeError):
                plans[file.stem] = Plan(*json.loads(file.read_bytes()))
        return plans

    def items(self, task: Task) -> Any:
        """Return what `plan` was given for a task."""
        with (self.folder / f"{task}.items").open("rb") as file:
            return pickle.load(file)

    @contextmanager
    def answers(self, task: Task) -> Iterator["Answers"]:
        """Open a new file of answers for one start of a task."""
        path = self.folder / f"{task}.{secrets.token_hex(4)}.answers"
        with writing(self.folder), path.open("xb", buffering=0) as file:
            yield Answers(file.fileno())

    def new(self) -> Iterator[tuple[Task, Line]]:
        """Yield the lines that have been written since the last call.

        A line that is not complete yet is left for the next call; one that a crash of the file
        system has damaged is skipped, and so its item is carried out again.
        """
        with writing(self.folder):
            files = sorted(self.folder.glob("*.answers"))
        for file in files:
            task = _task_of(file.name)
            for line in self._lines(file):
                with suppress(ValueError, TypeError):
                    key, answer, seconds = json.loads(line)
                    if task:
                        yield task, (key, answer, seconds)

    def _lines(self, path: Path) -> list[bytes]:
        begin = self._read.get(path, 0)
        with suppress(FileNotFoundError):
            if path.stat().st_size > begin:
                with path.open("rb") as file:
                    file.seek(begin)
                    whole, newline, _ = file.read().rpartition(b"\n")
                self._read[path] = begin + len(whole) + len(newline)
                return whole.split(b"\n") if newline else []
        return []


@dataclass(frozen=True)
class Answers:
    """An open file of answers."""

    descriptor: int

    def write(self, key: str, answer: Any, seconds: float) -> None:
        """Append the answer of an item."""
        self._write((key, answer, seconds))

    def end(self, message: str = "") -> None:
        """Append that no answer follows, and why if that is an error."""
        self._write((None, message, 0))

    def _write(self, line: Line) -> None:
        text = memoryview(json.dumps(line).encode() + b"\n")
        while text:
            text = text[os.write(self.descriptor, text) :]


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Turn an OSError into a RunFailed with a message of one line."""
    try:
        yield
    except OSError as error:
        raise RunFailed(
            f"cannot use {folder}: {error.strerror or error}; take an --out on a disk that all "
            "nodes share and that has room"
        ) from error


def _task_of(name: str) -> Task | None:
    """Return the task that writes a file of answers; None if the name is not of such a file."""
    words = name.split(".")
    return Task(words[0], int(words[1])) if len(words) == 4 and words[1].isdigit() else None
