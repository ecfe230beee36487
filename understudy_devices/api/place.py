# SPDX-License-Identifier: MIT
"""`place`: assign each VM to a storage device, so that all meet their targets."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from understudy_devices.api import call, options, place_devices
from understudy_devices.api import vms as of_vms
from understudy_devices.api.call import Out
from understudy_devices.api.depth import Depth
from understudy_devices.api.place_constraints import Rules, rules
from understudy_devices.api.place_today import Homes, homes
from understudy_devices.api.place_traces import BAD_TRACES, settled, tenants_of, traced_depth
from understudy_devices.api.placed import Placement
from understudy_devices.api.vms import Vms
from understudy_devices.api.watch import Heard, Watch
from understudy_devices.base.errors import UserError
from understudy_devices.base.progress import Report
from understudy_devices.base.stopping import Stopped
from understudy_devices.consolidation import trust, vm
from understudy_devices.consolidation.arrivals import NO_SPLIT
from understudy_devices.consolidation.placement import answer, confirmation, moving
from understudy_devices.consolidation.placement.guests import Guest, demands, guests, multiplied
from understudy_devices.consolidation.placement.problem import Problem
from understudy_devices.consolidation.placement.search import BUDGET, FOUND, Outcome, Stops
from understudy_devices.consolidation.placement.search import place as search
from understudy_devices.consolidation.placement.simulation import Simulated
from understudy_devices.consolidation.placement.speeds import sped_up
from understudy_devices.consolidation.scenario import SERVERS_MOST, Tenant
from understudy_devices.engine.cluster import Request
from understudy_devices.measure.trust import Trust

TARGET_MOST_MS = 1e9
TARGET_LEAST_MS = 1e-6
COPIES_MOST = 1000
BUDGET_MOST = 1_000_000
MOVES_MOST = 100_000


def place(
    vms: Vms = (),
    *,
    queue_depths: Mapping[str, int] | Sequence[str] | str,
    each: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    speeds: Mapping[str, float] | str | None = None,
    p95_ms: float | None = None,
    targets_ms: Mapping[str, float] | str | None = None,
    copies: Mapping[str, int] | str | None = None,
    capacities_gb: Mapping[str, float] | str | None = None,
    sizes_gb: Mapping[str, float] | str | None = None,
    together: str | Sequence[str] = (),
    apart: str | Sequence[str] = (),
    today: str | os.PathLike[str] | Mapping[str, str] | None = None,
    moves_at_most: int | None = None,
    merge: float = 1,
    traced_on: int | None = None,
    budget: int = BUDGET,
    split: int | str = NO_SPLIT,
    arrivals: str | None = None,
    accept_poor_fit: bool = False,
    columns: str | Sequence[str] | None = None,
    format: str | None = None,
    bad_traces: str = BAD_TRACES[0],
    seed: int = 1,
    jobs: int | None = None,
    out: Out = None,
    cluster: Request | None = None,
) -> Placement:
    """Find a storage device for each VM, so that all meet their targets.

    `vms` has the VMs as for `consolidate`, `each` folders of VMs.  `queue_depths` has the devices,
    each with the number of requests that it serves at once: {"fast": 64, "slow": 32}; "a,b" has two
    devices that are like the one on which the traces were recorded.  The other arguments are the
    options of the command `understudy place`, with underscores.  With `cluster`, the simulations
    are array jobs of Slurm (docs/cluster.md), and `out` must be given.

    The result's `found` is False if there is no such assignment, or none was found; then `reason`
    says why.
    """
    with call.alone():
        question = ask(
            vms,
            queue_depths=queue_depths,
            each=each,
            speeds=speeds,
            p95_ms=p95_ms,
            targets_ms=targets_ms,
            copies=copies,
            capacities_gb=capacities_gb,
            sizes_gb=sizes_gb,
            together=together,
            apart=apart,
            today=today,
            moves_at_most=moves_at_most,
            merge=merge,
            traced_on=traced_on,
            budget=budget,
            split=split,
            arrivals=arrivals,
            accept_poor_fit=accept_poor_fit,
            columns=columns,
            format=format,
            bad_traces=bad_traces,
            seed=seed,
            jobs=jobs,
        )
        return question.answer(out, cluster=cluster)


@dataclass(frozen=True)
class Question:
    """A checked request for an assignment."""

    command: str
    named: Mapping[str, Path]
    guests: Sequence[Guest]
    devices: Mapping[str, int | None]
    speeds: Mapping[str, float]
    rules: Rules
    homes: Homes | None
    merge: float
    budget: int
    traced_on: int | None
    reduction: vm.Reduction
    accept_poor_fit: bool
    bad_traces: str
    seed: int
    jobs: int | None

    def answer(
        self,
        out: Out = None,
        watch: Watch | None = None,
        cluster: Request | None = None,
        stops: Stops = nullcontext,
    ) -> Placement:
        """Read the traces, fit the service times, and search; simulate here or on a cluster.

        The search runs in the block that `stops` makes (base/stopping.py).
        """
        heard = Heard(watch or Watch())
        heard.watch.start(self.command)
        with (
            call.folder(out, f"place-{len(self.guests)}-vms") as folder,
            of_vms.opened(out, cluster, self.jobs, heard.say) as where,
        ):
            workspace = where.folder
            with heard.watch.phases("place") as report:
                report("how many requests the traced device serves", 0)
                traced = traced_depth(
                    self.traced_on, self.named, self.reduction.form, self.bad_traces
                )
                devices = place_devices.numbered(self.devices, self.speeds, traced)
                if not traced.is_given:
                    heard.say(place_devices.line(traced))
                reading = self._reading(traced, heard.say)
                read = tenants_of(reading, self.named, self.bad_traces, workspace / "vms", report)
                for line in traced.contradictions([tenant.vm for tenant in read.values()]):
                    heard.say(line)
                report("compare each VM with its model", 0)
                read = settled(read, traced, self.seed, reading)
                guest_list = [guest for guest in self.guests if guest.kind in read]
                judge = self._judge(guest_list, read, where)
                problem = Problem(
                    demands(guest_list, read, self.merge),
                    devices,
                    self.rules.on(
                        list(self.devices),
                        [guest.name for guest in guest_list],
                    ),
                )
                outcome = self._searched(problem, judge, report, stops)
                if outcome.kind == FOUND and not outcome.interrupted:
                    with suppress(Stopped), stops():
                        limits_ms = confirmation.limits_ms(judge, problem, outcome, report)
                        outcome = replace(outcome, limits_ms=limits_ms)
            trusted = trust.of_placement(list(read.values()), self.merge, self._has_speeds)
            placed = self._shown(problem, outcome, trusted, traced)
            heard.watch.answered(placed)
            if folder:
                placed.fill(folder)
                heard.watch.wrote(folder, "result.json, report.html")
        return replace(placed, notices=tuple(heard.notices))

    @property
    def _has_speeds(self) -> bool:
        return any(speed != 1 for speed in self.speeds.values())

    def _judge(
        self, guest_list: Sequence[Guest], read: Mapping[Path, Tenant], where: of_vms.Where
    ) -> Simulated:
        at_speed = {}
        for rank, speed in enumerate(sorted({*self.speeds.values(), 1.0})):
            folder = where.folder / f"speed-{rank}"
            faster = {
                kind: tenant if speed == 1 else sped_up(tenant, speed, folder / f"{number}")
                for number, (kind, tenant) in enumerate(read.items())
            }
            at_speed[speed] = multiplied(guest_list, faster, folder / "copies")
        targets_ms = [guest.target_ms for guest in guest_list]
        engine, at_once = where.engine, where.at_once
        return Simulated(
            at_speed[1.0], targets_ms, self.merge, self.seed, engine, at_once, at_speed
        )

    def _searched(
        self, problem: Problem, judge: Simulated, report: Report, stops: Stops
    ) -> Outcome:
        how = (judge, self.budget, report, judge.sketch, stops)
        if self.homes is None:
            return search(problem, *how)
        names = [one.name for one in problem.vms]
        today = self.homes.on(list(self.devices), names, self.rules.sizes_gb)
        return moving.place(problem, today, *how)

    def _reading(self, traced: Depth, say: Callable[[str], None]) -> of_vms.Reading:
        """Return how traces are read: if D is unknown, service times are the response times."""
        known = traced.most is None
        return of_vms.Reading(
            replace(self.reduction, servers=traced.servers if known else None),
            self.accept_poor_fit,
            self.jobs,
            say,
            traced.check,
        )

    def _shown(
        self, problem: Problem, outcome: Outcome, trusted: Trust, traced: Depth
    ) -> Placement:
        """Return the result, which needs the VMs' files no more."""
        from understudy_devices.show import placed  # Matplotlib takes half a second

        inputs = {
            "seed": self.seed,
            "merge": self.merge,
            "traced_on": traced.servers if traced.most is None else None,
            "depth_from": traced.source,
            "left_out": [
                guest.name
                for guest in self.guests
                if guest.name not in {one.name for one in problem.vms}
            ],
            "budget": self.budget,
            **({"speeds": dict(self.speeds)} if self._has_speeds else {}),
            **self.rules.as_json(),
            **(self.homes.as_json() if self.homes else {}),
        }
        document = answer.document(self.command, inputs, problem, outcome, trusted)
        return Placement(
            self.command,
            document,
            partial(placed.show, problem, outcome, trusted),
            placed.text(problem, outcome, trusted),
            placed.html(self.command, problem, outcome, trusted),
            placed.render(document, problem, outcome, trusted),
        )


