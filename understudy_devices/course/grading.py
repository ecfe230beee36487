# SPDX-License-Identifier: MIT
"""The process that grades (apart.py): one order at a time, each with registries of its own."""

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

from understudy_devices.base import sandbox
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.course.apart import Order, serve
from understudy_devices.course.grade import Grader
from understudy_devices.course.library import PUBLIC_SECRET, Course, course
from understudy_devices.native import registry

ADDR_NO_RANDOMIZE = 0x0040000


@cache
def _grader(folder: str | None, assignment: str, vms: bool) -> Grader:
    found = course(Path(folder)) if folder else Course(None, "", PUBLIC_SECRET)
    return Grader(found.assignment(assignment), found, vms)


def answer(order: Order) -> Any:
    """Grade one submission."""
    if order["unsafe"]:
        sandbox.leave_open()
    registry.forget()
    try:
        grader = _grader(order["course"], order["assignment"], order["vms"])
        handed_in = grader.read(Path(order["path"]))
        return grader.grade(order["student"], handed_in).as_json()
    except (UserError, RunFailed) as error:
        return {"error": str(error)}


def fix_addresses() -> None:
    """Let the processes that this one starts have the same addresses each time.

    Else the line at which an endless recursion ends would differ from run to run.  A container may
    refuse it.
    """
    ctypes.CDLL(None).personality(ADDR_NO_RANDOMIZE)


if __name__ == "__main__":
    fix_addresses()
    serve(answer)
