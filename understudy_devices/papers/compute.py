# SPDX-License-Identifier: MIT
"""The dissertation's compute-bound run (Jones 2010, Table 5.1): seconds of a three-dimensional CFD
code on a blade and in a VM under KVM, pinned to two cores that share a cache, and not."""

TABLE_5_1 = {
    "unpinned": {"metal": 1634.56, "vm": 1678.88},
    "pinned": {"metal": 1651.86, "vm": 1652.68},
}
