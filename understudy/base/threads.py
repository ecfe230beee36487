# SPDX-License-Identifier: MIT
"""Work in several threads, which one that fails, or Ctrl-C, ends for all."""

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
    """What each returns, in their order, so many at once; `done` is told of each.

    What one raises, or this thread, is raised as soon as it happens: no other begins then, and
    `stop` is set for those that have begun.
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
