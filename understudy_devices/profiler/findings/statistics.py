# SPDX-License-Identifier: MIT
"""Statistics that a few outliers hardly change, and a binary search."""

from collections.abc import Callable, Sequence

import numpy as np


def median(values: Sequence[float]) -> float:
    """Return the median."""
    return float(np.median(values))


def spread(values: Sequence[float]) -> float:
    """Return the distance from the 10th to the 90th percentile."""
    low, high = np.quantile(values, (0.1, 0.9))
    return float(high - low)


def ascending(values: Sequence[float]) -> list[float]:
    """Return the non-decreasing values that fit best by least squares (pool adjacent violators)."""
    pools: list[tuple[float, int]] = []
    for value in values:
        pools.append((value, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (a, n), (b, m) = pools[-2:]
            pools[-2:] = [((a * n + b * m) / (n + m), n + m)]
    return [mean for mean, n in pools for _ in range(n)]


def first(is_so: Callable[[int], bool], no: int, yes: int) -> int:
    """Return the first number for which `is_so` is true, between `no` (false) and `yes` (true)."""
    while yes - no > 1:
        middle = (no + yes) // 2
        if is_so(middle):
            yes = middle
        else:
            no = middle
    return yes
