# SPDX-License-Identifier: MIT
"""Work in several threads; a failure of one thread, or Ctrl-C, ends all threads.

The main thread waits in short steps: after a library (such as Polars) has replaced the handler of
SIGINT, a signal does not interrupt a wait for a lock, and Python notices it only between two waits.
"""

import threading
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

T = TypeVar("T")

LOOK_SECONDS = 0.2


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
            pending = set(futures)
            while pending:
                for future in ended(pending):
                    future.result()
                    done()
                    pending.discard(future)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            stop.set()
            raise
    return [future.result() for future in futures]


def ended(pending: Collection[Future[T]]) -> set[Future[T]]:
    """Wait until some of the futures are done, and return those; a signal can interrupt this."""
    while not (done := wait(pending, LOOK_SECONDS, FIRST_COMPLETED).done):
        pass
    return done
