# SPDX-License-Identifier: MIT
"""Whether a prediction may be believed: what its runs ask, held against the profile's checks.

Three states.  True: each two things that the runs ask for were checked together, and are within.
None: something of it was never checked.  False: something of it was checked and is off, or the
runs themselves do not count; nothing is recommended then.

A check that is off counts by what it would do to these runs: its error in ms, times how often they
ask for that in comparison with the check, against their mean service.
"""

from collections.abc import Iterator, Mapping, Sequence

from understudy.device.check import IN_WORDS, LEAST_MS, Ask, Check, asked, in_words, untried
from understudy.device.profile import DiskProfile
from understudy.measure.metrics import LATE_MAX_PERMILLE, Summary
from understudy.measure.trust import Trust
from understudy.native.demand import NAMES


def sentences(found: Trust) -> list[str]:
    """Below a table; there is nothing to say of what is checked and within."""
    if found.trusted:
        return []
    return [str(found) if found.trusted is None else f"no pick: {'; '.join(found.because)}"]


def verdict(disk: DiskProfile, at_once: int, runs: Sequence[Summary]) -> Trust:
    """Of runs that differ in scheduler and seed, on a disk with so many requests at once."""
    if broken := list(_broken(runs)):
        return Trust(False, tuple(broken))
    if runs[0].platform == "real":
        return Trust(True)
    wanted = _most([_asked(run, disk, at_once) for run in runs])
    service_ms = sum(run.mean_service_ms for run in runs) / len(runs)
    if off := list(_off(disk, wanted, service_ms)):
        return Trust(False, tuple(off))
    if not disk.checks:
        made = f", made from {disk.limits}," if disk.limits else ""
        why = f"{disk.name}{made} was never held against its drive; this workload has"
        return Trust(None, (f"{why} {in_words(wanted)}",))
    if never := untried(disk.checks, wanted):
        return Trust(None, (f"{disk.name} was never tried with {', '.join(never)}",))
    return Trust(True)


def _broken(runs: Sequence[Summary]) -> Iterator[str]:
    """Why the runs themselves do not count."""
    late = {run.scheduler: run.late_permille for run in runs if run.is_too_late}
    if late:
        shares = ", ".join(f"{name} {share:.3g}" for name, share in late.items())
        yield (
            f"of 1,000 requests more than {LATE_MAX_PERMILLE} were late ({shares}): these runs do "
            "not count; take a larger --scale, or none, and k is found"
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
    """Shares of the requests that went to the disk."""
    shares = asked({name: getattr(run, name) for name in NAMES}, run.dispatched)
    if disk.array:
        shares.pop("sweeps", None)  # servers have no arm that an order could spare
    if at_once > 1:
        shares["queue"] = 1.0
    return shares


def _most(shares: Sequence[Mapping[Ask, float]]) -> dict[Ask, float]:
    """Of all runs, those that ask most."""
    found = (ask for each in shares for ask in each)
    return {ask: max(each.get(ask, 0.0) for each in shares) for ask in dict.fromkeys(found)}


def _off(disk: DiskProfile, wanted: Mapping[Ask, float], service_ms: float) -> Iterator[str]:
    """What of it is off, and matters."""
    for check in disk.checks:
        if not check.asks.keys() <= wanted.keys():
            continue
        part = min(1.0, *(wanted[ask] / share for ask, share in check.asks.items()))
        mean_percent, demerit_percent = (
            100 * part * ms / max(service_ms, LEAST_MS)
            for ms in (abs(check.off_ms), check.demerit_ms)
        )
        if mean_percent <= check.limit_percent and demerit_percent <= check.demerit_limit_percent:
            continue
        shares = _shares_in_words(check, wanted)
        yield f"{shares}with {check.workload} this profile was {check.said()}"


def _shares_in_words(check: Check, wanted: Mapping[Ask, float]) -> str:
    parts = [f"{100 * wanted[ask]:.0f} % {IN_WORDS[ask]}" for ask in check.asks if ask != "random"]
    return f"this workload has {' and '.join(parts)}; " if parts else ""
