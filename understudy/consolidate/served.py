# SPDX-License-Identifier: MIT
"""Service times of a VM that ran alone, from when its requests arrived and were completed.

The paper takes response times for service times, since alone nothing waits (ICPE 2011, section
4.2.2).  Something does where requests come in bursts of more than the device serves at once.  There
a request begins when one of the servers is free; they are taken in order of arrival, as SFQ(D)
does with a single class.  A trace that does not agree with that (a request is complete before it
could have begun) tells of a device that does more at once, or in another order: then response
times are taken, as by the paper.
"""

import heapq
from dataclasses import dataclass, replace

import numpy as np

from understudy.native.arrays import I64
from understudy.traces.characterise import most_outstanding

DISAGREE = 0.01  # of the requests that waited, that may be complete before they could begin


@dataclass(frozen=True)
class Served:
    """service_ns: (N,), in order of arrival.  waited: requests that found all servers busy.
    beyond: of those, how many were complete before one was free."""

    service_ns: I64
    waited: int
    beyond: int

    @property
    def agrees(self) -> bool:
        """Whether the trace is of so many servers that take requests in order."""
        return self.beyond <= DISAGREE * self.waited


def served(arrival_ns: I64, response_ns: I64, servers: int) -> Served:
    """What the trace says of its service times; response times where it disagrees."""
    completion_ns = arrival_ns + response_ns
    if most_outstanding(arrival_ns, completion_ns) <= servers:
        return Served(response_ns, 0, 0)
    begin_ns = np.array(_begins(arrival_ns, completion_ns, servers), np.int64)
    service_ns = completion_ns - begin_ns
    beyond = service_ns <= 0
    found = Served(
        np.where(beyond, response_ns, service_ns),
        waited=int((begin_ns > arrival_ns).sum()),
        beyond=int(beyond.sum()),
    )
    return found if found.agrees else replace(found, service_ns=response_ns)


def _begins(arrival_ns: I64, completion_ns: I64, servers: int) -> list[int]:
    """One begins once fewer than `servers` of those before it are not complete: at the earliest
    of the `servers` latest completions among them."""
    latest: list[int] = []
    begins = []
    for arrived, completed in zip(arrival_ns.tolist(), completion_ns.tolist(), strict=True):
        if len(latest) < servers:
            begins.append(arrived)
            heapq.heappush(latest, completed)
        else:
            begins.append(max(arrived, latest[0]))
            heapq.heappushpop(latest, completed)
    return begins
