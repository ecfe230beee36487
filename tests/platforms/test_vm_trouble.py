# SPDX-License-Identifier: MIT
"""The text that is found in a guest's console when the guest is in trouble."""

import os
import subprocess
import time
from contextlib import nullcontext
from pathlib import Path

import pytest

from understudy_devices.base.errors import RunFailed
from understudy_devices.platforms.vm import trouble

CRASH = """\
[    4.1] BUG: kernel NULL pointer dereference, address: 0000000000000048
[    4.1] #PF: supervisor read access in kernel mode
[    4.1] Oops: 0000 [#1] PREEMPT SMP NOPTI
[    4.1] RIP: 0010:mine_next+0x1d/0x40 [mine]
[    4.1] Call Trace:
[    4.1] RIP: 0033:0x401a2b
[    4.2] Kernel panic - not syncing: Fatal exception
"""
WARNED = """\
[    3.0] WARNING: inconsistent lock state
[    3.0] RIP: 0010:innocent+0x1/0x2 [other]
"""
STUCK = """\
[    9.0] Kernel panic - not syncing: NMI: Not continuing
[    9.0] RIP: 0010:native_queued_spin_lock_slowpath+0x6c/0x1e0
"""


def test_a_crash_says_where_and_what() -> None:
    assert trouble.place(CRASH) == " in mine_next+0x1d [mine]"
    assert trouble.of_death(CRASH).startswith(
        "the VM died in mine_next+0x1d [mine]: BUG: kernel NULL pointer dereference, address: "
    )
    assert "  | [    4.2] Kernel panic" in trouble.of_death(CRASH)


def test_a_warning_before_it_is_not_where_it_died() -> None:
    died = "the VM died in mine_next+0x1d [mine]: BUG: kernel NULL pointer dereference, address: "
    assert trouble.of_death(WARNED + CRASH).startswith(died)


def test_a_warning_before_it_is_not_where_it_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The guest answers when it is asked where it is stuck."""
    monkeypatch.setattr(trouble, "_STUCK_CPU_SECONDS", -1)
    console = tmp_path / "console"
    console.write_text(WARNED)
    (tmp_path / "answer").write_text(STUCK)
    guest = ["sh", "-c", "head -c 1 > asked; cat answer >> console"]
    with subprocess.Popen(guest, stdin=subprocess.PIPE, cwd=tmp_path) as process:
        watch = trouble.Watch(process, console.read_text, keeps_rules=False, looked_at=False)
        watch.heard("measuring")
        with pytest.raises(
            RunFailed, match=r"^the VM is stuck in native_queued_spin_lock\w*\+0x6c;"
        ):
            watch.check()


def test_of_two_processors_the_one_in_a_module_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trouble, "_STUCK_CPU_SECONDS", -1)
    console = tmp_path / "console"
    console.write_text("")
    other = CRASH.splitlines()[3]
    (tmp_path / "answer").write_text(f"{STUCK}{other}\n")
    guest = ["sh", "-c", "head -c 1 > asked; cat answer >> console"]
    with subprocess.Popen(guest, stdin=subprocess.PIPE, cwd=tmp_path) as process:
        watch = trouble.Watch(process, console.read_text, keeps_rules=False, looked_at=False)
        watch.heard("measuring")
        with pytest.raises(RunFailed, match=r"^the VM is stuck in mine_next\+0x1d \[mine\];"):
            watch.check()


@pytest.mark.parametrize(("guest", "halted"), [("sleep 60", True), ("while :; do :; done", False)])
def test_one_that_gets_no_processor_is_not_halted(
    monkeypatch: pytest.MonkeyPatch, guest: str, halted: bool
) -> None:
    """On one processor, and with an idle process's priority beside a busy process."""
    monkeypatch.setattr(trouble, "_HALTED_SECONDS", 0.5)
    monkeypatch.setattr(trouble, "_PANIC_SECONDS", 0)
    one = {min(os.sched_getaffinity(0))}
    with (
        subprocess.Popen(["sh", "-c", "while :; do :; done"]) as busy,
        subprocess.Popen(["sh", "-c", guest], stdin=subprocess.PIPE) as process,
    ):
        try:
            time.sleep(0.5)
            for each in (busy, process):
                os.sched_setaffinity(each.pid, one)
            os.sched_setscheduler(process.pid, os.SCHED_IDLE, os.sched_param(0))
            watch = trouble.Watch(process, str, keeps_rules=False, looked_at=False)
            watch.heard("measuring")
            time.sleep(2)
            with pytest.raises(RunFailed, match="stuck") if halted else nullcontext():
                watch.check()
        finally:
            busy.kill()
            process.kill()


def test_a_place_in_the_kernel_has_no_module() -> None:
    assert trouble.place(STUCK) == " in native_queued_spin_lock_slowpath+0x6c"
    assert trouble.cause(STUCK) == ""


def test_silence_says_nothing() -> None:
    assert trouble.of_death("") == (
        "the VM died (a kernel panic resets it); its last words:\n  | (silence)"
    )
    assert trouble.broken_rule("") is None


@pytest.mark.parametrize("after", ["", "\n", "\n[    5.0] understudy: other: rule broken: x\n"])
def test_the_first_broken_rule_is_told(after: str) -> None:
    line = "[    4.2] understudy: mine: rule broken: next returned request 17 twice"
    assert trouble.broken_rule(line + after) == "mine: rule broken: next returned request 17 twice"
    assert trouble.broken_rule("[    4.1] understudy: deadline: the kernel has one\n" + line)
