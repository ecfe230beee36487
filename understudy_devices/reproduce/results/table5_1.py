# SPDX-License-Identifier: MIT
"""A computation on the machine and in a VM, pinned and not (Jones 2010, Table 5.1)."""

from statistics import median

from understudy_devices.base import processors
from understudy_devices.base.errors import RunFailed
from understudy_devices.papers.compute import TABLE_5_1
from understudy_devices.papers.printed import JONES
from understudy_devices.platforms.vm import computation
from understudy_devices.platforms.vm.accelerator import best
from understudy_devices.platforms.vm.computation import Computed
from understudy_devices.reproduce import Asked, Reproduced
from understudy_devices.show.grid import Grid

PRINTED = ((JONES, "Table 5.1"),)
SECONDS = {"host": 300}
DIFFERS = """
The dissertation ran a CFD code of 27 minutes, once, on a blade with two Core 2 Quads, and in a VM
under KVM. Our computation of seconds, heat that spreads in a cube, stands in for it. It is
repeated, and the table has medians. Pinned means the same: to the processors that share a cache, on
two cores at least. Without KVM, QEMU translates each instruction, so the VM takes many times as
long, and the penalty is that of the translation.
"""
STEPS, ROUNDS = {"kvm": 20_000, "tcg": 1500}, 3
CORES = 2
COLUMNS = ("metal s", "VM s", "penalty", "spread", "paper's metal s", "VM s", "penalty")


def run(asked: Asked) -> Reproduced:
    """Compute in the four ways, in turn, so that another load disturbs all alike."""
    accelerator = best()
    steps = asked.parameters.get("steps", STEPS[accelerator])
    rounds = asked.parameters.get("rounds", ROUNDS)
    groups = processors.groups(CORES)
    everywhere = frozenset[int]().union(*groups)
    where = {"unpinned": everywhere, "pinned": groups[0]}
    done: dict[tuple[str, str], list[Computed]] = {}
    for turn in range(rounds):
        for number, (name, allowed) in enumerate(where.items()):
            asked.report(f"round {turn + 1} of {rounds}, {name}", (turn + number / 2) / rounds)
            done.setdefault((name, "metal"), []).append(computation.on_metal(steps, allowed))
            in_vm = computation.in_vm(steps, allowed, accelerator)
            done.setdefault((name, "vm"), []).append(in_vm)
    if len({one.sum for each in done.values() for one in each}) > 1:
        raise RunFailed("the VM computed another sum than this machine")
    rows = [(name, _row(done[name, "metal"], done[name, "vm"], name)) for name in where]
    title = f"seconds of {steps:,} steps, medians of {rounds}, under {accelerator.upper()}"
    sets = "; ".join(_words(group) for group in groups)
    sentences = [f"Sets of processors that share a cache here, on {CORES} cores at least: {sets}."]
    if len(groups) == 1:
        sentences.append("As there is one set, to be pinned changes nothing here.")
    figures = {
        "steps": steps,
        "rounds": rounds,
        "accelerator": accelerator,
        "sets": [sorted(group) for group in groups],
        "seconds": {
            name: {
                place: {
                    "own": [one.seconds for one in done[name, place]],
                    "host": [one.host_seconds for one in done[name, place]],
                    "paper": TABLE_5_1[name][place],
                }
                for place in ("metal", "vm")
            }
            for name in where
        },
    }
    return Reproduced([Grid(COLUMNS, [rows], title)], figures, sentences=sentences)


def _row(metal: list[Computed], vm: list[Computed], name: str) -> tuple[str, ...]:
    ours, theirs = _median(metal), _median(vm)
    paper = TABLE_5_1[name]
    return (
        f"{ours:.2f}",
        f"{theirs:.2f}",
        _penalty(ours, theirs),
        f"{max(_spread(metal), _spread(vm)):.0%}",
        f"{paper['metal']:.2f}",
        f"{paper['vm']:.2f}",
        _penalty(paper["metal"], paper["vm"]),
    )


def _penalty(metal: float, vm: float) -> str:
    return f"{vm / metal:.3g} x" if vm > 2 * metal else f"{100 * (vm / metal - 1):.2f} %"


def _median(runs: list[Computed]) -> float:
    return median(one.seconds for one in runs)


def _spread(runs: list[Computed]) -> float:
    """Return how far the slowest and the fastest run are apart, as a share of the median."""
    seconds = [one.seconds for one in runs]
    return (max(seconds) - min(seconds)) / median(seconds)


def _words(group: frozenset[int]) -> str:
    return ", ".join(map(str, sorted(group)))
