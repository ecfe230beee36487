# SPDX-License-Identifier: MIT
"""A process that reads what students hand in, with limits on its memory and processor time.

Whatever a submission does to the libraries that read archives and TOML, it does to this process
only, and costs this submission only.
"""

import json
import resource
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from understudy_devices.base.errors import UserError
from understudy_devices.course import submission
from understudy_devices.course.result import NoPoints
from understudy_devices.course.submission import Submission

MEMORY_BYTES = 2**29
CPU_SECONDS = 20
TOML_BYTES = 2**15
DEPTH_MOST = 50  # of a TOML file's tables; JSON's reader has a limit too
WORDS = f"reading it takes more than {CPU_SECONDS} s or {MEMORY_BYTES:,} bytes of memory"

Order = dict[str, Any]


def read(path: Path, names: Sequence[str], file_bytes: int, *, renamed: bool = False) -> Submission:
    """Read a submission as submission.read does."""
    asked = {"path": str(path), "names": list(names), "file_bytes": file_bytes}
    answer = _asked({**asked, "renamed": renamed})
    if answer is None:
        return submission.nothing(names, f"the submission cannot be read: {WORDS}")
    if "wrong" in answer:
        raise UserError(answer["wrong"])
    files = {name: text.encode() for name, text in answer["files"].items()}
    return Submission(files, answer["refused"], tuple(answer["notes"]))


def toml(text: str, name: str) -> dict[str, Any]:
    """Return the table of a submission's TOML file; NoPoints says what is wrong with it."""
    size = len(text.encode())
    if size > TOML_BYTES:
        raise NoPoints(f"{name} has {size:,} bytes; the limit of a TOML file is {TOML_BYTES:,}")
    answer = _asked({"toml": text})
    if answer is None:
        raise NoPoints(f"{name} cannot be read: {WORDS}")
    if "wrong" in answer:
        raise NoPoints(f"{name} is not TOML: {answer['wrong']}")
    table: dict[str, Any] = answer["table"]
    return table


def _asked(order: Order) -> Any:
    """Return the answer of a new process; None if it exceeded its limits."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", __name__],
        input=json.dumps(order).encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    return None if done.returncode else json.loads(done.stdout)


def _submission(order: Order) -> Any:
    try:
        path = Path(order.pop("path"))
        found = submission.read(path, **order)
    except UserError as error:
        return {"wrong": str(error)}
    files = {name: data.decode("utf-8") for name, data in found.files.items()}
    return {"files": files, "refused": found.refused, "notes": found.notes}


def _toml(order: Order) -> Any:
    try:
        table = tomllib.loads(order["toml"].removeprefix("\ufeff"))
        if _depth(table) > DEPTH_MOST:
            raise RecursionError
        json.dumps(table, default=str)
    except tomllib.TOMLDecodeError as error:
        return {"wrong": submission.shown(str(error))}
    except RecursionError:
        return {"wrong": "its tables are nested too deeply"}
    except ValueError:
        return {"wrong": "a number or a date in it is impossible"}
    return {"table": table}


def _depth(value: Any) -> int:
    """Return how deeply tables and lists are nested; RecursionError if that is too deep to tell."""
    if not isinstance(value, dict | list):
        return 0
    inner = value.values() if isinstance(value, dict) else value
    return 1 + max(map(_depth, inner), default=0)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    asked = json.load(sys.stdin)
    print(json.dumps(_toml(asked) if "toml" in asked else _submission(asked), default=str))
