# SPDX-License-Identifier: MIT
"""`lab log --oopses`: where the kernels of the teams' VMs have failed."""

from pathlib import Path

import lab_images
import lab_linux
import pytest
from lab_class import Class

from understudy_devices.lab import oopses

pytestmark = pytest.mark.thorough

FAULT = """\
[   12.000001] BUG: kernel NULL pointer dereference, address: 0000000000000000
[   12.000002] #PF: supervisor write access in kernel mode
[   12.000003] Oops: 0002 [#1] PREEMPT SMP NOPTI
[   12.000004] RIP: 0010:mine_next+0x12/0x40 [mine]
[   12.000005] ---[ end trace 0000000000000000 ]---
"""
WARNING = """\
[   13.000001] WARNING: CPU: 0 PID: 1 at kernel/softirq.c:1 other+0x1/0x2
[   13.000002] RIP: 0010:other+0x1/0x2
"""
LOG = f"""\
[    1.000000] Linux version 6.1
BUG: a program's own words
{FAULT}[   12.500000] eth0: link up
{WARNING}root@lab:~# echo BUG:
"""


def test_a_line_is_searched_at_its_begin() -> None:
    """All of it would take hours."""
    long = f"[    1.000000] rcu: INFO: {'x detected ' * 300_000}"
    text = f"{long}\n{FAULT}[   12.000006] RIP: {'RIP: 0010:' * 300_000}\n"
    assert [each.title for each in oopses.of(text)] == [oopses.of(FAULT)[0].title]


def test_each_report_is_found_once() -> None:
    first, second = oopses.of(LOG)
    assert first.lines == FAULT.splitlines()
    assert first.title == (
        "BUG: kernel NULL pointer dereference, address: 0000000000000000 in mine_next+0x12 [mine]"
    )
    assert second.lines == WARNING.splitlines()
    assert oopses.of("") == []
    long = oopses.of(FAULT.splitlines()[0] + "\n" + "[    1.000000] more\n" * 1000)
    assert [len(each.lines) for each in long] == [oopses.LINES_MAX]


def test_a_teacher_sees_those_of_all_teams(tmp_path: Path) -> None:
    lab = Class(tmp_path)
    lab.create(lab_images.guest(tmp_path))
    assert lab.do("log", "--oopses") == ""
    (lab.team("team02").folder / "console.log").write_text(LOG.replace("\n", "\r\n"))
    lines = lab.do("log", "--oopses").splitlines()
    assert [line.split(":")[:2] for line in lines] == [["team02", " BUG"], ["team02", " WARNING"]]
    assert lab.do("log", "team02", "--oopses") == f"{FAULT}\n{WARNING}\n"
    assert "name a team" in lab.refuses("log")


@pytest.mark.slow
def test_a_crash_of_a_guest_is_found(tmp_path: Path) -> None:
    lab = Class(tmp_path)
    try:
        disk = lab_images.image(tmp_path / "linux.qcow2", b"0".ljust(10), mib=8)
        lab.create(disk, *lab_linux.options(tmp_path))
        lab.start()
        lab.wait_for("up 0")
        lab.type("o", ["sysrq triggered crash"])
        assert "team01: Kernel panic - not syncing: sysrq triggered" in lab.do("log", "--oopses")
    finally:
        lab.kill()
