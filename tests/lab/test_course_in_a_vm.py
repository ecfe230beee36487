# SPDX-License-Identifier: MIT
"""A course's assignments, done in a team's VM with `--base debian`: built, handed in and graded."""

import base64
import json
from pathlib import Path

import debian_base
import pytest
from lab_class import Class, understudy

from understudy_devices.lab.agent import Agent

pytestmark = pytest.mark.thorough

TEAM = "team01"
BOOT_SECONDS = "3000"
GUEST_SECONDS = 1200
DEVICES = """set -e
lspci -D | grep ^10000:
cat /sys/block/vdisk/size
dd if=/dev/vdisk of=/dev/null bs=4k count=8 skip=1000 iflag=direct 2>/dev/null
cat /sys/kernel/vpt/vdisk/completed
"""
DRIVER = """set -e
cp -r /opt/devices/cards/zach1 /root/driver
cd /root/driver
base64 -d >zach1_driver.c
make
insmod zach1_driver.ko
basename $(readlink /sys/bus/pci/devices/10000:00:00.0/driver)
submit zach1-driver zach1_driver.c
"""
SCHEDULER = """set -e
cp -r /usr/local/starvation /root
cd /root/starvation
base64 -d >patient.c
mkdir headers/schedulers
gcc -Wall -Werror -fsyntax-only -Iheaders/schedulers patient.c
submit starvation patient.c answers.toml variant.toml
"""


def course(*words: str | Path) -> str:
    """Run a command of the course; return what it prints."""
    done = understudy("course", *words)
    assert done.exit_code == 0, done.stderr
    return done.stdout


def guest(lab: Class, script: str) -> str:
    """Run a script in the team's VM."""
    with Agent(lab.team(TEAM).folder, GUEST_SECONDS) as agent:
        return agent.run(script, (), GUEST_SECONDS)


def with_file(script: str, content: bytes) -> str:
    """Let a script read a file, in place of what `base64 -d` would read."""
    data = base64.b64encode(content).decode()
    return script.replace("base64 -d", f"echo {data} | base64 -d")


@pytest.mark.base
@pytest.mark.timeout(7200)
def test_a_team_builds_hands_in_and_is_graded(on_disk: Path) -> None:
    mine = ("--course", on_disk / "os-course")
    course("new", on_disk / "os-course", "--title", "Operating systems")
    (on_disk / "os-course" / "students.csv").write_text(f"student,pseudonym\n{TEAM},\n")
    for name in ("zach1-driver", "starvation"):
        course("export", name, *mine, "--student", TEAM, "--to", on_disk / "out" / name)
        course("solution", name, *mine, "--student", TEAM, "--to", on_disk / "solved" / name)
    solved = on_disk / "solved"
    handed_out = on_disk / "out" / "starvation"
    (handed_out / "answers.toml").write_bytes((solved / "starvation/answers.toml").read_bytes())
    lab = Class(on_disk)
    try:
        image, kernel = debian_base.options()
        card = on_disk / "out" / "zach1-driver" / "card" / "zach1.yaml"
        devices = ("--disk", "cheetah-15k4", "--card", str(card))
        lab.create(image, *kernel, *devices, "--memory", "512MiB", count=1)
        (on_disk / "drive").mkdir()
        handed_out.rename(on_disk / "drive" / "starvation")
        lab.do("drive", str(on_disk / "drive"))
        lab.do("boot-once", "--seconds", BOOT_SECONDS)
        assert f"{TEAM}: resumed" in lab.start()
        seen = guest(lab, DEVICES).splitlines()
        assert seen[0].startswith("10000:00:00.0 Display controller: ")
        assert seen[1] == "131072"
        assert int(seen[2]) >= 8, "the throttle has seen the reads"
        lab.do("stop", TEAM, "--suspend")
        assert f"{TEAM}: resumed" in lab.start()
        driver = (solved / "zach1-driver" / "zach1_driver.c").read_bytes()
        words = guest(lab, with_file(DRIVER, driver))
        assert "\nzach1\n" in words
        assert "received zach1-driver number 1" in words
        scheduler = (solved / "starvation" / "patient.c").read_bytes()
        assert "received starvation number 1" in guest(lab, with_file(SCHEDULER, scheduler))
    finally:
        lab.kill()
    for name in ("zach1-driver", "starvation"):
        inbox, grades = on_disk / "handed-in" / name, on_disk / "grades" / name
        lab.do("submissions", "--last", name, "--copy", str(inbox))
        course("grade-all", name, inbox, *mine, "--out", grades)
        grade = json.loads((grades / "teacher" / TEAM / "grade.json").read_text())
        assert grade["score"] == grade["most"] == 100, grade
