# SPDX-License-Identifier: MIT
"""`predict` and `compare`: run a workload through several schedulers."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from understudy_devices import platforms
from understudy_devices.api import call, options, requests
from understudy_devices.api.call import Out
from understudy_devices.api.options import DISK, SEEDS, WORKLOAD
from understudy_devices.api.prediction import Prediction, write_one
from understudy_devices.api.settings import Settings, losses_of, settings, workload_of
from understudy_devices.api.watch import Heard, Watch
from understudy_devices.ask import schedulers as known_schedulers
from understudy_devices.ask.experiment import Experiment
from understudy_devices.ask.workloads.workload import Workload
from understudy_devices.base.errors import UserError
from understudy_devices.base.plain import shortened
from understudy_devices.campaign import parallel, result
from understudy_devices.campaign.result import Result
from understudy_devices.device import profile
from understudy_devices.device.profile import DiskProfile
from understudy_devices.native import registry

if TYPE_CHECKING:
    from understudy_devices.profiler.profile_fit import Fitted

PRINTED_LINES = 20

Names = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


@options.documented
def predict(
    *,
    disk: "str | os.PathLike[str] | DiskProfile | Fitted" = DISK,
    workload: str | os.PathLike[str] | Iterable[Any] = WORKLOAD,
    schedulers: Names | None = None,
    on: str | Sequence[str] = "sim",
    seeds: int = 1,
    tunables: Mapping[str, int] | Sequence[str] | None = None,
    jobs: int | None = None,
    unsafe: bool = False,
    out: Out = None,
    **given: Any,
) -> Prediction:
    """Predict how I/O schedulers perform on a disk you don't have.

    The arguments are the options of the command `understudy predict`, with underscores.  A text is
    read as on the command line; numbers, paths, lists and dictionaries do as well.  `workload` is
    a name, a C file, a job file of fio, or (on the simulator) an iterable of requests:
    (arrival_ns, sector, sectors, "read" or "write"), which is used up to `requests`.  Nothing is
    written without `out`, the name of a new folder.

    Raise UserError for a wrong value, and RunFailed if no scheduler has a result.
    """
    with call.alone(unsafe=unsafe):
        question = ask(
            "predict",
            disk=disk,
            workload=workload,
            schedulers=schedulers,
            on=on,
            seeds=seeds,
            tunables=tunables,
            jobs=jobs,
            **given,
        )
        return question.answer(out)


@options.documented
def compare(
    *,
    disk: "str | os.PathLike[str] | DiskProfile | Fitted" = DISK,
    workload: str | os.PathLike[str] | Iterable[Any] = WORKLOAD,
    schedulers: Names = "all",
    on: str | Sequence[str] = "sim",
    seeds: int = SEEDS,
    tunables: Mapping[str, int] | Sequence[str] | None = None,
    jobs: int | None = None,
    unsafe: bool = False,
    out: Out = None,
    **given: Any,
) -> Prediction:
    """Rank schedulers by mean response time, and say which cannot be told apart.

    Like predict, but with several seeds, and shown with a row for each scheduler.
    """
    with call.alone(unsafe=unsafe):
        question = ask(
            "compare",
            disk=disk,
            workload=workload,
            schedulers=schedulers,
            on=on,
            seeds=seeds,
            tunables=tunables,
            jobs=jobs,
            **given,
        )
        return question.answer(out)


@dataclass(frozen=True)
class Question:
    """A checked request for runs: which schedulers, with which workload, on which disk.

    `command` is the shell command that does the same, and `files` the tables that this command
    reads.
    """

    command: str
    settings: Settings
    disk: DiskProfile
    workload: type[Workload]
    schedulers: list[str]
    ranked: bool = False
    files: Mapping[str, pl.DataFrame] = field(default_factory=dict)

    def planned(self) -> dict[str, list[Experiment]]:
        """Return the runs of each platform; every value is checked."""
        return {name: self._on(name) for name in self.settings.platforms}

    def dry_run(self) -> Iterator[tuple[Experiment, list[str]]]:
        """Yield each run, and the command that would carry it out."""
        for name, experiments in self.planned().items():
            platform = platforms.load(name)
            platform.check(experiments)
            for experiment in experiments:
                yield experiment, platform.dry_run(experiment)

    def answer(self, out: Out = None, watch: Watch | None = None) -> Prediction:
        """Carry out all runs.

        Each platform's results are reported, and written, as soon as they are ready.
        """
        heard = Heard(watch or Watch())
        if losses := losses_of(self.settings):
            heard.say(losses)
        planned = self.planned()
        heard.watch.start(self.command)
        failures = known_schedulers.unfit(self.schedulers)
        heard.fail(failures)
        if words := known_schedulers.warnings(self.schedulers):
            heard.say(words.removesuffix("\n"))
        answers: dict[str, Result] = {}
        with call.folder(out, result.label(next(iter(planned.values()))[0])) as folder:
            for name in planned:
                platforms.load(name).check(_fit(planned[name], failures))
            for name in planned:
                answer = self._run(name, _fit(planned[name], failures), heard.watch)
                if answer.outcomes:
                    answers[name] = answer
                    _ = answer.inputs  # while the users' files are those that ran
                    heard.watch.answered(answer)
                    for line in _notices(answer):
                        heard.say(line)
                    if folder:
                        place = folder / name if len(planned) > 1 else folder
                        write_one(answer, place, self.files)
                        heard.watch.wrote(place, "result.json, requests.parquet, report.html")
                heard.fail(answer.failures)
                failures |= answer.failures
        if not answers:
            raise call.NoResult(failures)
        return Prediction(
            self.command, answers, failures, tuple(heard.notices), self.ranked, self.files
        )

    def _on(self, platform: str) -> list[Experiment]:
        """Return the platform's runs.

        If there are several platforms, each platform runs only the schedulers that it supports.  A
        single platform refuses schedulers that it does not support.
        """
        skip = len(self.settings.platforms) > 1
        chosen = [
            name for name in self.schedulers if not skip or known_schedulers.runs_on(platform, name)
        ]
        if not chosen:
            raise UserError(
                f"--schedulers: {platform} runs none of {', '.join(self.schedulers)}; leave it "
                "out of --on, or add a scheduler that it runs"
            )
        return self.settings.experiments(self.disk, self.workload, chosen, platform)

    def _run(self, name: str, experiments: Sequence[Experiment], watch: Watch) -> Result:
        platform = platforms.load(name)
        with watch.runs(len(experiments)) as progress:
            platform.prepare(experiments, progress.prepare)
            outcomes, failures = parallel.run_all(
                platform, experiments, self.settings.jobs_at_once, progress.run
            )
        return Result(self.command, tuple(outcomes), failures)


def ask(
    name: str,
    *,
    disk: Any = DISK,
    workload: Any = WORKLOAD,
    schedulers: Any = None,
    on: Any = "sim",
    seeds: Any = 1,
    tunables: Any = None,
    jobs: Any = None,
    command: str | None = None,
    **given: Any,
) -> Question:
    """Check the arguments of `predict` or `compare`, the command `name`.

    `command` is the command line, if somebody typed one.
    """
    files: dict[str, pl.DataFrame] = {}
    if requests.is_iterable(workload):
        workload, given, files = _replayed(workload, on, given)
    chosen = settings(on, seeds, tunables, jobs, given)
    names = known_schedulers.DEFAULTS[chosen.platforms[-1]] if schedulers is None else schedulers
    disk_profile = _profile_of(disk)
    workload_class, chosen = workload_of(options.names("--workload", workload), chosen)
    listed = known_schedulers.parse(options.names("--schedulers", names), disk_profile)
    typed = {
        "on": on if on != "sim" else None,
        "disk": None if disk == DISK else disk if options.text(disk) else disk_profile.name,
        "workload": workload,
        "schedulers": schedulers,
        "seeds": None if seeds == (SEEDS if name == "compare" else 1) else seeds,
        **given,
        "jobs": jobs,
    }
    return Question(
        command or options.command(name, typed, repeated={"set": chosen.tunables}),
        chosen,
        disk_profile,
        workload_class,
        listed,
        ranked=name == "compare",
        files=files,
    )


def _profile_of(disk: Any) -> DiskProfile:
    """Return the profile for a name, a file, a profile, or what `profile` has fitted."""
    if callable(fitted := getattr(disk, "disk", None)):
        disk = fitted()
    return disk if isinstance(disk, DiskProfile) else profile.load(options.names("--disk", disk))


def _replayed(
    workload: Any, on: Any, given: Mapping[str, Any]
) -> tuple[str, dict[str, Any], dict[str, pl.DataFrame]]:
    """Return the options that replay an iterable of requests, and the table for a command."""
    if options.names("--on", on) != "sim":
        raise UserError("on: only the simulator plays a workload of Python; leave on out")
    if given.get("trace") is not None:
        raise UserError("trace: not with requests as the workload; leave one of them out")
    limit = given.get("requests")
    trace = requests.trace_of(
        workload,
        None if limit is None else options.within("--requests", limit, 1, requests.LONGEST),
    )
    others = {name: value for name, value in given.items() if name != "requests"}
    return "trace", {**others, "trace": trace}, {requests.NAME: requests.frame_of(trace)}


def _fit(experiments: Sequence[Experiment], failures: Mapping[str, str]) -> list[Experiment]:
    return [run for run in experiments if run.scheduler.name not in failures]


def _notices(answer: Result) -> Iterator[str]:
    """Yield the output of users' schedulers, and warnings of overload."""
    for outcome in answer.outcomes:
        scheduler = outcome.experiment.scheduler.name
        policies = outcome.experiment.policies().values()
        strangers = [policy.described.name for policy in policies if policy.file.stranger]
        if scheduler in registry.added() or not strangers:
            strangers.insert(0, scheduler)
        printed = outcome.facts.get("printed", "").splitlines()
        rest = [f"... {len(printed) - PRINTED_LINES:,} lines more in result.json"]
        for line in printed[:PRINTED_LINES] + (rest if len(printed) > PRINTED_LINES else []):
            yield f"{' or '.join(strangers)} printed: {shortened(line)}"
        load = outcome.facts.get("offered_load") or 0.0
        if load > 1:
            yield (
                f"{scheduler}, seed {outcome.experiment.seed}: overloaded: "
                f"requests arrive {load:,.2f} times as fast as the device can serve them, so "
                "waiting times depend on the length of the run"
            )
