# SPDX-License-Identifier: MIT
"""Prints a prediction: the times of each VM alone and together, in ms, and reasons for doubt."""

from collections.abc import Iterator, Sequence
from math import isfinite

from rich.console import Console

from understudy_devices.consolidation.fit import Fitted
from understudy_devices.consolidation.prediction import Prediction
from understudy_devices.consolidation.trust import ALIGNED, SAMPLED, of_prediction
from understudy_devices.consolidation.vm import NS_PER_MS
from understudy_devices.consolidation.what_if import Change
from understudy_devices.show.directions import DIRECTIONS, direction_rows
from understudy_devices.show.grid import Block, Grid

HEADINGS = (
    "requests",
    "alone\n(ms)",
    "p95\n(ms)",
    "together\n(ms)",
    "95 %\n(ms)",
    "p95\n(ms)",
    "times",
    "merge",
    "split",
    "product form",
)
MOST_OF_A_RUN = 0.95
LESS = ("together\n(ms)", "95 %\n(ms)", "p95\n(ms)", "merge")
FIT = ("phases", "mean\n(ms)", "fitted\n(ms)", "cv", "fitted", "lag 1", "fitted", "distance")


def show(predictions: Sequence[Prediction], changes: Sequence[Change], console: Console) -> None:
    """Print the first prediction in full, then the predictions with one change."""
    for grid in wholes(predictions[0]):
        grid.show(console)
    for line in sentences(predictions[0]):
        console.print(line, soft_wrap=True)
    for grid in changed(predictions, changes):
        grid.show(console)


def wholes(prediction: Prediction) -> list[Grid]:
    """Return the tables of the first prediction: response times, and those of reads and writes."""
    grids = [Grid(HEADINGS, [rows(prediction)], "response times")]
    if block := directions(prediction):
        grids.append(Grid(DIRECTIONS, [block], "reads and writes"))
    return grids


def directions(prediction: Prediction) -> Block:
    """Return a row for the reads and the writes of each VM that has both."""
    return [
        row
        for tenant, beside in zip(prediction.scenario.tenants, prediction.together, strict=True)
        for row in direction_rows(tenant.vm.name, tenant.vm.directions, beside.directions)
    ]


def changed(predictions: Sequence[Prediction], changes: Sequence[Change]) -> list[Grid]:
    """Return the tables of the largest D, if D is unknown, and of predictions with one change."""
    return [Grid(LESS, [block], f"with {name}") for name, block in others(predictions, changes)]


def others(predictions: Sequence[Prediction], changes: Sequence[Change]) -> list[tuple[str, Block]]:
    """Return the name and the block of each prediction but the first."""
    most = predictions[0].other_end
    ends = [(f"D={most.scenario.servers}, the largest", fewer(most))] if most else []
    changed = zip(changes, predictions[1:], strict=True)
    return [*ends, *((str(change), fewer(other)) for change, other in changed)]


def rows(prediction: Prediction) -> Block:
    """Return a row for each VM, with a cell for each heading in HEADINGS."""
    product_form = prediction.scenario.product_form_ms()
    return [
        (
            tenant.vm.name,
            (
                f"{tenant.vm.requests:,}",
                _ms(tenant.vm.mean_response_ms),
                _ms(tenant.vm.percentiles_ms[95]),
                *_beside(prediction, k),
                f"{prediction.together[k].mean.mean / tenant.vm.mean_response_ms:.2f}",
                f"{prediction.merge[k]:.2f}",
                f"{tenant.vm.splitting_ratio:.2f}",
                _ms(product_form[k]),
            ),
        )
        for k, tenant in enumerate(prediction.scenario.tenants)
    ]


def fits(prediction: Prediction) -> Block:
    """Return a row for each VM, with a cell for each heading in FIT."""
    return [(tenant.vm.name, _fit(tenant.fitted)) for tenant in prediction.scenario.tenants]


