# SPDX-License-Identifier: MIT
"""Figures like those of ICPE 2011 (Figures 2, 6, 7 and 9) for the user's VMs, and the fits of
service times."""

from collections.abc import Iterator, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from understudy_devices.consolidation.prediction import Prediction, Together
from understudy_devices.consolidation.scenario import Tenant
from understudy_devices.show import inline
from understudy_devices.show.inline import COLOURS, DASHES, Drawing
from understudy_devices.traces.characterise import BINS

WIDTH = 8.0  # inches, like HEIGHT
HEIGHT = 3.4
SHOWN = len(COLOURS)  # number of VMs drawn; more VMs have no colours
SHORTEST_MS = 1e-3  # shorter times are drawn at the left edge of a logarithmic axis
LAGS = 20
NOISE = 0.1  # an autocorrelation up to this is drawn small


def draw(prediction: Prediction) -> list[Drawing]:
    """Draw all figures; if there are many VMs, only those of the first VMs."""
    with inline.styled():
        return [
            Drawing(caption, inline.svg(figure, name))
            for name, caption, figure in _drawn(prediction)
        ]


def draw_responses(prediction: Prediction) -> Drawing:
    """Draw the first figure, for any page."""
    with inline.styled():
        _, caption, figure = next(_drawn(prediction))
        return Drawing(caption, inline.svg(figure))


def _drawn(prediction: Prediction) -> Iterator[tuple[str, str, Figure]]:
    tenants = prediction.scenario.tenants[:SHOWN]
    more = len(prediction.scenario.tenants) - len(tenants)
    rest = f" Of {len(prediction.scenario.tenants)} VMs the first {SHOWN}." if more else ""
    yield "responses", RESPONSES + rest, _responses(prediction, tenants)
    yield "means", MEANS + rest, _means(prediction, tenants)
    yield "sizes", SIZES + rest, _sizes(tenants)
    yield "arrivals", ARRIVALS + rest, _arrivals(tenants)
    yield "lags", SERVICE + rest, _lags(tenants)


RESPONSES = (
    "Share of requests answered within a time: alone (solid, measured) and together (dashed)."
)
MEANS = "Mean response times: alone, together by simulation, together by the product form."
SIZES = "Requests by size, up to this many blocks of 4 kB, before the hypervisor splits any."
ARRIVALS = "Cumulative distribution of the times between two arrivals, alone."
SERVICE = (
    "Autocorrelation of service times: of the response times alone (dots), and as fitted (line)."
)


def _axes(x_label: str, y_label: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(WIDTH, HEIGHT))
    figure.subplots_adjust(left=0.1, right=0.98, bottom=0.16, top=0.88)
    axes = figure.subplots()
    axes.set(xlabel=x_label, ylabel=y_label)
    axes.set_axisbelow(True)
    return figure, axes


def _logarithmic(axes: Axes) -> None:
    axes.set(xscale="log", ylim=(0, 1.01))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")


def _responses(prediction: Prediction, tenants: Sequence[Tenant]) -> Figure:
    figure, axes = _axes("response time (ms)", "share of requests")
    shares = np.linspace(0, 1, 501)
    left_ms = []
    for k, tenant in enumerate(tenants):
        times = tenant.vm.response_ms
        alone = np.quantile(times, shares, method="inverted_cdf", overwrite_input=True)
        axes.plot(alone, shares, color=COLOURS[k], label=tenant.vm.name, linewidth=1.6)
        together = prediction.together[k].distribution
        ranks = np.arange(1, len(together) + 1) / len(together)
        axes.plot(together, ranks, color=COLOURS[k], linestyle="--", linewidth=1.6)
        left_ms.append(alone[len(alone) // 100])
    _logarithmic(axes)
    axes.set_xlim(left=max(SHORTEST_MS, min(left_ms)))
    figure.legend(loc="upper center", ncols=SHOWN)
    return figure


def _means(prediction: Prediction, tenants: Sequence[Tenant]) -> Figure:
    figure, axes = _axes("", "mean response time (ms)")
    places = np.arange(len(tenants))
    product_form = prediction.scenario.product_form_ms()[: len(tenants)]
    beside = prediction.together[: len(tenants)]
    alone = [tenant.vm.mean_response_ms for tenant in tenants]
    together = [one.mean.mean for one in beside]
    axes.bar(places - 0.27, alone, 0.25, color=COLOURS[0], label="alone")
    axes.bar(
        places,
        together,
        0.25,
        yerr=np.transpose([_bars(one) for one in beside]),
        color=COLOURS[1],
        ecolor=inline.INK,
        capsize=3,
        label="together",
    )
    axes.bar(places + 0.27, product_form, 0.25, color=COLOURS[6], label="product form")
    axes.set_xticks(places, [tenant.vm.name for tenant in tenants])
    axes.set_ylim(0, 1.15 * max(*together, *alone))
    for place, value in zip(places, product_form, strict=True):
        axes.annotate(f"{value:.3g}", (place + 0.27, min(value, axes.get_ylim()[1] * 0.97)),
                      ha="center", va="top", fontsize=8)  # fmt: skip
    figure.legend(loc="upper center", ncols=3)
    return figure


def _bars(one: Together) -> tuple[float, float]:
    """Return how far the interval reaches below and above the mean; an infinite one ends there."""
    low, high = one.limits_ms or (one.mean.mean, one.mean.mean)
    return one.mean.mean - low, (high if np.isfinite(high) else one.mean.mean) - one.mean.mean


def _sizes(tenants: Sequence[Tenant]) -> Figure:
    figure, axes = _axes("blocks", "share of requests")
    width = 0.8 / len(tenants)
    for k, tenant in enumerate(tenants):
        at = np.arange(len(BINS)) + (k - (len(tenants) - 1) / 2) * width
        shares = np.array(tenant.vm.sizes) / tenant.vm.requests
        axes.bar(at, shares, width, color=COLOURS[k], label=tenant.vm.name)
    axes.set_xticks(range(len(BINS)), BINS)
    figure.legend(loc="upper center", ncols=SHOWN)
    return figure


def _arrivals(tenants: Sequence[Tenant]) -> Figure:
    figure, axes = _axes("time between arrivals (ms)", "share")
    for k, tenant in enumerate(tenants):
        for run in tenant.vm.runs:
            times = np.maximum(run.interarrival_ms, SHORTEST_MS)
            shares = np.arange(1, len(times) + 1) / max(1, len(times))
            first = run is tenant.vm.runs[0]
            label = tenant.vm.name if first else None
            axes.plot(times, shares, DASHES[0], color=COLOURS[k], label=label, linewidth=1.2)
    _logarithmic(axes)
    figure.legend(loc="upper center", ncols=SHOWN)
    return figure


def _lags(tenants: Sequence[Tenant]) -> Figure:
    figure, axes = _axes("lag", "autocorrelation")
    lags = np.arange(1, LAGS + 1)
    for k, tenant in enumerate(tenants):
        report = tenant.fitted.report
        axes.plot(lags, report.given.autocorrelation[:LAGS], "o", color=COLOURS[k], markersize=4)
        axes.plot(
            lags, report.fitted.autocorrelation[:LAGS], color=COLOURS[k], label=tenant.vm.name
        )
    axes.set_xticks(lags)
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, -NOISE), max(high, NOISE))
    figure.legend(loc="upper center", ncols=SHOWN)
    return figure
