# SPDX-License-Identifier: MIT
"""Estimate from traces how many requests a device serves at once (D).

Two methods, of which the first is exact for a device that takes requests in order of arrival:

* D such that service takes as long for requests that waited for a server as for the others
  (service_times.py).  With fewer servers than the device has, waiting requests seem to be served in
  less time, or complete before a server could have begun them; with more servers, in more time.  D
  is known if enough requests waited.
* D by maximum likelihood from the throughput at each number of outstanding requests, which grows up
  to D and then stays constant (Little's law; Pesto, SoCC 2011, and BASIL, FAST 2010, fit the same
  bend in latencies).  D is known if a throughput that goes on growing is far less likely, and if
  the trace does not contradict this D: a drive whose throughput bends for another reason does.

If neither shows D, it is within limits: traces contradict a D that is too small, and D matters no
more if no request waits.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy_devices.consolidation.service_times import served
from understudy_devices.native.arrays import I64
from understudy_devices.traces.characterise import most_outstanding

Array = NDArray[np.float64]

EXAMINED = 50_000  # the first requests of a trace
FEWEST = 50  # requests of a kind
SHARE = 0.1  # of requests that have to wait: fewer may be episodes of another cause
UNEQUAL = 0.25  # largest difference of the mean service times of both kinds
MOST = 1024
LIKELIER = 20.0  # twice the logarithm of the likelihood ratio: chance exceeds it once in 10^5
WIDE = 1.5  # another D is named if it differs from the given one by this factor

Trace = tuple[I64, I64]
"""Arrivals and response times of a run, in ns, in order of arrival."""


@dataclass(frozen=True)
class Parallelism:
    """How many requests a device serves at once, and how this is known."""

    servers: int
    how: str


def estimated(traces: Sequence[Trace]) -> Parallelism | None:
    """Return D of the device on which these traces were recorded; None if they do not show it."""
    parts = _beginnings(traces)
    known = _by_order(parts) or _by_throughput(parts)
    return known if known and all(_agrees(trace, known.servers) for trace in traces) else None


def limits(vms: Sequence[Sequence[Trace]]) -> tuple[int, int]:
    """Return the smallest D that no trace contradicts, and a D with which no request waits if all
    VMs share the device, whenever their runs begin.  There is a sequence of runs for each VM."""
    least = max(_least(trace) for runs in vms for trace in runs)
    return least, max(least, sum(max(map(_most, runs)) for runs in vms))


def _least(trace: Trace) -> int:
    """Return the smallest D with which few requests complete before a server could be free."""
    [part] = _beginnings([trace])
    low, high = 0, _most(part)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _agrees(part, middle) else (middle, high)
    most = _most(trace)
    while high < most and not _agrees(trace, high):
        high = min(2 * high, most)
    return high


def _most(trace: Trace) -> int:
    arrival_ns, response_ns = trace
    return most_outstanding(arrival_ns, arrival_ns + response_ns)


def _beginnings(traces: Sequence[Trace]) -> list[Trace]:
    return [(arrival_ns[:EXAMINED], response_ns[:EXAMINED]) for arrival_ns, response_ns in traces]


def contradicts(traces: Sequence[Trace], servers: int) -> Parallelism | None:
    """Return what traces show if it is far from the given number of servers."""
    known = estimated(traces)
    if known and max(known.servers, servers) > WIDE * min(known.servers, servers):
        return known
    return None


def consistent(traces: Sequence[Trace]) -> Parallelism:
    """Return a D that these traces do not contradict: the estimate if they agree with it, otherwise
    the largest number of outstanding requests, with which none of them waits."""
    if known := estimated(traces):
        return known
    most = max(map(_most, traces))
    return Parallelism(most, f"at most {most} requests are outstanding")


def _agrees(trace: Trace, servers: int) -> bool:
    return not served(*trace, servers).contradicts


def _by_order(traces: Sequence[Trace]) -> Parallelism | None:
    """Return D of a device that takes requests in order, if enough waited."""
    low, high = 0, 1
    while high <= MOST and _excess(traces, high) < 0:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _excess(traces, middle) < 0 else (low, middle)
    servers = min((high, max(low, 1)), key=lambda one: abs(_excess(traces, one)))
    waited = sum(served(*trace, servers).waited for trace in traces)
    requests = sum(len(arrival_ns) for arrival_ns, _ in traces)
    if waited < max(FEWEST, SHARE * requests) or abs(_excess(traces, servers)) > UNEQUAL:
        return None
    return Parallelism(servers, f"{waited:,} requests waited for one of {servers} servers")


def _excess(traces: Sequence[Trace], servers: int) -> float:
    """Return by which fraction service takes longer for requests that waited than for others.

    Return minus infinity if a trace contradicts this number of servers, or if too few did not wait,
    and infinity if too few waited.
    """
    waited, others = [], []
    for arrival_ns, response_ns in traces:
        one = served(arrival_ns, response_ns, servers)
        if not one.agrees:
            return -np.inf
        late = one.service_ns < response_ns
        waited.append(one.service_ns[late])
        others.append(one.service_ns[~late])
    late_ns, other_ns = np.concatenate(waited), np.concatenate(others)
    if len(late_ns) < FEWEST:
        return np.inf
    if len(other_ns) < FEWEST:
        return -np.inf
    return float(late_ns.mean() / other_ns.mean()) - 1


def _by_throughput(traces: Sequence[Trace]) -> Parallelism | None:
    """Return the likeliest number of servers, if the throughput stops growing there."""
    done, time_ns = (
        np.sum(each, axis=0) for each in zip(*map(_by_outstanding, traces), strict=True)
    )
    top = int(np.flatnonzero(done).max(initial=0))
    if top < 2:
        return None
    likelihood = np.array([_likelihood(done, time_ns, servers) for servers in range(1, top + 1)])
    best = int(likelihood.argmax()) + 1
    if 2 * (likelihood[best - 1] - likelihood[-1]) < LIKELIER:
        return None
    return Parallelism(best, f"with more than {best} outstanding, the throughput does not grow")


def _by_outstanding(trace: Trace) -> tuple[Array, Array]:
    """Return, for each number of outstanding requests up to MOST, how many completed then, and for
    how long there were so many."""
    arrival_ns, response_ns = trace
    at = np.concatenate([arrival_ns + response_ns, arrival_ns])
    change = np.repeat([-1, 1], len(arrival_ns))
    order = np.lexsort((change, at))
    after = np.minimum(np.cumsum(change[order]), MOST).clip(0)
    before = np.concatenate([[0], after[:-1]])
    ends = change[order] < 0
    lasted = np.diff(at[order], prepend=at[order[0]]).astype(np.float64)
    return (
        np.bincount(before[ends], minlength=MOST + 1).astype(np.float64),
        np.bincount(before, lasted, MOST + 1).astype(np.float64),
    )


def _likelihood(done: Array, time_ns: Array, servers: int) -> float:
    """Return the logarithm of the likelihood of the completions, if each busy server completes
    requests at the same rate."""
    busy = np.minimum(np.arange(len(done)), servers)
    rate = done.sum() / float((busy * time_ns).sum())
    known = busy > 0
    return float((done[known] * np.log(busy[known] * rate)).sum())
