# SPDX-License-Identifier: MIT
"""The dissertation's runs that need a processor (Jones 2010, chapter 5)."""

TABLE_5_1 = {
    "unpinned": {"metal": 1634.56, "vm": 1678.88},
    "pinned": {"metal": 1651.86, "vm": 1652.68},
}
"""Table 5.1: seconds of a three-dimensional CFD code on a blade and in a VM under KVM, pinned to
two cores that share a cache, and not."""

BUILD_MINUTES = {"clones": 45, "stand-alone": 35}
"""Section 5.1.1: minutes to build Linux 2.6.30 in six VMs at once, whose disks are clones of one
image, or images of their own."""
