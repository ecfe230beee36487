# SPDX-License-Identifier: MIT
"""Which VM goes onto which device, so that all meet their targets.

Each VM is a drawn trace.  The traces of a device's VMs are played together, first come, first
served; a VM meets its target if the 95th percentile of its response times does.  The targets come
from a placement that is drawn first, so there is always one that meets all.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import Any

import numpy as np

from understudy_devices.base.errors import RunFailed
from understudy_devices.base.plain import one_line
from understudy_devices.course.check import Check
from understudy_devices.course.draws import Draws
from understudy_devices.course.result import Found, NoPoints
from understudy_devices.course.toml_text import toml
from understudy_devices.course.work import Work
from understudy_devices.native.simulation import Array, Rows, Simulation
from understudy_devices.native.simulator import run

DEVICES = {"fast": (6, 0.55), "slow": (3, 0.85), "slow2": (3, 0.7)}
"""Each device: its servers, and how busy the drawn placement keeps them."""
VMS = {"fast": 3, "slow": 2, "slow2": 2}
"""How many VMs the drawn placement puts onto each device."""
NAMES = ("backup", "build", "db", "logs", "mail", "video", "web")
SERVICE_NS = 5_000_000
REQUESTS = 3000
LOOSE = 1.2  # of the targets
CAPACITY = 2**30
FOLDER, TARGETS = "vms", "targets.toml"
UNIFORM = 2**20


@dataclass(frozen=True)
class Vm:
    """A VM's requests: gaps and service times."""

    gap_ns: tuple[int, ...]
    service_ns: tuple[int, ...]


class Kind(Check):
    """Points for each VM that meets its target; none if a device cannot bear its VMs."""

    file: str = "placement.toml"

    def files(self) -> Sequence[str]:
        """Return the placement."""
        return (self.file,)

    def told(self, work: Work) -> Mapping[str, Any]:
        """Return the devices, and the VMs with their targets."""
        targets = _targets(work)
        depths = ",".join(f"{name}={servers}" for name, (servers, _) in DEVICES.items())
        typed = ",".join(f"{name}={targets[name]:g}" for name in NAMES)
        return {
            "devices": {name: servers for name, (servers, _) in DEVICES.items()},
            "targets": {name: targets[name] for name in NAMES},
            "command": f"understudy place --each vms --queue-depths {depths} --targets-ms {typed}",
        }

    def exported(self, work: Work) -> Mapping[str, bytes]:
        """Return each VM's trace, and the targets."""
        traces = {f"{FOLDER}/{name}.csv": _csv(vm) for name, vm in _vms(work).items()}
        return {**traces, TARGETS: toml(_targets(work)).encode()}

    def solves(self) -> Sequence[str]:
        """Return the placement."""
        return (self.file,)

    def solved(self, work: Work) -> Mapping[str, bytes]:
        """Return the drawn placement."""
        return {self.file: toml({"vms": _planted(work)}).encode()}

    def run(self, work: Work) -> Found:
        """Play the traces of each device's VMs together."""
        chosen = self._chosen(work.toml(self.file))
        vms, targets = _vms(work), _targets(work)
        lines = []
        met = 0
        for device in DEVICES:
            here = [name for name in NAMES if chosen[name] == device]
            found = _p95_ms(device, {name: vms[name] for name in here})
            if found is None:
                return Found(0.0, (f"{device}: {', '.join(here)} are more than it can serve",))
            for name in here:
                met += found[name] <= targets[name]
                verdict = "met" if found[name] <= targets[name] else "missed"
                lines.append(
                    f"{name} on {device}: 95th percentile {found[name]:.2f} ms, expected at most "
                    f"{targets[name]:g} ms: {verdict}"
                )
        return Found(met / len(NAMES), tuple(lines))

    def _chosen(self, document: Mapping[str, Any]) -> dict[str, str]:
        table = document.get("vms")
        if not isinstance(table, dict):
            raise NoPoints(f"{self.file}: has no section [vms]")
        for name in NAMES:
            if table.get(name) not in tuple(DEVICES):
                devices = ", ".join(DEVICES)
                raise NoPoints(f"{self.file}: {name}: write the name of a device: {devices}")
        unknown = sorted(one_line(name)[:40] for name in table.keys() - set(NAMES))
        if unknown:
            raise NoPoints(f"{self.file}: no VM is called {unknown[0]}")
        return {name: table[name] for name in NAMES}


def _planted(work: Work) -> dict[str, str]:
    """Draw who is where: as many on each device as in VMS, with the names shuffled."""
    shuffled = iter(work.keys.hidden.child("placement").shuffled("names", list(NAMES)))
    places = [device for device, count in VMS.items() for _ in range(count)]
    return dict(sorted(zip(shuffled, places, strict=True)))


