# SPDX-License-Identifier: MIT
"""Compare the consolidation predictor with a kernel, for the paper's six configurations in one,
two and three VMs on an array (ICPE 2011, section 5).

First each VM runs alone, and the kernel records a block trace.  From these traces the predictor
predicts the response times of the VMs when they run together.  Then the VMs do run together, and
the throttle, which shares no code with the block trace, measures their response times.  A request
is what the block layer sends to the device after merging.  A request arrives when its first bio
arrives; its service lasts from dispatch to completion.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from understudy_devices import platforms
from understudy_devices.ask.experiment import Experiment, Outcome, asked
from understudy_devices.ask.schedulers import Choice
from understudy_devices.ask.workloads import WORKLOADS
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.base.progress import Report, silent
from understudy_devices.campaign import parallel
from understudy_devices.campaign.result import environment
from understudy_devices.consolidation import vm
from understudy_devices.consolidation.fits import fit_each
from understudy_devices.consolidation.prediction import Effort, Prediction, predict
from understudy_devices.consolidation.product_form import mean_relative_error
from understudy_devices.consolidation.replications import Replications
from understudy_devices.consolidation.scenario import Scenario, Tenant
from understudy_devices.consolidation.vm import Floats
from understudy_devices.device.profile import DiskProfile
from understudy_devices.measure.trust import Trust
from understudy_devices.native.arrays import I64

CONFIGURATIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "PM-1": ("postmark", {"configuration": 1}),
    "PM-2": ("postmark", {"configuration": 2}),
    "FFSB-1-S": ("ffsb", {"configuration": 1, "access": "sequential"}),
    "FFSB-1-R": ("ffsb", {"configuration": 1, "access": "random"}),
    "FFSB-2-S": ("ffsb", {"configuration": 2, "access": "sequential"}),
    "FFSB-2-R": ("ffsb", {"configuration": 2, "access": "random"}),
}
DISK = "array-32-slow"
VMS = 3
REQUESTS = 6000  # bios measured in each VM
MS = 10**6
OFF, OFF_BUSY, BUSY = 0.05, 0.10, 0.85  # largest error of a mean: OFF, or OFF_BUSY above load BUSY
TRACES = "traces"  # folder in the run folder, for the traces of VMs that ran alone
SCHEMA = "understudy.self-check/1"

Vms = tuple[int, ...]
Outcomes = Mapping[tuple[str, Vms], Sequence[Outcome]]  # the runs of each configuration and VMs
ALONE: tuple[Vms, ...] = tuple((number,) for number in range(1, VMS + 1))
TOGETHER: tuple[Vms, ...] = tuple(tuple(range(1, count + 1)) for count in range(2, VMS + 1))


@dataclass(frozen=True)
class Plan:
    """A configuration's name (CONFIGURATIONS), and the numbers of the VMs that run it."""

    configuration: str
    vms: Vms

    def __str__(self) -> str:
        """The plan's name in progress reports."""
        return f"{self.configuration}, VM {' and '.join(map(str, self.vms))}"


@dataclass(frozen=True)
class Held:
    """The results of VMs of one configuration that ran together.  Each sequence has a value for
    each VM; times are in ms.

    alone_ms and alone_recorded_ms: mean response times of the runs alone, by trace and by throttle.
    interarrival_ms: times between arrivals, alone and together, in ascending order (Figure 8).
    distance: the Kolmogorov-Smirnov distance between these two distributions.
    """

    plan: Plan
    alone_ms: Sequence[float]
    alone_recorded_ms: Sequence[float]
    measured_ms: Sequence[float]
    predicted: Prediction
    alone_in_system: Sequence[float]
    measured_in_system: Sequence[float]
    rate_ratio: Sequence[float]
    interarrival_ms: Sequence[tuple[Floats, Floats]]

    @property
    def distance(self) -> list[float]:
        """Return, for each VM, the Kolmogorov-Smirnov distance between its interarrival times alone
        and together."""
        return [_distance(alone, together) for alone, together in self.interarrival_ms]

    @property
    def predicted_ms(self) -> list[float]:
        """Return each VM's mean response time as predicted by simulation, in ms."""
        return [one.mean.mean for one in self.predicted.together]

    @property
    def product_form_ms(self) -> list[float]:
        """Return each VM's mean response time as predicted by the product form (Eq. 11), in ms."""
        return self.predicted.scenario.product_form_ms()

    @property
    def poor_fits(self) -> list[str]:
        """Return messages about VMs whose fitted service times do not match the measured ones."""
        return [
            f"{self.plan.configuration}, {tenant.vm.name}: fitted poorly: {reason}"
            for tenant in self.predicted.scenario.tenants
            for reason in tenant.fitted.report.poor
        ]

    @property
    def error(self) -> float:
        """Return the relative error of the simulation (Eq. 13)."""
        return mean_relative_error(self.predicted_ms, self.measured_ms)

    @property
    def off_most(self) -> float:
        """Return the largest relative error allowed."""
        return OFF_BUSY if self.predicted.scenario.offered_load > BUSY else OFF

    @property
    def product_form_error(self) -> float:
        """Return the relative error of the product form (Eq. 13)."""
        return mean_relative_error(self.product_form_ms, self.measured_ms)


