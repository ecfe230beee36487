# SPDX-License-Identifier: MIT
"""Split requests as a hypervisor does: a request longer than a limit becomes several pieces (ICPE
2011, section 4.2.1, Eqs. 3 to 5 and 12).  The limit in the paper's system was 128 blocks.

A request of B blocks becomes ceil(B / limit) pieces that arrive at the same time.  Service times
are sampled independently of size, so the number of blocks of each piece (Eq. 5) does not matter.
In the simulation a request completes when its last piece completes (Eq. 6, native/open_queue.py).
"""

import numpy as np
import numpy.typing as npt

from understudy_devices.native.arrays import I64

BLOCK_SECTORS = 8  # 4 kB
NO_SPLIT = "none"
UNSPLIT = 2**31  # a limit in blocks that is longer than any request


def pieces(sectors: npt.ArrayLike, limit_blocks: int) -> I64:
    """Return the number of pieces of each request (Eq. 3), from its length in 512-byte sectors.

    Raise a ValueError that names the first request with an impossible length.
    """
    if limit_blocks < 1:
        raise ValueError(f"limit_blocks is {limit_blocks}: a piece has at least one block")
    lengths = np.asarray(sectors)
    if lengths.ndim != 1 or (lengths.size and lengths.dtype.kind not in "iu"):
        raise ValueError(
            f"sectors of shape {lengths.shape} and type {lengths.dtype}: a list of whole numbers, "
            "one for each request, is needed"
        )
    empty = np.flatnonzero(lengths < 1)
    if len(empty):
        at = int(empty[0])
        raise ValueError(f"sectors[{at}] is {lengths[at]}: a request has at least one; drop it")
    blocks = -(-lengths.astype(np.int64) // BLOCK_SECTORS)
    result: I64 = -(-blocks // limit_blocks)
    return result


def splitting_ratio(of_each: I64) -> float:
    """Return psi (Eq. 12): the mean number of pieces per request.

    Psi is 1 if no request is split; the paper's Table 6 has values from 1.01 to 1.83.
    """
    return float(of_each.mean()) if len(of_each) else 1.0
