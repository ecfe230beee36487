# SPDX-License-Identifier: MIT
"""`consolidate`: predict the response times of VMs that will share one storage device."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from understudy_devices.api import call, depth, on_disk, options
from understudy_devices.api import vms as of_vms
from understudy_devices.api.call import Out
from understudy_devices.api.consolidated import Consolidated
from understudy_devices.api.vms import Vms
from understudy_devices.api.watch import Heard, Watch
from understudy_devices.base.errors import UserError
from understudy_devices.base.progress import Report
from understudy_devices.consolidation import (
    alignment,
    alone,
    answer,
    caps,
    prediction,
    vm,
    what_if,
)
from understudy_devices.consolidation.alignment import BEGIN, CLOCK
from understudy_devices.consolidation.arrivals import NO_SPLIT
from understudy_devices.consolidation.caps import Cap
from understudy_devices.consolidation.prediction import (
    COMMON,
    PER_VM,
    PRECISION,
    UNMERGED,
    Effort,
    Prediction,
)
from understudy_devices.consolidation.replications import Replications
from understudy_devices.consolidation.scenario import (
    SERVERS_MOST,
    WEIGHT_MOST,
    Scenario,
    Tenant,
)
from understudy_devices.device import profile
from understudy_devices.engine.cluster import Request

SERVED, RESPONSE = "served", "response"
REPLICATIONS_MOST = 100_000
LABEL = 80  # most letters of the label in a run folder's name


def consolidate(
    vms: Vms,
    *,
    queue_depth: int | None = None,
    disk: str | os.PathLike[str] | None = None,
    schedulers: str | Sequence[str] | None = None,
    virtual_size: int | str | None = None,
    weights: Mapping[str, int] | str | None = None,
    cap: Mapping[str, str] | Sequence[str] | str = (),
    merge: float | str = UNMERGED,
    service_times: str = SERVED,
    replications: int | None = None,
    precision: float = PRECISION,
    what_if: Sequence[str] | str = (),
    split: int | str = NO_SPLIT,
    arrivals: str | None = None,
    align: str = BEGIN,
    accept_poor_fit: bool = False,
    columns: str | Sequence[str] | None = None,
    format: str | None = None,
    seed: int = 1,
    jobs: int | None = None,
    out: Out = None,
    cluster: Request | None = None,
) -> Consolidated:
    """Predict response times of VMs that will share one storage device.

    `vms` has for each VM a trace recorded while it ran alone, or a folder with traces of several
    such runs: {"web": "vm1/", "mail": "vm2/"}.  The other arguments are the options of the command
    `understudy consolidate`, with underscores (docs/consolidation.md).

    With `cluster`, the simulations are array jobs of Slurm (docs/cluster.md), and `out` must be
    given.
    """
    with call.alone():
        question = ask(
            vms,
            queue_depth=queue_depth,
            disk=disk,
            schedulers=schedulers,
            virtual_size=virtual_size,
            weights=weights,
            cap=cap,
            merge=merge,
            service_times=service_times,
            replications=replications,
            precision=precision,
            changes=what_if,
            split=split,
            arrivals=arrivals,
            align=align,
            accept_poor_fit=accept_poor_fit,
            columns=columns,
            format=format,
            seed=seed,
            jobs=jobs,
        )
        return question.answer(out, cluster=cluster)


@dataclass(frozen=True)
class Question:
    """A checked request for a prediction."""

    command: str
    named: Mapping[str, Path]
    shares: Mapping[str, int]
    depth: depth.Depth
    changes: Sequence[what_if.Change]
    reduction: vm.Reduction
    effort: Effort
    accept_poor_fit: bool
    seed: int
    jobs: int | None
    disk: on_disk.SimulatedDisk | None = None
    aligned: bool = False  # whether VMs are laid at their own times (alignment.py)
    caps: Mapping[str, Cap] = field(default_factory=dict)

    def answer(
        self, out: Out = None, watch: Watch | None = None, cluster: Request | None = None
    ) -> Consolidated:
        """Read the traces, fit the service times, and simulate, here or on a cluster."""
        heard = Heard(watch or Watch())
        heard.watch.start(self.command)
        if self.aligned:
            return self._aligned(heard)._answer(heard, out, cluster)
        return self._answer(heard, out, cluster)

    def _aligned(self, heard: Heard) -> "Question":
        """Return the question for the time that all traces have."""
        with heard.watch.phases("consolidate") as report:
            report("look at the traces' clocks", 0)
            traces = {name: vm.runs_of(path) for name, path in self.named.items()}
            window = alignment.window(traces, self.reduction.form)
        heard.say(f"simulated from {window} of the traces' clocks, the time that all of them have")
        return replace(self, reduction=replace(self.reduction, window=window))

    def _answer(self, heard: Heard, out: Out, cluster: Request | None) -> Consolidated:
        if self.disk and (answer := self._on_disk(self.disk, heard, out, cluster)):
            return answer
        if not self.depth.is_given:
            heard.say(self.depth.line)
        with (
            call.folder(out, self._label) as folder,
            of_vms.opened(out, cluster, self.jobs, heard.say) as where,
        ):
            workspace = where.folder
            with heard.watch.phases("consolidate") as report:
                ends = [
                    self._scenario(servers, where, heard, report) for servers in self.depth.ends
                ]
                for line in self.depth.contradictions([tenant.vm for tenant in ends[0].tenants]):
                    heard.say(line)
                others = [
                    what_if.changed(ends[0], one, workspace / str(one)) for one in self.changes
                ]

                def predict(scenario: Scenario) -> Prediction:
                    device = Replications(scenario, self.seed, where.engine, where.at_once)
                    return prediction.predict(device, self.effort, report)

                predictions = [prediction.of_ends(ends, predict), *map(predict, others)]
            return self._finished(self._shown(predictions), heard, folder)

    def _on_disk(
        self, disk: on_disk.SimulatedDisk, heard: Heard, out: Out, cluster: Request | None
    ) -> Consolidated | None:
        """Simulate the disk; return None if a trace does not say where requests were."""
        with heard.watch.phases("consolidate") as report:
            how = self.reduction
            guests = disk.guests(self.named, self.shares, how.form, how.window, report)
        if not disk.is_possible(guests, cluster is not None, heard.say):
            return None
        with call.folder(out, self._label) as folder:
            with heard.watch.phases("consolidate") as report:
                predictions = disk.predictions(guests, self.effort, self.seed, self.jobs, report)
            shown = disk.shown(self.command, self.seed, self.effort, predictions)
            return self._finished(Consolidated(self.command, **shown), heard, folder)

    @property
    def _label(self) -> str:
        return "-".join(["consolidate", *self.named])[:LABEL]

    def _finished(
        self, consolidated: Consolidated, heard: Heard, folder: Path | None
    ) -> Consolidated:
        """Show the result, write it, and say what is in doubt."""
        heard.watch.answered(consolidated)
        if folder:
            consolidated.fill(folder)
        for doubt in consolidated.notices:
            heard.doubt(doubt)
        if folder:
            heard.watch.wrote(folder, "result.json, replications.parquet, report.html")
        return replace(consolidated, notices=tuple(heard.notices))

    def _scenario(
        self, servers: int, where: of_vms.Where, heard: Heard, report: Report
    ) -> Scenario:
        """Read the traces for a device with this number of servers, and compare each VM with its
        model.
        """
        say = heard.say if servers == self.depth.servers else _ignore
        reading = of_vms.Reading(
            replace(self.reduction, servers=servers),
            self.accept_poor_fit,
            self.jobs,
            say,
            self.depth.check,
        )
        folder = where.folder / f"{servers}"
        tenants = tuple(reading.tenants(self.named, self.shares, folder, report))
        report("compare each VM with its model", 0)
        scenario = Scenario(tenants, servers, self.aligned)
        device = Replications(scenario, self.seed, where.engine, where.at_once)
        settled = (alone.settled(one, device, self.accept_poor_fit, say) for one in tenants)
        return replace(scenario, tenants=tuple(self._capped(one, folder, say) for one in settled))

    def _capped(self, tenant: Tenant, folder: Path, say: Callable[[str], None]) -> Tenant:
        name = tenant.vm.name
        cap = self.caps.get(name)
        own = folder / f"capped-{list(self.named).index(name)}"
        return caps.capped(tenant, cap, own, say) if cap else tenant

    def _shown(self, predictions: Sequence[Prediction]) -> Consolidated:
        """Return the result, which needs the VMs' files no more."""
        from understudy_devices.show import consolidated  # Matplotlib takes half a second

        source = self.depth.source
        document = answer.document(self.command, self.seed, source, predictions, self.changes)
        return Consolidated(
            self.command,
            document,
            answer.replications(predictions[0]),
            partial(consolidated.show, predictions, self.changes),
            consolidated.text(predictions, self.changes),
            consolidated.html(self.command, predictions, self.changes),
            consolidated.render(document, predictions, self.changes),
            tuple(consolidated.doubts(predictions[0])),
        )


