# SPDX-License-Identifier: MIT
"""A control group that limits the page cache of a workload, as in a VM (guest/measure).

The group is removed at the end. If a command was killed, the next command removes its group.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from understudy_devices.base import scratch
from understudy_devices.base.errors import RunFailed, UserError

TOP = Path("/sys/fs/cgroup")
PATIENCE_SECONDS = 2.0  # time for the last process to leave


@contextmanager
def bounded(name: str, limit_bytes: int) -> Iterator[Path]:
    """Make a group for the workload on the disk of that name."""
    top, limit = _memory()
    clear(name)
    group = top / _name(name)
    with scratch.unless_filled() as folders:
        try:
            folders.new(group)
            (group / limit).write_text(str(limit_bytes))
        except OSError as error:
            raise RunFailed(f"{error.filename or group}: {error.strerror}") from error
        try:
            yield group
        finally:
            clear(name)


def check() -> None:
    """Raise UserError if this machine can't limit a page cache."""
    _memory()


def clear(name: str) -> None:
    """Remove the group, once it is empty."""
    end = time.monotonic() + PATIENCE_SECONDS
    for top in (TOP, TOP / "memory"):
        while (top / _name(name)).exists() and time.monotonic() < end:
            with suppress(OSError):
                (top / _name(name)).rmdir()
            time.sleep(0.01)


def _name(disk: str) -> str:
    return f"understudy-{disk}"


def _memory() -> tuple[Path, str]:
    """Return the folder for groups with a memory limit, and the name of the limit's file. The
    folder and the file depend on whether the machine uses version 2 or version 1 of control groups.
    """
    with suppress(OSError):
        if "memory" in (TOP / "cgroup.subtree_control").read_text().split():
            return TOP, "memory.max"
    if (TOP / "memory" / "memory.limit_in_bytes").exists():
        return TOP / "memory", "memory.limit_in_bytes"
    raise UserError(
        "--workload: no control groups with a limit on memory here, which bound the page cache; "
        "take surge-direct"
    )