def plans(configurations: Sequence[str]) -> list[Plan]:
    """Return the plans of all necessary runs; raise a UserError for an unknown configuration."""
    for name in configurations:
        if name not in CONFIGURATIONS:
            raise UserError(f"{name}: no such configuration; there are {', '.join(CONFIGURATIONS)}")
    return [Plan(name, vms) for name in configurations for vms in (*ALONE, *TOGETHER)]


def experiment(plan: Plan, disk: DiskProfile, seed: int) -> Experiment:
    """Return a plan's run on the VM platform under sfq.

    sfq charges the array's mean service time for each request.
    """
    name, parameters = CONFIGURATIONS[plan.configuration]
    assert disk.array
    tunables = {"settle": 0, "cost_request_ns": round(disk.array.service_ms * MS)}
    scheduler = Choice("sfq", (*tunables.items(), ("cost_sector_ns", 0)))
    requests = REQUESTS * len(plan.vms)
    more = {"vms": plan.vms, "requests": requests, "seed": seed}
    return asked(WORKLOADS[name], scheduler, disk, "vm", **parameters, **more)


def measured(
    runs: Mapping[Plan, Experiment], jobs: int, prepare: Report, report: parallel.RunReport
) -> Outcomes:
    """Carry out all runs; `prepare` and `report` get what is being built, and each run's phases."""
    platform = platforms.load("vm")
    experiments = list(runs.values())
    platform.check(experiments)
    platform.prepare(experiments, prepare)
    outcomes, failures = parallel.run_all(platform, experiments, jobs, report)
    if failures:
        raise RunFailed("; ".join(failures.values()))
    return {
        (plan.configuration, plan.vms): [outcome]
        for plan, outcome in zip(runs, outcomes, strict=True)
    }


def held(
    outcomes: Outcomes,
    servers: int,
    effort: Effort,
    folder: Path,
    seed: int = 1,
    report: Report = silent,
) -> list[Held]:
    """Predict the response times of each set of VMs that ran together, from each VM's run alone.

    The traces of the runs alone are written to `folder`, in a separate folder for each VM.
    """
    predictions = []
    for configuration in dict.fromkeys(name for name, _ in outcomes):
        report(f"fit {configuration}", 0)
        tenants = _tenants(configuration, outcomes, servers, folder)
        for vms in TOGETHER:
            report(f"predict {configuration} in {len(vms)} VMs", 0)
            scenario = Scenario(tuple(tenants[number] for number in vms), servers)
            predicted = predict(Replications(scenario, seed), effort)
            plan = Plan(configuration, vms)
            predictions.append(_held(plan, predicted, outcomes))
    return predictions


def trust(predictions: Sequence[Held]) -> Trust:
    """Return whether every prediction is within its limit."""
    off = tuple(
        f"{one.plan}: {one.error:.1%} off; the limit is {one.off_most:.0%}"
        for one in predictions
        if one.error > one.off_most
    )
    most = f"{OFF:.0%} off, or {OFF_BUSY:.0%} above a load of {BUSY:g}"
    return Trust(not off, off or (f"{len(predictions)} predictions, each at most {most}",))


def as_json(
    command: str,
    seed: int,
    outcomes: Outcomes,
    predictions: Sequence[Held],
) -> dict[str, Any]:
    """Return the content of result.json: each set of VMs that ran together, and each run; times
    in ms."""
    runs = [(name, vms, one) for (name, vms), each in outcomes.items() for one in each]
    return {
        "schema": SCHEMA,
        "inputs": {"command": command, "seed": seed, "disk": DISK, "requests": REQUESTS},
        "environment": environment([outcome for _, _, outcome in runs]),
        **trust(predictions).as_json(),
        "runs": [
            {"configuration": name, "vms": list(vms), "facts": outcome.facts}
            for name, vms, outcome in runs
        ],
        "held": [
            {
                "configuration": one.plan.configuration,
                "vms": list(one.plan.vms),
                "alone_ms": list(one.alone_ms),
                "alone_recorded_ms": list(one.alone_recorded_ms),
                "together_ms": list(one.measured_ms),
                "predicted_ms": one.predicted_ms,
                "product_form_ms": one.product_form_ms,
                "error": one.error,
                "product_form_error": one.product_form_error,
                "alone_in_system": list(one.alone_in_system),
                "together_in_system": list(one.measured_in_system),
                "rate_ratio": list(one.rate_ratio),
                "interarrival_distance": list(one.distance),
                "offered_load": one.predicted.scenario.offered_load,
                "merge_values": list(one.predicted.merge),
                "split_ratios": [
                    tenant.vm.splitting_ratio for tenant in one.predicted.scenario.tenants
                ],
                "poor_fits": one.poor_fits,
                "replications": len(one.predicted.replications),
                "converged": one.predicted.converged,
            }
            for one in predictions
        ],
    }


