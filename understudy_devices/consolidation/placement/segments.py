# SPDX-License-Identifier: MIT
"""Sort VMs by their limits for a device's utilisation, and cut the sorted list into pieces, one for
each device.

The first VM in a piece has the lowest limit, which the utilisation of the piece's device must not
exceed. VMs in a piece have similar limits, so devices waste little capacity. Dynamic programming
assigns pieces to devices: it computes how many VMs fit on any given number of devices of each size.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from understudy_devices.consolidation.placement.problem import Problem

STATES = 10_000  # with more states, pieces are assigned to devices in order of size, largest first
HALVINGS = 16
WIDEST = 64.0

_Reached = tuple[int, tuple[int, ...], float]
"""The end of the last piece; how many devices of each size the earlier pieces use; and the
capacity of the last piece's device."""


def cut(problem: Problem, limits: Sequence[float]) -> list[int]:
    """Return the device of each VM.

    Before the list is cut, all limits are multiplied by the smallest factor with which all VMs fit.
    """
    order = sorted(range(len(problem.vms)), key=lambda vm: (limits[vm], vm))
    ordered = np.array([limits[vm] for vm in order])
    upto = np.cumsum([0.0] + [problem.vms[vm].erlangs for vm in order])
    sizes = [device.capacity for device in problem.devices]
    low, high = 0.0, WIDEST
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if _pieces(sizes, ordered * middle, upto) is None:
            low = middle
        else:
            high = middle
    pieces = _pieces(sizes, ordered * high, upto) or [(max(sizes), len(order))]
    return _places(problem, order, pieces)


def _pieces(
    sizes: Sequence[float], limits: NDArray[np.float64], upto: NDArray[np.float64]
) -> list[tuple[float, int]] | None:
    """Return, for each piece, the capacity of its device and the end of the piece.

    Return None if not all VMs fit.
    """
    number = Counter(sizes)
    if prod(count + 1 for count in number.values()) > STATES:
        return _chain(sorted(sizes, reverse=True), limits, upto)
    kinds = sorted(number)
    reached: dict[tuple[int, ...], _Reached] = {}
    for used in product(*(range(number[kind] + 1) for kind in kinds)):
        best: _Reached = (0, (), 0)
        for k, kind in enumerate(kinds):
            if used[k]:
                before = (*used[:k], used[k] - 1, *used[k + 1 :])
                end = _end(reached[before][0], kind, limits, upto)
                best = max(best, (end, before, kind))
        reached[used] = best
        if best[0] == len(limits):
            return _way(reached, used)
    return None


def _chain(
    sizes: Sequence[float], limits: NDArray[np.float64], upto: NDArray[np.float64]
) -> list[tuple[float, int]] | None:
    pieces, end = [], 0
    for size in sizes:
        end = _end(end, size, limits, upto)
        pieces.append((size, end))
    return pieces if end == len(limits) else None


def _end(
    begin: int, capacity: float, limits: NDArray[np.float64], upto: NDArray[np.float64]
) -> int:
    """Return the end of the longest piece that begins at index `begin` and fits on a device."""
    if begin == len(limits):
        return begin
    room = upto[begin] + capacity * limits[begin] * (1 + 1e-9)
    return int(np.searchsorted(upto, room, side="right")) - 1


def _way(
    reached: dict[tuple[int, ...], _Reached], used: tuple[int, ...]
) -> list[tuple[float, int]]:
    pieces = []
    while any(used):
        end, before, kind = reached[used]
        pieces.append((kind, end))
        used = before
    return pieces[::-1]


def _places(
    problem: Problem, order: Sequence[int], pieces: Sequence[tuple[float, int]]
) -> list[int]:
    free = list(range(len(problem.devices)))
    where: dict[int, int] = {}
    begin = 0
    for capacity, end in pieces:
        device = next(d for d in free if problem.devices[d].capacity == capacity)
        free.remove(device)
        for vm in order[begin:end]:
            where[vm] = device
        begin = end
    return [where[vm] for vm in range(len(order))]
