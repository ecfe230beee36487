# SPDX-License-Identifier: MIT
"""`sweep`: run every disk with every workload, scheduler and seed."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from understudy_devices import platforms
from understudy_devices.api import call, options
from understudy_devices.api.options import DISK
from understudy_devices.api.predict import Names
from understudy_devices.api.settings import Settings, losses_of, settings
from understudy_devices.api.watch import Heard, Watch
from understudy_devices.ask import schedulers as known_schedulers
from understudy_devices.ask.experiment import Experiment
from understudy_devices.ask.workloads import WORKLOADS
from understudy_devices.ask.workloads.workload import Workload
from understudy_devices.base import catalog, parquet, scratch
from understudy_devices.base.errors import UserError
from understudy_devices.campaign import sweep as campaign
from understudy_devices.device import profile
from understudy_devices.device.profile import DiskProfile
from understudy_devices.engine import Engine
from understudy_devices.engine.cluster import Cluster, Request, check_installed
from understudy_devices.engine.local import Local
from understudy_devices.measure.comparison import Comparison
from understudy_devices.measure.metrics import MORE_MEASURES, PAPER_MEASURES

WORKLOADS_SWEPT = "random,surge-direct"
MEASURES = {
    "disk": pl.String,
    "workload": pl.String,
    "scheduler": pl.String,
    "measure": pl.String,
    "unit": pl.String,
    "mean": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "seeds": pl.Int64,
}


@options.documented
def sweep(
    *,
    disks: Names = DISK,
    workloads: Names = WORKLOADS_SWEPT,
    schedulers: Names = "all",
    on: str = "sim",
    seeds: int = 1,
    tunables: Mapping[str, int] | Sequence[str] | None = None,
    jobs: int | None = None,
    unsafe: bool = False,
    out: str | os.PathLike[str] | None = None,
    cluster: Request | None = None,
    **given: Any,
) -> "Swept":
    """Run every disk with every workload, every scheduler and every seed.

    The arguments are the options of the command `understudy sweep`, with underscores.  The Parquet
    file `out` keeps the figures, a row for each run.  A call carries out only the runs that the
    file lacks, so the same call resumes one that was interrupted.  Without `out` nothing is kept.

    With `cluster`, the runs are array jobs of Slurm (docs/cluster.md), and `out` must be given.
    """
    with call.alone(unsafe=unsafe):
        question = ask(
            disks=disks,
            workloads=workloads,
            schedulers=schedulers,
            on=on,
            seeds=seeds,
            tunables=tunables,
            jobs=jobs,
            **given,
        )
        if cluster:
            check_installed()
            if out is None:
                raise UserError("cluster: needs out, a file on a disk that all nodes share")
        return question.answer(None if out is None else Path(out), cluster=cluster)


@dataclass(frozen=True, repr=False)
class Swept:
    """The runs of a sweep.

    `runs` has a row for each run, with the columns of the Parquet file.  `failures` has the
    schedulers that failed, each with the reason.
    """

    command: str
    runs: pl.DataFrame
    seeds: int
    failures: Mapping[str, str] = field(default_factory=dict)
    notices: tuple[str, ...] = ()

    @cached_property
    def measures(self) -> pl.DataFrame:
        """Return a row for each disk, workload, scheduler and measure.

        `low` and `high` are the limits of the mean's 95 % interval over the seeds; they are null
        for a single seed.  A scheduler with an overloaded run has no rows.
        """
        rows = [
            row
            for place, frame in self.runs.group_by("disk", "workload", maintain_order=True)
            for row in _measured(place, frame)
        ]
        return pl.DataFrame(rows, schema=MEASURES, orient="row")

    @property
    def trusted(self) -> bool | None:
        """Return the trust in the least trusted run."""
        from understudy_devices.show import swept

        return swept.trusted(self.runs)

    @property
    def because(self) -> tuple[str, ...]:
        """Return what was not checked, or is outside its limits."""
        from understudy_devices.show import swept

        return tuple(swept.verdicts(self.runs))

    def as_json(self) -> list[dict[str, Any]]:
        """Return what the command prints with --json: a line for each scheduler."""
        from understudy_devices.show import swept

        return [line.as_json() for group in swept.groups(self.runs) for line in group]

    def write(self, file: str | os.PathLike[str]) -> Path:
        """Write the runs as a Parquet file, which a later sweep can go on with."""
        path = Path(file)
        if path.exists():
            raise UserError(f"{path}: already there; name a new file")
        with scratch.replacing(path) as fresh:
            parquet.write(self.runs, fresh)
        return path

    def __repr__(self) -> str:
        """Return the table that the command prints."""
        from understudy_devices.show import notebook, swept

        return notebook.printed(
            lambda console: swept.show(self.runs, self.seeds, console), self._notes
        )

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        from understudy_devices.show import swept

        return swept.html(self.command, self.runs, self.seeds, self._notes)

    @property
    def _notes(self) -> tuple[str, ...]:
        return (*self.failures.values(), *self.notices)


@dataclass(frozen=True)
class Question:
    """A checked request for a sweep."""

    command: str
    settings: Settings
    experiments: Sequence[Experiment]

    def answer(
        self, file: Path | None, watch: Watch | None = None, cluster: Request | None = None
    ) -> Swept:
        """Carry out the runs that the file lacks, here or on a cluster."""
        heard = Heard(watch or Watch())
        if losses := losses_of(self.settings):
            heard.say(losses)
        chosen = [run.scheduler.name for run in self.experiments]
        failures = known_schedulers.unfit(chosen)
        if words := known_schedulers.warnings(chosen):
            heard.say(words.removesuffix("\n"))
        experiments = [run for run in self.experiments if run.scheduler.name not in failures]
        with _opened(file) as book:
            if rows := campaign.outdated(book, experiments):
                heard.say(
                    f"{book.file}: {rows} rows removed: they are from another version of a "
                    "scheduler, disk or trace, or of Understudy"
                )
            engine = self._engine(cluster, book.on_cluster)
            frame, failed = self._run(experiments, book, engine, heard.watch)
            failures |= failed
            notices = tuple(heard.notices)
            swept = Swept(self.command, frame, self.settings.seeds, failures, notices)
            if frame.height:
                heard.watch.answered(swept)
        if file:
            heard.watch.wrote(file, f"{frame.height} runs of this command")
        heard.fail(failures)
        if not frame.height:
            raise call.NoResult(failures)
        return swept

    def _run(
        self,
        experiments: Sequence[Experiment],
        book: campaign.Book,
        engine: Engine,
        watch: Watch,
    ) -> tuple[pl.DataFrame, dict[str, str]]:
        platform = platforms.load(self.settings.platforms[0])
        platform.check(experiments)
        with watch.runs(len(experiments)) as progress:
            platform.prepare(experiments, progress.prepare)
            return campaign.run(experiments, book, engine, progress.count)

    def _engine(self, cluster: Request | None, folder: Path) -> Engine:
        """Return what carries out the runs; a cluster's engine uses the folder."""
        if cluster is None:
            return Local(self.settings.jobs_at_once)
        return Cluster(folder, replace(cluster, jobs=self.settings.jobs or 1))