def _vms(work: Work) -> dict[str, Vm]:
    """Return the VMs; in a student's copy, from their traces."""
    place = ("vms",)
    if place not in work.memory:
        folder = work.folder / FOLDER
        work.memory[place] = (
            {name: _of_csv(folder / f"{name}.csv") for name in NAMES}
            if folder.is_dir()
            else {
                name: _drawn(work.keys.hidden.child(f"vm {name}"), device)
                for name, device in _planted(work).items()
            }
        )
    found: dict[str, Vm] = work.memory[place]
    return found


def _of_csv(file: Path) -> Vm:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()[1:]
        if not lines:
            raise ValueError("no requests")
        rows = np.loadtxt(lines, delimiter=",", usecols=(0, 2), dtype=np.int64, ndmin=2)
    except (OSError, ValueError):
        raise NoPoints(f"{FOLDER}/{file.name}: changed; take it from your teacher again") from None
    gaps = np.diff(rows[:, 0], prepend=0)
    return Vm(tuple(map(int, gaps)), tuple(map(int, rows[:, 1] - rows[:, 0])))


def _drawn(draws: Draws, device: str) -> Vm:
    servers, load = DEVICES[device]
    share = load * servers / VMS[device] * draws.between("share", 90, 110) / 100
    gaps, services = (
        [_exponential(draws, f"{what} {each}") for each in range(REQUESTS)]
        for what in ("gap", "service")
    )
    mean_gap_ns = SERVICE_NS / share
    return Vm(
        tuple(round(mean_gap_ns * each) for each in gaps),
        tuple(1 + round(SERVICE_NS * each) for each in services),
    )


def _exponential(draws: Draws, label: str) -> float:
    return -log((1 + draws.below(label, UNIFORM)) / UNIFORM)


def _targets(work: Work) -> dict[str, float]:
    place = ("targets",)
    if place not in work.memory and (work.folder / TARGETS).is_file():
        work.memory[place] = tomllib.loads((work.folder / TARGETS).read_text(encoding="utf-8"))
    if place not in work.memory:
        planted, vms = _planted(work), _vms(work)
        targets: dict[str, float] = {}
        for device in DEVICES:
            found = _p95_ms(device, {name: vms[name] for name in NAMES if planted[name] == device})
            assert found is not None
            targets |= {name: round(LOOSE * ms, 1) for name, ms in found.items()}
        work.memory[place] = targets
    found_targets: dict[str, float] = work.memory[place]
    return found_targets


def _p95_ms(device: str, vms: Mapping[str, Vm]) -> dict[str, float] | None:
    """Return each VM's 95th percentile on the device; None if the queue grows without limit."""
    if not vms:
        return {}
    servers, _ = DEVICES[device]
    busy = sum(sum(vm.service_ns) / sum(vm.gap_ns) for vm in vms.values())
    if busy >= servers:
        return None
    until = min(sum(vm.gap_ns) for vm in vms.values())
    counts = [int(np.searchsorted(np.cumsum(vm.gap_ns), until, "right")) for vm in vms.values()]
    gaps = [vm.gap_ns[:count] for vm, count in zip(vms.values(), counts, strict=True)]
    services = [vm.service_ns[:count] for vm, count in zip(vms.values(), counts, strict=True)]
    total = sum(counts)
    rows = Rows(
        first=np.cumsum([0, *counts]),
        think_ns=np.concatenate(gaps),
        sector=np.zeros(total, np.uint64),
        sectors=np.ones(total, np.uint32),
        op=np.zeros(total, np.uint8),
        owner=np.repeat(np.arange(len(counts)), counts),
        cost_ns=np.concatenate(services),
    )
    try:
        answer = run(
            Simulation(
                workload="rows-open",
                scheduler="fcfs",
                device=Array(servers),
                capacity_sectors=CAPACITY,
                requests=total,
                processes=len(counts),
                rows=rows,
                max_pending=total,
            )
        )
    except RunFailed:
        return None
    owner = answer.rows["owner"]
    response = answer.rows["completion_ns"] - answer.rows["arrival_ns"]
    return {
        name: float(np.sort(response[owner == number])[int(0.95 * counts[number])]) / 1e6
        for number, name in enumerate(vms)
    }


def _csv(vm: Vm) -> bytes:
    """Return the trace of the VM alone on a device with many servers."""
    lines = ["arrival_ns,dispatch_ns,completion_ns,sector,sectors,op"]
    arrival_ns = 0
    for number, (gap_ns, service_ns) in enumerate(zip(vm.gap_ns, vm.service_ns, strict=True)):
        arrival_ns += gap_ns
        done = arrival_ns + service_ns
        sector = number * 7919 % 1_000_003 * 64
        lines.append(f"{arrival_ns},{arrival_ns},{done},{sector},8,read")
    return "\n".join([*lines, ""]).encode()
