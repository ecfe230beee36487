# SPDX-License-Identifier: MIT
"""Two and three VMs that share an array, predicted and measured: the tables and figures of ICPE
2011, section 5, for one configuration of each benchmark."""

from collections.abc import Iterator, Sequence

import numpy as np

from understudy_devices.base import scratch
from understudy_devices.campaign import self_check
from understudy_devices.campaign.result import environment
from understudy_devices.campaign.self_check import DISK, Held, Outcomes
from understudy_devices.consolidation.prediction import PRECISION, UNMERGED, Effort
from understudy_devices.device import profile
from understudy_devices.papers.icpe_2011 import (
    GAP_P95_MS,
    INTERARRIVAL_AND_SERVICE_MS,
    P95_MS,
    PRODUCT_FORM_ERRORS,
    QUEUES,
    RESPONSES_MS,
    SIMULATION_ERRORS,
    SPLIT_AND_MERGED,
)
from understudy_devices.papers.printed import ICPE
from understudy_devices.reproduce import Asked, Reproduced
from understudy_devices.reproduce.disk_tables import Runs
from understudy_devices.show.grid import Block, Grid
from understudy_devices.show.self_checked import figures
from understudy_devices.show.self_checked.table import sentences
from understudy_devices.traces.characterise import BLOCKS

PRINTED = tuple(
    (ICPE, name)
    for name in (
        *(
            "Figure 2",
            "Table 1",
            "Figure 6",
            "Table 3",
            "Figure 7",
            "Figure 8",
            "Table 4",
            "Table 5",
        ),
        *("Table 6", "Figure 9", "Figure 10"),
    )
)
SECONDS = {"vm": 130}
DIFFERS = """
The paper's VMs ran under VMware ESX on a RAID of 15 disks over iSCSI. Ours are control groups under
one stock kernel, on an array of 32 servers with a mean service time of 27 ms, under our SFQ(D),
with Debian's Postmark, and fio instead of FFSB. Our Postmark sends a fifth of the paper's requests,
and our array serves 32 requests at once without becoming slower, so our VMs hardly wait for one
another where the paper's response times grow threefold and more. So do not compare the times, but
whether the predictions come out. The product form overestimates more than the paper's, since our
VMs load the array to 0.5 to 0.9. The array does not merge requests, so there is nothing to merge:
omega is 1. Each VM runs once, for 6,000 requests of the file system, where the paper ran each 15
times for 5 minutes. A percentile in Figure 2 is of all VMs together; the paper does not say of
which workload its own is. `understudy consolidate --self-check` runs all six configurations, in a
quarter of an hour.
"""
CONFIGURATIONS = ("PM-1", "FFSB-1-S")
MS = 10**6


def run(asked: Asked) -> Reproduced:
    """Run the VMs alone and together, and predict the latter from the former."""
    disk = profile.load(DISK)
    assert disk.array
    runs = {plan: self_check.experiment(plan, disk, 1) for plan in self_check.plans(CONFIGURATIONS)}
    with scratch.folder("understudy-reproduce-") as workspace:
        progress = Runs(len(runs), lambda phase, part: asked.report(phase, 0.9 * part))
        outcomes = self_check.measured(runs, asked.jobs, progress.prepare, progress.run)
        checks = self_check.held(
            outcomes,
            disk.array.servers,
            Effort(UNMERGED, None, PRECISION),
            workspace,
            report=lambda phase, _: asked.report(phase, 0.9),
        )
        grids = list(tables(checks, outcomes))
        drawings = figures.draw(checks)
    whole = self_check.as_json("", 1, outcomes, checks)
    return Reproduced(
        grids,
        {key: whole[key] for key in ("held", "trusted", "because")},
        drawings,
        sentences(checks),
        environment([each for one in outcomes.values() for each in one]),
    )


def tables(checks: Sequence[Held], outcomes: Outcomes) -> Iterator[Grid]:
    """Yield the paper's tables, its figures beside ours."""
    several = ("paper", "ours")
    yield Grid(
        ("measured: paper", "ours", "alone, added up: paper", "ours"),
        [[(_name(one), _queues(one)) for one in checks]],
        "Table 1: requests in the system",
    )
    yield Grid(
        ("alone: paper", "ours", "together: paper", "ours", "predicted"),
        [[(_name(one), _responses(one)) for one in checks]],
        "Table 4, Figures 9 and 10: mean response times (ms)",
    )
    yield Grid(
        ("simulation: paper", "ours", "product form: paper", "ours"),
        [[(_name(one), _errors(one)) for one in checks]],
        "Table 5: relative errors",
    )
    yield Grid(
        ("pieces: paper", "ours", "merged: paper", "ours"),
        [[(_name(one), _merged(one)) for one in checks]],
        "Table 6: splitting and merging",
    )
    largest = [one for one in checks if len(one.plan.vms) == self_check.VMS]
    yield Grid(
        ("arrivals: paper", "ours", "service: paper", "ours"),
        [[(one.plan.configuration, _times(one)) for one in largest]],
        "Table 3: mean time between arrivals, and mean service time (ms)",
    )
    yield Grid(
        several,
        [_percentiles(outcomes)],
        "Figure 2: 95th percentile of response times (ms)",
    )
    yield Grid(
        several,
        [[("FFSB-1-S, one VM", _gaps(largest))]],
        "Figure 7: 95th percentile of times between arrivals (ms)",
    )
    yield Grid(
        (*(f"to {most}" for most in BLOCKS), "more"),
        [[(one.plan.configuration, _sizes(one)) for one in largest]],
        "Figure 6: share of requests by size in blocks of 4 kB (ours)",
    )
    yield Grid(
        ("rate, together / alone", "distance"),
        [[(_name(one), (_list(one.rate_ratio, 2), _list(one.distance, 2))) for one in checks]],
        "Figure 8: arrivals together beside alone, and the Kolmogorov-Smirnov distance (ours)",
    )


