# SPDX-License-Identifier: MIT
"""Open queues for tests: classes of customers, whose arrivals are written to files."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from understudy_devices.consolidation.map import MarkovianArrivalProcess
from understudy_devices.native.arrivals import Arrivals, write_arrivals
from understudy_devices.native.open_queue import CustomerClass, OpenQueue
from understudy_devices.native.service_times import ServiceTimes

Write = Callable[[Any, Any], Arrivals]

MS = 1_000_000
ONE_NS = ServiceTimes.of(MarkovianArrivalProcess([[-65536.0]], [[65536.0]]).tables())


def erlang(stages: int, mean_ms: float) -> ServiceTimes:
    rate = stages / (mean_ms * MS)
    stay = np.eye(stages, k=1) - np.eye(stages)
    ends = np.zeros((stages, stages))
    ends[-1, 0] = 1
    return ServiceTimes.of(MarkovianArrivalProcess(stay * rate, ends * rate).tables())


def exponential(mean_ms: float) -> ServiceTimes:
    return erlang(1, mean_ms)


@dataclass
class Given:
    """The numbers that describe a class of customers."""

    at: Any
    pieces: Any
    service: ServiceTimes
    weight: int = 1
    merge: float = 1


def writer(parent: Path) -> Write:
    """Return a function that writes arrivals and pieces into a new folder."""

    def written(at: Any, pieces: Any) -> Arrivals:
        folder = parent / str(len(list(parent.iterdir())))
        folder.mkdir()
        return write_arrivals(folder, at, pieces)

    return written


def queue(write: Write, classes: list[Given], servers: int, **more: Any) -> OpenQueue:
    customers = (
        CustomerClass(write(one.at, one.pieces), one.service, one.weight, one.merge)
        for one in classes
    )
    return OpenQueue(tuple(customers), servers, **more)