def requests_table(outcomes: Outcomes) -> pl.DataFrame:
    """Return a table of every bio of every run; its first columns are the configuration and the
    VMs that ran."""
    return pl.concat(
        outcome.requests.select(
            pl.lit(configuration).alias("configuration"),
            pl.lit(",".join(map(str, vms))).alias("vms"),
            pl.all(),
        )
        for (configuration, vms), runs in outcomes.items()
        for outcome in runs
    )


def requests_of(outcome: Outcome, number: int) -> pl.DataFrame:
    """Return a VM's requests, in order of arrival."""
    return (
        outcome.requests.filter(pl.col("owner") == number)
        .group_by("request_id", maintain_order=True)
        .agg(
            pl.col("arrival_ns", "sector").min(),
            pl.col("sectors").sum(),
            pl.col("dispatch_ns", "completion_ns", "op", "owner").first(),
        )
        .sort("arrival_ns")
    )


def _tenants(
    configuration: str,
    outcomes: Outcomes,
    servers: int,
    folder: Path,
) -> dict[int, Tenant]:
    machines = {}
    how = vm.Reduction(by="queue", servers=servers)
    for vms in ALONE:
        traces = folder / TRACES / configuration / f"vm{vms[0]}"
        traces.mkdir(parents=True)
        for run, outcome in enumerate(outcomes[configuration, vms], 1):
            for name, content in outcome.block_trace.items():
                (traces / f"run{run}-{name}").write_bytes(content)
        reduction = folder / "reduced" / configuration / traces.name
        machines[vms[0]] = vm.read(traces.name, traces, reduction, how)
    fits = fit_each(list(machines.values()), accept_poor=True, jobs=1)
    return {
        number: Tenant(one, fit) for (number, one), fit in zip(machines.items(), fits, strict=True)
    }


def _held(plan: Plan, predicted: Prediction, outcomes: Outcomes) -> Held:
    def recorded(number: int, vms: Vms) -> list[pl.DataFrame]:
        return [requests_of(outcome, number) for outcome in outcomes[plan.configuration, vms]]

    alone = [tenant.vm for tenant in predicted.scenario.tenants]
    measured = [recorded(number, plan.vms) for number in plan.vms]
    return Held(
        plan=plan,
        alone_ms=[one.mean_response_ms for one in alone],
        alone_recorded_ms=[_response_ms(recorded(number, (number,))) for number in plan.vms],
        measured_ms=[_response_ms(runs) for runs in measured],
        predicted=predicted,
        alone_in_system=[one.in_system for one in alone],
        measured_in_system=[_rate(runs) * _response_ms(runs) for runs in measured],
        rate_ratio=[
            _rate(runs) / one.rate_per_ms for one, runs in zip(alone, measured, strict=True)
        ],
        interarrival_ms=[
            (_gaps_ms([run.arrivals.arrival_ns for run in one.runs]), _gaps_ms(_arrivals(runs)))
            for one, runs in zip(alone, measured, strict=True)
        ],
    )


def _response_ms(runs: Sequence[pl.DataFrame]) -> float:
    times = [run["completion_ns"] - run["arrival_ns"] for run in runs]
    return float(np.concatenate(times).mean()) / MS


def _rate(runs: Sequence[pl.DataFrame]) -> float:
    """Return the arrival rate in requests per ms."""
    spans_ns = [run["completion_ns"].to_numpy().max() - run["arrival_ns"][0] for run in runs]
    return sum(run.height for run in runs) / (float(sum(spans_ns)) / MS)


def _arrivals(runs: Sequence[pl.DataFrame]) -> list[I64]:
    return [run["arrival_ns"].to_numpy() for run in runs]


def _gaps_ms(runs: Sequence[I64]) -> Floats:
    return np.sort(np.concatenate([np.diff(arrival_ns) for arrival_ns in runs])) / MS


def _distance(first: Floats, second: Floats) -> float:
    points = np.concatenate([first, second])
    shares = [np.searchsorted(each, points, side="right") / len(each) for each in (first, second)]
    return float(np.abs(shares[0] - shares[1]).max())
