# SPDX-License-Identifier: MIT
"""Plugs a virtual card of the project into a running VM.

The card's modules are built for the guest's kernel on this host, and reach the guest through its
agent.  They are gone after the next boot, and stay over a suspend.
"""

import base64
import textwrap
import time
from pathlib import Path

from understudy_devices.base.errors import RunFailed
from understudy_devices.base.plain import one_line
from understudy_devices.lab import agent, first_start, locks, owner, qemu_process
from understudy_devices.lab.agent import Agent
from understudy_devices.lab.store import Team
from understudy_devices.platforms.vm import modules, packages

LOCK_SECONDS = 60
ANSWER_SECONDS = 60
SEND_SECONDS = 300
POLL_SECONDS = 0.5
BUS = "vpcib"
FOLDER = "/run/understudy"
LOADED = "uname -r; cut -d ' ' -f 1 /proc/modules"


def plug(team: Team, card: str, seconds: float) -> None:
    """Load a card's modules in the team's VM, within so many seconds of its agent's first answer.

    UserError if there is no such card, or if it does not compile.  RunFailed if the VM does not
    run, has no agent, runs another kernel than the modules are built for, or has the card.
    """
    kernel = packages.fetch_kernel()
    names = [BUS, f"{modules.CARD}{card}"]
    order = modules.ModuleTree(kernel, modules.ours(kernel, names)).in_load_order(names)
    with owner.acting(team.folder), locks.folder(team.folder, LOCK_SECONDS, who=team.name):
        first_start.check(team)
        _wait_for_agent(team, seconds)
        with Agent(team.folder, ANSWER_SECONDS) as connection:
            release, *loaded = connection.run(LOADED, (), ANSWER_SECONDS).split()
            if release != kernel.release:
                raise RunFailed(
                    f"{team.name} runs Linux {one_line(release)[:60]}, and modules are built for "
                    f"{kernel.release}: make the base anew, or set {packages.OWN_KERNEL}"
                )
            if order[-1].stem in loaded:
                raise RunFailed(f"{team.name} has the card {card}")
            for path in order:
                if path.stem.replace("-", "_") not in loaded:
                    connection.run(_script(path), (), SEND_SECONDS)


def _wait_for_agent(team: Team, seconds: float) -> None:
    monitor = qemu_process.find(team)
    if not monitor:
        raise RunFailed(f"{team.name} does not run; {team.words('start')} starts it")
    deadline = time.monotonic() + seconds
    with monitor:
        while not agent.is_there(monitor):
            if monitor.ended(POLL_SECONDS) or time.monotonic() > deadline:
                raise RunFailed(
                    f"{team.name}: no agent has answered in {seconds:g} s: the guest needs "
                    "qemu-guest-agent"
                )


def _script(path: Path) -> str:
    """Return the script that writes a module into the guest, and loads it."""
    data = "\n".join(textwrap.wrap(base64.b64encode(path.read_bytes()).decode(), 76))
    file = f"{FOLDER}/{path.name}"
    return f"set -e\nmkdir -p {FOLDER}\nbase64 -d >{file} <<'END'\n{data}\nEND\ninsmod {file}\n"
