# SPDX-License-Identifier: MIT
"""Fits of many VMs: their samples, their errors, and the process that fits beside others.  What a
fit finds is given here."""

import io
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
import pytest
from measured_vms import MS, fitted, run

from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.consolidation import fits
from understudy_devices.consolidation.fit import Fitted
from understudy_devices.consolidation.fits import fit_each
from understudy_devices.consolidation.vm import VirtualMachine


@pytest.fixture
def machines(tmp_path: Path) -> list[VirtualMachine]:
    """Return three VMs with mean service times of 1, 2 and 3 ms; the first has two runs."""
    runs = [run(tmp_path / f"{i}", [0, 1], [2 * i, 2 * i]) for i in (1, 2, 3)]
    return [
        VirtualMachine("vm1", (runs[0], run(tmp_path / "again", [0], [2]))),
        VirtualMachine("vm2", (runs[1],)),
        VirtualMachine("vm3", (runs[2],)),
    ]


def by_mean(times: Any, accept_poor: bool) -> Fitted:
    """Return the exponential process; refuse a mean of 2 ms or more unless it is accepted."""
    mean_ms = float(times.mean()) / MS
    if mean_ms >= 2 and not accept_poor:
        raise UserError(f"poor with {len(times)} times of {mean_ms:g} ms")
    return fitted(mean_ms)


def test_each_vm_is_fitted_to_all_its_runs(
    machines: list[VirtualMachine], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fits, "chosen", by_mean)
    names: list[str] = []
    found = fit_each(machines, accept_poor=True, jobs=1, done=names.append)
    assert [one.process.mean / MS for one in found] == pytest.approx([1, 2, 3])
    assert names == ["vm1", "vm2", "vm3"]
    assert fit_each(machines[:1], accept_poor=False, jobs=9)[0].process.mean == pytest.approx(MS)


def test_the_first_error_names_its_vm_and_ends_the_work(
    machines: list[VirtualMachine], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fits, "chosen", by_mean)
    names: list[str] = []
    with pytest.raises(UserError, match=r"^vm2: poor with 2 times of 2 ms$"):
        fit_each(machines, accept_poor=False, jobs=1, done=names.append)
    assert names == ["vm1", "vm2"]


class Process:
    """A process that answers what is given, in place of Python's."""

    def __init__(self, answer: bytes) -> None:
        self.stdin, self.stdout = io.BytesIO(), TemporaryFile()  # noqa: SIM115 - closed at the end
        self.stdout.write(answer)
        self.stdout.seek(0)
        self.ended: list[str] = []

    def kill(self) -> None:
        self.ended.append("kill")

    def communicate(self) -> None:
        self.stdout.close()
        self.ended.append("communicate")


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (pickle.dumps(UserError("poor")), UserError),
        (pickle.dumps(ValueError("none")), ValueError),
        (b"", RunFailed),
        (b"x", RunFailed),
    ],
)
def test_a_process_that_fails_or_ends(
    answer: bytes, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    process = Process(answer)
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: process)
    with pytest.raises(error), fits._Fitter(threading.Event()) as fitter:
        fitter.fit(Path("file"), True)
    assert pickle.loads(process.stdin.getvalue()) == (Path("file"), True)
    assert process.ended == ["kill", "communicate"]


def test_a_process_that_does_not_answer_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fit takes seconds, and Ctrl-C ends it at once."""
    stop = threading.Event()
    silent = "import time; time.sleep(1000)"
    real = subprocess.Popen

    def started(*_: object, **options: Any) -> "subprocess.Popen[bytes]":
        return real([sys.executable, "-c", silent], **options)

    monkeypatch.setattr(subprocess, "Popen", started)
    threading.Timer(0.3, stop.set).start()
    with pytest.raises(RunFailed, match="stopped"), fits._Fitter(stop) as fitter:
        fitter.fit(Path("file"), True)
    assert fitter._process.returncode == -9


def test_each_job_has_a_process(
    machines: list[VirtualMachine], monkeypatch: pytest.MonkeyPatch
) -> None:
    """There are no more jobs than VMs."""
    processes: list[Process] = []

    def started(words: list[str], **_: object) -> Process:
        assert words[1:] == ["-m", fits.__name__]
        processes.append(Process(pickle.dumps(fitted(4)) * 3))
        return processes[-1]

    monkeypatch.setattr(subprocess, "Popen", started)
    found = fit_each(machines, accept_poor=True, jobs=9)
    assert [one.process.mean / MS for one in found] == pytest.approx([4, 4, 4])
    assert [one.ended for one in processes] == [["kill", "communicate"]] * 3


def test_a_process_serves_until_its_pipe_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error is an answer as well."""
    monkeypatch.setattr(fits, "chosen", by_mean)
    file = tmp_path / "times"
    file.write_bytes(np.full(4, 2 * MS, np.int64).data)
    questions = b"".join(pickle.dumps((file, accepted)) for accepted in (False, True))
    answers = io.BytesIO()
    fits._serve(io.BytesIO(questions), answers)
    answers.seek(0)
    assert str(pickle.load(answers)) == "poor with 4 times of 2 ms"
    assert pickle.load(answers).process.mean == pytest.approx(2 * MS)
    assert not answers.read()
