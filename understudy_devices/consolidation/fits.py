# SPDX-License-Identifier: MIT
"""Fit the service times of many VMs in parallel.

Python's threads would not fit in parallel, so each parallel job has a separate process, which runs
this module.  The process reads names of sample files from one pipe, and writes the fits to another.
It writes no files, and ends when the first pipe is closed.  The fits do not depend on the number of
jobs.
"""

import pickle
import queue
import select
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from understudy_devices.base import scratch, threads
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.consolidation.fit import Fitted
from understudy_devices.consolidation.source import chosen
from understudy_devices.consolidation.vm import VirtualMachine

Fitting = Callable[[Path, bool], Fitted]


def fit_each(
    vms: Sequence[VirtualMachine],
    accept_poor: bool,
    jobs: int,
    done: Callable[[str], None] = lambda name: None,
) -> list[Fitted]:
    """Fit each VM's service times, in ns, and choose whether the simulation uses the fit.

    After each fit, `done` is called with the VM's name, from any thread.  Raises the errors of
    `chosen`, with the VM's name added.
    """
    fits: dict[int, Fitted] = {}
    errors: dict[int, Exception] = {}
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in range(len(vms)):
        waiting.put(number)
    stop = threading.Event()

    def take(fitted: Fitting) -> None:
        while not stop.is_set() and not errors:  # earlier ones, which may fail too, go on
            try:
                number = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                fits[number] = fitted(_times(vms[number], folder / f"{number}"), accept_poor)
            except (ValueError, UserError) as error:
                errors[number] = type(error)(f"{vms[number].name}: {error}")
            done(vms[number].name)

    with scratch.folder("understudy-fit-") as folder:
        _with_fitters(min(jobs, len(vms)), take, stop)
    if errors:
        raise errors[min(errors)]
    return [fits[number] for number in range(len(vms))]


def _with_fitters(jobs: int, take: Callable[[Fitting], None], stop: threading.Event) -> None:
    """Call `take` in `jobs` threads, each with its own process; a single job needs no process."""
    if jobs == 1:
        take(_fit)
        return

    def one() -> None:
        with _Fitter(stop) as fitter:
            take(fitter.fit)

    threads.run_all([one] * jobs, jobs, stop)


def _times(vm: VirtualMachine, file: Path) -> Path:
    """Write the service times of all runs of the VM into the file; return the file."""
    with file.open("wb") as out:
        for run in vm.runs:
            out.write(run.service_ns.data)
    return file


def _fit(file: Path, accept_poor: bool) -> Fitted:
    return chosen(np.memmap(file, np.int64, "r"), accept_poor)


class _Fitter:
    """A separate process that fits samples, until `stop` is set.

    The process has a group of its own, so that Ctrl-C reaches only this process.
    """

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop

    def __enter__(self) -> "_Fitter":
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            process_group=0,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def fit(self, file: Path, accept_poor: bool) -> Fitted:
        """Call `_fit` in the process."""
        assert self._process.stdin
        assert self._process.stdout
        try:
            pickle.dump((file, accept_poor), self._process.stdin)
            self._process.stdin.flush()
            while not select.select([self._process.stdout], [], [], threads.LOOK_SECONDS)[0]:
                if self._stop.is_set():
                    raise RunFailed("stopped")
            answer = pickle.load(self._process.stdout)
        except (EOFError, BrokenPipeError, pickle.UnpicklingError) as error:
            raise RunFailed(
                "a process that fits service times has ended; is there enough memory? "
                "--jobs 1 needs the least"
            ) from error
        if isinstance(answer, Exception):
            raise answer
        assert isinstance(answer, Fitted)
        return answer


def _serve(questions: IO[bytes], answers: IO[bytes]) -> None:
    """Fit samples until the pipe is closed."""
    while True:
        try:
            file, accept_poor = pickle.load(questions)
        except EOFError:
            return
        answer: Any
        try:
            answer = _fit(file, accept_poor)
        except (ValueError, UserError) as error:
            answer = error
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    _serve(sys.stdin.buffer, sys.stdout.buffer)
