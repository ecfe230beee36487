# SPDX-License-Identifier: MIT
"""A host processor for one VM in the virtual clock.

In the virtual clock, QEMU's two threads alternate at every idle moment of the guest. On one
processor each alternation is a context switch. On two processors each alternation wakes a sleeping
core, and a run takes one and a half times as long.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterator

from understudy_devices.base.paths import cache_dir


@contextlib.contextmanager
def own_processor() -> Iterator[int | None]:
    """Reserve a processor that no other VM of this project uses; None if all are reserved."""
    folder = cache_dir() / "processors"
    folder.mkdir(exist_ok=True)
    for number in sorted(os.sched_getaffinity(0)):
        with (folder / str(number)).open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield number
            return
    yield None
