# SPDX-License-Identifier: MIT
"""Experiments: commands that the studio starts, and that go on without it.

Each experiment has a folder with a number as its name in FOLDER/.studio:

| file | content |
| --- | --- |
| request.json | the command's words, and when it was started |
| log | what the command printed |
| keeper.json | the number of the process that keeps it (keeper.py) |
| outcome.json | its exit code, and when it ended; missing while it runs, or if the keeper died |
| lock | locked as long as its keeper lives |

The keeper is a process of its own, so an experiment survives the browser and the studio.
"""

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from understudy_devices.base import scratch
from understudy_devices.base.errors import UserError

FOLDER = ".studio"
WRITE = ("predict", "sweep", "consolidate", "place", "card")  # a run folder
OF_CARDS = ("demo", "test")
COMMANDS = (*WRITE, "compare-runs")
WORDS_MOST = 200
LETTERS_MOST = 2000
RUNNING, DONE, FAILED, CANCELLED, LOST = "running", "done", "failed", "cancelled", "lost"
EXIT_INTERRUPTED = 130
NUMBER = re.compile(r"[0-9]{4,9}")


@dataclass(frozen=True)
class Experiment:
    """An experiment, from its folder."""

    folder: Path

    @property
    def number(self) -> str:
        """Return its name."""
        return self.folder.name

    @property
    def log(self) -> Path:
        """Return the file with what the command has printed."""
        return self.folder / "log"

    @property
    def state(self) -> str:
        """Return RUNNING, or how it ended."""
        if self._is_kept():
            return RUNNING
        outcome = _object(self.folder / "outcome.json")
        if not outcome:
            return LOST
        return {0: DONE, EXIT_INTERRUPTED: CANCELLED}.get(outcome.get("exit", -1), FAILED)

    def as_json(self) -> dict[str, Any]:
        """Return what a page shows of it."""
        request, outcome = (
            _object(self.folder / f"{name}.json") for name in ("request", "outcome")
        )
        return {
            "number": self.number,
            "words": request.get("words", []),
            "began_s": request.get("began_s"),
            "ended_s": outcome.get("ended_s"),
            "exit": outcome.get("exit"),
            "state": self.state,
            "run": request.get("run"),
        }

    def cancel(self) -> bool:
        """Interrupt the command, as Ctrl-C does; return whether it was running."""
        if not self._is_kept():
            return False
        keeper = _object(self.folder / "keeper.json").get("process")
        if not isinstance(keeper, int):
            return False
        os.kill(keeper, signal.SIGTERM)
        return True

    def _is_kept(self) -> bool:
        try:
            with (self.folder / "lock").open("rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False


def every(folder: Path) -> list[Experiment]:
    """Return all experiments of a folder, the last one first."""
    found = [one for one in (folder / FOLDER).glob("*") if NUMBER.fullmatch(one.name)]
    return [Experiment(one) for one in sorted(found, key=lambda one: int(one.name), reverse=True)]


def of_number(folder: Path, number: str) -> Experiment | None:
    """Return an experiment; None if there is none of this number."""
    path = folder / FOLDER / number
    return Experiment(path) if NUMBER.fullmatch(number) and path.is_dir() else None


def start(folder: Path, words: Sequence[str]) -> Experiment:
    """Start a command in the folder; its run folder is beside the others, NUMBER-COMMAND.

    Raise a UserError for a command that may not be started here, or a path outside the folder.
    """
    check(folder, words)
    own = _new(folder / FOLDER)
    run = f"{own.name}-{words[0]}" if words[0] in WRITE else None
    out = ["--out", run] if run else []
    request = {"words": list(words), "run": run, "began_s": time.time()}
    _write(own / "request.json", request)
    environment = {name: value for name, value in os.environ.items() if name != "TMPDIR"}
    keeper = subprocess.Popen(
        [sys.executable, "-P", "-m", "understudy_devices.studio.keeper", own, *words, *out],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    scratch.goes_on(keeper.pid)
    _wait_for_lock(own, keeper)
    threading.Thread(target=keeper.wait, daemon=True).start()
    return Experiment(own)


def check(folder: Path, words: Sequence[str]) -> None:
    """Raise a UserError unless these words may be started in the folder."""
    if not words or words[0] not in COMMANDS:
        given = words[0] if words else "no command"
        raise UserError(
            f"{given}: the studio starts {', '.join(COMMANDS)}; type others in a terminal"
        )
    if words[0] == "card" and not set(words[1:2]) & set(OF_CARDS):
        given = " ".join(words[:2])
        raise UserError(
            f"{given}: the studio starts card demo and card test; type others in a terminal"
        )
    if len(words) > WORDS_MOST or any(len(word) > LETTERS_MOST for word in words):
        raise UserError(
            f"a command of more than {WORDS_MOST} words, or a word of more than {LETTERS_MOST} "
            "letters; shorten it"
        )
    for word in words[1:]:
        if re.match(r"--?o(u|ut)?(=|$)", word):
            raise UserError("--out: the studio names the run folder; leave it out")
        if any(character < " " for character in word):
            raise UserError(f"{word!r}: a control character; leave it out")
        for part in re.split(r"[=:,]", word):
            _check_path(folder, part)


def _check_path(folder: Path, text: str) -> None:
    outside = text.startswith(("/", "~")) or ".." in Path(text).parts
    with suppress(OSError):  # too long for a path
        outside |= not (folder / text).resolve().is_relative_to(folder.resolve())
    if outside:
        raise UserError(f"{text}: outside the studio's folder; copy the file into {folder}")


def _new(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    number = 1 + max(
        (int(one.name) for one in folder.glob("*") if NUMBER.fullmatch(one.name)), default=0
    )
    while True:
        try:
            (own := folder / f"{number:04}").mkdir()
        except FileExistsError:
            number += 1
        else:
            return own


def _wait_for_lock(own: Path, keeper: "subprocess.Popen[bytes]") -> None:
    while not (own / "keeper.json").exists() and keeper.poll() is None:
        time.sleep(0.01)


def _write(file: Path, value: Any) -> None:
    with scratch.replacing(file) as temporary:
        temporary.write_text(json.dumps(value))


def _object(file: Path) -> dict[str, Any]:
    try:
        value = json.loads(file.read_text())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
