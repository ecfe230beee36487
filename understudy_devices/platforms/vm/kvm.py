# SPDX-License-Identifier: MIT
"""Checks whether KVM really works here.

The existence of /dev/kvm does not prove that KVM works: a nested guest may hang when its kernel
starts. So the stock kernel is booted once under KVM, with a time-out. The answer is stored for this
kernel and this QEMU.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from understudy_devices.base import scratch
from understudy_devices.base.errors import NotCompiled, RunFailed
from understudy_devices.base.paths import IS_X86, cache_dir
from understudy_devices.platforms.vm import machine, packages, qemu

DEVICE = Path("/dev/kvm")
TIMEOUT_SECONDS = 15  # emulated, a machine boots in five to seven seconds (decision 25)


@dataclass(frozen=True)
class Answer:
    """Whether KVM works, and the reason in one line."""

    works: bool
    reason: str


def _boot(kernel: packages.Kernel) -> Answer:
    vm = machine.Vm(
        scenario="exit 0",
        machine=qemu.Machine(clock="wall", accelerator="kvm"),
        timeout_seconds=TIMEOUT_SECONDS,
    )
    try:
        result = machine.run(vm, kernel)
    except NotCompiled:
        raise  # it says nothing of KVM
    except RunFailed as failure:
        reason = str(failure).splitlines()[0].partition(";")[0]
        return Answer(False, f"/dev/kvm exists, but under KVM {reason}")
    return Answer(True, f"the stock kernel boots under KVM in {result.boot_seconds:.1f} s")


def probe(again: bool = False) -> Answer:
    """Return the stored answer, or boot to find a new one."""
    if not IS_X86:
        return Answer(False, "KVM runs guests of the host's architecture, and ours are x86-64")
    if not DEVICE.exists():
        return Answer(False, "there is no /dev/kvm")
    kernel = packages.fetch_kernel()
    memory = cache_dir() / "kvm" / f"{kernel.folder.name}_qemu-{qemu.version()}.json"
    if memory.exists() and not again:
        return Answer(**json.loads(memory.read_text()))
    answer = _boot(kernel)
    memory.parent.mkdir(exist_ok=True)
    with scratch.replacing(memory) as fresh:
        fresh.write_text(json.dumps(asdict(answer)))
    return answer
