# SPDX-License-Identifier: MIT
"""The engine for a cluster with Slurm: arrays of tasks, submitted by submitit.

The items go out in rounds, and a round is one array.  The first round measures how long an item
takes; each later round divides what is left into tasks that last between SHORTEST and LONGEST
seconds.  A task writes every answer at once (spool.py), so that a task that is killed or a node
that is lost costs only the items in progress; the next round carries them out.

If the command is killed, its tasks go on.  The same command given again waits for those that still
run, and cancels those that it has no use for.  Its caller reads the answers of tasks that have
ended meanwhile (Spool.new), and removes the folder in the end.  Of several answers for one key the
first one counts, so nothing is counted twice.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass, field, replace
from io import StringIO
from math import ceil
from pathlib import Path
from typing import Any, TypeVar

from understudy_devices.base import scratch
from understudy_devices.base.cache import digest
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.base.plain import plain, shortened
from understudy_devices.engine import Answer, Died, Work, node
from understudy_devices.engine.spool import Spool, Task, writing
from understudy_devices.native.version import code_version

T = TypeVar("T")

FIRST_SECONDS = 30.0
"""After this time, a task of the first round begins no more items."""
FIRST_ITEMS_MIN, FIRST_ITEMS_MAX = 16, 2000
SHORTEST, LONGEST = 10.0, 600.0
TASKS_PER_WORKER = 4  # so that a worker with slow items does not keep all others waiting
ARRAY_TASKS_MAX = 1000  # Slurm's default of MaxArraySize is 1001
DEATHS_MAX = 3  # of tasks at the same item, before the command gives up

POLL_SECONDS = 0.5
LOOK_SECONDS = 5.0
"""How often the command asks Slurm which tasks there are; more often while an array is young, since
a task that cannot work dies early."""
YOUNG = 0.25  # the time to the next question, as a fraction of the array's age
PATIENCE_SECONDS = 300.0
"""How long Slurm may leave this question unanswered."""

ALIVE = ("PENDING", "CONFIGURING", "RUNNING", "SUSPENDED", "COMPLETING")
DEAD = (
    *("BOOT_FAIL", "CANCELLED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY"),
    *("PREEMPTED", "TIMEOUT"),
)

NOISE = re.compile(r"^(submitit \w+ \(|srun: error: \S+: task 0: (Exited|Terminated|Killed)|\s*$)")


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a user asks of Slurm; None leaves a choice to the cluster."""

    workers: int
    minutes: int
    partition: str | None = None
    account: str | None = None
    more: Mapping[str, str | bool] = field(default_factory=dict)
    """Other options of sbatch, by their long names; True for one without a value."""
    python: str | None = None
    """The Python on the nodes; None: the one that runs this command."""
    jobs: int = 1
    """Items at a time in each task."""


