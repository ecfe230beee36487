# SPDX-License-Identifier: MIT
"""Compare the model of each VM with the VM's own trace, the only run that is there.

Each VM is simulated alone on the device.  If its mean response time is not the trace's, the model
does not describe the VM on this device: service times may depend on arrivals, or the device serves
another number of requests at once, or in another order.  A fitted process is then replaced by the
recorded service times.  If these are off as well, the prediction is not to be trusted.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import log1p, sqrt

import numpy as np

from understudy_devices.base.errors import Unstable
from understudy_devices.consolidation.replications import Replications
from understudy_devices.consolidation.scenario import Tenant
from understudy_devices.consolidation.vm import NS_PER_MS

REPLICATIONS = 8
LIMIT = 0.05  # of the mean response time
LIMIT_BUSY = 0.10  # above a utilisation of BUSY, where means depend strongly on chance
BUSY = 0.85
CONFIDENCE = 0.99
NO_SPLITS = 1.001

Say = Callable[[str], None]


@dataclass(frozen=True)
class Alone:
    """A VM alone on the device: its mean response time by the model and in the trace, ms.

    predicted_ms: infinite if the queue grows without limit. is_off: whether the difference is above
    the limit, and more than chance.
    """

    predicted_ms: float
    measured_ms: float
    is_off: bool

    def __str__(self) -> str:
        """Return both means as words."""
        return f"{self.predicted_ms:.4g} ms for {self.measured_ms:.4g} ms in the trace"


def settled(tenant: Tenant, alike: Replications, keeps_process: bool, say: Say) -> Tenant:
    """Return a VM with its comparison, and with recorded service times if its process is off.

    alike: replications with the device, the seed and the engine to use. keeps_process: keep a
    process that is off. A VM whose requests are split is not compared, since a trace does not show
    when a piece completes.
    """
    if tenant.vm.splitting_ratio > NO_SPLITS:
        return tenant
    comparison = compared(tenant, alike)
    if not comparison.is_off or tenant.recorded or keeps_process:
        return replace(tenant, alone=comparison)
    reason = f"the VM alone has a mean response time of {comparison} with the fitted process"
    say(f"{tenant.vm.name}: service times are taken from the trace: {reason}")
    recorded = replace(tenant, fitted=replace(tenant.fitted, recorded=reason))
    return replace(recorded, alone=compared(recorded, alike))


def compared(tenant: Tenant, alike: Replications) -> Alone:
    """Simulate a VM alone, and compare it with its trace."""
    scenario = replace(alike.scenario, tenants=(replace(tenant, alone=None),))
    replications = replace(alike, scenario=scenario)
    numbers = range(REPLICATIONS)
    measured = [_mean_ms(replications.drawn(number).runs[0].response_ns) for number in numbers]
    try:
        figures = replications.run(numbers, (1.0,))
    except Unstable:
        return Alone(float("inf"), float(np.mean(measured)), True)
    predicted = [one.each[0].response.mean / NS_PER_MS for one in figures]
    limit = LIMIT_BUSY if scenario.offered_load > BUSY else LIMIT
    is_off = _is_off(np.divide(predicted, measured), limit)
    return Alone(float(np.mean(predicted)), float(np.mean(measured)), is_off)


def _is_off(ratios: Sequence[float] | np.ndarray, limit: float) -> bool:
    """Return whether the trace, one more draw, differs by more than the limit and than chance."""
    from scipy.special import stdtrit  # imported here, since the import takes half a second

    count = len(ratios)
    logarithms = np.log(ratios)  # near saturation, means are skewed to the right
    chance = float(np.std(logarithms, ddof=1)) * sqrt(1 + 1 / count)
    chance *= float(stdtrit(count - 1, (1 + CONFIDENCE) / 2))
    return abs(float(np.mean(logarithms))) > max(log1p(limit), chance)


def _mean_ms(response_ns: np.ndarray) -> float:
    return float(response_ns.mean(dtype=np.float64)) / NS_PER_MS
