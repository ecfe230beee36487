# SPDX-License-Identifier: MIT
"""Settings of the kernel, put back to what they were, whatever happens.

A journal in /run, where nothing outlives the kernel that has the settings, lists what they are
before the first of them is changed, in the order in which they are put back.  It is gone when
all of them are.

Also a program, which imports nothing of the package: `put_back.py JOURNAL` is how
understudy/__main__.py does it for a command that was killed.  Exit code: 1, and a line for each
setting that would not go back.
"""

import json
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

FOLDER = Path("/run/understudy")
OWN_DEFAULT = {"wbt_lat_usec": "-1"}
"""What makes the kernel choose by itself again: the same value, if written, would not."""


def held(file: Path) -> str:
    """What a setting is: of several that are offered, the one in brackets."""
    text = file.read_text().strip()
    return text.partition("[")[2].partition("]")[0] or text


def write(journal: Path, identity: Path, files: Iterable[Path]) -> None:
    """List the settings as they are; `identity` is a file that tells this disk from a later one."""
    listed = {
        "identity": [str(identity), held(identity)],
        "settings": [[str(file), held(file)] for file in files],
    }
    journal.parent.mkdir(parents=True, exist_ok=True)
    partial = journal.with_suffix(".new")
    partial.write_text(json.dumps(listed))
    partial.replace(journal)


def put_back(journal: Path) -> list[str]:
    """Why some are still different; of a disk that is gone nothing is."""
    try:
        listed = json.loads(journal.read_text())
    except FileNotFoundError:
        return []
    why = []
    if _is_there(*listed["identity"]):
        why = [said for file, was in listed["settings"] if (said := _restored(Path(file), was))]
    if not why:
        journal.unlink(missing_ok=True)
    return why


def _is_there(identity: str, was: str) -> bool:
    try:
        return held(Path(identity)) == was
    except OSError:
        return False


def _restored(file: Path, was: str) -> str:
    """Empty if it is what it was."""
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
    """Of the journal that is named."""
    why = put_back(Path(sys.argv[1]))
    with suppress(BrokenPipeError):
        print("\n".join(why), end="")
    sys.exit(bool(why))


if __name__ == "__main__":
    main()
