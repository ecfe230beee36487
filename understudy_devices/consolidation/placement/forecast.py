# SPDX-License-Identifier: MIT
"""A forecast of 95th percentiles on a device, which takes microseconds, fitted to the verdicts.

A VM's 95th percentile is about its 95th percentile alone plus a wait.  The logarithm of the wait is
a linear function of features: the utilisation of the device (as in Kingman's formula for a queue),
the mean work that the others' requests still need, how busy the device is when the VM sends its
requests, a factor for the VM that waits, and a factor for each VM that makes others wait.  Ridge
regression fits the coefficients to all verdicts, towards values from queueing theory.  A forecast
only decides which sets of VMs are judged next.  Forecasts by coefficients that are drawn from their
distribution, instead of the likeliest ones, lead to other sets (Thompson sampling).
"""

from collections.abc import Sequence
from math import isfinite, log

import numpy as np
from numpy.typing import NDArray

from understudy_devices.consolidation.placement.problem import Device, Problem, Verdict

Array = NDArray[np.float64]

NOISE = 0.1  # standard deviation of the logarithm of a 95th percentile, where all of it is waiting
# Expected coefficients and their standard deviations, of: 1, log u, log 1 / (1 - u), and how busy
# the device is when the VM sends requests.
EXPECTED = np.array([0.0, 1.0, 1.0, 0.5])
SPREAD = np.array([3.0, 2.0, 0.5, 0.5])
SPREAD_WAITS = 0.5  # of the factor of a VM that waits
SPREAD_CAUSES = 2.0  # of the factor of a VM that makes others wait
LEAST = 0.02  # least wait, as a fraction of the 95th percentile alone
FULL = 0.98  # a utilisation that counts as 1 in a part of the time
LOADS = np.linspace(0.01, 0.995, 986)
IDLE = 1e-9  # servers that an empty device keeps busy, so that the logarithm exists
LOG_MOST = 300.0
PILED_UP = 100.0  # the ratio to the target of a device whose queue grows without limit, at least