def _ignore(line: str) -> None:
    """Say nothing: it has been said for the other D."""


def ask(
    vms: Any,
    *,
    queue_depth: Any = None,
    disk: Any = None,
    schedulers: Any = None,
    virtual_size: Any = None,
    weights: Any = None,
    cap: Any = (),
    merge: Any = UNMERGED,
    service_times: Any = SERVED,
    replications: Any = None,
    precision: Any = PRECISION,
    changes: Any = (),
    split: Any = NO_SPLIT,
    arrivals: Any = None,
    align: Any = BEGIN,
    accept_poor_fit: bool = False,
    columns: Any = None,
    format: Any = None,
    seed: Any = 1,
    jobs: Any = None,
    command: str | None = None,
) -> Question:
    """Check the arguments of `consolidate`; `command` is the command line, if somebody typed
    one."""
    effort = effort_of(merge, replications, precision)
    texts = of_vms.arguments(vms)
    named = vm.named(texts)
    if not named:
        raise UserError("no VM: name a trace for each, as in web=vm1/")
    changed = [changes] if isinstance(changes, str) else [str(each) for each in changes]
    shares = _weights(options.text(weights or "") or "", named)
    capped = _caps(cap, named)
    if capped and merge in (COMMON, PER_VM):
        raise UserError(f"--cap: not with --merge {merge}, whose search takes uncapped VMs")
    variations = what_if.parse(changed, list(named))
    common = of_vms.common(split, arrivals, seed, jobs, columns, format)
    servers = options.optional("--queue-depth", queue_depth, 1, SERVERS_MOST)
    of_disk = None if disk is None else options.names("--disk", disk)
    device = depth.find(servers, of_disk, named, common.form)
    only_of_an_array = {
        "--merge": options.text(merge) != options.text(UNMERGED),
        "--service-times": service_times != SERVED,
        "--what-if": changed,
        "--cap": capped,
        "--split": options.text(split) != NO_SPLIT,
        "--accept-poor-fit": accept_poor_fit,
    }
    simulated = on_disk.simulated_disk(
        None if of_disk is None else profile.load(of_disk),
        schedulers,
        virtual_size,
        arrivals,
        shares,
        [option for option, is_given in only_of_an_array.items() if is_given],
    )
    options.choice("--service-times", service_times, (SERVED, RESPONSE))
    options.choice("--align", align, (BEGIN, CLOCK))
    copies = [str(one) for one in variations if one.what == "copies"]
    if align == CLOCK and copies:
        raise UserError(
            f"--what-if: {copies[0]}: not with --align clock, since a copy would send its requests "
            "at the same times; leave one of them out"
        )
    typed = {
        "queue_depth": servers,
        "disk": of_disk,
        "schedulers": None if schedulers is None else options.names("--schedulers", schedulers),
        "virtual_size": virtual_size,
        "weights": options.text(weights or "") or None,
        "merge": None if merge == UNMERGED else merge,
        "service_times": None if service_times == SERVED else service_times,
        "replications": replications,
        "precision": None if precision == PRECISION else precision,
        **common.typed,
        "align": None if align == BEGIN else align,
        "accept_poor_fit": accept_poor_fit,
    }
    limits = [f"{name}={one}" for name, one in capped.items()]
    repeated = {"what_if": changed, "cap": limits}
    return Question(
        command or options.command("consolidate", typed, words=texts, repeated=repeated),
        named,
        shares,
        device,
        variations,
        vm.Reduction(
            common.limit,
            common.arrivals,
            device.servers,
            common.form,
            waits=service_times != RESPONSE,
        ),
        effort,
        accept_poor_fit,
        common.seed,
        common.jobs,
        disk=simulated,
        aligned=align == CLOCK,
        caps=capped,
    )


