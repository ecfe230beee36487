# SPDX-License-Identifier: MIT
"""The statically optimal order (core/optimal_order.h; PERFORM 2010 Table 1)."""

from collections.abc import Sequence

from understudy_devices._core import ffi, lib

TABLE_MAX = 4096
POSITION_MAX = 2**48 - 1


def optimal_order(head: int, positions: Sequence[int]) -> list[int]:
    """Return the statically optimal order in which to visit ascending sector addresses, as indices
    into `positions`.
    """
    if len(positions) > TABLE_MAX or list(positions) != sorted(positions):
        raise ValueError(f"positions have to ascend, {TABLE_MAX} of them at most")
    if not all(0 <= position <= POSITION_MAX for position in [head, *positions]):
        raise ValueError(f"positions are from 0 to {POSITION_MAX}")
    table = ffi.new("struct optimal_order *")
    if lib.optimal_order_init(table, max(len(positions), 1), POSITION_MAX):
        raise MemoryError
    try:
        for i, position in enumerate(positions):
            table.position[i] = position
        lib.optimal_order_find(table, len(positions), head)
        return [table.order[i] for i in range(len(positions))]
    finally:
        lib.optimal_order_exit(table)
