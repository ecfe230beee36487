# SPDX-License-Identifier: MIT
"""A resume that is interrupted at a chosen instant, and what the next start makes of it."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from lab_class import Class, running_lab

from understudy_devices.base.errors import RunFailed
from understudy_devices.lab import holder, memory, resume, start
from understudy_devices.lab.hardware import Hardware
from understudy_devices.lab.monitor import Gone, Monitor, NoRoom
from understudy_devices.platforms.vm import accelerator

pytestmark = pytest.mark.thorough


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Class]:
    """Yield a lab with a suspended VM, whose guest has counted to 1 in its memory."""
    with running_lab(tmp_path) as made:
        made.start()
        made.type("p", ["memory 0001"])
        made.do("stop", "team01", "--suspend")
        yield made


def begin(lab: Class, spoil: Callable[[], object]) -> str:
    """Start the VM in a process of its own, after `spoil`; return how it started, or the error."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            spoil()
            team = lab.team()
            started = start.start(team, Hardware(team.lab.settings, accelerator.best()))
            os.write(writer, f"{started.how}: {started.note}".encode())
        except RunFailed as error:
            os.write(writer, str(error).encode())
        finally:
            os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    with os.fdopen(reader, encoding="utf-8") as answer:
        return answer.read()


def die(*_: object) -> None:
    """End this process as if it were killed."""
    os._exit(0)


@pytest.mark.parametrize(
    ("module", "name", "how"),
    [(memory, "drop", "resumed"), (resume, "let_run", "continued")],
)
def test_a_killed_resume_leaves_a_vm_with_an_owner(
    lab: Class, module: object, name: str, how: str
) -> None:
    """The command dies before, or after, it removes the saved memory."""
    assert begin(lab, lambda: setattr(module, name, die)) == ""
    assert len(lab.qemus()) == 1
    assert f"team01: {how}" in lab.start()
    assert holder.of(lab.team())
    lab.type("p", ["memory 0002"])
    assert "team01: suspended" in lab.do("stop", "team01", "--suspend")


def kill_itself(qemu: Monitor, _: float) -> None:
    """Kill QEMU, as the kernel does if the host has too little memory."""
    os.kill(qemu.pid, signal.SIGKILL)
    qemu.do("query-status")


def wait_in_vain(_: Monitor) -> None:
    raise NoRoom("its disk or its quota is full")


def refuse(_: Monitor, *__: object, **___: object) -> None:
    raise Gone("QEMU does not answer")


@pytest.mark.parametrize(
    ("name", "instead", "words"),
    [("migrated", kill_itself, "QEMU is gone"), ("do", refuse, "QEMU")],
)
def test_a_failure_that_may_pass_keeps_the_memory(
    lab: Class, name: str, instead: object, words: str
) -> None:
    answer = begin(lab, lambda: setattr(Monitor, name, instead))
    assert answer.startswith("team01: not resumed, and its memory is kept: ")
    assert words in answer
    assert lab.qemus() == {}
    assert "team01: resumed" in lab.start()
    lab.type("p", ["memory 0002"])


def test_a_resumed_vm_that_has_no_room_waits(lab: Class) -> None:
    answer = begin(lab, lambda: setattr(Monitor, "wait_until_running", wait_in_vain))
    assert answer.startswith("resumed: the VM waits: its disk or its quota is full; understudy")
    lab.type("p", ["memory 0002"])