def effort_of(merge: Any, replications: Any, precision: Any) -> Effort:
    """Return how much is simulated; raise a UserError for a wrong value."""
    most = REPLICATIONS_MOST
    return Effort(
        _merge(options.text(merge) or ""),
        options.optional("--replications", replications, 1, most),
        options.number("--precision", precision, 0.001, 1),
    )


def _merge(text: str) -> str | float:
    if text in (COMMON, PER_VM):
        return text
    wrong = f"--merge: {text}: write {COMMON}, {PER_VM}, or a value from 1 (no merging)"
    return of_vms.number(text, 1, of_vms.MERGE_MOST, wrong)


def _caps(given: Any, names: Mapping[str, Path]) -> dict[str, Cap]:
    texts = (
        [f"{name}={text}" for name, text in given.items()] if isinstance(given, Mapping) else given
    )
    parsed: dict[str, Cap] = {}
    for text in [texts] if isinstance(texts, str) else texts:
        name, equals, limits = str(text).partition("=")
        if not equals or name in parsed:
            raise UserError(f"--cap: {text}: write NAME=LIMITS once for each VM; {caps.HINT}")
        if name not in names:
            raise UserError(f"--cap: no VM is called {name}; there are {', '.join(names)}")
        parsed[name] = caps.parse(limits)
    return parsed


def _weights(text: str, names: Mapping[str, Path]) -> dict[str, int]:
    weights = {}
    for name, value in of_vms.pairs("--weights", text).items():
        if name not in names:
            raise UserError(f"--weights: no VM is called {name}; there are {', '.join(names)}")
        wrong = f"--weights: {name}={value}: write NAME=N, N from 1 to {WEIGHT_MOST:,}"
        weights[name] = of_vms.whole(value, WEIGHT_MOST, wrong)
    return weights