def _name(one: Held) -> str:
    return f"{one.plan.configuration}, {len(one.plan.vms)} VMs"


def _at(one: Held) -> int:
    """Return the place of this number of VMs in the paper's tuples."""
    return len(one.plan.vms) - 2


def _list(values: Sequence[float], places: int = 1) -> str:
    return ", ".join(f"{value:.{places}f}" for value in values)


def _queues(one: Held) -> tuple[str, ...]:
    measured, expected = QUEUES[one.plan.configuration][1 + 2 * _at(one) :][:2]
    ours = (sum(one.measured_in_system), sum(one.alone_in_system))
    return (f"{measured:.1f}", f"{ours[0]:.1f}", f"{expected:.1f}", f"{ours[1]:.1f}")


def _responses(one: Held) -> tuple[str, ...]:
    paper = RESPONSES_MS[one.plan.configuration]
    vms = len(one.plan.vms)
    alone, together = (
        ", ".join(f"{ms:g}" for ms in each[:vms]) for each in (paper[0], paper[vms - 1])
    )
    ours = map(_list, (one.alone_ms, one.measured_ms, one.predicted_ms))
    return (alone, next(ours), together, *ours)


def _errors(one: Held) -> tuple[str, ...]:
    name, place = one.plan.configuration, _at(one)
    columns = (
        (SIMULATION_ERRORS[name][place], one.error),
        (PRODUCT_FORM_ERRORS[name][place], one.product_form_error),
    )
    return tuple(f"{value:.2f}" for pair in columns for value in pair)


def _merged(one: Held) -> tuple[str, ...]:
    pieces, *merged = SPLIT_AND_MERGED[one.plan.configuration]
    splits = [tenant.vm.splitting_ratio for tenant in one.predicted.scenario.tenants]
    ours = (float(np.mean(splits)), float(np.mean(one.predicted.merge)))
    return (f"{pieces:.2f}", f"{ours[0]:.2f}", f"{merged[_at(one)]:.2f}", f"{ours[1]:.2f}")


def _times(one: Held) -> tuple[str, ...]:
    arrival_ms, service_ms = INTERARRIVAL_AND_SERVICE_MS[one.plan.configuration]
    tenants = one.predicted.scenario.tenants
    gap_ms = float(np.mean([1 / each.vm.rate_per_ms for each in tenants]))
    ours_ms = float(np.mean([each.fitted.report.given.moments[0] for each in tenants])) / MS
    return (f"{arrival_ms:.2f}", f"{gap_ms:.2f}", f"{service_ms:.2f}", f"{ours_ms:.2f}")


def _percentiles(outcomes: Outcomes) -> Block:
    names = ("one VM", "two VMs", "three VMs")
    return [
        (
            f"{configuration}, {name}",
            (f"{paper:.1f}", f"{_p95_ms(outcomes, configuration, vms):.1f}"),
        )
        for configuration in CONFIGURATIONS
        for name, paper, vms in zip(
            names, P95_MS, (self_check.ALONE[0], *self_check.TOGETHER), strict=True
        )
    ]


def _p95_ms(outcomes: Outcomes, configuration: str, vms: tuple[int, ...]) -> float:
    times = [
        requests["completion_ns"] - requests["arrival_ns"]
        for outcome in outcomes[configuration, vms]
        for number in vms
        for requests in [self_check.requests_of(outcome, number)]
    ]
    return float(np.quantile(np.concatenate(times), 0.95, method="inverted_cdf")) / MS


def _gaps(checks: Sequence[Held]) -> tuple[str, str]:
    """Return the paper's percentile, and ours, of the runs alone."""
    [one] = (each for each in checks if each.plan.configuration == "FFSB-1-S")
    alone = np.concatenate([gaps for gaps, _ in one.interarrival_ms])
    return (f"{GAP_P95_MS:.1f}", f"{np.quantile(alone, 0.95, method='inverted_cdf'):.1f}")


def _sizes(one: Held) -> tuple[str, ...]:
    totals = np.sum([tenant.vm.sizes for tenant in one.predicted.scenario.tenants], axis=0)
    return tuple(f"{share:.0%}" for share in totals / totals.sum())
