# SPDX-License-Identifier: MIT
"""Restore settings of the kernel, even if the command is killed.

Before the first setting is changed, the values of all settings are written to a journal, in the
order in which they are restored.  The journal is in /run, which is empty after each boot.  The
journal is removed when all settings are restored.

This file is also a program, which imports no module of the package.  After a command was killed,
__main__.py runs `put_back.py JOURNAL`.  The program prints a line for each setting
that could not be restored; if there is any such setting, its exit code is 1.
"""

import json
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

FOLDER = Path("/run/understudy")
OWN_DEFAULT = {"wbt_lat_usec": "-1"}
"""Settings whose value the kernel can choose, each with the value that tells the kernel to
choose."""


def held(file: Path) -> str:
    """Return the value of a setting; if the file lists all choices, that is the choice in
    brackets."""
    text = file.read_text().strip()
    return text.partition("[")[2].partition("]")[0] or text


def write(journal: Path, identity: Path, files: Iterable[Path]) -> None:
    """Write the current settings to the journal.

    `identity` is a file with the disk's identity, since another disk may get the same name later.
    """
    listed = {
        "identity": [str(identity), held(identity)],
        "settings": [[str(file), held(file)] for file in files],
    }
    journal.parent.mkdir(parents=True, exist_ok=True)
    partial = journal.with_suffix(".new")
    partial.write_text(json.dumps(listed))
    partial.replace(journal)


def put_back(journal: Path) -> list[str]:
    """Restore the settings of a journal, unless its disk has been removed.

    Return a line for each setting that could not be restored.
    """
    try:
        listed = json.loads(journal.read_text())
    except FileNotFoundError:
        return []
    why = []
    if _is_there(*listed["identity"]):
        why = [
            problem for file, was in listed["settings"] if (problem := _restored(Path(file), was))
        ]
    if not why:
        journal.unlink(missing_ok=True)
    return why


def _is_there(identity: str, was: str) -> bool:
    try:
        return held(Path(identity)) == was
    except OSError:
        return False


def _restored(file: Path, was: str) -> str:
    """Restore one setting; return why it failed, or an empty string."""
    try:
        if held(file) != was and file.name in OWN_DEFAULT:
            file.write_text(OWN_DEFAULT[file.name])
        if held(file) != was:
            file.write_text(was)
        now = held(file)
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"{file}: {was} could not be put back: {error.strerror}"
    return "" if now == was else f"{file}: {was} could not be put back: it is {now}"


def main() -> None:
    """Restore the settings in the journal named on the command line."""
    why = put_back(Path(sys.argv[1]))
    with suppress(BrokenPipeError):
        print("\n".join(why), end="")
    sys.exit(bool(why))


if __name__ == "__main__":
    main()
