# SPDX-License-Identifier: MIT
"""Compute the service times of a VM that ran alone, from its requests' arrivals and completions.

The paper uses response times as service times, since the requests of a VM that runs alone do not
wait (ICPE 2011, section 4.2.2).  But requests do wait if a burst has more requests than the device
serves at once.  In the model used here, a request's service begins when a server is free.  Servers
take requests in order of arrival, like SFQ(D) with a single class.  A request contradicts the model
if it completes before its service could have begun.  Then the device served more requests at once,
or in another order.  The response time of such a request is used as its service time.  If many
requests of a trace contradict the model, all its response times are used, as in the paper.
"""

import heapq
from dataclasses import dataclass, replace

import numpy as np

from understudy_devices.base import file_arrays
from understudy_devices.native.arrays import I64
from understudy_devices.traces.characterise import most_outstanding

DISAGREE = 0.01  # share of requests that may complete before a server could be free


@dataclass(frozen=True)
class Served:
    """The service times of a trace.

    service_ns: (N,), in order of arrival. waited: the number of requests that found all servers
    busy. beyond: the number of waiting requests that completed before a server was free.
    """

    service_ns: I64
    waited: int
    beyond: int

    @property
    def agrees(self) -> bool:
        """Return whether the trace is consistent with this many servers that take requests in
        order."""
        return self.beyond <= DISAGREE * self.waited

    @property
    def contradicts(self) -> bool:
        """Return whether so many requests of the trace contradict the model that it is refused."""
        return self.beyond > DISAGREE * len(self.service_ns)


def served(arrival_ns: I64, response_ns: I64, servers: int) -> Served:
    """Return the trace's service times; its response times if many contradict the model."""
    service_ns = file_arrays.Column(np.int64)
    latest_ns = np.empty(0, np.int64)
    waited = beyond = 0
    for part in file_arrays.blocks(len(arrival_ns)):
        arrived, responses = arrival_ns[part], response_ns[part]
        completed = arrived + responses
        begins, latest_ns = _begins(arrived, completed, latest_ns, servers)
        early = completed <= begins
        waited += int((begins > arrived).sum())
        beyond += int(early.sum())
        service_ns.put(np.where(early, responses, completed - begins))
    result = Served(service_ns.array(), waited, beyond)
    return replace(result, service_ns=response_ns) if result.contradicts else result


def _begins(arrived: I64, completed: I64, latest: I64, servers: int) -> tuple[I64, I64]:
    """Return when each request's service begins, and the `servers` latest completion times.

    Service begins when fewer than `servers` of the earlier requests are incomplete: at the earliest
    of the `servers` latest completions of earlier requests.
    """
    arrivals = np.concatenate([np.full(len(latest), arrived[0]), arrived])
    ends = np.concatenate([latest, completed])
    if most_outstanding(arrivals, ends) <= servers:
        return arrived, np.sort(ends)[-servers:]
    heap = latest.tolist()
    heapq.heapify(heap)
    begins = []
    for arrival, done in zip(arrived.tolist(), completed.tolist(), strict=True):
        if len(heap) < servers:
            begins.append(arrival)
            heapq.heappush(heap, done)
        else:
            begins.append(max(arrival, heap[0]))
            heapq.heappushpop(heap, done)
    return np.array(begins, np.int64), np.array(heap, np.int64)
