# SPDX-License-Identifier: MIT
"""Splitting by the hypervisor: a request above a size becomes several pieces (ICPE 2011, section
4.2.1, Eqs. 3 to 5 and 12).

A request of B blocks becomes ceil(B / limit) pieces that arrive together.  Service times are drawn
independently of size, so the number of blocks of each piece (Eq. 5) does not matter.  The
simulation joins the pieces' responses again (Eq. 6, native/open_queue.py).
"""

import numpy as np
import numpy.typing as npt

from understudy.native.arrays import I64

BLOCK_SECTORS = 8  # 4 kB
LIMIT_BLOCKS = 128  # 512 kB, the paper's system


def pieces(sectors: npt.ArrayLike, limit_blocks: int = LIMIT_BLOCKS) -> I64:
    """Eq. 3: the number of pieces of each request, from its length in sectors of 512 bytes.

    A ValueError names the first request with an impossible length.
    """
    if limit_blocks < 1:
        raise ValueError(f"limit_blocks is {limit_blocks}: a piece has at least one block")
    given = np.asarray(sectors)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise ValueError(
            f"sectors of shape {given.shape} and type {given.dtype}: a list of whole numbers, one "
            "for each request, is needed"
        )
    empty = np.flatnonzero(given < 1)
    if len(empty):
        at = int(empty[0])
        raise ValueError(f"sectors[{at}] is {given[at]}: a request has at least one; drop it")
    blocks = -(-given.astype(np.int64) // BLOCK_SECTORS)
    result: I64 = -(-blocks // limit_blocks)
    return result


def splitting_ratio(of_each: I64) -> float:
    """Psi, Eq. 12: pieces per request; 1 if nothing is split (Table 6 has 1.01 to 1.83)."""
    return float(of_each.mean()) if len(of_each) else 1.0
