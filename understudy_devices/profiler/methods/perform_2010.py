# SPDX-License-Identifier: MIT
"""Fits the line and the cache of PERFORM 2010, sections 5 and 6.

The method reads 100,000 random pages, and records each page's service time and its distance from
the previous page.  It sorts the times by distance, and replaces each time by the mean of up to 1001
times around it.  Then it fits a line to these means by least squares.  The line includes rotational
latency.

The hit time is the right edge of the initial spike in the distribution of single sectors' times.
The paper does not say which sectors were read.  This method reads each of 1000 random sectors twice
in immediate succession.

The paper switched the drive's cache off for the line, and obtained the cache's segments from the
drive (sdparm, the manual).  That is impossible with a black box.  So this method leaves out pages
that hit, since a hit does not move the arm, and takes segments and prefetch from the project's own
probes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from understudy_devices.base.errors import RunFailed
from understudy_devices.base.progress import Report
from understudy_devices.profiler.findings.finding import Finding, Points
from understudy_devices.profiler.findings.statistics import median
from understudy_devices.profiler.probes.hits import Hits
from understudy_devices.profiler.probes.survey import Survey
from understudy_devices.profiler.targets.bench import Bench

LIMITS = "random reads of a page, one at a time"
WRITES = False
PAGES = 100_000
A_PAGE = 8  # sectors
WINDOW = 1001
SINGLES = 1000
SPIKE = 0.99  # share of hits below the spike's edge: slower hits have other delays
LEAST_MS = 1e-6
KEYS = ("model.intercept_ms", "model.full_seek_ms")
CACHE_KEYS = {
    "cache.segments": "buffer.segments",
    "cache.segment_sectors": "buffer.segment_sectors",
    "cache.prefetch_sectors": "buffer.read_ahead_sectors",
}
HIT_KEY = "cache.hit_us"

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Line:
    """The line: ms by the distance as a fraction of the disk, and the points to which it was
    fitted.
    """

    intercept_ms: float
    full_seek_ms: float
    pages: int
    filtered: Points

    def findings(self) -> list[Finding]:
        """Convert to findings."""
        at, ms = np.array(self.filtered).T
        rms = float(np.sqrt(np.mean((ms - self.intercept_ms - self.full_seek_ms * at) ** 2)))
        confidence = (
            f"least squares; {self.pages} filtered pages are +- {rms:.2g} (rms) around the line"
        )
        return [
            Finding(KEYS[0], round(self.intercept_ms, 6), confidence, self.filtered),
            Finding(KEYS[1], round(self.full_seek_ms, 6), "from the same line"),
        ]


def measure(bench: Bench, writing: bool, report: Report) -> list[Finding]:
    """Measure the line and the cache."""
    survey = Survey(bench, report)
    probed = survey.read_cache()
    report("single sectors", 0.5)
    hit_us = _hit_us(bench)
    report("random pages", 0.55)
    return [*_line(bench, survey.hits).findings(), *_cache(probed, hit_us)]


def _line(bench: Bench, hits: Hits | None) -> Line:
    pages = sorted(_pages(bench, hits))
    if len(pages) < WINDOW:
        raise RunFailed(
            f"target: all but {len(pages)} of {PAGES} random pages hit its cache, too few for a "
            "line; switch the cache off, or profile it with --method full"
        )
    distances, times = np.array(pages, float).T
    at, ms = distances / bench.capacity_sectors, filtered(times / 1e6)
    slope, intercept = np.polyfit(at, ms, 1)
    points = tuple(zip(at.tolist(), ms.tolist(), strict=True))
    return Line(max(float(intercept), LEAST_MS), max(float(slope), 0.0), len(points), points)


def _pages(bench: Bench, hits: Hits | None) -> Iterator[tuple[int, int]]:
    """Yield distance and service time, ns, of each page that missed, from the previous such
    page.
    """
    head = None
    for _ in range(PAGES + 1):
        place = bench.place(A_PAGE)
        service_ns = bench.read(place, A_PAGE)
        if hits and hits.is_hit(service_ns, A_PAGE):
            continue
        if head is not None:
            yield abs(place - head), service_ns
        head = place


def filtered(values: Values) -> Values:
    """Return the values, each replaced by the mean of up to WINDOW values around it."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    middle = np.arange(len(values))
    low = np.maximum(middle - WINDOW // 2, 0)
    high = np.minimum(middle + WINDOW // 2 + 1, len(values))
    means: Values = (sums[high] - sums[low]) / (high - low)
    return means


def _hit_us(bench: Bench) -> float | None:
    """Return the time where the spike ends, in us; None if there is no spike."""
    places = [bench.place(1) for _ in range(SINGLES)]
    times = [(bench.read(place), bench.read(place)) for place in places]
    usual_ns = median([first for first, _ in times])
    spike = [again for _, again in times if again < usual_ns / 2]
    if len(spike) < SINGLES / 2:
        return None
    return max(float(np.quantile(spike, SPIKE, method="inverted_cdf")) / 1e3, 1e-3)


def _cache(probed: Sequence[Finding], hit_us: float | None) -> list[Finding]:
    """Return the papers' cache as findings.

    If a needed key is missing, the whole cache is "not seen".
    """
    by_key = {each.key: each for each in probed}
    cache = [
        replace(by_key[own], key=key)
        for key, there in CACHE_KEYS.items()
        for own in (key, there)
        if own in by_key
    ]
    lacking = [
        each for each in cache if each.value is None and each.key != "cache.prefetch_sectors"
    ]
    if hit_us is None or lacking or len(cache) < len(CACHE_KEYS):
        why = lacking[0].confidence if lacking else "not seen: a second read is not quicker"
        return [Finding(key, None, why) for key in (*CACHE_KEYS, HIT_KEY)]
    confidence = f"the spike's end, of {SINGLES} single sectors read twice"
    return [*cache[:2], _prefetch(*cache[1:]), Finding(HIT_KEY, round(hit_us, 3), confidence)]


def _prefetch(segment: Finding, ahead: Finding) -> Finding:
    """Return the prefetch after a page; page and prefetch together fit in one segment."""
    assert isinstance(segment.value, int)
    if ahead.value is None:
        return replace(ahead, value=0)
    most = ahead.value if isinstance(ahead.value, int) else segment.value
    return replace(ahead, value=max(0, min(most, segment.value - A_PAGE)))
