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

from understudy.base import mapped
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
    service_ns = mapped.Column(np.int64)
    latest_ns = np.empty(0, np.int64)
    waited = beyond = 0
    for part in mapped.blocks(len(arrival_ns)):
        arrived, responses = arrival_ns[part], response_ns[part]
        completed = arrived + responses
        begins, latest_ns = _begins(arrived, completed, latest_ns, servers)
        early = completed <= begins
        waited += int((begins > arrived).sum())
        beyond += int(early.sum())
        service_ns.put(np.where(early, responses, completed - begins))
    found = Served(service_ns.array(), waited, beyond)
    return found if found.agrees else replace(found, service_ns=response_ns)


def _begins(arrived: I64, completed: I64, latest: I64, servers: int) -> tuple[I64, I64]:
    """One begins once fewer than `servers` of those before it are not complete: at the earliest
    of the `servers` latest completions among them; and what these are at the end."""
    asked = np.concatenate([np.full(len(latest), arrived[0]), arrived])
    ends = np.concatenate([latest, completed])
    if most_outstanding(asked, ends) <= servers:
        return arrived, np.sort(ends)[-servers:]
    heap = latest.tolist()
    heapq.heapify(heap)
    begins = []
    for asks, done in zip(arrived.tolist(), completed.tolist(), strict=True):
        if len(heap) < servers:
            begins.append(asks)
            heapq.heappush(heap, done)
        else:
            begins.append(max(asks, heap[0]))
            heapq.heappushpop(heap, done)
    return np.array(begins, np.int64), np.array(heap, np.int64)