@dataclass
class Cluster:
    """Runs tasks through a folder that all nodes share.

    `run` may be called several times, for items that depend on earlier answers; then `keeps` says
    that answers in the folder, also an earlier command's, count for their keys.  Otherwise the
    caller reads an earlier command's answers.  `say` is called if the tasks are too short.
    """

    folder: Path
    request: Request
    keeps: bool = False
    say: Callable[[str], None] | None = None

    def __post_init__(self) -> None:
        """Refuse a machine without Slurm or without submitit."""
        self.folder = self.folder.absolute()
        check_installed()
        self._spool = Spool(self.folder)
        self._kept: dict[str, Answer] = {}
        self._measured = Measured()
        self._is_first = True

    @property
    def name(self) -> str:
        """Return the name of all jobs that use this folder."""
        return f"understudy-{digest([os.fsencode(self.folder)])}"

    @property
    def notice(self) -> str:
        """Return what goes on if the command is interrupted."""
        return f"the cluster's tasks go on (scancel --name {self.name} ends them)"

    @contextmanager
    def until_done(self) -> Iterator[None]:
        """Remove the folder when the block ends; keep its answers if the block fails, so that the
        same command, given again, goes on.
        """
        scratch.say_if_interrupted(f"{self.notice}; give the same command again to go on")
        try:
            yield
        except BaseException:
            if not any(self.folder.glob("*.answers")):
                shutil.rmtree(self.folder, ignore_errors=True)
            raise
        shutil.rmtree(self.folder, ignore_errors=True)
        scratch.say_if_interrupted("")

    def run(
        self, work: Work[T], items: Mapping[str, T]
    ) -> Generator[tuple[str, Answer], None, None]:
        """Yield answers as Engine.run does."""
        rounds = _Rounds(self, self._spool, dict(items), self._measured, self._kept)
        before = replace(self._measured)
        try:
            if self._is_first:
                rounds.adopt()
                self._is_first = False
            yield from rounds.kept()
            while rounds.left:
                if not rounds.running:
                    rounds.submit(work)
                yield from rounds.collected()
        finally:
            if rounds.tasks or rounds.running:
                _cancel(["--name", self.name])
            if not rounds.left:
                self._judge(rounds.tasks, self._measured.seconds - before.seconds)

    def _judge(self, tasks: int, seconds: float) -> None:
        """Say once if the tasks of a run were shorter than their start is worth."""
        each = seconds / self.request.jobs / max(tasks, 1)
        if tasks and each < SHORTEST and self.say:
            self.say(
                f"--on-cluster: the first {_tasks(tasks)} {each:.2g} s, too short for a cluster "
                f"(at least {SHORTEST:g} s); this is faster without --on-cluster"
            )
            self.say = None


@dataclass
class Measured:
    """How many items were carried out, and the seconds that all of them took."""

    items: int = 0
    seconds: float = 0.0


def check_slurm() -> None:
    """Raise a UserError if this machine cannot submit jobs."""
    for program in ("sbatch", "squeue", "scancel", "srun"):
        if not shutil.which(program):
            raise UserError(
                f"--on-cluster: no {program} here; run this on a node from which Slurm accepts "
                "jobs, or leave --on-cluster out"
            )


def check_installed() -> None:
    """Raise a UserError that says what is missing on this machine."""
    check_slurm()
    try:
        import submitit  # noqa: F401 - needed only here
    except ImportError:
        raise UserError(
            "--on-cluster: submitit is missing; pip install 'understudy-devices[cluster]', here "
            "and on the nodes"
        ) from None