def ask(
    vms: Any = (),
    *,
    queue_depths: Any,
    each: Any = (),
    speeds: Any = None,
    p95_ms: Any = None,
    targets_ms: Any = None,
    copies: Any = None,
    capacities_gb: Any = None,
    sizes_gb: Any = None,
    together: Any = (),
    apart: Any = (),
    today: Any = None,
    moves_at_most: Any = None,
    merge: Any = 1,
    traced_on: Any = None,
    budget: Any = BUDGET,
    split: Any = NO_SPLIT,
    arrivals: Any = None,
    accept_poor_fit: bool = False,
    columns: Any = None,
    format: Any = None,
    bad_traces: Any = BAD_TRACES[0],
    seed: Any = 1,
    jobs: Any = None,
    command: str | None = None,
) -> Question:
    """Check the arguments of `place`; `command` is the command line, if somebody typed one."""
    depths, targets, several, capacities, sizes, homes_text, fast = (
        options.text(value or "") or ""
        for value in (queue_depths, targets_ms, copies, capacities_gb, sizes_gb, today, speeds)
    )
    groups = [of_vms.arguments(value or ()) for value in (together, apart)]
    devices = place_devices.parsed(depths)
    how_fast = place_devices.speeds(fast, devices)
    folders = of_vms.arguments(each)
    texts = of_vms.arguments(vms)
    named = vm.named([*texts, *(text for folder in folders for text in _entries(Path(folder)))])
    if not named:
        raise UserError("no VM: name a trace for each, as in web=vm1/, or a folder with --each")
    limit = (
        None
        if p95_ms is None
        else options.number("--p95-ms", p95_ms, TARGET_LEAST_MS, TARGET_MOST_MS)
    )
    guest_list = _guests(named, several, limit, targets)
    names = [guest.name for guest in guest_list]
    checked = rules(
        list(devices), names, capacities, sizes, *groups, sizes_suffice=bool(homes_text)
    )
    most_moves = options.optional("--moves-at-most", moves_at_most, 0, MOVES_MOST)
    where = homes(homes_text, list(devices), names, most_moves)
    factor = options.text(merge) or ""
    wrong = f"--merge: {factor}: write a value from 1"
    value = of_vms.number(factor, 1, of_vms.MERGE_MOST, wrong)
    common = of_vms.common(split, arrivals, seed, jobs, columns, format)
    options.choice("--bad-traces", bad_traces, BAD_TRACES)
    servers = options.optional("--traced-on", traced_on, 1, SERVERS_MOST)
    most = options.within("--budget", budget, 1, BUDGET_MOST)
    typed = {
        "queue_depths": depths,
        "speeds": fast or None,
        "p95_ms": p95_ms,
        "targets_ms": targets or None,
        "copies": several or None,
        "capacities_gb": capacities or None,
        "sizes_gb": sizes or None,
        "today": homes_text or None,
        "moves_at_most": most_moves,
        "merge": None if value == 1 else merge,
        "traced_on": servers,
        "budget": None if most == BUDGET else most,
        **common.typed,
        "accept_poor_fit": accept_poor_fit,
        "bad_traces": None if bad_traces == BAD_TRACES[0] else bad_traces,
    }
    return Question(
        command
        or options.command(
            "place",
            typed,
            words=texts,
            repeated={"each": folders, "together": groups[0], "apart": groups[1]},
        ),
        named,
        guest_list,
        devices,
        how_fast,
        checked,
        where,
        value,
        most,
        servers,
        vm.Reduction(common.limit, common.arrivals, form=common.form),
        accept_poor_fit,
        bad_traces,
        common.seed,
        common.jobs,
    )