def sentences(prediction: Prediction) -> Iterator[str]:
    """Yield sentences about the device and the simulation."""
    scenario = prediction.scenario
    merged = f", {prediction.load:.0%} with merging" if max(prediction.merge) > 1 else ""
    yield (
        f"the VMs ask for {scenario.offered_load:.0%} of what {scenario.servers} servers can "
        f"do{merged}; {len(prediction.replications)} replications"
    )
    for tenant in scenario.tenants:
        if tenant.cap:
            yield (
                f"{tenant.vm.name}: capped at {tenant.cap}, where a request waits "
                f"{tenant.vm.waited_ms:.4g} ms on average before the device"
            )
    if prediction.other_end:
        yield (
            f"the number of requests that the device serves at once (D) is unknown: means and p95 "
            f"are those for {scenario.servers}, and each 95 % interval covers those for "
            f"{scenario.servers} and {prediction.other_end.scenario.servers}"
        )
    if prediction.overloaded:
        yield (
            f"the number of requests that the device serves at once (D) is unknown: the figures "
            f"are those for {scenario.servers}; with {prediction.overloaded} requests would wait "
            "ever longer, so the 95 % intervals have no upper limit"
        )
    yield ALIGNED if scenario.aligned else SAMPLED
    yield str(of_prediction(prediction))


def doubts(prediction: Prediction) -> Iterator[str]:
    """Yield reasons to trust the prediction less, one line each."""
    scenario = prediction.scenario
    if scenario.offered_load >= 1:
        yield _overload(prediction)
    for tenant, one in zip(scenario.tenants, prediction.together, strict=True):
        share = one.requests * len(tenant.vm.runs) / tenant.vm.requests
        if share < MOST_OF_A_RUN:
            yield (
                f"{tenant.vm.name}: {share:.0%} of a run's requests are simulated, since all end "
                "where the shortest run does"
            )
    for search in prediction.searches:
        if not search.within:
            yield (
                f"{search.expected:.3g} requests are expected in the system, and without merging "
                f"there are {search.tried[-1].corrected:.3g}: so nothing is merged"
            )
    if not prediction.converged:
        yield (
            f"{len(prediction.replications)} replications leave a mean less certain than "
            f"{prediction.effort.precision:.1%}; take more (--replications), or longer traces"
        )


def _overload(prediction: Prediction) -> str:
    scenario = prediction.scenario
    much = f"{scenario.offered_load:.2f} times what {scenario.servers} servers can do"
    stable = (
        f"without merging --queue-depth {scenario.fewest_servers} would be stable, or "
        f"{1 / scenario.offered_load:.0%} of each VM's requests"
    )
    if prediction.load < 1:
        return f"the VMs ask for {much}, so the answer rests on the merge value; {stable}"
    merged = f", with merging {prediction.load:.2f} times" if max(prediction.merge) > 1 else ""
    return (
        f"the VMs ask for {much}{merged}: waiting times depend on the length of the runs; {stable}"
    )


def fewer(prediction: Prediction) -> Block:
    """Return a row for each VM, with a cell for each heading in LESS."""
    return [
        (tenant.vm.name, (*_beside(prediction, k), f"{prediction.merge[k]:.2f}"))
        for k, tenant in enumerate(prediction.scenario.tenants)
    ]


def _fit(fitted: Fitted) -> tuple[str, ...]:
    given, own = fitted.report.given, fitted.report.fitted
    pairs = (
        (given.moments[0] / NS_PER_MS, own.moments[0] / NS_PER_MS),
        (given.cv, own.cv),
        (float(given.autocorrelation[0]), float(own.autocorrelation[0])),
    )
    cells = (f"{value:.3f}" for pair in pairs for value in pair)
    return (str(fitted.process.order), *cells, f"{fitted.report.distance:.3f}")


def _beside(prediction: Prediction, k: int) -> tuple[str, str, str]:
    one = prediction.together[k]
    return _ms(one.mean.mean), _limits(one.limits_ms), _ms(one.percentiles[95])


def _limits(limits_ms: tuple[float, float] | None) -> str:
    if limits_ms is None:
        return "-"
    low, high = limits_ms
    return f"{_ms(low)} to {_ms(high)}" if isfinite(high) else f"from {_ms(low)}"


def _ms(time: float) -> str:
    return f"{time:,.3f}"
