# SPDX-License-Identifier: MIT
"""Figures of response times, for all requests of a VM, and for its reads and its writes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy_devices.base import file_arrays
from understudy_devices.native.figures import PERCENTILES

Ints = npt.NDArray[np.integer[Any]]

NS_PER_MS = 10**6
DIRECTIONS = ("reads", "writes")  # at the index that `op` has in a trace
PERMILLES = 1000


@dataclass(frozen=True)
class Times:
    """How long requests took: their number, mean, and percentiles (nearest rank), in ms."""

    requests: int
    mean_ms: float
    percentiles_ms: Mapping[float, float]

    def as_json(self) -> dict[str, Any]:
        """Return the figures as in result.json."""
        return {
            "requests": self.requests,
            "mean_response_ms": self.mean_ms,
            **{f"p{percent:g}_response_ms": ms for percent, ms in self.percentiles_ms.items()},
        }


def times(response_ns: Ints, percents: Sequence[float] = PERCENTILES) -> Times | None:
    """Return the figures of response times (N,) in ns; None if there are none."""
    if not len(response_ns):
        return None
    ordered = file_arrays.each(np.copy, response_ns)
    ordered.sort()
    ranks = {percent: _rank(percent / 100, len(ordered)) for percent in percents}
    return Times(
        len(ordered),
        float(ordered.mean()) / NS_PER_MS,
        {percent: float(ordered[rank]) / NS_PER_MS for percent, rank in ranks.items()},
    )


def of_directions(response_ns: Ints, op: Ints) -> dict[str, Times]:
    """Return the figures of reads and of writes, without a direction that the VM does not use."""
    each = {name: times(_chosen(response_ns, op, code)) for code, name in enumerate(DIRECTIONS)}
    return {name: one for name, one in each.items() if one}


def _chosen(response_ns: Ints, op: Ints, code: int) -> Ints:
    own = file_arrays.Column(np.int64)
    for part in file_arrays.blocks(len(op)):
        own.put(response_ns[part][op[part] == code])
    return own.array()


def averaged(each: Sequence[Times]) -> Times:
    """Return the mean of the figures of several simulations."""
    return Times(
        round(float(np.mean([one.requests for one in each]))),
        float(np.mean([one.mean_ms for one in each])),
        {
            percent: float(np.mean([one.percentiles_ms[percent] for one in each]))
            for percent in each[0].percentiles_ms
        },
    )


def distribution_ms(response_ns: Ints) -> npt.NDArray[np.float64]:
    """Return the response time at each permille (1000,), by nearest rank, in ms."""
    ordered = np.sort(response_ns)
    ranks = [_rank(permille / PERMILLES, len(ordered)) for permille in range(1, PERMILLES + 1)]
    result: npt.NDArray[np.float64] = ordered[ranks] / NS_PER_MS
    return result


def _rank(share: float, count: int) -> int:
    return min(count, max(1, int(np.ceil(round(share * count, 6))))) - 1
