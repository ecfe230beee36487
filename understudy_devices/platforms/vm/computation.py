# SPDX-License-Identifier: MIT
"""Times a computation on this machine and in a VM (Jones 2010, section 5.3)."""

import subprocess
from dataclasses import dataclass, replace

from understudy_devices.base.errors import RunFailed
from understudy_devices.base.processors import pinned
from understudy_devices.base.programs import Program, compiled, compiled_for_guest
from understudy_devices.platforms import guest_programs
from understudy_devices.platforms.vm import machine, packages, qemu
from understudy_devices.platforms.vm.trouble import last_words

TIMEOUT_SECONDS = 7200
SCRIPT = "port notify begin; heat {steps} > /out/done || exit 1; port notify end"


@dataclass(frozen=True)
class Computed:
    """A run: its seconds by its own clock and by the host's, and the sum that it computed."""

    seconds: float
    host_seconds: float
    sum: str


def on_metal(steps: int, processors: frozenset[int]) -> Computed:
    """Compute on these processors of this machine."""
    with pinned(processors):
        done = subprocess.run(
            [compiled(_program()), str(steps)], capture_output=True, text=True, check=True
        )
    computed = _parsed(done.stdout)
    return replace(computed, host_seconds=computed.seconds)


def in_vm(steps: int, processors: frozenset[int], accelerator: qemu.Accelerator) -> Computed:
    """Compute in a VM with one processor, whose QEMU runs on these; RunFailed if that fails."""
    vm = machine.Vm(
        SCRIPT.format(steps=steps),
        files={"bin/heat": compiled_for_guest(_program())},
        machine=qemu.Machine(clock="wall", accelerator=accelerator),
        timeout_seconds=TIMEOUT_SECONDS,
    )
    kernel = packages.fetch_kernel()
    with pinned(processors):
        result = machine.run(vm, kernel)
    if result.exit_code:
        raise RunFailed(f"the computation failed in the VM:\n{last_words(result.console)}")
    computed = _parsed(result.out["done"].decode())
    return replace(computed, host_seconds=result.notified["end"] - result.notified["begin"])


def _program() -> Program:
    program = guest_programs.program("heat")
    return replace(program, flags=(*program.flags, "-ffp-contract=off"))  # equal sums everywhere


def _parsed(text: str) -> Computed:
    """Parse a line done SECONDS SUM."""
    _, seconds, total = text.split()
    return Computed(float(seconds), 0.0, total)
