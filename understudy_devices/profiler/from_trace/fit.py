# SPDX-License-Identifier: MIT
"""Fit a profile to a trace, and check how well the profile replays the trace."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from understudy_devices.base.errors import RunFailed
from understudy_devices.device.check import asked
from understudy_devices.device.profile import DiskProfile
from understudy_devices.native import demand
from understudy_devices.native.drive import Drive
from understudy_devices.profiler.checks import Compared
from understudy_devices.profiler.findings import document
from understudy_devices.profiler.findings.finding import Finding, not_seen
from understudy_devices.profiler.from_trace import cache_hits, curve, geometry
from understudy_devices.profiler.from_trace import prior as known
from understudy_devices.profiler.from_trace.curve import Curve
from understudy_devices.profiler.from_trace.services import Floats, Served
from understudy_devices.profiler.layout.layout import Unseen
from understudy_devices.profiler.probes import medium, rotation, tracks, writes
from understudy_devices.profiler.profile_fit import Fitted

FEWEST = 200  # smallest number of reads from the medium
FEWEST_CHECKED = 50
HELD_OUT = 5  # number of parts; the last part is held out for the check


def profile(served: Served, seed: int = 1, prior: DiskProfile | None = None) -> Fitted:
    """Fit a profile to the whole trace; copy values that the trace cannot show from `prior`.

    To check the fit, fit another profile to the trace without its last fifth, and compare the last
    fifth with a replay on this other profile.
    """
    end = len(served) - len(served) // HELD_OUT
    capacity_sectors = _capacity(served, prior)
    whole = _fitted(served, capacity_sectors, seed, prior)
    try:
        earlier = _fitted(served.where(slice(end)), capacity_sectors, seed, prior)
    except RunFailed:  # too few requests are left for a fit
        return whole
    checked = replayed(earlier.disk(), capacity_sectors, served, end, seed)
    return replace(whole, compared=tuple(checked))


def _fitted(served: Served, capacity_sectors: int, seed: int, prior: DiskProfile | None) -> Fitted:
    hit, found_hits = cache_hits.hits_of(served)
    sample = curve.from_medium(served, hit)
    if len(sample.ns) < FEWEST:
        raise RunFailed(
            f"{len(sample.ns)} reads in it came from the medium, at least {FEWEST} are needed for "
            "a curve; record a longer trace, or one with more places"
        )
    fit, left_ns = curve.fitted(sample)
    period_ns = curve.period_ns(left_ns)
    own = known.findings(prior)
    bus_ns = known.bus_sector_ns([*own, *found_hits])
    near = known.seeks(prior, capacity_sectors)
    exact = geometry.findings(served, hit, period_ns, capacity_sectors, bus_ns, near)
    if isinstance(exact, Unseen):
        findings = _drawn(fit, period_ns, left_ns, exact)
    else:
        findings, own = exact, [each for each in own if each.section != known.LAYOUT]
    findings = known.instead([*findings, *found_hits], own)
    if not any(each.section in ("buffer", "cache") for each in own):
        findings += cache_hits.held(served, hit, findings)
        findings += writes.unseen("writes of a trace are not fitted")
    return Fitted(document.complete(findings), capacity_sectors, seed, len(served), from_trace=True)


def _capacity(served: Served, prior: DiskProfile | None) -> int:
    """Return the capacity of `prior` or, if that is unknown, the end of the last sector seen."""
    seen = served.capacity_sectors
    if not prior or not prior.facts:
        return seen
    if prior.facts.capacity_sectors < seen:
        raise RunFailed(
            f"it has a request up to sector {seen}, and {prior.name} is of a disk of "
            f"{prior.facts.capacity_sectors}"
        )
    return prior.facts.capacity_sectors


def _drawn(fit: Curve, period_ns: float | None, left_ns: Floats, unseen: Unseen) -> list[Finding]:
    """Return the findings for a seek curve over sectors and random rotational latencies."""
    return [
        *_seeks(fit, period_ns, left_ns),
        *_transfer(fit),
        *_rotation(period_ns, len(left_ns)),
        *(not_seen(key, unseen.why) for key in tracks.KEYS),
    ]


def _seeks(fit: Curve, period_ns: float | None, left_ns: Floats) -> list[Finding]:
    error = f"+- {float(np.std(left_ns)) * (len(fit.at) / len(left_ns)) ** 0.5 / 1e6:.2g} a place"
    why = "half a rotation is taken off" if period_ns else "rotational latency included"
    ns = np.maximum(fit.ns - (period_ns or 0.0) / 2, 0.0)
    return [
        Finding("seek.at", [round(float(each), 8) for each in fit.at]),
        Finding("seek.ms", [round(float(each) / 1e6, 6) for each in ns], f"{error}; {why}"),
    ]


def _transfer(fit: Curve) -> list[Finding]:
    if not fit.zones:
        why = "lengths or places do not differ enough; the seek curve includes the transfer"
        return [not_seen(key, why) for key in medium.KEYS]
    confidence = f"+- {100 * curve.sure(fit):.1g} % at most, from times over lengths"
    return medium.Medium(fit.zones, tuple(fit.sector_ns.tolist()), confidence).findings()


def _rotation(period_ns: float | None, reads: int) -> list[Finding]:
    if period_ns is None:
        return [not_seen(rotation.KEY, "times over one distance are not uniform over a period")]
    error_ns = period_ns * (0.2 / reads) ** 0.5
    confidence = f"+- {error_ns / 1e6:.2g}, from the spread of times over one distance"
    return [
        Finding(rotation.KEY, round(period_ns / 1e6, 4), confidence),
        Finding("rotation.phase", "random"),
    ]


def replayed(
    disk: DiskProfile, capacity_sectors: int, served: Served, end: int = 0, seed: int = 1
) -> Iterator[Compared]:
    """Replay a trace on a profile, with the trace's idle time before each request.

    Yield comparisons of the requests from index `end` on.
    """
    drive = Drive(disk.timing(capacity_sectors), seed)
    ns, _ = drive.serve(served.op, served.sector, served.sectors, served.idle_ns)
    last = served.where(slice(end, None))
    there, here = last.service_ns / 1e6, ns[end:].astype(float) / 1e6
    asking = demand.asking(~last.reads, last.sector, last.sectors, last.idle_ns, last.idle_ns == 0)
    sequential = asking["sequential"]
    parts = {
        "random reads of the trace": last.reads & ~sequential,
        "sequential reads of the trace": last.reads & sequential,
        "writes of the trace": ~last.reads,
        "the trace": np.ones(len(last), bool),
    }
    for name, part in parts.items():
        if (number := int(part.sum())) >= FEWEST_CHECKED:
            counts = demand.counts({each: flags[part] for each, flags in asking.items()})
            yield Compared(name, asked(counts, number), there[part], here[part])