class Forecast:
    """Forecasts for all sets of VMs of a problem."""

    def __init__(self, problem: Problem) -> None:
        """Start from the expected coefficients."""
        vms = problem.vms
        kinds = {kind: rank for rank, kind in enumerate(dict.fromkeys(vm.kind for vm in vms))}
        self._kind = np.array([kinds[vm.kind] for vm in vms])
        self._erlangs = np.array([vm.erlangs for vm in vms])
        self._alone_ms = np.array([vm.alone_ms or LEAST * vm.target_ms for vm in vms])
        self._target_ms = np.array([vm.target_ms for vm in vms])
        self._residual = np.array([vm.residual_ms or 1.0 for vm in vms])
        bins = max(len(vm.profile) for vm in vms)
        profile = np.array([vm.profile or (1.0,) * max(1, bins) for vm in vms])
        self._profile = profile * self._erlangs[:, None]
        self._sends = (profile / profile.sum(axis=1, keepdims=True)).T
        size = len(EXPECTED) + 2 * len(kinds)
        expected = np.zeros(size)
        expected[: len(EXPECTED)] = EXPECTED
        spread = np.concatenate([SPREAD, [SPREAD_WAITS] * len(kinds), [SPREAD_CAUSES] * len(kinds)])
        self._precision = np.diag(1 / spread**2)
        self._weighted = self._precision @ expected
        self._fitted: Array | None = None

    def learn(self, device: Device, vms: Sequence[int], verdict: Verdict) -> None:
        """Learn from the verdict on VMs that share a device."""
        on = np.zeros((1, len(self._erlangs)))
        on[0, list(vms)] = 1
        load, shared, own = self._features(on, np.array([device.capacity]))
        if not vms or load[0] >= 1:
            return
        causes = np.bincount(self._kind, on[0] * self._erlangs, self._kinds) / (
            on[0] @ self._erlangs
        )
        for vm in vms:
            p95_ms = verdict[vm].mean_ms
            if not isfinite(p95_ms):
                continue
            alone_ms = self._alone_ms[vm] / device.speed
            wait_ms = max(p95_ms - alone_ms, LEAST * alone_ms)
            waits = np.zeros(self._kinds)
            waits[self._kind[vm]] = 1
            row = np.concatenate([shared[0, :-1], [own[0, vm]], waits, causes])
            weight = (wait_ms / (wait_ms + alone_ms) / NOISE) ** 2
            self._precision += weight * np.outer(row, row)
            self._weighted += weight * row * (log(wait_ms) - shared[0, -1])
        self._fitted = None

    def draw(self, random: np.random.Generator) -> None:
        """Forecast by coefficients drawn from their distribution, until `settle` or `learn`."""
        self._fitted = None
        half = np.linalg.cholesky(self._precision)
        drawn = np.linalg.solve(half.T, random.standard_normal(len(half)))
        self._fitted = self._coefficients() + drawn

    def settle(self) -> None:
        """Forecast by the likeliest coefficients."""
        self._fitted = None

    def ratios(self, on: Array, capacities: Array, speeds: Array) -> Array:
        """Return (N,), for each of N sets of VMs the highest ratio of a 95th percentile to its
        target.

        on: (N, number of VMs), 1 for a VM in the set, otherwise 0.  capacities, speeds: (N,), those
        of the set's device.
        """
        load, shared, own = self._features(on, capacities)
        fitted = self._coefficients()
        waits, causes = np.split(fitted[len(EXPECTED) :], 2)
        busy = np.maximum(on @ self._erlangs, IDLE)
        logs = shared[:, :-1] @ fitted[: len(EXPECTED) - 1] + shared[:, -1]
        logs = logs + on @ (self._erlangs * causes[self._kind]) / busy
        each = own * fitted[len(EXPECTED) - 1]
        each += logs[:, None]
        each += waits[self._kind]
        np.minimum(each, LOG_MOST, out=each)
        np.exp(each, out=each)
        each += np.multiply.outer(1 / speeds, self._alone_ms)
        each /= self._target_ms
        each *= on
        worst: Array = each.max(axis=1)
        return np.where(load < 1, np.minimum(worst, PILED_UP), PILED_UP * np.maximum(1.0, load))

    def limits(self, capacity: float) -> Array:
        """Return, for each VM, the highest utilisation at which it meets its target on a device of
        this capacity, beside VMs like all the others; at least LOADS[0]."""
        _, shared, _ = self._features(np.ones((1, len(self._erlangs))), np.array([capacity]))
        fitted = self._coefficients()
        waits, causes = np.split(fitted[len(EXPECTED) :], 2)
        rest = shared[0, -1] + self._erlangs @ causes[self._kind] / self._erlangs.sum()
        logs = fitted[0] + fitted[1] * np.log(LOADS) - fitted[2] * np.log(1 - LOADS) + rest
        room_ms = np.maximum(self._target_ms - self._alone_ms, LEAST * self._alone_ms)
        meets = logs + waits[self._kind][:, None] <= np.log(room_ms)[:, None]
        highest: Array = np.where(meets, LOADS, LOADS[0]).max(axis=1)
        return highest

    @property
    def _kinds(self) -> int:
        return int(self._kind.max()) + 1

    def _coefficients(self) -> Array:
        if self._fitted is None:
            self._fitted = np.asarray(np.linalg.solve(self._precision, self._weighted), np.float64)
        return self._fitted

    def _features(self, on: Array, capacities: Array) -> tuple[Array, Array, Array]:
        """Return the load (N,), the features (N, F + 1) that all VMs of a set share, of which the
        last has the coefficient 1, and the feature (N, number of VMs) of each VM."""
        busy = np.maximum(on @ self._erlangs, IDLE)
        load = busy / capacities
        part = np.minimum(load, 0.999)
        parts = on @ self._profile / capacities[:, None]
        queued = parts / np.maximum(1 - parts, 1 - FULL)
        even = part / (1 - part)
        own = np.log(np.maximum(queued @ self._sends, LEAST * even[:, None]) / even[:, None])
        residual = np.maximum(on @ (self._erlangs * self._residual) / busy, IDLE)
        shared = [
            np.ones(len(load)),
            np.log(part),
            -np.log(1 - part),
            np.log(residual / capacities),
        ]
        return load, np.stack(shared, axis=1), own
