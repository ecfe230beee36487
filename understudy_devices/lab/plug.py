# SPDX-License-Identifier: MIT
"""Plugs a virtual card, or a disk with a profile's timing, into a running VM.

The modules are built for the guest's kernel on this host, and reach the guest through its
agent.  They are gone after the next boot, and stay over a suspend.
"""

import base64
import textwrap
import time
from pathlib import Path

from understudy_devices.base.errors import RunFailed
from understudy_devices.base.plain import one_line
from understudy_devices.lab import agent, first_start, holder, locks, owner, qemu_process
from understudy_devices.lab.agent import Agent
from understudy_devices.lab.devices import Device, load_line
from understudy_devices.lab.store import Team
from understudy_devices.platforms.vm import packages

LOCK_SECONDS = 60
ANSWER_SECONDS = 60
SEND_SECONDS = 300
POLL_SECONDS = 0.5
FOLDER = "/run/understudy"
LOADED = "uname -r; cut -d ' ' -f 1 /proc/modules"


def plug(team: Team, device: Device, seconds: float) -> None:
    """Load a device's modules in the team's VM, within so many seconds of its agent's first answer.

    UserError if a card does not compile.  RunFailed if the VM does not run, has no agent, runs
    another kernel than the modules are built for, or has the device.
    """
    kernel = packages.fetch_kernel()
    order = device.modules(kernel)
    scripts = {  # read now: a team may not look into root's cache
        path.stem: _script(path, device.parameters.get(path.stem, "")) for path in order
    }
    files = "".join(_written(name, text.encode()) for name, text in device.files().items())
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
                raise RunFailed(f"{team.name} has {device.what} already")
            for name, text in scripts.items():
                if name.replace("-", "_") not in loaded:
                    connection.run(text, (), SEND_SECONDS)
            for script in filter(None, (files, device.script)):
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
    load = f"cd {FOLDER}\n{load_line(path, parameters)}\n"
    return f"set -e\n{_written(path.name, path.read_bytes())}{load}"


def _written(name: str, content: bytes) -> str:
    """Return the commands that write a file in the guest's FOLDER."""
    data = "\n".join(textwrap.wrap(base64.b64encode(content).decode(), 76))
    file = f"{FOLDER}/{name}"
    return f"mkdir -p {file.rpartition('/')[0]}\nbase64 -d >{file} <<'END'\n{data}\nEND\n"
