# SPDX-License-Identifier: MIT
"""What a hypervisor splits: requests above a size become several, whose responses are joined again
(ICPE 2011, section 4.2.1, Eqs. 3 to 6 and 12).

A request of B blocks becomes ceil(B / limit) pieces that arrive together, each of `limit` blocks
but the last one, which has what is left.  The paper's Eq. 5 read literally gives a multiple of
the limit a last piece of no blocks, or all pieces the remainder; here pieces add up to the
request, and none is empty.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from understudy.native.arrays import I64

LIMIT_BLOCKS = 128  # of 4 kB: 512 kB, the paper's system


@dataclass(frozen=True)
class Pieces:
    """Split requests: a value for each piece, in the order of the requests.

    request: which one it is part of, from 0
    arrival_ns: Eq. 4
    blocks: Eq. 5
    requests: how many there were
    """

    request: I64
    arrival_ns: I64
    blocks: I64
    requests: int

    @property
    def of_each(self) -> I64:
        """How many pieces each request became; Eq. 3."""
        return np.bincount(self.request, minlength=self.requests).astype(np.int64)

    @property
    def splitting_ratio(self) -> float:
        """Psi, Eq. 12: pieces a request; 1 if nothing is split (Table 6 has 1.01 to 1.83)."""
        return len(self.request) / self.requests if self.requests else 1.0

    def joined(self, response_ns: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Response time of each request, ns: the mean of its pieces'; Eq. 6."""
        given = np.asarray(response_ns, np.float64)
        if given.shape != self.request.shape:
            raise ValueError(
                f"response_ns has the shape {given.shape}, and there are {len(self.request):,} "
                "pieces: give one for each, in their order"
            )
        sums = np.bincount(self.request, weights=given, minlength=self.requests)
        return sums / self.of_each


def split(
    arrival_ns: npt.ArrayLike, blocks: npt.ArrayLike, limit_blocks: int = LIMIT_BLOCKS
) -> Pieces:
    """Split requests of more than `limit_blocks`.

    arrival_ns, blocks: whole numbers, one for each request; blocks from 1.  Raises ValueError
    that names the first request that is impossible.
    """
    if limit_blocks < 1:
        raise ValueError(f"limit_blocks is {limit_blocks}: a piece has at least one block")
    arrivals, sizes = _whole("arrival_ns", arrival_ns), _whole("blocks", blocks)
    if arrivals.shape != sizes.shape:
        raise ValueError(
            f"{len(arrivals):,} arrivals, but {len(sizes):,} sizes: give both for each request"
        )
    empty = np.flatnonzero(sizes < 1)
    if len(empty):
        at = int(empty[0])
        raise ValueError(f"blocks[{at}] is {sizes[at]}: a request has at least one block; drop it")
    return _pieces(arrivals, sizes, limit_blocks)


def _pieces(arrivals: I64, sizes: I64, limit: int) -> Pieces:
    count = -(-sizes // limit)
    request = np.repeat(np.arange(len(sizes), dtype=np.int64), count)
    blocks = np.full(len(request), limit, np.int64)
    blocks[np.cumsum(count) - 1] = sizes - (count - 1) * limit
    return Pieces(request, arrivals[request], blocks, len(sizes))


def _whole(name: str, values: npt.ArrayLike) -> I64:
    given = np.asarray(values)
    if given.ndim != 1:
        raise ValueError(f"{name} has {given.ndim} dimensions: give a list, one for each request")
    if given.size and given.dtype.kind not in "iu":
        raise ValueError(f"{name} is of type {given.dtype}: give whole numbers")
    if given.dtype.kind == "u" and given.max(initial=0) >= 2**63:
        at = int(np.argmax(given >= 2**63))
        raise ValueError(f"{name}[{at}] is {given[at]}: give less than 2^63")
    return given.astype(np.int64)
