# SPDX-License-Identifier: MIT
"""All measurements of a drive, and the profile fitted to them.

The overview shows the seek curve with its samples and residuals, the medium's rate by location,
the times of cache hits by length, and all other findings, with the values that were not seen.
For each check it also shows the distributions of service times of target and model.  The rms
horizontal distance between these two curves is the demerit (Ruemmler and Wilkes 1994).
"""

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpecBase, SubplotSpec
from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator, NullFormatter, NullLocator

from understudy_devices.device.profile import DiskProfile
from understudy_devices.device.timing import Curve
from understudy_devices.profiler.checks import Compared
from understudy_devices.profiler.findings.finding import NOT_SEEN, Finding
from understudy_devices.profiler.profile_fit import Fitted

SECTOR_BYTES = 512
TARGET, MODEL, OFF = "C0", "C1", "C3"
DOTS: dict[str, Any] = {
    "linestyle": "none",
    "marker": ".",
    "markersize": 5,
    "markeredgewidth": 0,
    "alpha": 0.6,
    "color": TARGET,
    "zorder": 3,
}
DISTANCES = (0, 1, 5, 10, 25, 50, 75, 100)  # % of the disk
CHECKS_IN_A_LINE = 3
WIDE = 30  # if the last percentile is this many times the first, the axis is logarithmic
LETTERS = 92  # letters in a line of findings
TITLE_LETTERS = 62
VALUE_AT, SAID_AT = 26, 47  # columns in such a line
SMALL = 8.5
LINE_INCHES = 1.25 * SMALL / 72
LEAST_RESIDUAL_MS = 0.01

Values = npt.NDArray[np.float64]


