# SPDX-License-Identifier: MIT
"""The number of servers (D) of the VMs' shared device: how many requests it serves at once.

D is the value of --queue-depth, or it is in the disk's profile, or in the run folders that hold the
VMs' traces.  If none of these has D, it is estimated from the traces (parallelism.py).  If they do
not show it, the answer is for the smallest and the largest D that make sense.

`place` knows D of the device on which the traces were recorded in the same way, with --traced-on as
the option.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from understudy_devices.base.errors import UserError
from understudy_devices.consolidation import parallelism
from understudy_devices.consolidation.parallelism import estimated, limits
from understudy_devices.consolidation.scenario import SERVERS_MOST
from understudy_devices.consolidation.vm import VirtualMachine, timings
from understudy_devices.device import profile
from understudy_devices.traces.form import Form
from understudy_devices.traces.read import REQUESTS, parts

UNKNOWN = "no trace shows how many requests the device serves at once (D); tried: "
OPTION = "--queue-depth"
HINT = (
    "A rotating disk serves 1, an array as many as it has servers. No device serves more than the "
    "kernel sends it (cat /sys/block/X/device/queue_depth; for NVMe, queue/nr_requests)"
)


@dataclass(frozen=True)
class Depth:
    """D, and the source of D for messages.

    most: the largest D that makes sense, if D is unknown.  Then `servers` is the smallest.
    is_given: whether D is the value of the option.  option: the option for D.
    """

    servers: int
    source: str
    most: int | None = None
    is_given: bool = False
    option: str = OPTION

    @property
    def ends(self) -> tuple[int, ...]:
        """Return D, or its smallest and its largest value if they differ."""
        return tuple(dict.fromkeys((self.servers, self.most or self.servers)))

    @property
    def line(self) -> str:
        """Return what to say about a D that was not given."""
        if self.most is None:
            return f"{self.option} {self.servers}: {self.source}"
        return f"{self.option}: {self.source}; to narrow the answer, {which(self.option)}"

    def check(self, machines: Sequence[VirtualMachine]) -> None:
        """Raise a UserError if many requests of a VM contradict the number of servers.

        A prediction would let requests wait that did not wait on the device.
        """
        wrong = [one for one in machines if any(run.contradiction for run in one.runs)]
        if not wrong:
            return
        machine = wrong[0]
        reason = next(run.contradiction for run in machine.runs if run.contradiction)
        shown = [parallelism.consistent(_timings(one)) for one in wrong]
        enough = max(shown, key=lambda one: one.servers)
        if enough.servers > SERVERS_MOST:
            advice = f"{enough.how}, more than {SERVERS_MOST:,} servers: a trace with less load"
        else:
            advice = f"{self.option} {enough.servers} ({enough.how})"
        source = "" if self.is_given else f" ({self.source})"
        raise UserError(
            f"{machine.name}: the trace contradicts {self.option} {self.servers}{source}: "
            f"{reason}; try {advice}"
        )

    def contradictions(self, machines: Sequence[VirtualMachine]) -> Iterator[str]:
        """Yield what traces say against the given number of servers."""
        for machine in machines if self.is_given else ():
            shown = parallelism.contradicts(_timings(machine), self.servers)
            if shown:
                yield (
                    f"{machine.name}: the trace shows {shown.servers} served at once, not "
                    f"{self.servers}: {shown.how}; check {self.option}"
                )


def which(option: str) -> str:
    """Return how to find D, as the next thing to try."""
    disk = ", or the device, as --disk array-32" if option == OPTION else ""
    return f"give the number, as {option} 8{disk}. {HINT}"


def _timings(machine: VirtualMachine) -> list[parallelism.Trace]:
    return [(run.arrivals.arrival_ns, run.response_ns) for run in machine.runs]


def find(
    servers: int | None,
    disk: str | None,
    vms: Mapping[str, Path],
    form: Form,
    option: str = OPTION,
) -> Depth:
    """Return D of the device that these VMs will share, or on which their traces were recorded.

    Raise a UserError if the traces' run folders have different values, or if only some have one.
    """
    if servers and disk:
        raise UserError("--disk: not with --queue-depth, which already gives the number of servers")
    if servers:
        return Depth(servers, option, is_given=True, option=option)
    if disk:
        return _within(Depth(profile.load(disk).servers, f"--disk {disk}"))
    recorded = {name: _recorded(path) for name, path in vms.items()}
    known = {name: one for name, one in recorded.items() if one}
    if not known:
        return replace(_estimated(vms, form), option=option)
    if len(known) < len(recorded) or len(set(known.values())) > 1:
        claims = ", ".join(f"{name}: {one.servers} ({one.source})" for name, one in known.items())
        raise UserError(f"{option}: not given, and traces say: {claims}: {which(option)}")
    return replace(_within(next(iter(known.values()))), option=option)


def _estimated(vms: Mapping[str, Path], form: Form) -> Depth:
    runs = [timings(path, form) for path in vms.values()]
    if shown := estimated([one for each in runs for one in each]):
        return Depth(shown.servers, f"estimated from the traces: {shown.how}")
    low, high = (min(end, SERVERS_MOST) for end in limits(runs))
    return Depth(low, UNKNOWN + _tried(low, high), high)


def _tried(low: int, high: int) -> str:
    least = f"{low}, the smallest D that no trace contradicts"
    most = "the largest that is possible" if high == SERVERS_MOST else "with which no request waits"
    return f"{least}, and {high}, {most}" if low < high else f"{least}; {most}"


def _within(depth: Depth) -> Depth:
    if depth.servers > SERVERS_MOST:
        raise UserError(
            f"{depth.source}: {depth.servers:,} servers, more than {SERVERS_MOST:,}; give "
            "--queue-depth"
        )
    return depth


def _recorded(path: Path) -> Depth | None:
    """Return D of the disk named in a run folder's result.json; 1 if that disk is not an array.

    Return None if there is no such file, or if the run was on a device whose number of servers is
    unknown.
    """
    file = path / REQUESTS if path.is_dir() else parts(str(path))[0]
    if file.name != REQUESTS:
        return None
    try:
        inputs = json.loads(file.with_name("result.json").read_text(encoding="utf-8"))["inputs"]
        disk, at_once, real = inputs["disk"], int(inputs["depth"]), inputs["platform"] == "real"
        servers = int(disk["array"]["servers"]) if disk["array"] else 1
        source = f"recorded on {disk['name']}"
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return None if real and at_once > 1 else Depth(min(servers, at_once), source)
