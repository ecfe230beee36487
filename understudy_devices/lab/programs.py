# SPDX-License-Identifier: MIT
"""Runs the programs that make images, so that equal input gives equal bytes."""

import os
import shutil
import subprocess

from understudy_devices.base.errors import RunFailed
from understudy_devices.base.plain import one_line


def run(command: list[str], epoch: int) -> str:
    """Run a program that writes no newer time stamp than the epoch; return what it prints.

    RunFailed has its last words.
    """
    extra = {
        "SOURCE_DATE_EPOCH": str(epoch),
        "E2FSPROGS_FAKE_TIME": str(epoch),
        "LC_ALL": "C.UTF-8",
        "DEBIAN_FRONTEND": "noninteractive",
    }
    done = subprocess.run(
        [path(command[0]) or command[0], *command[1:]],
        env={**os.environ, **extra},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        reason = one_line(lines[-1]) if lines else "it gave no reason"
        raise RunFailed(f"{command[0]}: {reason}")
    return done.stdout


def path(name: str) -> str | None:
    """Return the path of a tool, even if PATH lacks the folder of root's tools."""
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
