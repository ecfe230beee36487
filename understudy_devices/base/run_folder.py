# SPDX-License-Identifier: MIT
"""A run folder: empty while the command runs, then either complete or removed.

No existing file is overwritten.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import chain, count
from pathlib import Path
from typing import Any

from understudy_devices.base import scratch
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.base.paths import runs_dir

HIDDEN = ".understudy-"


@contextmanager
def reserved(out: Path | None, label: str) -> Iterator[Path]:
    """Yield a new or empty folder for the results; `filled` replaces the empty folder later.

    Without `out` the folder's name consists of the time and the label.  A folder that can't be
    written is refused here, before any work.  A folder that is empty at the end is removed.
    """
    with scratch.unless_filled() as folders:
        try:
            folder = _default(label, folders) if out is None else _named(out, folders)
            with scratch.folder(HIDDEN, folder.parent):
                pass
        except OSError as error:
            raise UserError(
                f"--out: cannot write {out or runs_dir()}: {error.strerror}; try another"
            ) from error
        except RunFailed as error:
            raise UserError(f"--out: {error}; try another") from error
        yield folder


@contextmanager
def filled(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder for all files; when the block ends, it replaces `folder` in one
    step."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritten(folder, error) from error
    with scratch.folder(HIDDEN, folder.parent) as partial:
        yield partial
        partial.chmod(0o755)
        try:
            partial.rename(folder)
        except OSError as error:
            raise RunFailed(
                f"cannot write {folder}: {error.strerror}; try another --out"
            ) from error


def _unwritten(folder: Path, error: OSError) -> RunFailed:
    return RunFailed(f"cannot write {folder}: {error.strerror}; try another --out")


def write(folder: Path, document: dict[str, Any], page: str) -> None:
    """Write result.json and report.html; in file names, bytes that are not UTF-8 are escaped."""
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    for name, content in (("result.json", text), ("report.html", page)):
        (folder / name).write_text(content, encoding="utf-8", errors="backslashreplace")


def _named(out: Path, folders: scratch.Reserved) -> Path:
    if not out.name:
        raise UserError(f'--out: "{out}" can\'t be a new folder; name another')
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise UserError(f"--out: {out} is not empty; name a new folder or remove it")
    _make(out, folders)
    return out


def _default(label: str, folders: scratch.Reserved) -> Path:
    """Make a folder named by the time and the label; each of several simultaneous runs gets a
    different name."""
    name = f"{datetime.now().strftime('%Y%m%d-%H%M%S')}-{label}"
    _make(runs_dir(), folders)
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    return next(folder for other in names if folders.new(folder := runs_dir() / other))


def _make(folder: Path, folders: scratch.Reserved) -> None:
    """Make a folder and its parents."""
    for place in (*reversed(folder.parents), folder):
        folders.new(place)
