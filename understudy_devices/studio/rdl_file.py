# SPDX-License-Identifier: MIT
"""A card from the text of a SystemRDL file, by the command `understudy card import`.

The command runs in a process of its own, so that a hostile file ends nothing but that process.
A file that includes others is refused: they would be read from this machine.
"""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from understudy_devices.base import scratch
from understudy_devices.base.errors import RunFailed

MAIN = Path(__file__).parents[1] / "__main__.py"
SECONDS_MOST = 60
FILE = "card.rdl"
INCLUDE = re.compile(r"`include\b")
LINE = re.compile(rf"(?:understudy: )?{re.escape(FILE)}:(\d+): (.*)")


@dataclass(frozen=True)
class Imported:
    """The specification's text; or, if the file has none, its mistakes: (line from 1, reason)."""

    text: str | None
    mistakes: tuple[tuple[int, str], ...]


def imported(rdl: str) -> Imported:
    """Convert the text of a .rdl file.

    RunFailed: the conversion takes too long, or ends without a word about the file.
    """
    if include := INCLUDE.search(rdl):
        line = rdl.count("\n", 0, include.start()) + 1
        reason = "`include reads another file: type understudy card import in its folder"
        return Imported(None, ((line, reason),))
    with scratch.folder("rdl") as folder:
        file = folder / FILE
        file.write_text(rdl, encoding="utf-8")
        with subprocess.Popen(
            [sys.executable, "-P", MAIN, "card", "import", FILE],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as command:
            try:
                printed, errors = command.communicate(timeout=SECONDS_MOST)
            except subprocess.TimeoutExpired as error:
                command.terminate()
                command.communicate()
                raise RunFailed(
                    f"the file is not converted in {SECONDS_MOST} s: shorten it"
                ) from error
    if not command.returncode:
        return Imported(printed.decode(), ())
    lines = errors.decode(errors="replace").splitlines()
    matches = [match for match in map(LINE.fullmatch, lines) if match]
    if not matches:
        raise RunFailed(f"card import: {lines[-1] if lines else command.returncode}")
    return Imported(None, tuple((int(match[1]), match[2]) for match in matches))
