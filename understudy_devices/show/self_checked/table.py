# SPDX-License-Identifier: MIT
"""The self-check's results as tables like those of ICPE 2011: Tables 1, 4, 5 and 6, and Figure 8
in numbers.
"""

from collections.abc import Sequence

from rich.console import Console

from understudy_devices.campaign.self_check import Held, trust
from understudy_devices.consolidation.trust import INTERVALS
from understudy_devices.show.grid import Block, Grid

RESPONSES = "mean response times in ms (Table 4)"
HEADINGS = {
    "requests in the system (Table 1)": ("VMs", "alone, added up", "measured"),
    RESPONSES: (
        "VMs",
        "alone",
        "together",
        "predicted",
        "product form",
    ),
    "mean relative errors (Tables 5 and 6)": (
        "VMs",
        "load",
        "simulation",
        "product form",
        "95 %",
        "merge",
        "split",
    ),
    "arrivals together beside alone (Figure 8)": ("VMs", "rate", "distance"),
}


PAPER = {2: "3 to 16 %", 3: "2 to 30 %"}  # Table 5, by number of VMs


def tables(checks: Sequence[Held]) -> list[tuple[str, tuple[str, ...], Block]]:
    """Return all four tables: title, headings, rows."""
    rows = (_queue, _responses, _errors, _arrivals)
    return [
        (title, headings, [(one.plan.configuration, row(one)) for one in checks])
        for (title, headings), row in zip(HEADINGS.items(), rows, strict=True)
    ]


def sentences(checks: Sequence[Held]) -> list[str]:
    """Return sentences about the errors."""
    lines = []
    for vms, paper in PAPER.items():
        errors = [one.error for one in checks if len(one.plan.vms) == vms]
        lines.append(
            f"{vms} VMs: predicted means are {min(errors):.1%} to {max(errors):.1%} off "
            f"(ICPE 2011: {paper})"
        )
    return [*lines, str(trust(checks)), INTERVALS]


def doubts(checks: Sequence[Held]) -> list[str]:
    """Return notes on the poor fits, without duplicates."""
    return list(dict.fromkeys(doubt for one in checks for doubt in one.poor_fits))


def show(checks: Sequence[Held], console: Console) -> None:
    """Print the tables, then the notes."""
    for title, headings, block in tables(checks):
        words = headings[1:5] if headings == HEADINGS[RESPONSES] else ()
        Grid(headings, [block], title, words=words).show(console)
    for sentence in sentences(checks):
        console.print(sentence, highlight=False, soft_wrap=True)


def _queue(one: Held) -> tuple[str, ...]:
    totals = (sum(one.alone_in_system), sum(one.measured_in_system))
    return (_vms(one), *(f"{total:.1f}" for total in totals))


def _responses(one: Held) -> tuple[str, ...]:
    columns = (one.alone_ms, one.measured_ms, one.predicted_ms, one.product_form_ms)
    return (_vms(one), *(_listed(values, ".1f") for values in columns))


def _errors(one: Held) -> tuple[str, ...]:
    together = one.predicted.together
    halves = [each.mean.half_width or 0.0 for each in together]
    width = sum(
        2 * half / each.mean.mean for half, each in zip(halves, together, strict=True)
    ) / len(together)
    splits = [tenant.vm.splitting_ratio for tenant in one.predicted.scenario.tenants]
    return (
        _vms(one),
        f"{one.predicted.scenario.offered_load:.2f}",
        f"{one.error:.2f}",
        f"{one.product_form_error:.2f}",
        f"{width:.1%}",
        f"{sum(one.predicted.merge) / len(together):.2f}",
        f"{sum(splits) / len(splits):.2f}",
    )


def _arrivals(one: Held) -> tuple[str, ...]:
    return (_vms(one), _listed(one.rate_ratio, ".2f"), _listed(one.distance, ".2f"))


def _vms(one: Held) -> str:
    return str(len(one.plan.vms))


def _listed(values: Sequence[float], form: str) -> str:
    return ", ".join(format(value, form) for value in values)
