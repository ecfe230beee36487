# SPDX-License-Identifier: MIT
"""What a check works with: the submission's files, the student's draws, and runs in the simulator.

A scheduler of the submission runs in the sandbox for strangers' code, apart from the simulation
that measures it; so no figure comes from the submission's own process.
"""

import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from understudy_devices import platforms
from understudy_devices.api.settings import settings, workload_of
from understudy_devices.ask import schedulers
from understudy_devices.ask.experiment import Experiment
from understudy_devices.ask.policies import KINDS, Policy
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.base.plain import plain
from understudy_devices.base.progress import silent
from understudy_devices.base.sandbox import Busy
from understudy_devices.course import drive, reading
from understudy_devices.course.draws import Draws
from understudy_devices.course.result import NoPoints
from understudy_devices.course.submission import Submission
from understudy_devices.device.profile import DiskProfile
from understudy_devices.measure.metrics import Summary
from understudy_devices.native import descriptions, registry, simulator
from understudy_devices.native.cell import LOOPS, SLEEPS, TAKES
from understudy_devices.native.simulation import Simulation
from understudy_devices.native.worker import Allowance

ENDLESS = re.compile(
    f"{re.escape(LOOPS)}|{re.escape(SLEEPS)}|{TAKES}: more than [^ ]+ s of processor time"
)
Result = TypeVar("Result")
DRAWN = "drawn"  # the name of every drawn disk


class NotRun(Exception):  # noqa: N818 - nobody has made an error
    """A check was not run, so its points do not count; the message says why."""


@dataclass(frozen=True)
class Keys:
    """A student's draws, by who may know them.

    `public` are the student's own: they travel with the exported assignment.  Only the teacher has
    `hidden`, the student's draws for hidden checks, and `everyone`, which are the same for the
    whole class.
    """

    public: Draws
    hidden: Draws
    everyone: Draws

    @classmethod
    def of(cls, secret: bytes, assignment: str, student: str) -> "Keys":
        """Return the keys of a student for an assignment."""
        mine = Draws.of(secret, f"assignment {assignment}", f"student {student}")
        everyone = Draws.of(secret, f"assignment {assignment}", "everyone")
        return cls(mine.child("public"), mine.child("hidden"), everyone)

    @classmethod
    def exported(cls, key: bytes) -> "Keys":
        """Return the keys of an exported assignment, whose checks are all public."""
        public = Draws(key)
        return cls(public, public.child("hidden"), public.child("everyone"))