@dataclass
class _Rounds:
    """The items that are left, and the tasks that run."""

    cluster: Cluster
    spool: Spool
    left: dict[str, Any]
    measured: Measured = field(default_factory=Measured)
    earlier: dict[str, Answer] = field(default_factory=dict)
    tasks: int = 0
    running: dict[Task, list[str]] = field(default_factory=dict)
    ids: dict[Task, str] = field(default_factory=dict)
    missing: set[Task] = field(default_factory=set)
    deaths: Counter[str] = field(default_factory=Counter)
    versions: dict[str, str] = field(default_factory=dict)
    begun: float = 0.0
    looked: float = 0.0
    heard: float = 0.0

    def answers(self) -> Iterator[tuple[str, Answer]]:
        """Yield the new answers; raise the error of a task, after all answers."""
        errors = []
        for task, (key, answer, seconds) in self.spool.new():
            if task not in self.ids:  # an earlier command's or run's
                if key is not None and self.cluster.keeps and self._is_ours(task):
                    self.earlier[key] = answer
                continue
            if key is None:
                if task in self.running and answer:
                    errors.append(answer)
                self.running.pop(task, None)
                continue
            self.measured.items += 1
            self.measured.seconds += seconds
            if self.left.pop(key, None) is not None:
                yield key, answer
        if errors:
            raise RunFailed(errors[0])

    def kept(self) -> Iterator[tuple[str, Answer]]:
        """Yield the answers that were there before this run."""
        if self.cluster.keeps:
            yield from self.answers()
            for key in self.left.keys() & self.earlier.keys():
                del self.left[key]
                yield key, self.earlier.pop(key)

    def _is_ours(self, task: Task) -> bool:
        """Return whether this version of the code planned the task."""
        if task.round not in self.versions:
            self.versions |= {name: plan.version for name, plan in self.spool.plans().items()}
        return self.versions.get(task.round) == code_version()

    def adopt(self) -> None:
        """Take over the tasks of an earlier command that are useful; cancel the others."""
        listed = self._listed()
        if listed is None:
            raise RunFailed(
                "squeue does not answer; try again when the cluster's controller is back"
            )
        plans = self.spool.plans()
        useless = []
        for task, (job, state) in listed.items():
            if state in DEAD:
                continue
            plan = plans.get(task.round)
            keys = plan.keys[task.number] if plan and task.number < len(plan.keys) else []
            if plan and plan.version == code_version() and not self.left.keys().isdisjoint(keys):
                self.running[task], self.ids[task] = keys, job
            else:
                useless.append(job)
        _cancel(useless)

    def submit(self, work: Work[Any]) -> None:
        """Submit all items that are left, or as many as the first round may have."""
        request = self.cluster.request
        longest = min(LONGEST if self.measured.items else FIRST_SECONDS, request.minutes * 60 / 2)
        tasks = self._divided(longest)
        version = code_version()
        loads = [(keys, self._load(work, keys, longest)) for keys in tasks]
        name = self.spool.plan(version, loads)
        self.running = {Task(name, number): keys for number, keys in enumerate(tasks)}
        self.tasks += len(tasks)
        self.missing = set()
        self.begun = self.looked = self.heard = time.monotonic()
        job = _submit(self.cluster, name, version, list(self.running))
        single = len(tasks) == 1
        self.ids |= {task: job if single else f"{job}_{task.number}" for task in self.running}

    def _load(self, work: Work[Any], keys: Sequence[str], longest: float) -> node.Load:
        items = {key: self.left[key] for key in keys}
        jobs = self.cluster.request.jobs
        return node.packed(work, items, jobs, longest)

    def _divided(self, longest: float) -> list[list[str]]:
        """Return the keys of each task of the next round; each task has some of all kinds."""
        keys, workers = list(self.left), self.cluster.request.workers
        if not self.measured.items:
            tasks = min(workers, ceil(len(keys) / FIRST_ITEMS_MIN), ARRAY_TASKS_MAX)
            return [keys[number::tasks][:FIRST_ITEMS_MAX] for number in range(tasks)]
        jobs = self.cluster.request.jobs
        whole = len(keys) * self.measured.seconds / self.measured.items / jobs
        each = min(max(whole / workers / TASKS_PER_WORKER, SHORTEST), longest)
        tasks = min(max(int(whole / each), 1), ARRAY_TASKS_MAX, len(keys))
        return [keys[number::tasks] for number in range(tasks)]

    def collected(self) -> Iterator[tuple[str, Answer]]:
        """Yield answers until no task runs any more."""
        while self.running and self.left:
            time.sleep(POLL_SECONDS)
            yield from self.answers()
            if time.monotonic() - self.looked >= self._pause:
                yield from self._look()

    @property
    def _pause(self) -> float:
        """Return the seconds between two questions to Slurm."""
        age = self.looked - self.begun
        return min(max(YOUNG * age, POLL_SECONDS), LOOK_SECONDS)

    def _look(self) -> Iterator[tuple[str, Answer]]:
        """Find the tasks that have died: those that Slurm says so of, and those that it no longer
        knows and that have not ended by themselves.

        A task's last lines may reach this machine later than its end, so a task that Slurm no
        longer knows counts as dead when it is missing twice.
        """
        self.looked = time.monotonic()
        listed = self._listed()
        if listed is None:
            if self.looked - self.heard > PATIENCE_SECONDS:
                raise RunFailed(
                    "squeue does not answer; finished runs are kept: give the same command again "
                    "when the cluster's controller is back"
                )
            return
        self.heard = self.looked
        died = {task for task, (_, state) in listed.items() if state in DEAD}
        missing = self.running.keys() - listed
        dead = (missing & self.missing) | (died & self.running.keys())
        self.missing = set(missing)
        if dead:
            yield from self.answers()
            for task in dead & self.running.keys():
                self._bury(task)

    def _bury(self, task: Task) -> None:
        """Count a dead task; raise RunFailed if tasks die again and again at the same item."""
        keys = self.running.pop(task)
        culprit = next((key for key in keys if key in self.left), None)
        if culprit is None:
            return
        self.deaths[culprit] += 1
        if self.deaths[culprit] >= DEATHS_MAX:
            log = self.cluster.folder / f"{self.ids[task]}_0_log.out"
            raise Died(
                f"a task on the cluster died {DEATHS_MAX} times at the same run: "
                f"{_last_words(log)}; see {log}",
                culprit,
            )

    def _listed(self) -> dict[Task, tuple[str, str]] | None:
        """Return job and state of each task that Slurm knows, unless it has ended well.

        None if Slurm does not answer.  Slurm knows a task that has ended for some minutes.
        """
        command = ["squeue", "--noheader", "--array", "--me", "--name", self.cluster.name]
        command += ["--states", ",".join((*ALIVE, *DEAD)), "--format", "%i %T %k"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return None
        jobs = {}
        for job, state, name in (line.split(None, 2) for line in done.stdout.splitlines()):
            number = job.partition("_")[2]
            task = Task(name.strip(), int(number) if number.isdigit() else 0)
            jobs[task] = job, state
        return jobs


def _tasks(count: int) -> str:
    return "task lasted" if count == 1 else f"{count} tasks lasted"


def _submit(cluster: Cluster, round: str, version: str, tasks: Sequence[Task]) -> str:
    """Submit an array of tasks; return the number of its job."""
    import submitit
    from submitit.core.utils import FailedJobError

    request = cluster.request
    # -P: Python would else prefer a package in the folder where the command was given.
    python = f"{shlex.quote(request.python or sys.executable)} -P"
    executor = submitit.SlurmExecutor(cluster.folder, python=python)
    more = {name.replace("-", "_"): value for name, value in request.more.items()}
    given = {"partition": request.partition, "account": request.account}
    executor.update_parameters(
        job_name=cluster.name,
        comment=round,
        time=request.minutes,
        cpus_per_task=request.jobs,
        array_parallelism=request.workers,
        stderr_to_stdout=True,
        # The next round replaces a lost node's tasks at once; Slurm would wait two minutes.
        additional_parameters={"no_requeue": True, **more},
        **{option: value for option, value in given.items() if value},
    )
    folder = str(cluster.folder)
    try:
        # The message below says what sbatch says.
        with writing(cluster.folder), redirect_stderr(StringIO()), _own_tmpdir_hidden():
            jobs = executor.map_array(
                node.carry_out, [folder] * len(tasks), tasks, [version] * len(tasks)
            )
    except FailedJobError as error:
        raise refused(str(error)) from None
    return str(jobs[0].job_id).partition("_")[0]


def refused(text: str) -> UserError:
    """Return the error for a job that sbatch refuses with this text."""
    words = re.findall(r"^sbatch: (?:error: )?(.*)", text, re.MULTILINE)
    why = plain(shortened(" ".join(words))) or "it says nothing"
    return UserError(
        f"--on-cluster: sbatch refuses: {why}; sinfo and sacctmgr show what the cluster offers"
    )


@contextmanager
def _own_tmpdir_hidden() -> Iterator[None]:
    """Hide the command's folder for temporary files, which a task would inherit and nodes lack."""
    hidden = os.environ.pop("TMPDIR", None)
    try:
        yield
    finally:
        if hidden is not None:
            os.environ["TMPDIR"] = hidden


def _cancel(jobs: Sequence[str]) -> None:
    if jobs:
        subprocess.run(["scancel", *jobs], capture_output=True, check=False)


def _last_words(log: Path) -> str:
    """Return the last line of a dead task's log that says why, and what to try."""
    try:
        lines = log.read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    said = [line.strip() for line in lines if not NOISE.match(line)]
    if not said:
        return (
            "it left no word; is its folder on a disk that all nodes share and that has room, "
            "and is its Python there (--node-python)?"
        )
    why = plain(shortened(said[-1]))
    if "No module named" in why or "execve" in why:
        why += "; install understudy-devices[cluster] on all nodes, or name a --node-python"
    return why