def _entries(folder: Path) -> Iterator[str]:
    """Yield the folder's subfolders and traces; the per-CPU files of one trace are one entry."""
    if not folder.is_dir():
        raise UserError(f"--each: {folder}: no such folder")
    entries = sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    if not entries:
        raise UserError(f"--each: {folder}: empty; name a folder with a trace of each VM")
    yield from (str(entry) for entry in entries if entry.is_dir())
    if any(entry.is_file() for entry in entries):
        yield from vm.runs_of(folder)


def _guests(named: Mapping[str, Path], copies: str, p95: float | None, targets: str) -> list[Guest]:
    counts = {}
    for name, value in of_vms.pairs("--copies", copies).items():
        _refuse_unknown("--copies", name, list(named))
        wrong = f"--copies: {name}={value}: write NAME=N, N from 1 to {COPIES_MOST:,}"
        counts[name] = of_vms.whole(value, COPIES_MOST, wrong)
    limits_ms = {"": p95} if p95 is not None else {}
    for name, value in of_vms.pairs("--targets-ms", targets).items():
        wrong = f"--targets-ms: {name}={value}: write NAME=MS, a time above 0"
        limits_ms[name] = of_vms.number(value, TARGET_LEAST_MS, TARGET_MOST_MS, wrong)
    guest_list = guests(dict(named), counts, limits_ms)
    for name in limits_ms:
        _refuse_unknown("--targets-ms", name, ["", *(guest.name for guest in guest_list)])
    return guest_list


def _refuse_unknown(option: str, name: str, names: Sequence[str]) -> None:
    if name not in names:
        raise UserError(
            f"{option}: no VM is called {name}; there are {', '.join(filter(None, names))}"
        )
