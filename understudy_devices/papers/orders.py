# SPDX-License-Identifier: MIT
"""Static orders of service: all requests are pending at the start, and no other request arrives.

The setting is that of PERFORM 2010 Table 1: a request is a point, and its service time is the
distance of the head from that point.  In this setting the greedy order (SSTF) is not optimal, which
motivates the table-building scheduler.

Code in core/ computes all orders.  The schedulers get requests of length 0, after a first request
that moves the head to its initial location.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from understudy_devices.base.errors import UserError
from understudy_devices.native import replay
from understudy_devices.native.optimal_order import POSITION_MAX, TABLE_MAX, optimal_order
from understudy_devices.native.request import READ


@dataclass(frozen=True)
class Order:
    """An order of service, as a list of the requests' locations, and its mean times."""

    order: list[int]
    mean_service: float
    mean_response: float


def orders(head: int, requests: Sequence[int]) -> dict[str, Order]:
    """Return each scheduler's static order; `requests` are locations in order of arrival."""
    _check(head, requests)
    return {name: _cost(head, find(head, requests)) for name, find in ORDERS.items()}


def _scheduled(scheduler: str, head: int, requests: Sequence[int]) -> list[int]:
    n = len(requests)
    arrivals = replay.Arrivals(
        time_ns=[0] + [1] * n,
        id=range(n + 1),
        sector=[head, *requests],
        sectors=[0] * (n + 1),
        owner=[0] * (n + 1),
        op=[READ] * (n + 1),
    )
    picks = replay.replay(scheduler, arrivals, range(n + 1), max_requests=TABLE_MAX)
    return [requests[i - 1] for i in picks.id.tolist()[1:]]


def _optimal(head: int, requests: Sequence[int]) -> list[int]:
    """Return the order with the least mean response time, computed like the table-building
    scheduler."""
    positions = sorted(requests)
    return [positions[i] for i in optimal_order(head, positions)]


ORDERS: dict[str, Callable[[int, Sequence[int]], list[int]]] = {
    **{name: partial(_scheduled, name) for name in ("fcfs", "sstf", "look", "clook")},
    "optimal": _optimal,
}


def _cost(head: int, order: list[int]) -> Order:
    clock = 0
    responses = 0
    for position in order:
        clock += abs(position - head)
        responses += clock
        head = position
    return Order(order, clock / len(order), responses / len(order))


def _check(head: int, requests: Sequence[int]) -> None:
    if not requests:
        raise UserError("no requests: give at least one position, as in --requests 20,82,120")
    if len(requests) > TABLE_MAX:
        raise UserError(f"{len(requests)} requests: the table has room for {TABLE_MAX}")
    for position in (head, *requests):
        if not 0 <= position <= POSITION_MAX:
            raise UserError(f"position {position} is not from 0 to {POSITION_MAX}")
