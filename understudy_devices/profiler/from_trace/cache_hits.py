# SPDX-License-Identifier: MIT
"""Finds a trace's cache hits: many reads that all have the same short time for their length.

To find the drive's segments, this module replays the trace on models that differ in their segments.
It selects the model whose hits agree best with the trace's.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from understudy_devices.device.timing import Timing
from understudy_devices.native.drive import Drive
from understudy_devices.profiler.findings import document
from understudy_devices.profiler.findings.finding import Finding, not_seen
from understudy_devices.profiler.from_trace.services import Bools, Floats, Served
from understudy_devices.profiler.probes import hits, segments

SAME_NS = 20_000
SAME = 0.01
OFTEN = 0.005  # smallest share of reads that hit; with fewer, no hits are reported
BELOW = 0.1  # most reads quicker than the hits' line, as a share of the hits; ideally none
FEWEST_HITS = 20
QUICK = 0.25  # of a long read's time: only quicker reads are used to fit the hits' line
LONG = 0.99  # quantile of the reads' times that is a long read's time
PAIRS = 400  # pairs of quick reads; each pair gives a line to try
EXPLAINED = 0.5  # largest number of wrong hits and misses of the model, as a share of the hits
REPLAYED = 20_000  # requests for each try
SIZES = tuple(2**power for power in range(6, 14))
NUMBERS = (1, 2, 3, 4, 6, 8, 10, 12, 16, 24, 32, 48, 64, 96, 128, 256)
TRIED: dict[str, Sequence[int]] = {"number": NUMBERS, "ahead": (0, *SIZES), "size": SIZES}
AHEAD_KEY = "buffer.read_ahead_sectors"


@dataclass(frozen=True, order=True)
class Held:
    """Segments that a drive may have; sizes in sectors.

    If two settings explain equally many hits, the smaller setting is selected.
    """

    number: int
    ahead: int
    size: int

    def findings(self, confidence: str) -> list[Finding]:
        """Convert to findings."""
        return [
            Finding(segments.NUMBER_KEY, self.number, confidence),
            Finding(segments.SIZE_KEY, self.size),
            Finding(AHEAD_KEY, self.ahead),
        ]


MIDDLE = Held(4, 0, SIZES[-1])


def hits_of(served: Served) -> tuple[Bools, list[Finding]]:
    """Return which reads hit, and a hit's overhead and bus rate as findings."""
    reads = served.reads
    none = np.zeros(len(served), bool)
    if not reads.any():
        return none, hits.findings(None)
    sectors, ns = served.sectors.astype(float), served.service_ns.astype(float)
    long_ns = float(np.quantile(ns[reads], LONG))
    quick = reads & (ns < QUICK * long_ns)
    many = max(FEWEST_HITS, OFTEN * int(reads.sum()))
    cost = _line(sectors[quick], ns[quick], many)
    hit = reads & (ns < 2 * QUICK * long_ns) & _near(cost, sectors, ns) if cost else none
    if not cost or hit.sum() < many:
        why = "no short time comes again and again"
        return none, [not_seen(key, why) for key in (hits.BUS_KEY, hits.HIT_KEY)]
    return hit, _cost(cost, sectors[hit], ns[hit])


def _line(sectors: Floats, ns: Floats, many: float) -> tuple[float, float] | None:
    """Return overhead and time per sector of the line that fits the most reads; None if it fits
    fewer than `many`.
    """
    draw = random.Random("hits")
    best, most = None, many
    for _ in range(PAIRS if len(ns) else 0):
        one, other = draw.randrange(len(ns)), draw.randrange(len(ns))
        apart = sectors[other] - sectors[one]
        slope = float((ns[other] - ns[one]) / apart) if apart else 0.0
        cost = (float(ns[one] - slope * sectors[one]), slope)
        near = _near(cost, sectors, ns)
        number = int(near.sum())
        below = int((~near & (ns < cost[0] + cost[1] * sectors)).sum())
        if min(cost) >= 0 and number > most and below <= BELOW * number:
            best, most = cost, number
    if best is None:
        return None
    near = _near(best, sectors, ns)
    if np.ptp(sectors[near]) == 0:
        return float(np.median(ns[near])), 0.0
    slope, overhead = np.polyfit(sectors[near], ns[near], 1, w=1 / np.maximum(ns[near], 1.0))
    return max(float(overhead), 1.0), max(float(slope), hits.FASTEST_NS)


def _near(cost: tuple[float, float], sectors: Floats, ns: Floats) -> Bools:
    """Return which reads take the time of a hit: `cost` has its overhead and its time per
    sector.
    """
    expected = cost[0] + cost[1] * sectors
    near: Bools = np.abs(ns - expected) <= np.maximum(SAME_NS, SAME * expected)
    return near


def _cost(cost: tuple[float, float], sectors: Floats, ns: Floats) -> list[Finding]:
    """Convert to findings."""
    if cost[1] == 0.0:
        confidence = (
            f"all hits have {sectors[0]:.0f} sectors, so their time on the bus is in the overhead"
        )
        cost = (cost[0], hits.FASTEST_NS)
        bus, overhead = hits.Hits(*cost, int(sectors[0]), 0.0).findings()
        return [replace(bus, confidence=confidence), replace(overhead, confidence=confidence)]
    residual_ns = float(np.quantile(np.abs(ns - cost[0] - cost[1] * sectors), 0.9))
    return hits.Hits(*cost, int(sectors.max()), residual_ns).findings()


def held(served: Served, hit: Bools, findings: list[Finding]) -> list[Finding]:
    """Return the segments with which the model's hits agree best with the trace's."""
    why = "no segments explain the hits of the trace"
    unseen = [not_seen(key, why) for key in (segments.NUMBER_KEY, segments.SIZE_KEY)]
    replayed = slice(0, REPLAYED)
    part, target = served.where(replayed), (hit & served.reads)[replayed]
    if not target.any():
        return unseen

    def off(tried: Held) -> tuple[int, Held]:
        model = document.disk([*findings, *tried.findings("")]).timing(served.capacity_sectors)
        return _wrong(part, target, model), tried

    best = off(MIDDLE)
    for name in (*TRIED, *TRIED):
        tries = [replace(best[1], **{name: value}) for value in TRIED[name]]
        best = min([best, *(off(tried) for tried in tries if tried.ahead <= tried.size)])
    wrong, choice = best
    if wrong > EXPLAINED * int(target.sum()):
        return unseen
    confidence = f"the fewest that explain {int(target.sum())} hits; {wrong} reads hit in one alone"
    return choice.findings(confidence)


def _wrong(served: Served, hit: Bools, model: Timing) -> int:
    """Return the number of reads that hit in only one of model and trace."""
    drive = Drive(model)
    _, here = drive.serve(served.op, served.sector, served.sectors, served.idle_ns)
    return int(((here != hit) & served.reads).sum())
