# SPDX-License-Identifier: MIT
"""The default engine: threads of this process; what is slow runs in processes of its own."""

import threading
from collections.abc import Generator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from understudy_devices.base import threads
from understudy_devices.engine import Answer, Work

T = TypeVar("T")

AHEAD = 4  # tasks queued per running task; later tasks, perhaps millions, are not created yet


@dataclass(frozen=True)
class Local:
    """Runs `jobs` tasks at a time."""

    jobs: int
    notice: str = ""

    def run(
        self, work: Work[T], items: Mapping[str, T]
    ) -> Generator[tuple[str, Answer], None, None]:
        """Yield answers as Engine.run does."""
        stop = threading.Event()
        waiting = iter(items.items())
        running: dict[Future[Answer], tuple[int, str]] = {}
        begun = 0

        def fill(pool: ThreadPoolExecutor) -> None:
            nonlocal begun
            while len(running) < AHEAD * self.jobs and (entry := next(waiting, None)):
                running[pool.submit(work, entry[1], stop)] = (begun, entry[0])
                begun += 1

        with ThreadPoolExecutor(max_workers=self.jobs) as pool:
            try:
                fill(pool)
                while running:
                    done = threads.ended(running)
                    for task in sorted(done, key=lambda it: (bool(it.exception()), running[it])):
                        yield running.pop(task)[1], task.result()
                    fill(pool)
            except BaseException:
                stop.set()
                pool.shutdown(wait=True, cancel_futures=True)
                raise
