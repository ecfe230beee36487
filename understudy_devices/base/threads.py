# SPDX-License-Identifier: MIT
"""Work in several threads; a failure of one thread, or Ctrl-C, ends all threads."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TypeVar

T = TypeVar("T")


def run_all(
    tasks: Sequence[Callable[[], T]],
    at_once: int,
    stop: threading.Event,
    done: Callable[[], None] = lambda: None,
) -> list[T]:
    """Run the tasks in threads and return their results in order; call `done` after each task.

    After an exception in a task or in this thread, no further task starts, and `stop` is set, so
    that running tasks end.  The exception is then raised.
    """
    with ThreadPoolExecutor(at_once) as pool:
        try:
            futures = [pool.submit(task) for task in tasks]
            for future in as_completed(futures):
                future.result()
                done()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            stop.set()
            raise
    return [future.result() for future in futures]
