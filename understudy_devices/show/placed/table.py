# SPDX-License-Identifier: MIT
"""Prints an assignment: devices and their loads, VMs and their 95th percentiles, times in ms."""

from collections.abc import Sequence
from math import isfinite, isnan

from rich.console import Console

from understudy_devices.consolidation.placement.answer import Occupied, Placed, occupied
from understudy_devices.consolidation.placement.problem import Device, Problem, listed
from understudy_devices.consolidation.placement.search import FOUND, Outcome, of_the_traced
from understudy_devices.consolidation.placement.today import Move, Moves
from understudy_devices.consolidation.trust import INTERVALS, SAMPLED
from understudy_devices.measure.trust import Trust
from understudy_devices.show.grid import Block, Grid

DEVICE = ("servers", "VMs", "load", "nearest to its target", "of it")
MOVE = ("from", "to", "GB", "without it", "of its target")
VM = ("load", "alone\n(ms)", "p95\n(ms)", "at most\n(ms)", "95 %\n(ms)", "target\n(ms)", "")
WORDS = ("nearest to its target", "from", "to", "without it")
MISSED, UNVERIFIED, UNCERTAIN = "missed", "not verified", "uncertain"


def show(problem: Problem, outcome: Outcome, trust: Trust, console: Console) -> None:
    """Print the devices, then all VMs device by device."""
    occupancies = occupied(problem, outcome)
    for line in sentences(problem, outcome, trust):
        console.print(line, soft_wrap=True)
    for grid in [*grids(occupancies), *moves_grid(problem, outcome)]:
        grid.show(console)


def grids(occupancies: Sequence[Occupied]) -> list[Grid]:
    """Return the table of the devices, and a table of the VMs for each device with any."""
    if not occupancies:
        return []
    return [
        Grid(DEVICE, [devices(occupancies)], "devices", WORDS),
        *(
            Grid(VM, [vms(one)], f"p95 response times on {one.device.name} (ms)", ("",))
            for one in occupancies
            if one.placed
        ),
    ]


def moves_grid(problem: Problem, outcome: Outcome) -> list[Grid]:
    """Return the table of the moves, if there are any."""
    rows = moves(problem, outcome)
    return [Grid(MOVE, [rows], "moves", WORDS)] if rows else []


def moves(problem: Problem, outcome: Outcome) -> Block:
    """Return a row for each VM that moves, with a cell for each heading in MOVE."""
    each = outcome.moves.each if outcome.moves else ()
    return [(problem.vms[move.vm].name, _move(problem, move)) for move in each]


def sentences(problem: Problem, outcome: Outcome, trust: Trust) -> list[str]:
    """Return the sentences below the tables."""
    busy = problem.erlangs(problem.everyone)
    servers = f"{problem.capacity:.6g} servers{of_the_traced(problem)}"
    demand = (
        f"{len(problem.vms)} VMs ask for {busy / problem.capacity:.0%} of what "
        f"{len(problem.devices)} devices with {servers} can do; sets of them simulated: "
        f"{outcome.judged}"
    )
    if outcome.kind == FOUND:
        answer = "every VM's p95 is at most its target"
        placed = [one for device in occupied(problem, outcome) for one in device.placed]
        names = [one.vm.name for one in placed if one.uncertain]
        if names:
            answer += f"; uncertain, since a trace is only a sample: {listed(names)}"
    else:
        answer = f"{outcome.kind}: {outcome.reason}"
    if outcome.interrupted and outcome.kind == FOUND:
        answer += "; interrupted: a longer search may find more room"
    moved = [_moved(problem, outcome.moves)] if outcome.moves else []
    return [demand, answer, *moved, str(trust), SAMPLED if outcome.limits_ms else INTERVALS]


def devices(occupancies: Sequence[Occupied]) -> Block:
    """Return a row for each device, with a cell for each heading in DEVICE."""
    return [(one.device.name, _device(one)) for one in occupancies]


def vms(one: Occupied) -> Block:
    """Return a row for each VM of the device, with a cell for each heading in VM."""
    return [(placed.vm.name, _vm(one, placed)) for placed in one.placed]


def _device(one: Occupied) -> tuple[str, ...]:
    worst = max(one.placed, key=_share, default=None)
    nearest = ("-", "-") if worst is None else (worst.vm.name, _percent(_share(worst)))
    return (_servers(one.device), str(len(one.placed)), f"{one.load:.0%}", *nearest)


def _servers(device: Device) -> str:
    return f"{device.servers}" if device.speed == 1 else f"{device.servers} x {device.speed:g}"


def _vm(one: Occupied, placed: Placed) -> tuple[str, ...]:
    return (
        f"{placed.vm.erlangs / one.device.capacity:.1%}",
        _ms(placed.vm.alone_ms),
        _ms(placed.p95.mean_ms),
        _ms(placed.p95.most_ms),
        "-" if placed.limits_ms is None else " to ".join(map(_limit, placed.limits_ms)),
        f"{placed.vm.target_ms:,g}",
        _word(placed),
    )


def _moved(problem: Problem, moves: Moves) -> str:
    verb = "moves" if len(moves.each) == 1 else "move"
    words = [f"{len(moves.each)} of {len(problem.vms)} VMs {verb}"]
    if moves.gb is not None and moves.each:
        words.append(f"{moves.gb:,.6g} GB")
    if moves.today:
        share, vm = moves.today
        worst = f"the worst p95 is that of {problem.vms[vm].name}: {share:.0%} of its target"
        words.append(f"today {worst if isfinite(share) else 'requests pile up'}")
    cost = "no less can move" if moves.gb is not None else "no fewer can move"
    if moves.each:
        words.append(cost if moves.fewest else "perhaps fewer moves suffice")
    return "; ".join(words)


def _move(problem: Problem, move: Move) -> tuple[str, ...]:
    without = ("-", "-")
    if move.forbidden:
        without = ("not allowed", "-")
    elif move.without is not None and move.worst is not None:
        without = (problem.vms[move.worst].name, _percent(move.without))
    names = (problem.devices[device].name for device in (move.home, move.device))
    return (*names, "-" if move.gb is None else f"{move.gb:,.6g}", *without)


def _word(placed: Placed) -> str:
    if not placed.verified:
        return UNVERIFIED
    if placed.uncertain:
        return UNCERTAIN
    return "" if placed.meets else MISSED


def _share(placed: Placed) -> float:
    time_ms = placed.p95.most_ms if placed.verified else placed.p95.mean_ms
    return time_ms / placed.vm.target_ms


def _percent(share: float) -> str:
    return f"{share:.0%}" if isfinite(share) else "piles up"


def _limit(time: float) -> str:
    return f"{time:,.3g}" if isfinite(time) else "any"


def _ms(time: float) -> str:
    if isnan(time):
        return "-"
    return f"{time:,.3f}" if isfinite(time) else "piles up"
