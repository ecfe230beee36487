# SPDX-License-Identifier: MIT
"""Decide whether to trust a prediction: compare its runs' demands with the profile's checks.

The verdict is one of three.  True: each pair of the runs' demands occurs together in some check,
and no check shows too large an error for the runs.  None: no check has some demand or some pair of
demands.  False: a check shows too large an error, or the runs themselves are invalid; then nothing
is recommended.

The error of a check counts in proportion to its effect on the runs of each scheduler, since the
order of requests changes their demands on a disk.  If the mean is wrong, nothing is recommended.
If only the distribution is wrong, nothing is recommended for the tail.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from understudy_devices.device.check import (
    IN_WORDS,
    LEAST_MS,
    PLACES,
    Ask,
    Check,
    asked,
    in_words,
    untried,
)
from understudy_devices.device.profile import DiskProfile
from understudy_devices.measure.metrics import LATE_MAX_PERMILLE, Summary
from understudy_devices.measure.trust import Trust
from understudy_devices.native.demand import NAMES
from understudy_devices.recommend.choice import TAIL

OPEN_SHARE = 3 / 5
"""The limit for service times is an error of 3 %, the limit for response times is 5 %; an open
queue amplifies errors of service times."""
APART: tuple[Ask, ...] = ("writes", "pauses", "rests", "queue")
"""A check without one of these demands says nothing about requests that have the demand."""


def sentences(trust: Trust) -> list[str]:
    """Return the sentences below a table; none if everything was checked and is within limits."""
    return [*missing(trust), *doubts(trust)]


def missing(trust: Trust) -> list[str]:
    """Return why nothing is recommended, or why nothing is recommended for the tail."""
    if trust.trusted is False:
        return [f"no pick: {'; '.join(trust.because)}"]
    return [f"no pick for {TAIL}: {'; '.join(trust.tail_because)}"] if trust.tail_because else []


def doubts(trust: Trust) -> list[str]:
    """Return what was not checked."""
    return [str(trust)] if trust.trusted is None else []


def verdict(
    disk: DiskProfile, at_once: int, runs: Sequence[Summary], *, is_open: bool = False
) -> Trust:
    """Return the trust in runs that differ in scheduler and seed.

    `at_once` is the number of requests on the disk at the same time.  `is_open` means that requests
    arrive even if earlier requests are not answered.
    """
    if broken := list(_broken(runs)):
        return Trust(False, tuple(broken))
    if runs[0].platform == "real":
        return Trust(True)
    asking = [_asked(run, disk, at_once) for run in runs]
    demands = {ask: max(each.get(ask, 0.0) for each in asking) for each in asking for ask in each}
    off: list[str] = []
    tail_off: list[str] = []
    for check in disk.checks:
        parts = [_part(check, demand, run) for demand, run in zip(asking, runs, strict=True)]
        percent = max(parts) * abs(check.difference_percent)
        if is_open and "pauses" not in check.asks:  # after a pause there is no queue
            queued = max(part * _queued(run) for part, run in zip(parts, runs, strict=True))
            percent = max(percent, OPEN_SHARE * queued * abs(check.difference_percent))
        if percent > check.limit_percent:
            off.append(f"{_said(check, demands)} {abs(check.difference_percent):.3g} % off")
        if max(parts) * check.demerit_percent > check.demerit_limit_percent:
            excess = f"off by a demerit of {check.demerit_percent:.3g} %"
            tail_off.append(f"{_said(check, demands)} {excess}")
    if off:
        return Trust(False, tuple(off))
    return replace(_checked(disk, demands), tail_because=tuple(tail_off))


def _checked(disk: DiskProfile, demands: Mapping[Ask, float]) -> Trust:
    """Return True if each pair of demands occurs together in some check; else None, and why."""
    if not disk.checks:
        origin = f", made from {disk.limits}," if disk.limits else ""
        why = f"{disk.name}{origin} was never checked against its drive; this workload has"
        return Trust(None, (f"{why} {in_words(demands)}",))
    if never := untried(disk.checks, demands):
        return Trust(None, (f"{disk.name} was never tried with {', '.join(never)}",))
    return Trust(True)


def _broken(runs: Sequence[Summary]) -> Iterator[str]:
    """Yield the reasons why the runs themselves are invalid."""
    late = {run.scheduler: run.late_permille for run in runs if run.is_too_late}
    if late:
        shares = ", ".join(f"{name} {share:.3g}" for name, share in late.items())
        yield (
            f"of 1,000 requests more than {LATE_MAX_PERMILLE} were late ({shares}): these runs do "
            "not count; take a larger --scale, or none, so that k is found"
        )
    if stale := {run.scheduler: run.stale for run in runs if run.stale}:
        counts = ", ".join(f"{name} {count:,}" for name, count in stale.items())
        yield (
            f"requests were chosen while the disk was busy ({counts}), which spoils a scheduler's "
            "order; take a --controller that asks when the disk is free, vdisk or lsi53c895a"
        )
    scales = sorted({run.scale for run in runs})
    if len(scales) > 1:
        yield (
            f"k was {scales[0]:g} to {scales[-1]:g}, raised where too many were late: give all "
            f"runs --scale {scales[-1]:g}"
        )


def _asked(run: Summary, disk: DiskProfile, at_once: int) -> dict[Ask, float]:
    """Return the demands and their shares of the requests that went to the disk."""
    shares = asked({name: getattr(run, name) for name in NAMES}, run.dispatched)
    if disk.array:
        shares.pop("sweeps", None)  # servers have no arm, so order does not matter
    if at_once > 1:
        shares["queue"] = 1.0
    return shares


def _queued(run: Summary) -> float:
    return run.mean_response_ms / max(run.mean_service_ms, LEAST_MS)


def _part(check: Check, demands: Mapping[Ask, float], run: Summary) -> float:
    """Return the part of a check's error that affects a run, from 0 to 1.

    The part is 0 if the run lacks a demand of the check (except "random").  Else it is the share of
    the run's service time in requests like those of the check.  The number of these requests is
    bounded in two ways: by the overlap of run and check in the demands about locations (PLACES),
    and by the requests that have no demand of APART that the check lacks.  The part is reduced in
    proportion if the run has another demand of the check (writes, sizes, pauses) less often.
    """
    if not check.asks.keys() <= {*demands, "random"}:
        return 0.0
    places = sum(min(check.asks.get(place, 0.0), demands.get(place, 0.0)) for place in PLACES)
    alike = min(places, *(1 - demands.get(ask, 0.0) for ask in APART if ask not in check.asks))
    of_time = min(1.0, alike * check.target_ms / max(run.mean_service_ms, LEAST_MS))
    more = (demands[ask] / share for ask, share in check.asks.items() if ask not in PLACES)
    return min([of_time, *(of_time * each for each in more)])


def _said(check: Check, demands: Mapping[Ask, float]) -> str:
    rare = [ask for ask in check.asks if ask in demands and ask != "random"]
    parts = [f"{100 * demands[ask]:.0f} % {IN_WORDS[ask]}" for ask in rare]
    shares = f"this workload has {' and '.join(parts)}; " if parts else ""
    return f"{shares}with {check.workload} this profile was"
