# SPDX-License-Identifier: MIT
"""Pins a VM's QEMU to processors that share a cache, those with the fewest VMs (Jones 2010, section
5.3)."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from understudy_devices.base import processors
from understudy_devices.lab import processes

CORES = 2
"""Cores that a VM gets at least: QEMU works beside the guest, too."""


@contextmanager
def pinned(cpus: int) -> Iterator[None]:
    """Pin what is started meanwhile, for a guest with so many processors.

    Nothing is pinned if all processors of this host are in one set.
    """
    sets = processors.groups(max(CORES, cpus))
    if len(sets) == 1:
        yield
        return
    taken = list(_taken())
    first = os.getpid() % len(sets)  # starts at one instant see no VM of each other
    ordered = sets[first:] + sets[:first]
    with processors.pinned(min(ordered, key=lambda each: sum(bool(each & one) for one in taken))):
        yield


def _taken() -> Iterator[frozenset[int]]:
    """Return the processors of each QEMU on this host."""
    for pid in processes.qemus():
        with suppress(OSError):
            yield frozenset(os.sched_getaffinity(pid))
