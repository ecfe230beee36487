# SPDX-License-Identifier: MIT
"""Plugs a virtual card, or a disk with a profile's timing, into a running VM.

The modules are built for the guest's kernel on this host, and reach the guest through its
agent.  They are gone after the next boot, and stay over a suspend.
"""

import base64
import textwrap
import time
from pathlib import Path

from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.base.plain import one_line
from understudy_devices.device.profile import DiskProfile
from understudy_devices.lab import agent, first_start, holder, locks, owner, qemu_process
from understudy_devices.lab.agent import Agent
from understudy_devices.lab.store import Team
from understudy_devices.platforms.vm import modules, packages, scenario
from understudy_devices.platforms.vm.controllers import CONTROLLERS

LOCK_SECONDS = 60
ANSWER_SECONDS = 60
SEND_SECONDS = 300
POLL_SECONDS = 0.5
BUS = "vpcib"
DISK = CONTROLLERS["vdisk"]
SEED = 1
FOLDER = "/run/understudy"
SET_UP = f"""vpt=/sys/kernel/vpt/{DISK.disk}
put() {{
	if ! echo "$1" >"$2"; then
		echo "$2 refuses it" >&2
		exit 1
	fi
}}
put /dev/{DISK.disk} /sys/kernel/vpt/add
"""
SET_UP_PROFILE = f"""profile
put 1000 $vpt/scale_milli
put 1 $vpt/subtract_overhead
put 1 /sys/block/{DISK.disk}/queue/rotational
"""
LOADED = "uname -r; cut -d ' ' -f 1 /proc/modules"


def plug_card(team: Team, card: str, seconds: float) -> None:
    """Load a card's modules in the team's VM, within so many seconds of its agent's first answer.

    UserError if there is no such card, or if it does not compile.  RunFailed if the VM does not
    run, has no agent, runs another kernel than the modules are built for, or has the card.
    """
    module = f"{modules.CARD}{card}"
    _plug(team, f"the card {card}", {BUS: "", module: ""}, "", seconds)


def plug_disk(team: Team, disk: DiskProfile, size_bytes: int, seconds: float) -> None:
    """Give the team's VM a second disk, /dev/vdisk, with a profile's timing; as `plug_card` does.

    Its data is in the guest's memory.
    """
    if disk.array:
        raise UserError(f"--disk {disk.name}: an array of disks; name one disk")
    drive = disk.timing(DISK.capacity_sectors(size_bytes))
    script = "\n".join((SET_UP, scenario.profile(drive, SEED), SET_UP_PROFILE))
    script += scenario.write_cache(drive, DISK)
    parameters = {**dict.fromkeys(scenario.CORE_MODULES, ""), **DISK.module_parameters(size_bytes)}
    _plug(team, f"a disk {DISK.disk}", parameters, script, seconds)


def _plug(team: Team, what: str, parameters: dict[str, str], script: str, seconds: float) -> None:
    """Load modules with their parameters, and run a script."""
    kernel = packages.fetch_kernel()
    names = list(parameters)
    order = modules.ModuleTree(kernel, modules.ours(kernel, names)).in_load_order(names)
    scripts = {  # read now: a team may not look into root's cache
        path.stem: _script(path, parameters.get(path.stem, "")) for path in order
    }
    with owner.acting(team.folder), locks.folder(team.folder, LOCK_SECONDS, who=team.name):
        first_start.check(team)
        _wait_for_agent(team, seconds)
        with Agent(team.folder, ANSWER_SECONDS) as connection:
            release, *loaded = connection.run(LOADED, (), ANSWER_SECONDS).split() or ["?"]
            if release != kernel.release:
                raise RunFailed(
                    f"{team.name} runs Linux {one_line(release)[:60]}, and modules are built for "
                    f"{kernel.release}: make the base anew, or set {packages.OWN_KERNEL}"
                )
            if order[-1].stem in loaded:
                raise RunFailed(f"{team.name} has {what} already")
            for name, text in scripts.items():
                if name.replace("-", "_") not in loaded:
                    connection.run(text, (), SEND_SECONDS)
            if script:
                connection.run(script, (), SEND_SECONDS)


def _wait_for_agent(team: Team, seconds: float) -> None:
    monitor = qemu_process.find(team)
    if not monitor:
        raise RunFailed(holder.why_not(team, "plug"))
    deadline = time.monotonic() + seconds
    with monitor:
        while not agent.is_there(monitor):
            if monitor.ended(POLL_SECONDS) or time.monotonic() > deadline:
                raise RunFailed(
                    f"{team.name}: no agent has answered in {seconds:g} s: the guest needs "
                    "qemu-guest-agent"
                )


def _script(path: Path, parameters: str) -> str:
    """Return the script that writes a module into the guest, and loads it."""
    data = "\n".join(textwrap.wrap(base64.b64encode(path.read_bytes()).decode(), 76))
    file = f"{FOLDER}/{path.name}"
    lines = (
        "set -e",
        f"mkdir -p {FOLDER}",
        f"base64 -d >{file} <<'END'\n{data}\nEND",
        f"insmod {file} {parameters}",
    )
    return "\n".join([*lines, ""])