def ask(
    *,
    disks: Any = DISK,
    workloads: Any = WORKLOADS_SWEPT,
    schedulers: Any = "all",
    on: Any = "sim",
    seeds: Any = 1,
    tunables: Any = None,
    jobs: Any = None,
    command: str | None = None,
    **given: Any,
) -> Question:
    """Check the arguments of `sweep`; `command` is the command line, if somebody typed one."""
    chosen = settings(on, seeds, tunables, jobs, given)
    if len(chosen.platforms) > 1:
        raise UserError("--on: one platform at a time; run the command once for each")
    names = options.names("--schedulers", schedulers)
    experiments = [
        experiment
        for disk in _disks(options.names("--disks", disks))
        for workload in _workloads(options.names("--workloads", workloads))
        for experiment in chosen.without(workload).experiments(
            disk, workload, known_schedulers.parse(names, disk), chosen.platforms[0]
        )
    ]
    typed = {
        "on": None if on == "sim" else on,
        "disks": None if disks == DISK else disks,
        "workloads": workloads,
        "schedulers": None if schedulers == "all" else schedulers,
        "seeds": None if seeds == 1 else seeds,
        **given,
        "jobs": jobs,
    }
    return Question(
        command or options.command("sweep", typed, repeated={"set": chosen.tunables}),
        chosen,
        experiments,
    )


@contextmanager
def _opened(file: Path | None) -> Iterator[campaign.Book]:
    """Open the sweep's file; without a name, a temporary one."""
    if file:
        with campaign.opened(file) as book:
            yield book
        return
    with scratch.folder("understudy-sweep-") as folder, campaign.opened(folder / "runs") as book:
        yield book


def _disks(text: str) -> list[DiskProfile]:
    names = list(profile.catalogue()) if text == "all" else _words(text)
    disks = [profile.load(name) for name in names]
    catalog.refuse_twice("--disks", [disk.name for disk in disks])
    return disks


def _workloads(text: str) -> list[type[Workload]]:
    names = _words(text)
    catalog.refuse_twice("--workloads", names)
    return [catalog.pick("workload", name, WORKLOADS) for name in names]


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",")]


def _measured(place: Sequence[Any], frame: pl.DataFrame) -> list[tuple[Any, ...]]:
    unstable = frame.filter(status=campaign.UNSTABLE)["scheduler"].to_list()
    stable = frame.filter(~pl.col("scheduler").is_in(unstable))
    if not stable.height:
        return []
    compared = Comparison(campaign.summaries(stable))
    rows = []
    for scheduler in compared.schedulers:
        for measure in filter(compared.saw, (*PAPER_MEASURES, *MORE_MEASURES)):
            found = compared.estimate(scheduler, measure)
            figures = (found.mean, *found.limits, len(compared.seeds))
            rows.append((*place, scheduler, measure.key, measure.unit, *figures))
    return rows
