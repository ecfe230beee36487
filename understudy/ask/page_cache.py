# SPDX-License-Identifier: MIT
"""How large the page cache is, and how far it reads ahead, on either platform.

For surge-buffered the papers saw 65 MB on 73.4 GB (PERFORM 2010 section 5); in proportion
to the disk, but with room for every process's read-ahead.  The program of the Vesper
assignments has no cache unless one is asked for (SIGCSE 2006 section 3.1).
"""

from understudy.ask.experiment import KIB, Experiment
from understudy.ask.workload import Kind

PAPER_CACHE_BYTES = 65_000_000
PAPER_DISK_BYTES = 73_400_000_000
CACHE_BYTES_PER_PROCESS = 512 * KIB
LINUX_READ_AHEAD_KIB = 128


def size_bytes(experiment: Experiment) -> int:
    """Bytes; 0: none."""
    if experiment.page_cache_bytes is not None:
        return experiment.page_cache_bytes
    if experiment.workload.kind is Kind.SURGE_BUFFERED:
        share = PAPER_CACHE_BYTES * experiment.virtual_bytes // PAPER_DISK_BYTES
        return max(share, CACHE_BYTES_PER_PROCESS * experiment.processes)
    return 4 * (experiment.read_ahead_kib or 0) * KIB * experiment.processes


def read_ahead_kib(experiment: Experiment) -> int:
    """KiB; 0: none."""
    if experiment.read_ahead_kib is not None:
        return experiment.read_ahead_kib
    return LINUX_READ_AHEAD_KIB if experiment.workload.kind is Kind.SURGE_BUFFERED else 0
