# SPDX-License-Identifier: MIT
"""What every call needs: it works alone, and reads the user's files anew.

A process that lives long, such as a notebook's, calls several times, with files that change
meanwhile.  So the names of users' schedulers belong to one call.  Calls from several threads run
one after another; each runs its own work in parallel.
"""

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

from understudy_devices.base import run_folder, sandbox
from understudy_devices.base.errors import RunFailed
from understudy_devices.native import registry

Out = str | os.PathLike[str] | bool | None
"""A new folder for the results; True: a folder in runs/, as the command line makes; None: none."""

_turn = threading.RLock()


class NoResult(RunFailed):
    """Every scheduler failed; `failures` says why."""

    def __init__(self, failures: Mapping[str, str]) -> None:
        """Store the failures by scheduler."""
        super().__init__("; ".join(dict.fromkeys(failures.values())))
        self.failures = dict(failures)


@contextmanager
def alone(*, unsafe: bool = False) -> Iterator[None]:
    """Wait until no other call works, and forget the files of the last call.

    If `unsafe` is true, users' files are compiled and run without a sandbox.
    """
    with _turn, sandbox.left_open(unsafe):
        registry.forget()
        yield


def folder(out: Out, label: str) -> AbstractContextManager[Path | None]:
    """Yield the new folder for the results, or None (base/run_folder.py)."""
    if not out:
        return nullcontext()
    return run_folder.reserved(None if out is True else Path(out), label)
