# SPDX-License-Identifier: MIT
"""Decide how far a prediction may be trusted.

True means that it was checked and is within the limit.  None means that it was not checked;
`because` names the missing checks.  False means that it was checked and is outside the limit;
`because` says by how much.
"""

from collections.abc import Iterator, Sequence

from understudy_devices.consolidation.prediction import Prediction
from understudy_devices.consolidation.scenario import Tenant
from understudy_devices.measure.trust import Trust

SAMPLED = (
    "95 % intervals cover the random draws, and that each trace is only a sample of a VM that does "
    "not change. They do not cover a VM that changes, a wrong queue depth, or merging in the device"
)
ALIGNED = (
    "95 % intervals are for the time that all traces have, and cover the random draws of service "
    "times. They do not cover another time, a wrong queue depth, or merging in the device"
)
INTERVALS = (
    "95 % intervals cover the random draws: service times from the fitted processes, and runs of a "
    "VM that has several. They do not cover another sample of the same VM, the quality of the fit, "
    "or merging in the device"
)

SAMPLED_ON_DISK = (
    "95 % intervals cover where each VM begins in its run, and that each trace is only a sample of "
    "a VM that does not change. They do not cover a VM that sends later requests because earlier "
    "ones take longer, or a disk that differs from its profile"
)
ALIGNED_ON_DISK = (
    "95 % intervals are for the time that all traces have, and cover only where the disk's head "
    "and platters begin. They do not cover another time, a VM that sends later requests because "
    "earlier ones take longer, or a disk that differs from its profile"
)


def of_disk(name: str) -> Trust:
    """Return how far a prediction of VMs on a simulated disk may be trusted."""
    profile = f"that the disk is as its profile {name}, and arrivals do not depend on it"
    return Trust(None, ("a run of these VMs together", profile))


def of_prediction(prediction: Prediction) -> Trust:
    """Return how far a prediction of VMs on one device may be trusted."""
    servers, other = prediction.scenario.servers, prediction.other_end
    most = f" to {other.scenario.servers}" if other else ""
    serves = f"that the device serves {servers}{most} at once"
    if prediction.overloaded:
        serves = f"how many requests the device serves at once, {prediction.overloaded} or more"
    merges = _merges(max(prediction.merge))
    return _verdict(
        prediction.scenario.tenants, ("a run of these VMs together", f"{serves} and {merges}")
    )


def of_placement(tenants: Sequence[Tenant], merge: float, speeds: bool = False) -> Trust:
    """Return how far a prediction of VMs on several devices may be trusted.

    speeds: whether the devices' speeds are given.
    """
    fast = "given" if speeds else "the traced one"
    each = f"that each device is as fast as {fast}, serves as many requests at once as given"
    return _verdict(tenants, ("a run of VMs together", f"{each} and {_merges(merge)}"))


def _verdict(tenants: Sequence[Tenant], never_checked: tuple[str, ...]) -> Trust:
    off = tuple(_contradicted(tenants))
    return Trust(False, off) if off else Trust(None, never_checked)


def _merges(most: float) -> str:
    return f"merges up to {most:.3g} requests" if most > 1 else "merges nothing"


def _contradicted(tenants: Sequence[Tenant]) -> Iterator[str]:
    for tenant in tenants:
        for reason in () if tenant.recorded else tenant.fitted.report.poor:
            yield f"{tenant.vm.name}: fitted poorly: {reason}"
        if tenant.alone and tenant.alone.is_off:
            yield (
                f"{tenant.vm.name}: the model of the VM alone has a mean response time of "
                f"{tenant.alone}"
            )
        for run in tenant.vm.runs:
            if run.contradiction:
                yield f"{run.name}: {run.contradiction}"
