# SPDX-License-Identifier: MIT
"""How many bytes a second a team's VM may read from its disk and write to it.

QEMU enforces it: a request that is too early waits in QEMU, which the guest sees as a slow disk.
"""

from understudy_devices.lab.monitor import Monitor
from understudy_devices.lab.store import Team
from understudy_devices.lab.team_limits import Limit

DISK = "disk"
"""The name that hardware.py gives to the clone."""


def enforce(team: Team, monitor: Monitor) -> None:
    """Hold the disk of a VM to its team's bandwidth, if there is one."""
    most = LIMIT.of(team)
    if most is None:
        return
    for device in monitor.do("query-block"):
        if device.get("inserted", {}).get("node-name") == DISK:
            others = dict.fromkeys(("bps_rd", "bps_wr", "iops", "iops_rd", "iops_wr"), 0)
            exact = {"id": device["qdev"], "bps": most, **others}
            monitor.do("block_set_io_throttle", exact=exact)


LIMIT = Limit("bandwidth_bytes", "the bandwidth", enforce)
