# SPDX-License-Identifier: MIT
"""A drive with an adaptive cache. The length of read-ahead doubles with each sequential read.
Read-ahead ends after some non-sequential reads. The cache has as many segments as there are recent
sequential streams.
"""

import random
from collections import OrderedDict, deque
from dataclasses import dataclass, field, replace

from oracle.detailed.drive import DetailedDrive, random_parameters
from oracle.firmware import Firmware

STREAMS = 64  # most streams whose ends are remembered
RECENT = 64  # streams are counted over this many reads


@dataclass(eq=False)
class Adaptive(Firmware):
    """`drive.parameters.segments` is the largest number of segments, and `segment_sectors` is their
    size at that number.
    """

    least_sectors: int = 16  # sectors read ahead after the first read in sequence
    patience: int = 8  # number of reads out of sequence after which read-ahead ends
    ends: OrderedDict[int, int] = field(init=False, repr=False)  # ends of reads: the stream of each
    recent: deque[int] = field(init=False, repr=False)
    ahead_sectors: int = field(init=False, repr=False)
    segments: int = field(init=False, repr=False)
    reads: int = field(init=False, repr=False)
    misses: int = field(init=False, repr=False)

    def reset(self) -> None:
        """Reset to the initial state, at time 0."""
        super().reset()
        self.ends, self.recent = OrderedDict(), deque(maxlen=RECENT)
        self.ahead_sectors = self.reads = self.misses = 0
        self.segments = 1
        self.drive.adapt(self.segments, self.ahead_sectors)

    def serve(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        """For a read, adapt the cache. Then serve the request."""
        if op == "read":
            self._observe(sector, sectors)
            self.drive.adapt(self.segments, self.ahead_sectors)
        return self.mechanism(op, sector, sectors, at_ns)

    def _observe(self, sector: int, sectors: int) -> None:
        self.reads += 1
        stream = self.ends.pop(sector, None)
        size = self.drive.parameters.segments * self.drive.parameters.segment_sectors
        if stream is not None:
            self.misses = 0
            self.ahead_sectors = min(
                max(2 * self.ahead_sectors, self.least_sectors), size // self.segments
            )
            self.recent.append(stream)
        else:
            self.misses += 1
            if self.misses > self.patience:
                self.ahead_sectors = 0
        self.ends[sector + sectors] = self.reads if stream is None else stream
        if len(self.ends) > STREAMS:
            self.ends.popitem(last=False)
        if self.reads % RECENT == 0:
            self.segments = min(max(len(set(self.recent)), 1), self.drive.parameters.segments)


def random_adaptive(seed: int) -> Adaptive:
    """Return a random drive, a different one for each seed."""
    draw = random.Random(f"adaptive {seed}")
    most = draw.choice((8, 16, 32))
    parameters = random_parameters(seed)
    sectors = max(parameters.segments * parameters.segment_sectors // most, 2)
    drive = DetailedDrive(replace(parameters, segments=most, segment_sectors=sectors))
    return Adaptive(drive, least_sectors=draw.choice((8, 16, 64)), patience=draw.choice((4, 16)))
