# SPDX-License-Identifier: MIT
"""VMs that share one storage device: an open queue with a class for each VM and D equal servers
(ICPE 2011, section 4.1, Figure 5)."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from understudy_devices.base.cache import digest
from understudy_devices.consolidation import product_form
from understudy_devices.consolidation.fit import Fitted
from understudy_devices.consolidation.vm import NS_PER_MS, VirtualMachine
from understudy_devices.native.service_times import ServiceTimes

if TYPE_CHECKING:
    from understudy_devices.consolidation.alone import Alone
    from understudy_devices.consolidation.caps import Cap

SERVERS_MOST = 1024  # the limit of sfq's depth
WEIGHT_MOST = 10_000


@dataclass(frozen=True)
class Tenant:
    """A VM with its share of the device.

    fitted: the process fitted to its service times, in ns.  weight: its share relative to the
    shares of other VMs, for SFQ(D).  alone: how the model compares with the trace (alone.py); None:
    not compared.  cap: what holds its requests back; None: nothing.
    """

    vm: VirtualMachine
    fitted: Fitted
    weight: int = 1
    alone: "Alone | None" = None
    cap: "Cap | None" = None

    @cached_property
    def service(self) -> ServiceTimes:
        """Return the fitted process in the form in which the simulation samples service times from
        it."""
        return ServiceTimes.of(self.fitted.process.tables())

    @cached_property
    def content(self) -> str:
        """Return a digest of the arrivals of all runs and of the service times."""
        tables = [self.service.phases.tobytes(), self.service.outcomes.tobytes()]
        if self.recorded:
            tables = [b"recorded"]
        return digest([*tables, *(run.arrivals.content.encode() for run in self.vm.runs)])

    @property
    def recorded(self) -> bool:
        """Return whether a simulation takes service times from the trace."""
        return bool(self.fitted.recorded)

    @property
    def erlangs(self) -> float:
        """Return the number of servers that the VM keeps busy on average, without merging."""
        vm = self.vm
        return vm.rate_per_ms * vm.splitting_ratio * self.fitted.process.mean / NS_PER_MS


@dataclass(frozen=True)
class Scenario:
    """The VMs that share a device, and its number of servers.

    aligned: the VMs' runs are of the same time, so each replication has their recorded arrivals.
    """

    tenants: tuple[Tenant, ...]
    servers: int
    aligned: bool = False

    @property
    def offered_load(self) -> float:
        """Return the utilisation without merging; at 1 or more the queue grows without limit."""
        return self._erlangs / self.servers

    @property
    def fewest_servers(self) -> int:
        """Return the smallest number of servers with which the queue is stable without merging."""
        return math.floor(self._erlangs) + 1

    def product_form_ms(self) -> list[float]:
        """Return each VM's mean response time by the product form (Eq. 11), in ms."""
        demands = [tenant.vm.mean_response_ms for tenant in self.tenants]
        rates = [tenant.vm.rate_per_ms for tenant in self.tenants]
        return [float(time) for time in product_form.response_times(demands, rates, self.servers)]

    @property
    def _erlangs(self) -> float:
        return sum(tenant.erlangs for tenant in self.tenants)
