# SPDX-License-Identifier: MIT
"""Run many tasks: on this machine (local.py) or on a cluster with Slurm (cluster.py).

A task is a call of one function, `work`, with one item.  An engine calls it for all items, in any
order and at any place, and yields each answer as soon as it arrives.  docs/cluster.md shows how to
add another engine.
"""

import threading
from collections.abc import Callable, Generator, Mapping
from typing import Any, Protocol, TypeVar

from understudy_devices.base.errors import RunFailed

T = TypeVar("T")
Answer = Any
"""What JSON can carry, so that an answer can be kept as a line of text."""

Work = Callable[[T, threading.Event], Answer]
"""Called with an item; it ends soon, with RunFailed, once the event is set.

An engine may pickle it together with its items, and call the copy on another machine.
"""


class Died(RunFailed):
    """Whatever carries out an item dies each time; `key` is the item's."""

    def __init__(self, message: str, key: str) -> None:
        """Store the message and the key."""
        super().__init__(message)
        self.key = key


class Engine(Protocol):
    """What every engine offers."""

    @property
    def notice(self) -> str:
        """Return what goes on if the command is interrupted; empty if nothing does."""

    def run(
        self, work: Work[T], items: Mapping[str, T]
    ) -> Generator[tuple[str, Answer], None, None]:
        """Yield the key and the answer of each item once, in the order in which they arrive.

        An exception of `work`, and closing the generator, end all tasks.  Answers that arrived
        together with an exception are yielded before it is raised.
        """