def figure(fit: Fitted, name: str) -> Figure:
    """Draw the overview of a drive with that name."""
    words = list(_words(fit))
    lines = -(-len(fit.compared) // CHECKS_IN_A_LINE)
    heights = [4.4, max(2.8, 0.5 + LINE_INCHES * len(words)), 2.7 * lines]
    whole = Figure(figsize=(11, 0.5 + sum(heights)), layout="constrained")
    whole.suptitle(f"{name}: {_facts(fit)}", fontsize=12)
    parts = whole.add_gridspec(3, 1, height_ratios=heights, hspace=0.05)
    _draw_mechanics(whole, parts[0], fit)
    _draw_cache(whole, parts[1], fit, words)
    _draw_checks(whole, parts[2].subgridspec(lines, CHECKS_IN_A_LINE), fit.compared)
    return whole


def _facts(fit: Fitted) -> str:
    gigabytes = fit.capacity_sectors * SECTOR_BYTES / 1e9
    return f"{gigabytes:,.1f} GB, {fit.requests:,} requests, seed {fit.seed}"


# ---- mechanics ------------------------------------------------------------------------


def _draw_mechanics(whole: Figure, part: SubplotSpec, fit: Fitted) -> None:
    halves = part.subgridspec(1, 2)
    seeks = halves[0].subgridspec(2, 1, height_ratios=[3, 1])
    disk = fit.disk()
    _draw_seek(whole.add_subplot(seeks[0]), whole.add_subplot(seeks[1]), fit, disk)
    _draw_medium(whole.add_subplot(halves[1]), fit, disk)


def _draw_seek(above: Axes, below: Axes, fit: Fitted, disk: DiskProfile) -> None:
    finding = fit.finding("seek.ms")
    at, ms = _points(finding)
    timing = disk.timing(fit.capacity_sectors)
    places, values = _curve(timing.seek, fit.capacity_sectors)
    values += timing.intercept_ns
    above.plot(100 * at, ms, **DOTS, label="samples")
    above.plot(100 * places, values / 1e6, color=MODEL, label="profile")
    above.set(ylabel="seek (ms)", ylim=(0, None), title=_said("Seek curve", finding))
    above.legend(loc="lower right", markerscale=2.5)
    above.tick_params(labelbottom=False)
    residual = ms - np.interp(at, places, values / 1e6)
    farthest = 1.1 * float(np.max(np.abs(residual), initial=LEAST_RESIDUAL_MS))
    below.plot(100 * at, residual, **DOTS)
    below.axhline(0, color=MODEL)
    below.set(xlabel="seek distance (% of the disk, root scale)", ylabel="residual (ms)")
    below.set(ylim=(-farthest, farthest))
    for axes in (above, below):
        axes.set_xscale("function", functions=(_root, np.square))
        axes.set_xlim(0, 100)
        axes.xaxis.set_major_locator(FixedLocator(DISTANCES))
        axes.xaxis.set_minor_locator(NullLocator())


def _root(x: Values) -> Values:
    """Return the square root, and 0 for values below 0, with which Matplotlib also calls this."""
    return np.sqrt(np.maximum(x, 0))


def _draw_medium(axes: Axes, fit: Fitted, disk: DiskProfile) -> None:
    axes.set(xlabel="place (% of the disk)", xlim=(0, 100))
    finding = fit.finding("throughput.mb_per_s")
    if not disk.throughput:
        axes.set(title="Throughput", ylim=(0, 1), yticks=[])
        axes.text(50, 0.5, _why(finding), ha="center", va="center")
        return
    at, rates = _points(finding)
    axes.plot(100 * at, rates, **DOTS, label="samples")
    places, ps = _curve(disk.timing(fit.capacity_sectors).transfer, fit.capacity_sectors)
    axes.plot(100 * places, SECTOR_BYTES * 1e6 / ps, color=MODEL, label="profile")
    if disk.buffer:
        bus = disk.buffer.bus_mb_per_s
        axes.axhline(bus, linestyle="--", color="C2", label=f"bus, {bus:g} MB/s")
    zones = f"Throughput, {len(disk.throughput.mb_per_s)} zones"
    highest = 1.15 * max(disk.throughput.mb_per_s)
    axes.set(ylabel="throughput (MB/s)", ylim=(0, highest), title=_said(zones, finding))
    axes.legend(loc="best", markerscale=2.5)


def _curve(curve: Curve, capacity_sectors: int) -> tuple[Values, Values]:
    """Return the curve by fraction of the disk."""
    places, values = np.array(curve, float).T
    return places / capacity_sectors, values


def _points(finding: Finding | None) -> tuple[Values, Values]:
    seen = finding.seen if finding else ()
    at, values = np.array(seen, float).reshape(-1, 2).T
    return at, values


def _said(title: str, finding: Finding | None) -> str:
    """Return a title, with the finding's confidence in a second line."""
    if not finding or not finding.confidence:
        return title
    confidence = f"{_name(finding)}: {_typeset(finding.confidence)}"
    return f"{title}\n{textwrap.fill(confidence, TITLE_LETTERS)}"


def _name(finding: Finding) -> str:
    return finding.key.partition(".")[2]


def _typeset(words: str) -> str:
    return words.replace("+- ", "± ")


def _number(value: float, _: object) -> str:
    """Return a number for a logarithmic axis."""
    return f"{value:,g}"


def _why(finding: Finding | None) -> str:
    """Return the reason why a finding has no value."""
    return textwrap.fill(finding.confidence if finding else NOT_SEEN, 40)


# ---- checks ---------------------------------------------------------------------------


def _draw_checks(whole: Figure, part: GridSpecBase, checks: Sequence[Compared]) -> None:
    for place, check in enumerate(checks):
        axes = whole.add_subplot(part[place])
        _draw_check(axes, check)
        if place == 0:
            axes.legend(loc="lower right")


def _draw_check(axes: Axes, check: Compared) -> None:
    outcome = check.check
    target, model = np.sort(check.target_times_ms), np.sort(check.model_times_ms)
    shares = (np.arange(len(target)) + 1) / len(target)
    axes.fill_betweenx(shares, target, model, color="0.5", alpha=0.3, linewidth=0)
    axes.plot(target, shares, color=TARGET, label="target")
    axes.plot(model, shares, color=MODEL, linestyle="--", label="model")
    first, last = np.quantile([target, model], (0.01, 0.99))
    if last > WIDE * max(first, 1e-6):
        axes.set(xscale="log")
        axes.xaxis.set_major_formatter(_number)
    else:
        axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.set(xlabel="service time (ms)", ylabel="share of requests", ylim=(0, 1.01))
    axes.set_title(
        f"{outcome.workload}\ntarget {outcome.target_ms:.3f}, model {outcome.model_ms:.3f} ms "
        f"({outcome.difference_percent:+.1f} %)\n"
        f"demerit {outcome.demerit_percent:.1f} %: "
        f"{'within' if outcome.within else 'not within'} the limits",
        color="black" if outcome.within else OFF,
        fontsize=9,
    )


# ---- cache ----------------------------------------------------------------------------


def _draw_cache(whole: Figure, part: SubplotSpec, fit: Fitted, words: Sequence[str]) -> None:
    parts = part.subgridspec(1, 2, width_ratios=[2, 3])
    _draw_hits(whole.add_subplot(parts[0]), fit)
    axes = whole.add_subplot(parts[1])
    axes.set_axis_off()
    axes.text(
        0,
        1,
        "\n".join(words),
        va="top",
        family="monospace",
        fontsize=SMALL,
        transform=axes.transAxes,
    )


def _draw_hits(axes: Axes, fit: Fitted) -> None:
    finding = fit.finding("buffer.read_hit_us")
    axes.set(title="Reads that the drive holds")
    if not finding or finding.value is None:
        axes.set(xticks=[], yticks=[])
        axes.text(0.5, 0.5, _why(finding), ha="center", va="center")
        return
    lengths, us = _points(finding)
    bus = fit.value("buffer.bus_mb_per_s")
    axes.plot(lengths, us / 1e3, "o", markersize=4, color=TARGET, label="samples")
    fit_us = finding.value + lengths * SECTOR_BYTES / bus
    line = f"{finding.value:,g} us, and {bus:,g} MB/s"
    axes.plot(lengths, fit_us / 1e3, color=MODEL, label=line)
    axes.set(xlabel="length (sectors)", ylabel="hit (ms)", xscale="log", yscale="log")
    axes.set(ylim=(us.min() / 2e3, us.max() / 0.5e3))
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(_number)
        axis.set_minor_formatter(NullFormatter())
    axes.legend(loc="upper left")


def _words(fit: Fitted) -> Iterator[str]:
    """Yield the findings other than the curves, and the values that were not seen."""
    for section in dict.fromkeys(each.section for each in fit.findings):
        own = [each for each in fit.findings if each.section == section]
        if any(each.seen for each in own if isinstance(each.value, Sequence)):
            continue
        yield f"[{section}]"
        yield from (line for each in own for line in _entry(each) if each.value is not None)
        yield from _not_seen([each for each in own if each.value is None])


def _entry(finding: Finding) -> list[str]:
    lines = textwrap.wrap(_typeset(finding.confidence), LETTERS - SAID_AT) or [""]
    first = f"  {_name(finding)}".ljust(VALUE_AT) + _brief(finding.value)
    return [first.ljust(SAID_AT) + lines[0], *(" " * SAID_AT + line for line in lines[1:])]


def _brief(value: object) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"{len(value)} values" if len(value) > 2 else ", ".join(map(str, value))
    rows = str(value).splitlines()[1:]  # the first line has the names of the columns
    return f"{len(rows)} in a table" if rows else str(value).lower()


def _not_seen(findings: Sequence[Finding]) -> Iterator[str]:
    for why in dict.fromkeys(each.confidence for each in findings):
        names = (_name(each) for each in findings if each.confidence == why)
        line = f"{', '.join(names)}: {why}"
        yield from textwrap.wrap(line, LETTERS, initial_indent="  ", subsequent_indent="    ")