@dataclass
class Work:
    """One submission that is being graded.

    After `failures_most` failed runs of a file, no more runs of the file are tried: an endless loop
    costs seconds each time.
    """

    submission: Submission
    keys: Keys
    folder: Path
    """The assignment's folder."""
    variant: Mapping[str, Any] = field(default_factory=dict)
    """The options of drive.text."""
    failures_most: int = 2
    allowance: Allowance = field(default_factory=Allowance)
    vms: bool = True
    stop: threading.Event = field(default_factory=threading.Event)
    memory: dict[Any, Any] = field(default_factory=dict)
    """What one check keeps for others."""
    _added: dict[str, str | NoPoints] = field(default_factory=dict)
    _failures: Counter[str] = field(default_factory=Counter)

    def text(self, name: str) -> str:
        """Return a file of the submission; NoPoints if it is missing or refused."""
        if name in self.submission.refused:
            raise NoPoints(self.submission.refused[name])
        return self.submission.files[name].decode("utf-8")

    def toml(self, name: str) -> dict[str, Any]:
        """Return the table in a file of the submission; NoPoints if there is none."""
        return reading.toml(self.text(name), name)

    def draws(self, name: str, *, hidden: bool) -> Draws:
        """Return the draws for a check."""
        return (self.keys.hidden if hidden else self.keys.public).child(f"check {name}")

    @cached_property
    def disk(self) -> DiskProfile:
        """Return the student's disk."""
        return self.drawn(self.keys.public)

    def drawn(self, draws: Draws) -> DiskProfile:
        """Return a disk of this assignment."""
        return drive.read(drive.text(draws.child("disk"), **self.variant), DRAWN)

    def scheduler(self, name: str) -> str:
        """Return the scheduler's name that a file declares; NoPoints if it can't be used."""
        try:
            return self.built(name)
        except NoPoints as why:
            raise NoPoints(str(why).partition("\n")[0].removesuffix(":")) from None

    def built(self, name: str) -> str:
        """Return the scheduler's name; if it does not compile, NoPoints has the compiler's
        messages."""
        if name not in self._added:
            self._added[name] = self._add(name)
        added = self._added[name]
        if isinstance(added, NoPoints):
            raise added
        return added

    def _add(self, name: str) -> str | NoPoints:
        try:
            file = registry.Source(name, self.text(name).encode())
            descriptions.describe(file)
            return schedulers.add(file, name)
        except NoPoints as why:
            return why
        except Busy:
            raise
        except (UserError, RunFailed) as error:
            return NoPoints(steady(str(error)))

    def policy(self, name: str, part: str) -> Policy:
        """Return the prefetcher or the replacement policy in a file; NoPoints if it can't be
        used."""
        place = ("policy", name, part)
        if place not in self.memory:
            kind = KINDS[part]
            try:
                file = registry.Source(name, self.text(name).encode(), folder=kind.folder)
                self.memory[place] = kind.of_user(file, name)
            except NoPoints as why:
                self.memory[place] = why
            except Busy:
                raise
            except (UserError, RunFailed) as error:
                self.memory[place] = NoPoints(steady(str(error)))
        found = self.memory[place]
        if isinstance(found, NoPoints):
            raise found
        assert isinstance(found, Policy)
        return found

    def reference(self, name: str) -> str:
        """Return a scheduler to compare with: one of the project, or a file in the assignment's
        folder."""
        if not name.endswith(".c"):
            return name
        path = self.folder / name
        return schedulers.add(registry.Source(name, registry.read(path)), name)

    def simulate(self, simulation: Simulation, file: str | None = None) -> simulator.Answer:
        """Simulate; `file` is the submission's file that is being run."""
        return self.attempt(lambda: simulator.run(simulation, look=self._look), file)

    def attempt(self, run: Callable[[], Result], file: str | None) -> Result:
        """Return the result of a run; `file` is the submission's file that is being run."""
        self._begin(file)
        try:
            return run()
        except RunFailed as error:
            raise self._failed(error, file) from None

    def summaries(
        self,
        disk: DiskProfile,
        workload: str,
        options: Mapping[str, Any],
        scheduler: str,
        seeds: Sequence[int],
        file: str | None = None,
        policies: Mapping[str, Policy] | None = None,
    ) -> list[Summary]:
        """Return the figures of runs in the simulator, in the order of the seeds.

        `file` is the submission's file that is being run; `policies` are those of the page cache.
        """
        sim = platforms.load("sim")
        found = []
        for seed in seeds:
            self._begin(file)
            given = {**options, "seed": seed}
            (experiment,) = experiments(disk, workload, given, scheduler, policies=policies)
            try:
                sim.check([experiment])
                sim.prepare([experiment], silent)
                found.append(sim.summarise(experiment, silent, stop=self.stop))
            except RunFailed as error:
                if self.stop.is_set():
                    raise
                raise self._failed(error, file) from None
        return found

    def _look(self, done: int) -> None:
        if self.stop.is_set():
            raise RunFailed("stopped")

    def _begin(self, file: str | None) -> None:
        if file and self._failures[file] >= self.failures_most:
            raise NoPoints(f"not tried: {self._failures[file]} runs of {file} have failed")
        if file and self.allowance.used_up:
            raise NoPoints("not tried: the runs of this submission have taken too long in all")

    def _failed(self, error: RunFailed, file: str | None) -> Exception:
        """Count a failed run of a submission's file; any other failure is the grader's own."""
        if file is None or self.stop.is_set() or isinstance(error, Busy):
            return error
        self._failures[file] += 1
        return NoPoints(steady(str(error)))


def steady(message: str) -> str:
    """Return a message without what differs between two runs: where a loop was when it ended."""
    found = ENDLESS.search(message)
    return plain(message[: found.end()] if found else message)


def experiments(
    disk: DiskProfile,
    workload: str,
    options: Mapping[str, Any],
    scheduler: str,
    platform: str = "sim",
    policies: Mapping[str, Policy] | None = None,
) -> list[Experiment]:
    """Return the experiment that options of `understudy predict` describe."""
    chosen = settings(platform, 1, None, None, options)
    kind, chosen = workload_of(workload, chosen)
    chosen = chosen.or_else(**(policies or {}))
    return chosen.experiments(disk, kind, [scheduler], platform)
